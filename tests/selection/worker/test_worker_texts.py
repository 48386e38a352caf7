"""Texts for workers: pay, codes, next steps; and problem reports."""

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from selection import engine, reports
from selection.errors import Refused
from selection.models import Answer, Assignment, Candidate, QuestionReport, Run
from selection.questions import corrections, problem_reports
from selection.runs import lifecycle, worker_texts
from selection.runs.roster import membership
from selection.runs.settings import drafts
from selection.runs.worker_texts import PageFacts
from selection.worker import links
from tests.pages import admin_url, text_of
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db
CODES = {"done": "C1DONE", "screened": "C2OUT", "nothing": "C3LATER"}


@pytest.fixture
def run() -> Run:
    run = make_run(currency="€")
    worker_texts.change_facts(
        run, PageFacts(Decimal("0.125"), CODES, "You are paid **on Friday**.")
    )
    engine.advance(run.pk)
    run.refresh_from_db()
    return run


@pytest.fixture
def worker(run: Run) -> Candidate:
    return open_of(run)[0].candidate


def url_of(worker: Candidate) -> str:
    return reverse("work", args=[links.worker_token(worker.pk)]) + "?go"


def page(client: Client, worker: Candidate) -> str:
    return text_of(client.get(url_of(worker)))


def answer(client: Client, worker: Candidate) -> None:
    shown = client.get(url_of(worker)).context["page"].question
    client.post(url_of(worker), {"assignment": shown.assignment, "response": "yes"})


def test_pay_is_told_for_an_answer_and_so_far(client, run, worker):
    answer(client, worker)
    assert "€0.125 for each answer, €0.13 so far" in page(client, worker)
    worker_texts.change_facts(run, PageFacts())
    assert "for each answer" not in page(client, worker)


def test_earnings_are_rounded_to_the_unit_of_the_currency(client, run, worker):
    Run.objects.update(currency="JPY")
    worker_texts.change_facts(run, PageFacts(Decimal("12.5")))
    answer(client, worker)
    assert "¥12.5 for each answer, ¥13 so far" in page(client, worker)


def test_returning_worker_reads_their_earnings_after_the_end(client, run, worker):
    for _ in range(3):
        answer(client, worker)
    Answer.objects.filter(pk=Answer.objects.first().pk).update(expired=True)  # it came too late
    lifecycle.stop_run(run)
    over = page(client, worker)
    assert "this test is over" in over
    assert "2 answered" in over
    assert "€0.25 earned" in over
    assert "You are paid on Friday" in over


def test_earnings_and_code_survive_the_deletion_of_responses(client, run, worker):
    answer(client, worker)
    lifecycle.stop_run(run)
    before = page(client, worker)
    Answer.objects.update(response="")  # like the retention, long after the end
    assert "C1DONE" in before
    assert page(client, worker) == before


def test_endings_have_their_own_code(client, run, worker):
    assert not any(code in page(client, worker) for code in CODES.values())
    for _ in range(3):
        answer(client, worker)
    assert "C3LATER" in page(client, worker)
    Candidate.objects.filter(pk=worker.pk).update(verdict=Candidate.Verdicts.REJECTED)
    rejected = page(client, worker)
    assert "C1DONE" in rejected
    assert "You are paid on Friday" in rejected
    assert "€0.38 earned" in rejected
    Candidate.objects.filter(pk=worker.pk).update(verdict=Candidate.Verdicts.ACCEPTED)
    assert page(client, worker) == rejected
    Candidate.objects.filter(pk=worker.pk).update(verdict=Candidate.Verdicts.UNDECIDED)
    membership.record_leaving(run, worker.worker_id)
    assert "C2OUT" in page(client, worker)
    lifecycle.stop_run(run)
    assert "C2OUT" in page(client, worker)


def test_worker_without_answers_gets_no_code_for_completion(client, run, worker):
    lifecycle.stop_run(run)
    assert "C3LATER" in page(client, worker)
    assert "C1DONE" not in page(client, worker)


