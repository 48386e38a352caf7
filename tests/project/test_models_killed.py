"""``evaluate`` killed in the middle of its calls, on a database file, and resumed."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from django.conf import settings

from tests.model_stub import ModelStub
from tests.selection.management.test_evaluate import ACCURACY, reply, write_files


def command(database: Path, *words: str) -> subprocess.Popen[str]:
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "crowdselect.settings",
        "DATABASE_URL": f"sqlite:///{database}",
        "VAR_DIR": str(database.parent),
    }
    return subprocess.Popen(
        [sys.executable, "manage.py", *words],
        cwd=settings.BASE_DIR,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def count(database: Path, condition: str) -> int:
    with sqlite3.connect(database) as connection:
        rows = connection.execute(f"SELECT count(*) FROM selection_modelcall WHERE {condition}")
        return int(rows.fetchone()[0])


def test_a_killed_evaluation_goes_on_without_loss(tmp_path: Path) -> None:
    database = tmp_path / "db.sqlite3"
    assert command(database, "migrate", "-v0").wait(300) == 0
    with ModelStub(reply, seconds=0.2) as stub:
        files = write_files(tmp_path, stub.url, list(ACCURACY))
        how = ("--epsilon", "0.05", "--seed", "1", "--json")
        killed = command(database, "evaluate", *files, *how)
        while stub.calls < 40:
            assert killed.poll() is None
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
        killed.wait(60)
        replied = count(database, "state = 'replied'")
        in_flight = count(database, "state = 'sent'")
        assert replied + in_flight >= stub.calls  # none was sent that was not written down
        # Their time would be up after the timeout; a test does not wait that long.
        with sqlite3.connect(database) as connection:
            connection.execute("UPDATE selection_modelcall SET expires = '2026-01-01'")
        resumed = command(database, "evaluate", "--resume", "1", "--json")
        out, _ = resumed.communicate(timeout=300)
        assert resumed.returncode == 0
    result = json.loads(out)
    assert result["ending"] == "promise"
    assert count(database, "state = 'sent'") == 0
    assert count(database, "state = 'interrupted'") == in_flight
    assert count(database, "state = 'replied'") >= replied
    # No reply that had arrived was paid for twice.
    assert stub.calls <= count(database, "state in ('replied', 'interrupted')")
    repeats = "state = 'replied' GROUP BY assignment_id HAVING count(*) > 1"
    with sqlite3.connect(database) as connection:
        query = f"SELECT assignment_id FROM selection_modelcall WHERE {repeats}"
        assert not connection.execute(query).fetchall()
