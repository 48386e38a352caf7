"""docs/api.md is followed as it stands: its blocks are run one after the other by a shell."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from selection.models import Answer, ApiToken, Pool, Run
from tests.processes import celery_worker

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
BLOCK = re.compile(r"(?ms)^```bash\n(.*?)^```$")


@pytest.mark.any_database
@pytest.mark.django_db(transaction=True)
def test_the_whole_job_is_done_as_the_page_says(live_server, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "PUBLIC_URL", live_server.url)
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    script = "set -euo pipefail\n" + "\n".join(blocks)
    known = {"URL": live_server.url, "TOKEN": ApiToken.issue("docs")}
    with celery_worker():
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            env=os.environ | known,
            capture_output=True,
            text=True,
            timeout=240,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    run = Run.objects.get()
    assert (run.name, run.ending) == ("Best 2 of the annotators", "guarantee")
    assert Pool.objects.get().workers.count() == 8
    assert "Selected: ada ben" in done.stdout
    for words in (
        "no spaces around them",
        '"state": "question"',
        "answered otherwise already",
        "This name is already in use.",
        "DELETE is not possible here; GET or POST is.",
        "Not found. See /api/docs.",
    ):
        assert words in done.stdout
    pages = -(-Answer.objects.count() // 50)
    assert f"{pages} pages" in done.stdout
