"""Signs that workers share answers: on the page, in the API, and among the alerts."""

from datetime import timedelta

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from selection import engine, reports
from selection.answers import overdue, recording
from selection.models import Answer, Assignment
from selection.questions import corrections
from selection.runs import lifecycle
from tests.pages import admin_url, text_of
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db

HOURS = 4  # longest time between a question and its answer


def worker_of(slip):
    return int(slip.candidate.worker.key[1:])


def respond_by_chance(slip, share=0.5):
    """Answer correctly with this probability; else with one of many wrong answers."""
    rng = np.random.default_rng([5, worker_of(slip), slip.question.number])
    return "yes" if rng.random() < share else f"no {rng.integers(8)}"


def respond_by_copying(slip):
    """Let worker 1 send the answers of worker 0."""
    if worker_of(slip) == 1:
        slip.candidate.worker.key = "w0"
    return respond_by_chance(slip)


def play_slowly(respond, steps=30, seconds=None, n=12, **fields):
    """Play some steps of a run in which questions are shown some time before they are answered."""
    values = {"algorithm": "lucb", "epsilon": 0.01, "slots": 60, "questions": 150}
    run = make_run(n=n, **values | fields)
    for _ in range(steps):
        engine.advance(run.pk)
        slips = open_of(run)
        for slip in slips:
            took = seconds(slip) if seconds else 60
            shown_at = timezone.now() - timedelta(seconds=took)
            Assignment.objects.filter(pk=slip.pk).update(shown=shown_at)
        recording.record_many(run, [(slip, respond(slip)) for slip in slips])
    engine.advance(run.pk)
    run.refresh_from_db()
    return run


def around_20(slip):
    rng = np.random.default_rng([6, worker_of(slip), slip.question.number])
    return float(20 * np.exp(rng.normal(0, 0.4)))


def test_honest_crowd_has_no_sign_on_the_page(requester):
    run = play_slowly(respond_by_chance, seconds=around_20)
    signs = reports.find_signs(run)
    assert signs.found == ()
    assert signs.answers == sum(run.candidates.values_list("pulls", flat=True)) > 300
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert f"No signs in {signs.answers:,} counted answers." in text
    assert "At most one check in 100" in text
    assert "sharing" not in [need.kind for need in reports.list_alerts(run, signs=signs)]


def test_page_before_the_first_answer_states_that_no_answer_is_counted(requester):
    run = make_run()
    assert "no answer is counted" in text_of(requester.get(admin_url("run_page", run.pk)))


def test_copying_pair_is_shown_on_page_api_and_list(requester, token):
    run = play_slowly(respond_by_copying)
    (sign,) = reports.find_signs(run).found
    assert (sign.kind, set(sign.workers)) == ("identical", {"w0", "w1"})
    response = requester.get(admin_url("run_page", run.pk))
    text = text_of(response)
    assert sign.words in text
    assert "1 sign that workers share answers" in text
    for candidate in sign.candidates:
        assert admin_url("run_worker", run.pk, candidate) in response.content.decode()
    assert "1 sign that workers share answers" in text_of(requester.get("/admin/"))
    program = Client(headers={"authorization": f"Bearer {token}"})
    document = program.get(f"/api/runs/{run.pk}/signs").json()
    assert [one["words"] for one in document["found"]] == [sign.words]
    assert document["rate"] == 0.01
    assert "sharing" in [
        need["kind"] for need in program.get(f"/api/runs/{run.pk}").json()["needs"]
    ]


def test_hasty_worker_is_shown():
    def hasty(slip):
        return around_20(slip) / (15 if worker_of(slip) == 3 else 1)

    (sign,) = reports.find_signs(
        play_slowly(respond_by_chance, steps=12, seconds=hasty, questions=30)
    ).found
    assert (sign.kind, sign.workers) == ("speed", ("w3",))
    assert "% of the other workers’ time" in sign.words


def test_lapsed_retired_and_uncounted_answers_are_ignored():
    run = play_slowly(respond_by_chance, steps=4)
    before = reports.find_signs(run).answers
    slips = open_of(run)
    Assignment.objects.filter(pk=slips[0].pk).update(due=timezone.now() - timedelta(hours=HOURS))
    overdue.expire_overdue()
    recording.record_many(run, [(slip, respond_by_chance(slip)) for slip in slips[1:]])
    question = Answer.objects.filter(run=run, applied_in__isnull=False).first().assignment.question
    answers = Answer.objects.filter(
        run=run, applied_in__isnull=False, assignment__question=question
    ).count()
    lifecycle.pause_run(run)
    assert reports.find_signs(run).answers == before
    corrections.retire_question(question, "me", "it is no good")
    lifecycle.stop_run(run)
    run.refresh_from_db()
    assert reports.find_signs(run).answers == before - answers


def test_signs_change_no_verdict():
    def state(run):
        return list(run.candidates.values_list("arm", "pulls", "rewards", "verdict"))

    run = play_slowly(respond_by_copying)
    before = state(run)
    reports.find_signs(run)
    assert state(run) == before


def test_page_and_api_state_the_power_with_this_runs_answers(requester, token):
    run = play_slowly(respond_by_chance, steps=2, n=12)
    power = reports.find_signs(run).power
    assert power.copying < 0.01
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert power.words in text
    assert f"Detection rate with {power.answers:.0f} answers per worker (median)" in text
    assert "less than 1% for copying all answers of another worker" in text
    assert "do not mean that workers share nothing" in text
    document = (
        Client(headers={"authorization": f"Bearer {token}"}).get(f"/api/runs/{run.pk}/signs").json()
    )
    assert document["power"]["words"] == power.words
    assert document["power"].keys() == {"answers", "copying", "words"}
    assert document["power"]["copying"] == power.copying


def test_power_grows_with_the_answers_of_the_run():
    few, many = (
        reports.find_signs(play_slowly(respond_by_chance, steps=steps)).power for steps in (2, 30)
    )
    assert few.answers < many.answers
    assert few.copying < 0.5 < many.copying


def test_copying_has_no_power_where_only_one_wrong_answer_is_possible():
    def yes_or_no(slip):
        return "yes" if respond_by_chance(slip) == "yes" else "no"

    assert reports.find_signs(play_slowly(yes_or_no, steps=12)).power.copying == 0


def test_collusion_power_is_absent_before_the_first_answer(token):
    run = make_run()
    assert reports.find_signs(run).power is None
    program = Client(headers={"authorization": f"Bearer {token}"})
    assert program.get(f"/api/runs/{run.pk}/signs").json()["power"] is None
