"""Where the embedded default keeps what it needs, when the environment names nothing better."""

import hashlib
import os
import secrets
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VAR = ROOT / "var"


def redis_socket() -> Path:
    """A Unix socket of this checkout's own, under a short path: a socket's may not exceed 107."""
    mark = hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"crowdselect-{os.getuid()}-{mark}" / "redis.sock"


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
