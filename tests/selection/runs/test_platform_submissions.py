"""Submission statuses of a platform: returned and timed-out places free their workers."""

import pytest
from django.test import Client

from selection import engine
from selection.errors import Conflict, Refused
from selection.imports import submissions
from selection.models import Assignment, Run
from selection.runs import lifecycle
from selection.runs.roster import platform_submissions
from tests.pages import admin_url, text_of
from tests.worlds import answer_all, crowd, make_run, open_of

pytestmark = pytest.mark.django_db

PROLIFIC = """Submission id,Participant id,Status,Started at
1,w0,RETURNED,2026-05-04
2,w1,APPROVED,2026-05-04
3,w2,TIMED-OUT,2026-05-04
4,stranger,RETURNED,2026-05-04
"""


@pytest.fixture
def run():
    made = make_run(slots=18)
    engine.advance(made.pk)
    return made


BATCH = """HITId,AssignmentId,WorkerId,AssignmentStatus
3H,3A,w0,AssignmentReturned
3H,3B,w1,Approved
"""


@pytest.mark.parametrize("title", ["", "Study: birds of spring\n\n", "Export of,4 May 2026\n"])
@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_a_title_above_a_platforms_file_is_passed_over(title, between):
    found = submissions.read_submissions(title + PROLIFIC.replace(",", between), "f.csv")
    assert found == {"w0": "RETURNED", "w1": "APPROVED", "w2": "TIMED-OUT", "stranger": "RETURNED"}
    found = submissions.read_submissions(title + BATCH.replace(",", between), "f.csv")
    assert found == {"w0": "AssignmentReturned", "w1": "Approved"}


def test_returned_worker_s_questions_go_back_and_answers_stay(run):
    slip = next(one for one in open_of(run) if one.candidate.worker.key == "w0")
    answer_all(run, lambda one: "yes" if one == slip else None)
    done = platform_submissions.report_submissions(run, {"w0": "RETURNED", "w1": "APPROVED"}, "me")
    assert (done.freed, done.unknown, done.others) == (["w0"], [], 1)
    engine.advance(run.pk)
    own = run.candidates.get(worker__key="w0")
    assert (own.gone, own.asked, own.pulls) == ("left", 1, 1)
    assert Assignment.objects.filter(candidate=own).get() == slip
    assert run.candidates.get(worker__key="w1").gone == ""
    assert "Returned or timed out on the platform: w0." in [one.what for one in run.events.all()]


def test_the_place_is_free_for_others(run):
    held = run.candidates.get(worker__key="w3").asked
    platform_submissions.report_submissions(run, {"w0": "TIMED-OUT"})
    answer_all(run, lambda one: "yes" if one.candidate.worker.key != "w0" else None)
    engine.advance(run.pk)
    assert run.candidates.get(worker__key="w3").asked > held
    assert not [one for one in open_of(run) if one.candidate.worker.key == "w0"]


def test_repeated_report_has_no_further_effect(run):
    platform_submissions.report_submissions(run, {"w0": "returned"})
    again = platform_submissions.report_submissions(run, {"w0": "RETURNED"})
    assert (again.freed, again.others) == ([], 1)
    assert run.events.filter(kind="leave").count() == 1


@pytest.mark.parametrize("word", ["RETURNED", "Timed-Out", "TIMED_OUT", "AssignmentAbandoned"])
def test_status_words_of_platforms_are_known(word):
    assert platform_submissions.has_left(word)


@pytest.mark.parametrize("word", ["APPROVED", "AWAITING REVIEW", "ACTIVE", "Submitted", ""])
def test_unknown_status_words_change_no_worker(word):
    assert not platform_submissions.has_left(word)


def test_a_run_that_is_over_takes_no_reports(run):
    lifecycle.stop_run(run)
    with pytest.raises(Conflict):
        platform_submissions.report_submissions(run, {"w0": "RETURNED"})


def test_the_file_is_the_platforms_own():
    found = {"w0": "RETURNED", "w1": "APPROVED", "w2": "TIMED-OUT", "stranger": "RETURNED"}
    assert submissions.read_submissions(PROLIFIC, "export") == found
    assert submissions.read_submissions("\ufeff" + PROLIFIC.replace(",", ";"), "export") == found
    assert submissions.read_submissions("WorkerId\tAssignmentStatus\nA1\tSubmitted\n", "x") == {
        "A1": "Submitted"
    }


def test_foreign_file_is_refused_with_the_right_columns():
    for text in ("", "a,b\n1,2\n", "Participant id\nw0\n"):
        with pytest.raises(Refused, match=r"needs a column|is empty"):
            submissions.read_submissions(text, "export")


def test_the_page_takes_the_export(requester, run):
    address = admin_url("run_submissions", run.pk)
    assert "Participant id" in text_of(requester.get(address))
    preview = requester.post(address, {"pasted": PROLIFIC})
    words = text_of(preview)
    assert "has 4 workers, 3 in this run" in words
    assert (
        "2 workers returned or timed out. We will release the open assignments of these workers"
        in words
    )
    assert "1 returned or timed-out worker is not in this run: stranger." in words
    assert not run.candidates.exclude(gone="").exists()
    lines = preview.context["lines"]
    page = requester.post(address, {"pasted": lines, "confirm": "1"}, follow=True)
    assert "Assignments of 2 workers released. Not in this run: stranger." in text_of(page)
    gone = run.candidates.exclude(gone="").order_by("worker__key")
    assert [one.worker.key for one in gone] == ["w0", "w2"]
    bad = requester.post(address, {"pasted": "a,b\n1,2"})
    assert "needs a column" in text_of(bad)


def test_file_without_a_worker_of_the_run_gives_a_warning(requester, run):
    address = admin_url("run_submissions", run.pk)
    other = "Participant id,Status\nx1,RETURNED\nx2,APPROVED\n"
    words = text_of(requester.post(address, {"pasted": other}))
    assert "No worker of this file is in this run." in words
    assert "This file changes nothing in this run." in words
    assert "Release open assignments" not in words


def test_ids_that_are_none_of_prolific_are_named(requester, run):
    address, good = admin_url("run_submissions", run.pk), "0123456789abcdef01234567"
    file = f"Participant id,Status\nw0,RETURNED\n{good},RETURNED\n60a1c2,APPROVED\n"
    assert "of Prolific" not in text_of(requester.post(address, {"pasted": file}))
    Run.objects.update(platform="prolific")
    words = text_of(requester.post(address, {"pasted": file}))
    assert "2 ids are no ids of Prolific" in words
    assert "letters a to f. 60a1c2, w0." in words


def test_the_api_takes_many(token, run):
    api = Client(headers={"authorization": f"Bearer {token}"})
    body = {"submissions": [{"worker": "w0", "status": "RETURNED"}], "reason": "as Prolific says"}
    reply = api.post(f"/api/runs/{run.pk}/submissions", body, content_type="application/json")
    assert reply.json() == {"freed": ["w0"], "unknown": [], "others": 0}
    assert run.events.get(kind="leave").why == "as Prolific says"


def test_run_of_rounds_continues_without_the_returned_worker():
    run = make_run(algorithm="sar", budget=60)
    for _ in range(3):
        engine.advance(run.pk)
        answer_all(run, crowd(1, good=2))
    assert platform_submissions.report_submissions(run, {"w5": "RETURNED"}).freed == ["w5"]
    assert run.candidates.get(worker__key="w5").gone == "left"
