"""Questions, answers and tokens entered by hand, and deletion."""

import re

import pytest

from selection import engine
from selection.answers import recording
from selection.models import Answer, ApiToken, Candidate, Pool, Question
from selection.runs import lifecycle
from tests.pages import admin_url, text_of
from tests.worlds import crowd, make_questions, make_run, open_of, play

pytestmark = pytest.mark.django_db


def test_a_question_is_added_by_hand_with_the_next_number(requester):
    question_set = make_questions(3)
    form = {
        "question_set": question_set.pk,
        "key": "extra",
        "prompt": "Really?",
        "choices": "yes\nno",
        "accepted": "yes\n",
    }
    requester.post(admin_url("question_add"), form)
    question = Question.objects.get(key="extra")
    assert (question.number, question.accepted, question.choices) == (3, ["yes"], ["yes", "no"])


def test_an_answer_must_be_among_the_choices(requester):
    form = {
        "question_set": make_questions(0).pk,
        "key": "q",
        "prompt": "?",
        "choices": "a\nb",
        "accepted": "c",
    }
    assert "“c” is not among the choices a | b." in text_of(
        requester.post(admin_url("question_add"), form)
    )


def test_answers_cannot_be_changed(requester):
    run = make_run()
    play(run, crowd(1, 2), most=2)
    first = Answer.objects.first()
    assert requester.post(admin_url("answer_change", first.pk), {}).status_code == 403
    assert requester.post(admin_url("answer_delete", first.pk), {}).status_code == 403


def test_a_token_is_shown_once(requester):
    page = requester.post(admin_url("apitoken_add"), {"name": "robot", "scope": "manage"})
    secret = re.search(r"<code>([\w-]{40,})</code>", page.content.decode())[1]
    issued = ApiToken.objects.get(name="robot")
    assert issued.digest == ApiToken.digest_of(secret)
    for url in (admin_url("apitoken_changelist"), admin_url("apitoken_change", issued.pk)):
        assert secret not in requester.get(url).content.decode()
    second = requester.post(admin_url("apitoken_add"), {"name": "robot", "scope": "read"})
    assert "This name is already in use." in text_of(second)
    assert ApiToken.objects.get(name="robot").digest == ApiToken.digest_of(secret)


def test_an_ended_run_can_be_deleted_and_a_running_one_cannot(requester):
    run = make_run()
    engine.advance(run.pk)
    recording.record_answer(open_of(run)[0].pk, "yes")
    url = admin_url("run_delete", run.pk)
    assert requester.post(url, {"post": "yes"}).status_code == 403
    lifecycle.stop_run(run)
    assert "Answers: 1" in text_of(requester.get(url))
    requester.post(url, {"post": "yes"})
    assert not Candidate.objects.filter(run_id=run.pk).exists()


def test_a_pool_in_use_is_not_deleted(requester):
    run = make_run()
    response = requester.post(admin_url("pool_delete", run.pool_id), {"post": "yes"})
    assert run.name in text_of(response)
    assert Pool.objects.filter(pk=run.pool_id).exists()
