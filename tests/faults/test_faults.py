"""The short form of `make faults`: a real stack, a crowd that answers, a few faults."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

pytestmark = pytest.mark.django_db


@pytest.fixture
def place() -> Iterator[Path]:
    """Where PostgreSQL's own user may come, too."""
    with tempfile.TemporaryDirectory(prefix="crowdselect-here-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_crowd_loses_nothing_by_faults(sample, place):
    """Of each fault that there is ``make faults`` has several; here are as many as time allows."""
    faults, minutes = sample(4, 30), sample(1, 12) / 6
    words = ["--database", connection.vendor, "--faults", str(faults), "--minutes", str(minutes)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", *words],
        cwd=settings.BASE_DIR,
        env=os.environ | {"TMPDIR": str(place)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Every law held." in done.stdout
    assert "| faults | 0 |" not in done.stdout
    assert list(place.iterdir()) == []
