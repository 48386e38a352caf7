"""Many writers at once, in real processes."""

import random
import threading
import time
from collections import Counter
from contextlib import suppress

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from selection import engine, reports, wakeups
from selection.answers import presence, recording
from selection.errors import Refused
from selection.models import Answer, ApiToken, Assignment, Question, Run
from selection.questions import corrections
from selection.runs import consistency
from tests.processes import celery_worker, wait_until
from tests.worlds import crowd, make_run, open_of

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 8


def in_threads(work) -> list:
    """Run work(i) in every thread at once; return their exceptions."""
    raised: list[Exception] = []
    gate = threading.Barrier(THREADS)

    def body(i: int) -> None:
        try:
            gate.wait()
            work(i)
        except Exception as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=body, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_eight_threads_posting_one_answer_leave_one():
    run = make_run()
    engine.advance(run.pk)
    assignment = open_of(run)[0]
    statuses: list[int] = []
    from_api = poster()

    def work(i: int) -> None:
        statuses.append(from_api(assignment.pk, f"said by {i}"))

    assert in_threads(work) == []
    assert Counter(statuses) == {201: 1, 409: THREADS - 1}  # each says something else
    assert Answer.objects.count() == 1


def poster():
    from_token = Client(headers={"authorization": f"Bearer {ApiToken.issue('threads')}"})

    def post(assignment: int, response: str) -> int:
        path = f"/api/assignments/{assignment}/answer"
        body = {"response": response}
        return from_token.post(path, body, content_type="application/json").status_code

    return post


@pytest.mark.slow
def test_threads_and_two_workers_count_every_answer_once_within_budget():
    """The same and different answers at once, while two Celery workers advance the run."""
    run = make_run(n=20, k=5, budget=600, slots=40, epsilon=0.01, questions=400)
    respond, post = crowd(1, good=5), poster()

    def work(i: int) -> None:
        rng = random.Random(i)
        while Run.objects.get(pk=run.pk).status == Run.Status.RUNNING:
            out = open_of(run)
            rng.shuffle(out)
            for assignment in out[:5]:
                assert post(assignment.pk, respond(assignment)) in {200, 201, 409}
            if rng.random() < 0.2:
                wakeups.send_step(run.pk, delay=0)

    with celery_worker("-n", "one@%h"), celery_worker("-n", "two@%h"):
        assert in_threads(work) == []
    run.refresh_from_db()
    assert run.ending == Run.Ending.BUDGET
    assert Assignment.objects.filter(candidate__run=run).count() == 600
    applied = Answer.objects.filter(run=run).exclude(applied_in=None)
    assert applied.count() == sum(run.candidates.values_list("pulls", flat=True)) == 600
    assert sum(run.history.values_list("applied", flat=True)) == 600
    assert list(run.history.values_list("number", flat=True)) == list(range(1, run.steps + 1))
    for candidate in run.candidates.all():
        asked = list(candidate.assignments.values_list("question_id", flat=True))
        assert len(asked) == len(set(asked)) == candidate.pulls


def test_two_engines_at_once_never_take_the_same_step():
    run = make_run(n=10, algorithm="adaptive-top-k", slots=30)
    engine.advance(run.pk)
    for assignment in open_of(run):
        Answer.objects.create(
            assignment=assignment, run=run, response="yes", right=True, at=timezone.now()
        )
    assert in_threads(lambda i: engine.advance(run.pk)) == []
    assert sum(run.history.values_list("applied", flat=True)) == 30
    assert Assignment.objects.filter(candidate__run=run).count() == 60
    run.refresh_from_db()
    assert run.history.count() == run.steps


def test_no_wake_up_is_lost_when_answers_come_while_a_step_is_taken(sample):
    questions, few = sample(12, 25), {"slots": 30, "slots_per_worker": 3}
    run = make_run(n=10, algorithm="adaptive-top-k", questions=questions, **few)
    respond, post = crowd(2, good=2), poster()
    with celery_worker():

        def answered_to_the_end() -> bool:
            for assignment in open_of(run):
                post(assignment.pk, respond(assignment))
            return Run.objects.get(pk=run.pk).status == Run.Status.ENDED

        wait_until(answered_to_the_end, "the run to use up its questions")
    assert set(run.candidates.values_list("pulls", flat=True)) == {questions}


def test_no_budget_is_overrun_while_questions_are_retired_and_restored_in_many_threads():
    """Some advance, some answer, some retire and restore: all at once."""
    run = make_run(n=5, k=2, budget=40, slots=15, epsilon=0.01, questions=40)
    respond, questions = crowd(1, good=2), list(run.question_set.questions.all())
    over: list[int] = []

    def work(i: int) -> None:
        rng = random.Random(i)
        while Run.objects.get(pk=run.pk).status == Run.Status.RUNNING:
            with suppress(Refused):  # another process was quicker
                if i < 2:
                    engine.advance(run.pk)
                elif i < 6:
                    one = rng.choice(open_of(run) or [None])
                    if one is not None:
                        presence.record_shown(run, [one.pk])  # unless it was retired in between
                        recording.record_answer(one.pk, respond(one))
                else:
                    question = Question.objects.get(pk=rng.choice(questions).pk)
                    change = (
                        corrections.restore_question
                        if question.retired
                        else corrections.retire_question
                    )
                    change(question, "ada", "a look at it")
                    time.sleep(0.02)
            over.append(reports.count_given(run) - 40)

    with wakeups.silenced():
        assert in_threads(work) == []
    assert max(over) <= 0
    run.refresh_from_db()
    assert run.ending == Run.Ending.BUDGET
    assert run.count_spent() <= 40
    assert consistency.find_faults(run) == []
