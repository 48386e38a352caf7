"""Uploads: staged piece by piece, invisible until imported as a whole, and undone."""

import subprocess
from datetime import timedelta

import pytest
from django.utils import timezone

from selection import engine
from selection.errors import Conflict, NotFound, Refused
from selection.imports import column_plan, commit, staging, uploads
from selection.models import (
    Answer,
    ColumnNames,
    Pool,
    Question,
    RecordedAnswer,
    Upload,
    UploadedRow,
    Worker,
)
from selection.outbox import celery_messages, jobs
from tests.worlds import make_pool, make_questions, make_run, open_of

from .readers.files import workbook

pytestmark = pytest.mark.django_db

State = Upload.State


def bring(kind: str, target, text: str | bytes, name: str = "f.csv") -> Upload:
    raw = text.encode() if isinstance(text, str) else text
    upload = uploads.create_upload(kind, target, name, raw, at_once=False)
    uploads.go_on(upload, float("inf"))
    return upload


def state_of(upload: Upload) -> str:
    return Upload.objects.get(pk=upload.pk).state


def changed(upload: Upload, *pairs: tuple[str, str]) -> column_plan.ColumnPlan:
    return column_plan.apply_column_choices(
        column_plan.ColumnPlan(**upload.plan), upload.header, pairs
    )


def many(count: int, name: str = "") -> str:
    return "worker,name\n" + "".join(f"w{i},{name or i}\n" for i in range(count))


def test_columns_beside_the_prompt_are_stored_and_undone():
    target = make_questions(1)
    table = "question,prompt,answer,topic\nq0,Say yes.,yes,Art\nnew,Say no.,no,\n"
    upload = bring("questions", target, table)
    assert column_plan.ColumnPlan(**upload.plan).unread_columns(upload.header) == ["topic"]
    commit.commit_import(upload.pk)
    stored = dict(target.questions.values_list("key", "columns"))
    assert stored == {"q0": {"topic": "Art"}, "new": {"topic": ""}}
    commit.undo_import(upload.pk)
    assert target.questions.get().columns == {}


def test_a_small_workbook_is_read_by_one_process(monkeypatch):
    began, popen = [], subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda *words, **how: began.append(words) or popen(*words, **how)
    )
    rows = [["question", "prompt", "answer"], ["one", "Asked once?", "yes"]]
    upload = uploads.create_upload("questions", make_questions(1), "f.xlsx", workbook(rows))
    assert uploads.read_head(upload).rows == rows[1:]
    commit.commit_import(upload.pk)
    assert len(began) == 1


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(staging, "PIECE", 10)


@pytest.fixture
def handed_out(monkeypatch):
    """Messages to Celery, which has no worker here."""
    sent: list[str] = []
    monkeypatch.setattr(uploads.transaction, "on_commit", lambda do, robust: do())
    monkeypatch.setattr(
        celery_messages.current_app, "send_task", lambda _, args, **how: sent.append(*args)
    )
    return sent


# -- sorting


@pytest.mark.usefixtures("small_pieces")
def test_import_is_all_or_nothing():
    pool = make_pool(3)
    upload = bring("workers", pool, many(25, "new"))
    assert state_of(upload) == State.DONE
    assert (upload.accepted_rows, upload.bad, upload.position) == (25, 0, 25)
    assert pool.workers.count() == 3
    assert not pool.workers.filter(name="new").exists()
    _, count = commit.commit_import(upload.pk)
    assert count == 25
    assert pool.workers.filter(name="new").count() == pool.workers.count() == 25
    assert bytes(Upload.objects.get().content) == b""


@pytest.mark.usefixtures("small_pieces")
def test_long_import_is_queued_and_continues_after_the_stored_rows(monkeypatch, handed_out):
    monkeypatch.setattr(uploads, "AT_ONCE", 0)
    monkeypatch.setattr(uploads, "A_TURN", 0)
    pool = make_pool(0)
    upload = uploads.create_upload("workers", pool, "f.csv", many(35).encode())
    assert (upload.state, upload.position, handed_out) == (State.WAITING, 10, [str(upload.pk)])
    jobs.work_on_job(upload.pk)
    assert UploadedRow.objects.count() == Upload.objects.get().position == 20
    jobs.work_on_job(upload.pk)
    jobs.work_on_job(upload.pk)
    jobs.work_on_job(upload.pk)
    assert state_of(upload) == State.DONE
    assert [row.line for row in upload.rows.all()] == list(range(2, 37))


@pytest.mark.usefixtures("small_pieces")
def test_sorter_of_a_cancelled_file_stops():
    upload = uploads.create_upload(
        "workers", make_pool(0), "f.csv", many(35).encode(), at_once=False
    )

    def cancelled() -> bool:
        uploads.discard_upload(upload)
        return False

    with pytest.raises(jobs.JobLost):
        staging.stage_rows(upload, cancelled)
    assert not UploadedRow.objects.exists()
    jobs.work_on_job(upload.pk)  # a message that comes late


