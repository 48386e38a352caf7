"""The worker's page: a question at a time, and no data of others."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from selection import engine
from selection.answers import overdue
from selection.models import Answer, Assignment, Candidate, QuestionSet, Run
from selection.questions import corrections
from selection.runs import lifecycle
from selection.worker import links
from tests.worlds import crowd, make_run, open_of, play

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    run = make_run()
    QuestionSet.objects.update(instructions="Take your time.")
    engine.advance(run.pk)
    return run


@pytest.fixture
def worker(run: Run) -> Candidate:
    """A worker with open questions."""
    return open_of(run)[0].candidate


def url_of(worker: Candidate) -> str:
    return reverse("work", args=[links.worker_token(worker.pk)]) + "?go"


def question_of(client: Client, worker: Candidate):
    return client.get(url_of(worker)).context["page"].question


def send(client: Client, worker: Candidate, assignment: int, response: str):
    form = {"assignment": assignment, "response": response}
    return client.post(url_of(worker), form, follow=True)


def page(client: Client, worker: Candidate) -> str:
    return client.get(url_of(worker)).content.decode()


def test_page_shows_instructions_one_question_and_the_time_left(client, run, worker):
    shown = page(client, worker)
    assert "Take your time." in shown
    assert shown.count("Say yes to") == 1
    assert "59 minutes left to answer" in shown
    assert "Question 1 of at most 200" in shown
    assert "<script" not in shown


def test_page_offers_choices_or_a_text_field(client, run, worker):
    assert 'type="text"' in page(client, worker)
    question = open_of(run)[0].question
    question.choices = ["yes", "no"]
    question.save()
    assert page(client, worker).count('type="radio"') == 2


@pytest.mark.parametrize(
    ("kind", "choices", "field", "sent", "kept"),
    [
        ("multiple", ["a", "b", "c"], 'type="checkbox"', ["a", "c"], "a | c"),
        ("order", ["a", "b", "c"], "<select", ["c", "a", "b"], "c | a | b"),
        ("number", [], 'inputmode="decimal"', ["1.234,5"], "1.234,5"),
    ],
)
def test_question_kinds_have_their_own_fields(
    client, run, worker, kind, choices, field, sent, kept
):
    run.question_set.questions.update(choices=choices, grading={kind: True})
    assert field in page(client, worker)
    send(client, worker, question_of(client, worker).assignment, sent)
    assert Answer.objects.get().response == kept


@pytest.mark.parametrize(
    ("kind", "choices", "sent", "said", "kept"),
    [
        ("multiple", ["a", "b"], [], "Please give an answer first", {"checked": 0}),
        ("multiple", ["a", "b"], ["b", "d"], "not in the list", {'value="b" checked': 1}),
        ("multiple", ["a", "None"], ["a", "None"], "cannot be combined", {"checked": 2}),
        ("order", ["a", "b"], ["b", "b"], "Please put them", {"<option selected>b": 2}),
        ("number", [], ["many <"], "That is not a number", {'value="many &lt;"': 1}),
    ],
)
def test_impossible_answer_is_asked_again_with_the_typed_text_and_no_hint(
    client, run, worker, kind, choices, sent, said, kept
):
    run.question_set.questions.update(choices=choices, grading={kind: True})
    shown = send(client, worker, question_of(client, worker).assignment, sent)
    assert said in shown.content.decode()
    assert {words: shown.content.decode().count(words) for words in kept} == kept
    assert not Answer.objects.exists()


def test_answer_is_taken_and_the_next_question_shown(client, run, worker):
    first = question_of(client, worker)
    response = send(client, worker, first.assignment, "yes")
    assert [status for _, status in response.redirect_chain] == [303]  # Back sends nothing again
    assert Answer.objects.get().response == "yes"
    assert response.context["page"].question.assignment != first.assignment
    assert "Question 2 of at most 200" in response.content.decode()


def test_sending_twice_leaves_the_first_answer(client, run, worker):
    first = question_of(client, worker)
    send(client, worker, first.assignment, "yes")
    again = send(client, worker, first.assignment, "no")
    assert again.status_code == 200
    assert "your first answer to it counts" in again.content.decode()
    assert Answer.objects.get().response == "yes"


def test_two_tabs_show_the_same_question_and_one_answer_counts(client, run, worker):
    one, other = question_of(client, worker), question_of(Client(), worker)
    assert one.assignment == other.assignment
    following = send(client, worker, one.assignment, "yes").context["page"].question
    late = send(Client(), worker, other.assignment, "no").context["page"].question
    assert late.assignment == following.assignment
    assert Answer.objects.get().response == "yes"


def test_page_needs_no_cookie(run, worker):
    strict = Client(enforce_csrf_checks=True)
    first = question_of(strict, worker)
    assert send(strict, worker, first.assignment, "yes").status_code == 200
    assert Answer.objects.count() == 1
    assert not strict.cookies


@pytest.mark.parametrize("response", ["", "   ", "x" * 10_001, "a\0b"])
def test_empty_answer_is_asked_for_again(client, run, worker, response):
    first = question_of(client, worker)
    answered = send(client, worker, first.assignment, response)
    assert "Please give an answer first" in answered.content.decode()
    assert not Answer.objects.exists()


def test_late_answer_is_refused_with_an_explanation(client, run, worker):
    first = question_of(client, worker)
    Assignment.objects.filter(pk=first.assignment).update(due=timezone.now() - timedelta(seconds=1))
    answered = send(client, worker, first.assignment, "yes").content.decode()
    assert "Too late" in answered
    assert not Answer.objects.exists()
    assert question_of(client, worker).assignment != first.assignment


def test_page_waits_while_no_question_is_available(client, run, worker):
    while question := question_of(client, worker):
        send(client, worker, question.assignment, "yes")
    shown = page(client, worker)
    assert "No question for you right now" in shown
    assert client.get(url_of(worker))["Refresh"] == f"3; url={url_of(worker)}=1"
    still = client.get(url_of(worker) + "&still")
    assert "Refresh" not in still
    assert "Look now" in still.content.decode()


def test_open_questions_can_be_answered_in_a_pause(client, run, worker):
    lifecycle.pause_run(run)
    while question := question_of(client, worker):
        send(client, worker, question.assignment, "yes")
    assert "A pause" in page(client, worker)


@pytest.mark.parametrize("verdict", [Candidate.Verdicts.ACCEPTED, Candidate.Verdicts.REJECTED])
def test_a_decided_worker_is_thanked_and_not_told_which(client, run, worker, verdict):
    Candidate.objects.filter(pk=worker.pk).update(verdict=verdict)
    shown = page(client, worker)
    assert "Thank you, there are no more questions" in shown
    assert "Refresh" not in client.get(url_of(worker))
    assert "accepted" not in shown
    assert "rejected" not in shown


def test_page_of_an_ended_run_thanks_the_worker(client, run, worker):
    first = question_of(client, worker)
    lifecycle.stop_run(run)
    answered = send(client, worker, first.assignment, "yes")
    said = answered.content.decode()
    assert "Thank you, this test is over" in said
    assert "ended before your answer arrived. The answer was not saved" in said
    assert "have been received" not in said
    assert not Answer.objects.exists()


def test_page_thanks_once_the_questions_are_used_up(client):
    run = play(make_run(questions=4, slots=100), crowd(1, 2), most=2)
    worker = run.candidates.first()
    assert worker.asked == 4
    assert "Thank you, there are no more questions" in page(client, worker)


def test_run_on_recorded_answers_asks_no_worker(client):
    run = make_run(recorded_only=True)
    assert "no more questions" in page(client, run.candidates.first())


def test_page_never_shows_an_answer_a_grade_or_another_worker(client):
    run = play(make_run(name="the spring run"), crowd(1, 2), most=3)
    engine.advance(run.pk)
    QuestionSet.objects.update(instructions="")
    for question in run.question_set.questions.all():
        question.accepted, question.prompt = ["secret"], "A question."
        question.save()
    worker = open_of(run)[0].candidate
    for other in run.pool.workers.all():
        other.key = other.name = f"somebody number {other.pk}"
        other.save()
    # The link's signature may contain any short word by chance.
    shown = page(client, worker).replace(links.worker_token(worker.pk), "").casefold()
    assert "a question." in shown
    for word in ("secret", "right", "mean", "lower", "verdict", "undecided", "somebody", run.name):
        assert word not in shown


def test_a_link_that_was_changed_leads_to_a_friendly_404(client, run, worker):
    token = links.worker_token(worker.pk)
    foreign = str(worker.pk + 1) + token[token.index(".") :]
    for bad in (token[:-1], token + "x", foreign, "1", "nonsense", "é.x"):
        response = client.get(reverse("work", args=[bad]))
        assert response.status_code == 404
        assert "This link leads nowhere" in response.content.decode()
        assert client.post(reverse("work", args=[bad]), {}).status_code == 404


def test_a_link_outlives_neither_its_run_nor_fails_after_it(client, run, worker):
    url = url_of(worker)
    run.delete()
    assert client.get(url).status_code == 404


def test_worker_cannot_answer_for_another(client, run, worker):
    other = next(a for a in open_of(run) if a.candidate_id != worker.pk)
    assert send(client, worker, other.pk, "yes").status_code == 404
    assert send(client, worker, 2**62, "yes").status_code == 404
    assert send(client, worker, 10**30, "yes").status_code == 200
    assert not Answer.objects.exists()


def test_a_page_takes_as_many_queries_however_much_was_answered(client, django_assert_num_queries):
    run = play(make_run(), crowd(1, 2), most=4)
    engine.advance(run.pk)
    url = url_of(open_of(run)[0].candidate)
    client.get(url)  # the first visit starts the question's clock
    the_time = connection.vendor != "sqlite"  # is the database's to say
    with django_assert_num_queries(3 + the_time):
        client.get(url)


def test_weeks_to_answer_do_not_reload_the_page_at_once(client, run, worker):
    Assignment.objects.update(due=timezone.now() + timedelta(days=60))
    shown = page(client, worker)
    assert "59 days left to answer" in shown
    assert client.get(url_of(worker))["Refresh"].startswith("86400;")


def test_overdue_assignment_does_not_count_as_answered(client, run, worker):
    Assignment.objects.update(due=timezone.now() - timedelta(minutes=1))
    overdue.expire_overdue()
    assert "0 answered" in client.get(f"{url_of(worker)}=20").content.decode()


def test_unlisted_choice_is_not_taken(client, run, worker):
    run.question_set.questions.update(choices=["yes", "no"])
    question = question_of(client, worker)
    shown = send(client, worker, question.assignment, "maybe").content.decode()
    assert "not in the list" in shown
    assert not Answer.objects.exists()
    assert question_of(client, worker).assignment == question.assignment


def test_a_question_that_was_retired_is_not_shown_and_is_no_answer_of_the_worker(
    client, run, worker
):
    shown = question_of(client, worker)
    retired = Assignment.objects.get(pk=shown.assignment).question
    corrections.retire_question(retired, "ada", "ambiguous")
    assert question_of(client, worker).assignment != shown.assignment
    assert "Question 1 of" in page(client, worker)
    late = send(client, worker, shown.assignment, "yes").content.decode()
    assert "Question 1 of" in late
    assert "withdrawn before your answer arrived" in late
    assert "first answer" not in late
