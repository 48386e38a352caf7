"""The project's settings with a Redis and an SQLite file of the tests' own.

Files, not memory: a Celery worker and a live server are other processes and threads.
"""

import os
import tempfile
from pathlib import Path

# Each process that tests has its own, and it goes with the process.
_FOLDER = tempfile.TemporaryDirectory(prefix="crowdselect-test-", ignore_cleanup_errors=True)
PLACE = Path(_FOLDER.name)
REDIS_SOCKET = PLACE / "redis.sock"
os.environ["SECRET_KEY"] = "the same in every run of the tests, so that links are too"
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
TOKEN_SECONDS = 0  # a changed token is read at once
STATIC_ROOT = PLACE / "static"
STATIC_ROOT.mkdir()