@pytest.mark.usefixtures("small_pieces")
def test_sweep_goes_on_with_lost_uploads_and_deletes_abandoned_ones(handed_out):
    upload = uploads.create_upload(
        "workers", make_pool(0), "f.csv", many(35).encode(), at_once=False
    )
    jobs.sweep_jobs()
    assert handed_out == []
    Upload.objects.update(sent=timezone.now() - jobs.MESSAGES[True][1] * 2)
    jobs.sweep_jobs()
    assert handed_out == [str(upload.pk)]
    Upload.objects.update(expires=timezone.now())
    uploads.sweep_uploads()
    assert not Upload.objects.exists()


@pytest.mark.usefixtures("small_pieces")
def test_duplicate_is_found_pieces_later():
    upload = bring("workers", make_pool(0), many(25) + "w3,again\n")
    (problem,) = commit.rejected_rows(upload, "refuse")
    assert (problem.line, problem.why) == (27, "This worker is there already, in line 5.")


def test_further_rows_of_a_worker_are_passed_over_where_they_are_expected():
    text = "HITId,AssignmentId,WorkerId\nh1,a1,A1\nh2,a2,A1\nh1,a3,A2\n"
    upload = bring("workers", make_pool(0), text)
    assert (upload.accepted_rows, upload.bad, upload.passed) == (2, 0, 1)


def test_a_row_that_cannot_be_read_is_listed_and_the_others_are_imported():
    pool = make_pool(0)
    upload = bring("workers", pool, "worker,name\na,b\nc,d,e\nf,g\n")
    (problem,) = commit.rejected_rows(upload)
    assert (problem.line, problem.why) == (
        3,
        "There are 3 values for 2 columns: put a value with a comma in quotation marks.",
    )
    commit.commit_import(upload.pk)
    assert sorted(pool.workers.values_list("key", flat=True)) == ["a", "f"]


# -- columns


def test_unknown_columns_are_asked_for_and_remembered_for_the_team():
    pool = make_pool(0)
    text = "Chiffre;Vorname\nA1;Jörg\n".encode("cp1252")
    upload = bring("workers", pool, text)
    assert upload.state == State.ASKING
    plan = column_plan.apply_column_choices(
        column_plan.ColumnPlan(**upload.plan),
        upload.header,
        [("Chiffre", "worker"), ("Vorname", "name")],
    )
    uploads.name_columns(upload, plan)
    assert state_of(upload) == State.DONE
    commit.commit_import(upload.pk)
    assert pool.workers.get(key="A1").name == "Jörg"
    again = bring("workers", pool, "Vorname,Chiffre\nAda,A2\n")
    assert again.state == State.DONE
    assert column_plan.ColumnPlan(**again.plan).remembered
    assert ColumnNames.objects.count() == 1


def test_reading_again_discards_the_sorted_rows():
    upload = bring("workers", make_pool(0), "worker,name\nA1,Ada\nA2,Ben\n")
    plan = column_plan.apply_column_choices(
        column_plan.ColumnPlan(**upload.plan), upload.header, [("name", "worker"), ("worker", "")]
    )
    uploads.name_columns(upload, plan)
    assert [row.key for row in upload.rows.all()] == ["Ada", "Ben"]
    assert Upload.objects.get().accepted_rows == 2


def test_letters_can_be_read_otherwise():
    upload = bring("workers", make_pool(0), "worker,name\nA1,Łukasz Żak\n".encode("cp1250"))
    uploads.name_columns(upload, column_plan.ColumnPlan(**upload.plan), "cp1250")
    assert upload.rows.get().data["name"] == "Łukasz Żak"
    with pytest.raises(Refused, match="not text in UTF-8"):
        uploads.name_columns(upload, column_plan.ColumnPlan(**upload.plan), "utf-8")


# -- undoing


def test_undoing_takes_back_the_new_workers_and_puts_back_the_old():
    pool = make_pool(0)
    Worker.objects.create(pool=pool, key="w1", name="Before", attributes={"a": "b"})
    upload = bring("workers", pool, many(3, "After"))
    commit.commit_import(upload.pk)
    commit.undo_import(upload.pk)
    (worker,) = pool.workers.all()
    assert (worker.key, worker.name, worker.attributes) == ("w1", "Before", {"a": "b"})
    assert not Upload.objects.exists()
    with pytest.raises(NotFound):
        commit.undo_import(upload.pk)


