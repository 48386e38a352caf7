"""The project's settings with a Redis and an SQLite file of the tests' own.

Files, not memory: a Celery worker and a live server are other processes and threads.
"""

import os
import tempfile
from pathlib import Path

PLACE = Path(tempfile.mkdtemp(prefix="crowdselect-test-"))
REDIS_SOCKET = PLACE / "redis.sock"
os.environ["REDIS_URL"] = f"unix://{REDIS_SOCKET}"
os.environ.setdefault("DATABASE_URL", f"sqlite:///{PLACE / 'unused.sqlite3'}")

from crowdselect.settings import *  # noqa: E402, F403
from crowdselect.settings import DATABASES, SQLITE  # noqa: E402

if SQLITE:
    DATABASES["default"]["TEST"] = {"NAME": str(PLACE / "test.sqlite3")}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATIC_ROOT = PLACE / "static"
STATIC_ROOT.mkdir()
