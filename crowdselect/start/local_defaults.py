"""Defaults for running on one machine, if the environment names nothing better.

A checkout keeps its data in its own folder var/. An installed application keeps it in the folder of
CROWDSELECT_DATA (`crowdselect run --data`), by default one in the user's home.
"""

import hashlib
import os
import secrets
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IS_CHECKOUT = (ROOT / "manage.py").exists()
_OWN = ROOT / "var" if IS_CHECKOUT else Path.home() / ".crowdselect"
VAR = Path(os.environ.get("CROWDSELECT_DATA") or _OWN).resolve()
ENVIRONMENT_FILE = (ROOT if IS_CHECKOUT else VAR) / ".env"


def redis_socket() -> Path:
    """Choose a Unix socket of this data folder, with a short path: 107 characters are allowed."""
    mark = hashlib.sha256(str(VAR).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"crowdselect-{os.getuid()}-{mark}" / "redis.sock"


def keep_private(database: str) -> None:
    """Make this SQLite file, which may not exist yet, readable by this user only.

    Files that SQLite writes beside it get the file's own permissions.
    """
    if ":" in database or not Path(database).parent.is_dir():
        return  # in memory, or SQLite says that it cannot be opened
    Path(database).touch(mode=0o600)
    for path in map(Path, (database, f"{database}-wal", f"{database}-shm")):
        if path.exists() and path.stat().st_uid == os.getuid():
            path.chmod(0o600)


def secret_key() -> str:
    """Make a key on first use and keep it, so that links and logins outlive a restart."""
    path = VAR / "secret-key"
    if not path.exists():
        VAR.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(50))
        try:
            os.link(draft, path)  # the first process to link wins; the others read its key
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text()