def test_only_the_last_file_can_be_undone():
    pool = make_pool(0)
    first, second = bring("workers", pool, many(2)), bring("workers", pool, many(3))
    commit.commit_import(first.pk)
    commit.commit_import(second.pk)
    assert uploads.last_taken("workers", pool) == second
    with pytest.raises(NotFound):
        commit.undo_import(first.pk)
    commit.undo_import(second.pk)
    assert pool.workers.count() == 2


def test_workers_that_a_run_has_stay():
    pool = make_pool(0)
    upload = bring("workers", pool, many(6))
    commit.commit_import(upload.pk)
    make_run(pool=pool)
    with pytest.raises(Conflict, match="A run or a watch uses"):
        commit.undo_import(upload.pk)
    assert pool.workers.count() == 6


def gold(*keys: str, prompt: str = "New?") -> str:
    return "question,prompt,answer\n" + "".join(f"{key},{prompt},yes\n" for key in keys)


def test_questions_are_numbered_on_replaced_in_place_and_undone():
    asked = make_questions(2)
    upload = bring("questions", asked, gold("q1", "q7", "q8"))
    commit.commit_import(upload.pk)
    rows = list(asked.questions.values_list("number", "key", "prompt"))
    assert [row[:2] for row in rows] == [(0, "q0"), (1, "q1"), (2, "q7"), (3, "q8")]
    assert rows[1][2] == rows[3][2] == "New?"
    commit.undo_import(upload.pk)
    assert list(asked.questions.values_list("number", "key")) == [(0, "q0"), (1, "q1")]
    assert not Question.objects.filter(prompt="New?").exists()


def test_questions_used_by_a_run_are_not_undone():
    asked = make_questions(0)
    upload = bring("questions", asked, gold("q1", "q2"))
    commit.commit_import(upload.pk)
    late = Question.objects.create(question_set=asked, number=2, key="q3", prompt="Later?")
    with pytest.raises(Conflict, match="added after the questions of this file"):
        commit.undo_import(upload.pk)
    late.delete()
    make_run(question_set=asked, n=3, k=1)
    with pytest.raises(Conflict, match="A run or a watch uses"):
        commit.undo_import(upload.pk)


def test_a_question_that_was_asked_since_it_was_sorted_is_not_changed():
    run = make_run(questions=20)
    upload = bring("questions", run.question_set, gold(*(f"q{i}" for i in range(20))))
    assert upload.accepted_rows == 20
    engine.advance(run.pk)
    with pytest.raises(Conflict, match="has been asked"):
        commit.commit_import(upload.pk)
    assert not Question.objects.filter(prompt="New?").exists()


def answers(run, *pairs: tuple[str, str]) -> str:
    return "worker,question,response\n" + "".join(f"{w},{q},yes\n" for w, q in pairs)


def test_answers_that_wait_can_be_undone_until_the_run_uses_one():
    run = make_run(questions=30)
    upload = bring("answers", run, answers(run, ("w0", "q1"), ("w1", "q2")))
    commit.commit_import(upload.pk)
    assert RecordedAnswer.objects.count() == 2
    commit.undo_import(upload.pk)
    assert not RecordedAnswer.objects.exists()
    upload = bring("answers", run, answers(run, ("w0", "q1"), ("w1", "q2")))
    commit.commit_import(upload.pk)
    RecordedAnswer.objects.first().delete()  # as the engine does that asks for it
    with pytest.raises(Conflict, match="has used answers of this file"):
        commit.undo_import(upload.pk)


def test_answers_that_count_at_once_stay():
    run = make_run(questions=30)
    engine.advance(run.pk)
    out = open_of(run)[0]
    pairs = [(out.candidate.worker.key, out.question.key)]
    upload = bring("answers", run, answers(run, *pairs))
    assert commit.count_by_moment(upload, "refuse") == (1, 0, 0)
    commit.commit_import(upload.pk)
    assert Answer.objects.get().assignment_id == out.pk
    with pytest.raises(Conflict, match="has used answers of this file"):
        commit.undo_import(upload.pk)


def test_answer_overdue_since_sorting_is_left_out():
    run = make_run(questions=30)
    engine.advance(run.pk)
    out = open_of(run)[0]
    upload = bring("answers", run, answers(run, (out.candidate.worker.key, out.question.key)))
    type(out).objects.filter(pk=out.pk).update(due=timezone.now() - timedelta(minutes=1))
    _, count = commit.commit_import(upload.pk)
    assert count == 0
    assert not Answer.objects.exists()
    assert not RecordedAnswer.objects.exists()


def test_file_for_a_deleted_pool_is_refused():
    pool = make_pool(0)
    upload = bring("workers", pool, many(2))
    Pool.objects.all().delete()
    with pytest.raises(NotFound, match="was deleted"):
        commit.commit_import(upload.pk)
