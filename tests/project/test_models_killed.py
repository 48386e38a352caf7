"""``evaluate`` killed in the middle of its calls, and resumed."""

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
from tests.selection.evaluations.test_evaluate import ACCURACY, reply, write_files

TIMES = 3


def command(folder: Path, *words: str) -> subprocess.Popen[str]:
    own = {"DJANGO_SETTINGS_MODULE": "crowdselect.settings", "CROWDSELECT_DATA": str(folder)}
    return subprocess.Popen(
        [sys.executable, "manage.py", "evaluate", *words],
        cwd=settings.BASE_DIR,
        env=os.environ | own,
        stdout=subprocess.PIPE,
        text=True,
    )


def count(folder: Path, condition: str) -> int:
    with sqlite3.connect(folder / "evaluations" / "evaluations.db") as connection:
        rows = connection.execute(f"SELECT count(*) FROM calls WHERE {condition}")
        return int(rows.fetchone()[0])


def test_a_killed_evaluation_goes_on_without_loss(tmp_path: Path) -> None:
    """It makes about as many calls as an undisturbed one, and repeats only lost ones."""
    totals = []
    for times in (0, TIMES):
        folder = tmp_path / str(times)
        folder.mkdir()
        with ModelStub(reply, seconds=0.1) as stub:
            files = write_files(folder, stub.url, list(ACCURACY))
            Path(files[0]).write_text(Path(files[0]).read_text().replace("50", "8"))
            how = [*files, "--epsilon", "0.03", "--seed", "1", "--json"]
            for _ in range(times):
                killed, before = command(folder, *how), stub.calls
                while stub.calls < before + 20:
                    assert killed.poll() is None
                    time.sleep(0.02)
                killed.send_signal(signal.SIGKILL)
                killed.wait(60)
                written = count(folder, "state IN ('replied', 'sent', 'interrupted')")
                assert written >= stub.calls  # none was sent that was not written down
            resumed = command(folder, *how)
            out, _ = resumed.communicate(timeout=300)
            assert resumed.returncode == 0
        assert json.loads(out)["ending"] == "guarantee"
        assert count(folder, "state = 'sent'") == 0
        lost = count(folder, "state = 'interrupted'")
        assert lost <= 8 * times
        repeats = "state = 'replied' GROUP BY model, question HAVING count(*) > 1"
        with sqlite3.connect(folder / "evaluations" / "evaluations.db") as connection:
            assert not connection.execute(f"SELECT 1 FROM calls WHERE {repeats}").fetchall()
        totals.append(stub.calls - lost)
    assert totals[1] <= 1.3 * totals[0]
