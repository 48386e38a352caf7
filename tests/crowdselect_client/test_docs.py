"""The program of docs/client.md, run unchanged and without Django against a real server."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.test import Client

from selection import reports
from selection.models import ApiToken, Run
from tests.processes import celery_worker
from tests.worlds import open_of

TOP = Path(__file__).parents[2]
BLOCK = re.compile(r"(?ms)^```python (run-by-test|and-this)\n(.*?)^```$")
AGAIN = "run = run.copy()\nrun.start()\n"  # a separate run for the second way to ask


def production_script(url: str, token: str) -> str:
    page = (TOP / "docs" / "selection-to-production.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```python run-by-test\n(.*?)^```$", page)
    return f"url, token = {url!r}, {token!r}\n" + "".join(blocks)


@pytest.mark.slow
@pytest.mark.any_database
@pytest.mark.django_db(transaction=True)
def test_two_of_six_fall_and_are_found_as_the_page_says(live_server, tmp_path):
    code = production_script(live_server.url, ApiToken.issue("docs"))
    with celery_worker():
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=600
        )
    assert done.returncode == 0, done.stdout + done.stderr
    run = Run.objects.get(name="Best 6")
    fallen, other = re.findall(r"(?m)^Alarm: (\S+)", done.stdout)
    assert f"{other}: fine, passed the test" in done.stdout
    people = selected("Best 6", 6)
    assert fallen not in people
    file = (tmp_path / "selected.csv").read_text(encoding="utf-8")
    assert sorted(re.findall(r"(?m)^\d,([\w-]+),", file)) == people
    assert run.events.filter(kind="replace").count() == 1


def script(url: str, token: str) -> str:
    blocks = BLOCK.findall((TOP / "docs" / "client.md").read_text(encoding="utf-8"))
    assert [kind for kind, _ in blocks] == [
        "run-by-test",
        "and-this",
        *["run-by-test"] * 4,
    ]
    begin = f"url, token = {url!r}, {token!r}\nimport random\nrandom.seed(1)\n"
    return begin + "".join(AGAIN + code if kind == "and-this" else code for kind, code in blocks)


def answer_as_people(run: Run, links: dict[str, str]) -> None:
    """Answer as workers by their links; ada and ben know the answers."""
    for slip in open_of(run):
        worker, good = slip.candidate.worker.key, slip.question.accepted[0]
        knows = worker in ("ada", "ben") or slip.question_id % 2
        response = good if knows else {"good": "bad", "bad": "good"}[good]
        page, browser = urlsplit(links[worker]).path, Client()
        browser.get(page)  # the page is gone once the run has ended
        browser.post(page, {"assignment": slip.pk, "response": response})


def selected(name: str, k: int) -> list[str]:
    found = reports.export_run(Run.objects.get(name=name))["workers"]
    assert len(found) == k
    return sorted(worker["worker"] for worker in found)


@pytest.mark.slow
@pytest.mark.any_database
@pytest.mark.django_db(transaction=True)
def test_judges_and_people_are_chosen_as_the_page_says(live_server, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "PUBLIC_URL", live_server.url)
    code, said = script(live_server.url, ApiToken.issue("docs")), tmp_path / "said"
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with celery_worker(), said.open("w") as out:
        program = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            deadline = time.monotonic() + 240
            while program.poll() is None and time.monotonic() < deadline:
                links = dict(re.findall(r"(?m)^(\w+) (http\S+)$", said.read_text()))
                run = Run.objects.filter(name="Best 2", status=Run.Status.RUNNING).first()
                if run and len(links) == 5:
                    answer_as_people(run, links)
                time.sleep(0.2)
        finally:
            program.kill()
    words = said.read_text()
    assert program.wait() == 0, words
    ends = dict(Run.objects.exclude(status=Run.Status.DRAFT).values_list("name", "ending"))
    names = ("Best 3 judges", "Best 3 judges, copy", "Best 2 prompts", "Best 2")
    assert ends == dict.fromkeys(names, "guarantee")
    assert "MTurk's worker file" in words
    assert "3 workers" in words
    assert f"Selected: {' '.join(selected('Best 3 judges', 3))}\n" in words
    assert selected("Best 2 prompts", 2) == ["prompt-1", "prompt-2"]
    people = selected("Best 2", 2)
    assert sorted(re.findall(r"(?m)^(\w+) [01]\.\d+$", words)) == people
    file = (tmp_path / "run.csv").read_text(encoding="utf-8")
    assert sorted(re.findall(r"(?m)^\d,(\w+),", file)) == people
