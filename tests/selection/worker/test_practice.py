"""Practice questions: before the first gold question, explained, and never counted."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from selection import engine
from selection.models import Answer, Assignment, Candidate, Practice, PracticeAnswer, Run
from selection.runs import lifecycle
from selection.runs.roster import membership
from selection.worker import links
from tests.pages import admin_url, text_of
from tests.worlds import make_questions, make_run, open_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    run = make_run()
    lesson = {"question_set": run.question_set, "accepted": ["seagull"]}
    Practice.objects.create(
        **lesson,
        number=1,
        prompt="Which bird?",
        choices=["seagull", "tern"],
        explanation="**Wide** wings.",
    )
    Practice.objects.create(**lesson, number=2, prompt="Type it.", required=True)
    engine.advance(run.pk)
    return run


@pytest.fixture
def worker(run: Run) -> Candidate:
    return open_of(run)[0].candidate


def url_of(worker: Candidate) -> str:
    return reverse("work", args=[links.worker_token(worker.pk)]) + "?go"


def practise(client: Client, worker: Candidate, response: str):
    page = client.get(url_of(worker)).context["page"]
    assert page.state == "practice"
    sent = {"practice": page.question.assignment, "response": response}
    return client.post(url_of(worker), sent, follow=True)


def state_of(client: Client, worker: Candidate) -> str:
    return client.get(url_of(worker)).context["page"].state


def test_practice_comes_before_gold_is_explained_and_never_counts(client, run, worker):
    first = text_of(client.get(url_of(worker)))
    assert "this question does not count" in first
    assert "Wide" not in first
    wrong = text_of(practise(client, worker, "tern"))
    assert "That is not the answer" in wrong
    assert "The answer would have been: seagull" in wrong
    assert "Wide wings." in wrong
    assert "That is right" in text_of(practise(client, worker, " SEAGULL"))
    assert state_of(client, worker) == "question"
    assert not Answer.objects.exists()
    engine.advance(run.pk)
    worker.refresh_from_db()
    assert (worker.pulls, worker.rewards) == (0, 0)


def test_no_gold_question_s_clock_runs_while_one_practises(client, run, worker):
    state_of(client, worker)
    practise(client, worker, "tern")
    assert not Assignment.objects.exclude(due=None).exists()


def test_required_practice_repeats_until_right_without_telling_the_answer(client, run, worker):
    practise(client, worker, "tern")
    for _ in range(4):
        again = text_of(practise(client, worker, "duck"))
        assert "That is not right." in again
        assert "seagull" not in again
    practise(client, worker, "seagull")
    assert PracticeAnswer.objects.get(practice__required=True).tries == 4
    assert state_of(client, worker) == "question"


def test_worker_out_of_practice_tries_is_not_tested(client, run, worker):
    run.question_set.tries = 2
    run.question_set.save()
    practise(client, worker, "tern")
    assert "You have 1 try left." in text_of(practise(client, worker, "duck"))
    assert "Thank you for trying" in text_of(practise(client, worker, "goose"))
    worker.refresh_from_db()
    assert worker.gone == "screened"
    assert run.events.get(kind="screened").what == f"“{worker.worker}” did not pass the practice."
    late = client.post(url_of(worker), {"practice": _must().pk, "response": "seagull"}, follow=True)
    assert "Thank you for trying" in text_of(late)
    membership.take_back(run, [worker.worker.key], "ada")
    assert "You have 1 try left." in text_of(practise(client, worker, "duck"))


def _must() -> Practice:
    return Practice.objects.get(required=True)


def test_two_tabs_practise_as_one(client, run, worker):
    practise(client, worker, "tern")
    sent = {"practice": Practice.objects.get(number=1).pk, "response": "seagull"}
    again = Client().post(url_of(worker), sent, follow=True)
    assert "That is not the answer" in text_of(again)  # the first one counts
    assert PracticeAnswer.objects.count() == 1


@pytest.mark.parametrize("sent", ["", "swan"])
def test_impossible_answer_uses_no_try(client, run, worker, sent):
    practise(client, worker, sent)
    assert not PracticeAnswer.objects.exists()


def test_worker_cannot_practise_for_another_run(client, run, worker):
    other = Practice.objects.create(question_set=make_questions(1), prompt="?", accepted=["a"])
    for odd in (other.pk, 2**62):
        sent = {"practice": odd, "response": "a"}
        assert client.post(url_of(worker), sent).status_code == 404


def test_started_worker_is_not_stopped_by_later_practice(client, worker):
    Assignment.objects.filter(candidate=worker).update(
        shown=timezone.now(), due=timezone.now() + timedelta(minutes=5)
    )
    assert state_of(client, worker) == "question"


def test_a_run_that_is_over_practises_nothing(client, run, worker):
    sent = {"practice": Practice.objects.get(number=1).pk, "response": "tern"}
    lifecycle.stop_run(run)
    assert "this test is over" in text_of(client.post(url_of(worker), sent, follow=True))
    assert not PracticeAnswer.objects.exists()


def test_the_requester_writes_practice_questions(requester):
    questions = make_questions(1)
    form = {
        "question_set": questions.pk,
        "number": 1,
        "prompt": "Tick.",
        "kind": "multiple",
        "choices": "a\nb\nc",
        "accepted": "a\nb",
        "compared": "",
        "explanation": "Both.",
        "required": "on",
    }
    refused = requester.post(admin_url("practice_add"), form | {"accepted": "d"})
    assert "“d” is not among the choices" in text_of(refused)
    requester.post(admin_url("practice_add"), form)
    made = questions.practice.get()
    assert (made.kind, made.accepted, made.required) == ("multiple", ["a", "b"], True)
    assert (
        'value="multiple" selected'
        in requester.get(admin_url("practice_change", made.pk)).content.decode()
    )
