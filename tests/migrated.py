"""A migrated SQLite database to copy: migrating one takes longer than most files of tests."""

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from django.conf import settings

TOP = Path(__file__).parents[1]
OURS = ("selection", "crowdselect")
FOLDER = TOP / "var" / "migrated"


def find_template() -> Path:
    """Name the file of these migrations, of ours and of the installed packages."""
    digest = hashlib.sha256(" ".join(settings.INSTALLED_APPS).encode())
    for path in sorted(path for top in OURS for path in (TOP / top).glob("**/migrations/*.py")):
        digest.update(path.read_bytes())
    digest.update((TOP / "requirements.txt").read_bytes())
    return FOLDER / f"{digest.hexdigest()[:16]}.sqlite3"


def copy_template(database: Path) -> bool:
    """Copy the migrated database to this place; False if there is none yet."""
    template = find_template()
    if not template.exists():
        return False
    _copy(template, database)
    return True


def keep_template(database: Path) -> None:
    """Keep a database just migrated, in place of those of other migrations."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.sqlite3"):
        old.unlink(missing_ok=True)
    part = FOLDER / f"{os.getpid()}.part"
    _copy(database, part)
    part.replace(find_template())


def _copy(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
        one.backup(other)
