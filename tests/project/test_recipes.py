"""The recipes of CONTRIBUTING.md work as they are written: followed in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.processes import import_path
from tests.project.houses import APPLICATION, TOP
from tests.settings import SQLITE

BLOCK = re.compile(
    r'(?ms)^   ```(?:python|text) (file|in)=(\S+)(?: ([\w-]+)(?:="(.*?)")?)?\n(.*?)^   ```$'
)
QUIZ = "tests/selection/connectors/test_quiz_server.py"
NEEDED = [*APPLICATION, "research", "packages", "templates", "static", "tests"]
LEFT_OUT = shutil.ignore_patterns("__pycache__", "data")

pytestmark = pytest.mark.skipif(not SQLITE, reason="recipes do not depend on the database")

FOLLOWED = """
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from research.describe import algorithms_page
from selection import algorithms, engine, reports
from selection.models import Answer, ApiToken, RecordedAnswer, Run
from selection.runs import lifecycle
from selection.runs.settings import drafts
from tests.pages import open_form
from tests.worlds import answer_all, make_run
from topk import SELECTORS, simulate

pytestmark = pytest.mark.django_db


def test_algorithm_is_known(requester):
    assert SELECTORS["evenly"].title == "Evenly"
    assert simulate.simulate_run("evenly", [0.9, 0.1], k=1, epsilon=0.2).selection.tolist() == [0]
    choices = [choice for _, group in algorithms.algorithm_choices() for choice in group]
    assert ("evenly", "Evenly") in choices
    form = open_form(requester).content.decode()
    assert '<option value="evenly">Evenly</option>' in form
    assert 'name="option_each"' in form
    assert "| `evenly` | Evenly |" in algorithms_page()


def test_algorithm_takes_a_run_to_its_end():
    run = make_run(n=3, k=1, algorithm="evenly", epsilon=0.7, questions=300, slots=60)
    while engine.advance(run.pk):
        answer_all(run, lambda open_: "yes" if open_.candidate.worker.key == "w0" else "no")
    run.refresh_from_db()
    assert run.ending == "guarantee"


def test_format_is_read(requester):
    run = make_run(algorithm="evenly")  # no kernels: nothing to compile anew for the copy
    text = "| worker | question | response |\\n|---|:---|---|\\n| w1 | q1 | yes |"
    text += "\\n| w1 | q1 | no |"
    file = SimpleUploadedFile("more.md", text.encode())
    address = reverse("admin:selection_run_import", args=[run.pk])
    preview = requester.post(address, {"file": file}, follow=True)
    assert b"This answer is there already, in line 3." in preview.content
    requester.post(preview.request["PATH_INFO"], follow=True)
    assert RecordedAnswer.objects.get().response == "yes"


def test_endpoint_answers(token):
    run = make_run(algorithm="evenly")  # no kernels: nothing to compile anew for the copy
    engine.advance(run.pk)
    lifecycle.stop_run(run)
    address = f"/api/runs/{run.pk}/attention"
    needs = Client().get(address, headers={"authorization": f"Bearer {token}"})
    assert [need["kind"] for need in needs.json()] == ["review"]
    assert Client().get(address).status_code == 401
    assert "/api/runs/{run_id}/attention" in Client().get("/api/openapi.json").json()["paths"]


def test_page_is_shown(requester):
    run = make_run(algorithm="evenly")
    page = requester.get(reverse("admin:selection_run_alerts", args=[run.pk]))
    assert b"No alerts." in page.content


def test_column_is_on_the_page_in_files_and_in_the_api(requester, token):
    run = make_run(algorithm="evenly")
    candidate = run.candidates.first()
    candidate.worker.note = "Prefers birds."
    candidate.worker.save()
    card = requester.get(reverse("admin:selection_run_worker", args=[run.pk, candidate.pk]))
    assert b"Prefers birds." in card.content
    form = requester.get(reverse("admin:selection_worker_change", args=[candidate.worker_id]))
    assert 'name="note"' in form.content.decode()
    auth = {"authorization": f"Bearer {token}"}
    lines = Client().get(f"/api/runs/{run.pk}/standings", headers=auth).json()
    assert "Prefers birds." in [line["note"] for line in lines]
    file = Client().get(f"/api/runs/{run.pk}/export?format=all-csv", headers=auth)
    assert b"Prefers birds." in file.getvalue()


def test_field_is_in_the_reply(token):
    run = make_run(algorithm="evenly")
    auth = {"authorization": f"Bearer {token}"}
    assert Client().get(f"/api/runs/{run.pk}", headers=auth).json()["pool_name"] == run.pool.name


def test_export_is_offered(requester, token):
    run = make_run(algorithm="evenly")
    assert b"Ids of the selected workers" in requester.get(
        reverse("admin:selection_run_page", args=[run.pk])
    ).content
    auth = {"authorization": f"Bearer {token}"}
    assert Client().get(f"/api/runs/{run.pk}/export?format=ids", headers=auth).status_code == 200


