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
    """Yield a folder that PostgreSQL's own user may enter, too."""
    with tempfile.TemporaryDirectory(prefix="crowdselect-here-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_a_crowd_loses_nothing_by_faults(sample, place):
    """Run as many faults as time allows; ``make faults`` has several of each kind."""
    faults, minutes = sample(4, 30), sample(1, 12) / 6
    options = ["--database", connection.vendor, "--faults", str(faults), "--minutes", str(minutes)]
    result = subprocess.run(
        [sys.executable, "-m", "tests.faults", *options],
        cwd=settings.BASE_DIR,
        env=os.environ | {"TMPDIR": str(place)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
    assert "Every law held." in result.stdout
    assert "| faults | 0 |" not in result.stdout
    assert list(place.iterdir()) == []
