"""``manage.py import``."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from selection.models import Pool, RecordedAnswer, Team, Upload
from tests.selection.imports.readers.files import workbook
from tests.worlds import make_pool, make_questions, make_run

pytestmark = pytest.mark.django_db


def imported(kind: str, path, into: str, *options: str) -> str:
    out = StringIO()
    call_command("import", kind, str(path), "--into", into, *options, stdout=out, stderr=out)
    return out.getvalue()


def refusal(*args) -> str:
    with pytest.raises(CommandError) as caught:
        imported(*args)
    assert caught.value.returncode == 2
    return str(caught.value)


def test_workers_are_imported_from_excel_with_named_columns(tmp_path):
    pool, path = make_pool(0), tmp_path / "leute.xlsx"
    path.write_bytes(workbook([["Kennung", "Wer", "Ort"], ["A1", "Jörg", "Köln"], ["", "x", "y"]]))
    said = imported("workers", path, pool.name, "--map", "Kennung=worker", "--map", "Wer=name")
    assert "line 3: The column “Kennung” is empty." in said
    assert f"1 worker imported into “{pool}”." in said
    worker = pool.workers.get()
    assert (worker.key, worker.name, worker.attributes) == ("A1", "Jörg", {"ort": "Köln"})
    assert not Upload.objects.exclude(state="taken").exists()


def test_questions_and_answers_are_imported(tmp_path):
    asked, path = make_questions(0), tmp_path / "gold.json"
    path.write_text(json.dumps([{"question": "q1", "prompt": "Bird?", "answer": "yes"}]))
    assert "1 question imported" in imported("questions", path, asked.name)
    run, path = make_run(), tmp_path / "answers.tsv"
    path.write_text("task\tworker\tlabel\nq1\tw1\tyes\n")
    assert "1 answer imported" in imported("answers", path, run.name)
    assert RecordedAnswer.objects.get().response == "yes"


def test_check_imports_no_row_and_strict_imports_all_or_nothing(tmp_path):
    pool, path = make_pool(0), tmp_path / "ids.txt"
    path.write_text("worker\nA1\nA1\n")
    assert "line 3: This worker is there already" in imported("workers", path, pool.name, "--check")
    assert "1 row would not be taken" in refusal("workers", path, pool.name, "--strict")
    assert not pool.workers.exists()
    assert not Upload.objects.exists()


def test_impossible_import_is_refused_in_one_sentence(tmp_path):
    pool, path = make_pool(0), tmp_path / "f.csv"
    path.write_text("question,prompt,answer\nq1,Bird?,yes\n")
    assert "Import it into a question set" in refusal("workers", path, pool.name)
    assert "There is no pool “Nowhere”." in refusal("workers", path, "Nowhere")
    assert "no such file" in refusal("workers", tmp_path / "none", pool.name)
    assert "says nothing of a column" in refusal("workers", path, pool.name, "--map", "worker")
    assert "There is no team “Others”." in refusal("workers", path, pool.name, "--team", "Others")
    assert not Upload.objects.exists()


def test_a_name_that_several_teams_use_needs_the_team(tmp_path):
    pool, path = make_pool(0), tmp_path / "f.csv"
    path.write_text("worker\nA1\n")
    other = Pool.objects.create(name=pool.name, team=Team.objects.create(name="Others"))
    assert "say which with --team" in refusal("workers", path, pool.name)
    imported("workers", path, pool.name, "--team", "Others")
    assert other.workers.get().key == "A1"
    assert not pool.workers.exists()
