"""Where the embedded default keeps what it needs, when the environment names nothing better."""

import hashlib
import os
import secrets
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VAR = ROOT / "var"


def redis_socket() -> Path:
    """A Unix socket of this checkout's own, under a short path: a socket's may not exceed 107."""
    mark = hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"crowdselect-{os.getuid()}-{mark}" / "redis.sock"


def keep_private(database: str) -> None:
    """Let nobody else on this machine read the SQLite file of this path, which may be yet to come.

    What SQLite writes beside it gets the file's own permissions.
    """
    if ":" in database or not Path(database).parent.is_dir():
        return  # in memory, or SQLite says that it cannot be opened
    Path(database).touch(mode=0o600)
    for path in map(Path, (database, f"{database}-wal", f"{database}-shm")):
        if path.exists() and path.stat().st_uid == os.getuid():
            path.chmod(0o600)


def secret_key() -> str:
    """A key made on first use and kept, so that worker links and logins outlive a restart."""
    path = VAR / "secret-key"
    if not path.exists():
        VAR.mkdir(exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(50))
        try:
            os.link(draft, path)  # whoever links first wins; the others read that key
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text()