def test_codes_are_generated_if_not_configured(run):
    run.page = {}
    made = [worker_texts.completion_code(run, outcome) for outcome in worker_texts.OUTCOMES]
    assert len(set(made)) == 3
    assert made == [worker_texts.completion_code(run, outcome) for outcome in worker_texts.OUTCOMES]
    assert all(len(code) == 8 for code in made)


def test_two_outcomes_never_have_one_code(run):
    with pytest.raises(Refused, match="Two outcomes have the same code"):
        worker_texts.change_facts(run, PageFacts(codes={"done": "X", "nothing": "X"}))


def test_copy_keeps_the_texts_but_no_codes(run):
    assert drafts.copy_run(run, "again").page == {"pay": "0.125", "after": run.page["after"]}


def test_the_requester_sets_it_on_a_page_at_any_time(requester, run):
    url = admin_url("run_told", run.pk)
    assert 'value="C1DONE"' in requester.get(url).content.decode()
    form = {"pay": "0.2", "code_done": "NEW", "after": "Thanks."}
    assert "The worker messages are saved." in text_of(requester.post(url, form, follow=True))
    run.refresh_from_db()
    assert run.page == {"pay": "0.2", "codes": {"done": "NEW"}, "after": "Thanks."}
    assert run.events.get(kind="worker page", who="requester")
    assert "Enter 0 or more" in text_of(requester.post(url, {"pay": "-1"}))
    same = {"code_done": "A", "code_screened": "A"}
    assert "Two outcomes have the same code" in text_of(requester.post(url, same))


# -- reports about a question


def report(client: Client, worker: Candidate, assignment: int, text: str):
    return client.post(url_of(worker), {"assignment": assignment, "complaint": text}, follow=True)


def test_a_broken_question_is_reported_and_the_requester_sees_it(client, run, worker, requester):
    shown = Client().get(url_of(worker)).context["page"].question
    said = text_of(report(client, worker, shown.assignment, "The picture is black. <b>"))
    assert "Thank you, the people who ask the questions will see this." in said
    question = Assignment.objects.get(pk=shown.assignment).question
    (need,) = reports.list_alerts(run)
    assert (need.kind, need.words) == (
        "broken",
        f"Workers report a problem with this question: “{question}”.",
    )
    change = admin_url("question_change", question.pk)
    assert "The picture is black. <b>" in text_of(requester.get(change))
    requester.post(admin_url("question_heard", question.pk))
    assert not reports.list_alerts(run)
    assert "Mark as resolved" not in text_of(requester.get(change))


def test_a_report_that_comes_again_replaces_the_first_and_one_on_retired_gold_is_settled(
    client, run, worker
):
    shown = client.get(url_of(worker)).context["page"].question
    report(client, worker, shown.assignment, "one")
    report(client, worker, shown.assignment, "two")
    assert QuestionReport.objects.get().text == "two"
    corrections.retire_question(
        Assignment.objects.get(pk=shown.assignment).question, "ada", "black"
    )
    assert not problem_reports.open_reports(run).exists()


@pytest.mark.parametrize("text", ["", "  ", "x" * 2001, "a\0b"])
def test_a_report_has_words(client, run, worker, text):
    shown = client.get(url_of(worker)).context["page"].question
    assert "Please describe the problem" in text_of(report(client, worker, shown.assignment, text))
    assert not QuestionReport.objects.exists()


def test_worker_reports_only_their_own_shown_questions(client, run, worker):
    client.get(url_of(worker))
    other = next(one for one in open_of(run) if one.candidate_id != worker.pk)
    unseen = next(one for one in open_of(run) if one.candidate_id == worker.pk and not one.shown)
    for odd in (other.pk, unseen.pk, 2**62, "x", "9" * 40, "²"):
        assert report(client, worker, odd, "broken").status_code == 404
    assert not QuestionReport.objects.exists()