def test_setting_is_in_each_new_run(requester, token):
    full = open_form(requester).content.decode()
    guided = requester.get(reverse("admin:selection_run_begin")).content.decode()
    for page in (full, guided):
        assert 'name="per_visit"' in page
        assert "Most questions that a worker is asked in a row." in page
    run = make_run(algorithm="evenly")
    body = {"name": "By the API", "pool": run.pool_id, "question_set": run.question_set_id}
    body |= {"k": 1, "algorithm": "evenly"}
    auth = {"authorization": f"Bearer {token}"}

    def post(**more):
        return Client().post("/api/runs", body | more, "application/json", headers=auth)

    assert post(per_visit=0).status_code == 422
    assert post(per_visit=4).json()["per_visit"] == 4
    assert post(name="Another").json()["per_visit"] == 10


def test_setting_may_change(requester, token):
    run = make_run(algorithm="evenly")
    address = reverse("admin:selection_run_do_change", args=[run.pk])
    assert 'name="per_visit"' in requester.get(address).content.decode()
    reply = Client().patch(
        f"/api/runs/{run.pk}",
        {"per_visit": 7},
        "application/json",
        headers={"authorization": f"Bearer {token}"},
    )
    sentence = "A visit has at most 7 questions, instead of 10."
    assert reply.json()["changed"] == {"per_visit": sentence}
    assert run.events.get(kind="per_visit").what == sentence
    run.refresh_from_db()
    assert reports.dump_run(run)["run"]["per_visit"] == 7
    assert drafts.copy_run(run, "A copy").per_visit == 7
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after all recipes were followed."""
    folder = tmp_path_factory.mktemp("followed")
    for name in NEEDED:
        shutil.copytree(TOP / name, folder / name, ignore=LEFT_OUT)
    for name in ("manage.py", "pyproject.toml", "requirements.txt"):
        shutil.copy(TOP / name, folder)
    blocks = BLOCK.findall((TOP / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(blocks) == 26
    for kind, path, how, where, code in blocks:
        follow(folder / path, kind, how, where, textwrap.dedent(code) if kind == "file" else code)
    (folder / "tests" / "test_followed.py").write_text(FOLLOWED)
    run(folder, "manage", "makemigrations", "selection", "--name", "followed")
    run(folder, "ruff", "format", "selection/migrations")
    return folder


def follow(path: Path, kind: str, how: str, where: str, code: str) -> None:
    """Do what one block says; the places it names must be there once."""
    if kind == "file":
        assert not path.exists()
        path.write_text(code, encoding="utf-8")
        return
    text, code = path.read_text(encoding="utf-8"), re.sub(r"(?m)^   ", "", code)
    if how == "at-the-end":
        path.write_text(f"{text}\n\n{code}", encoding="utf-8")
        return
    assert text.count(f"\n{where}\n") == 1, f"{path.name} has no line {where!r}"
    kept = f"{where}\n" if how == "after" else ""
    path.write_text(text.replace(f"\n{where}\n", f"\n{kept}{code}"), encoding="utf-8")


def run(copy: Path, *command: str) -> str:
    """What a command prints in the copy, with a database and a Redis of its own."""
    own = ("DATABASE_URL", "REDIS_URL", "DJANGO_", "PYTEST_", "PYTHONPATH", "COV_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    kept["PYTHONPATH"] = import_path(copy)
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=copy, env=kept, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def passed(copy: Path) -> list[str]:
    """The tests that pass in the copy, if all do: what must work now, and the contract."""
    chosen = "test_algorithm or test_format or test_endpoint or test_setting or evenly"
    chosen += " or test_page or test_column or test_field or test_export or test_connector"
    files = ("tests/test_followed.py", "packages/topk/tests/test_contract.py", QUIZ)
    out = run(copy, "pytest", "--full", "-rp", "-p", "no:cacheprovider", *files, "-k", chosen)
    return re.findall(r"(?m)^PASSED (\S+)", out)


@pytest.mark.parametrize(
    "recipe", ["algorithm", "format", "endpoint", "setting", "page", "column", "field", "export"]
)
def test_a_recipe_that_was_followed_works(passed, recipe):
    assert any(f"test_followed.py::test_{recipe}_" in name for name in passed)


def test_a_connector_is_found_and_works(passed):
    assert any(f"{QUIZ}::test_connector_" in name for name in passed)


def test_the_contract_tests_run_over_a_new_algorithm(passed):
    assert sum("test_contract.py" in name and "evenly" in name for name in passed) >= 5


def test_recipes_pass_the_style_checks(copy):
    run(copy, "ruff", "check", "packages", "selection")
    run(copy, "ruff", "format", "--check", "packages", "selection")
