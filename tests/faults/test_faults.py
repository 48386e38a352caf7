"""The short form of `make faults`: a real stack, a crowd that answers, a few faults."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

pytestmark = pytest.mark.django_db


def left_behind() -> set[Path]:
    return set(Path("/tmp").glob("crowdselect-faults-*"))


def test_a_crowd_loses_nothing_by_faults(sample):
    """Of each fault that there is ``make faults`` has several; here are as many as time allows."""
    before = left_behind()
    faults, minutes = sample(6, 30), sample(1, 8) / 4
    words = ["--database", connection.vendor, "--faults", str(faults), "--minutes", str(minutes)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", *words],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "crowdselect.settings"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "Every law held." in done.stdout
    assert "| faults | 0 |" not in done.stdout
    assert left_behind() <= before
