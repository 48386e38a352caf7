"""Absent workers: their assignments are withdrawn, and others get them."""

from datetime import timedelta

import pytest
from django.db.models import Sum
from django.test import Client
from django.utils import timezone

from selection import db_clock, engine, reports
from selection.answers import overdue, presence, recording
from selection.engine import arrays, withdrawal
from selection.models import Answer, Assignment, Candidate, Run
from selection.runs import lifecycle
from selection.runs.roster import membership
from selection.worker import links
from tests.worlds import answer_all, crowd, make_run, open_of, play

pytestmark = pytest.mark.django_db


def visit(run: Run, worker: str) -> str:
    """Open the worker's page and return the shown assignment."""
    candidate = run.candidates.get(worker__key=worker)
    page = f"/work/{links.worker_token(candidate.pk)}/"
    return Client().post(page, {"start": "yes"}, follow=True).content.decode()


def age(run: Run, hours: float) -> None:
    """Move the start of this run, and the presence of its workers, so much earlier."""
    past = timezone.now() - timedelta(hours=hours)
    Run.objects.filter(pk=run.pk).update(absence_since=past)
    run.candidates.exclude(seen=None).update(seen=past)
    run.refresh_from_db()


def answer_of(run: Run, workers: set[str], respond) -> int:
    """Let these workers open their page and answer the shown question, once each."""
    given = 0
    for key in sorted(workers):
        visit(run, key)
        shown = [one for one in open_of(run) if one.candidate.worker.key == key and one.due]
        for assignment in shown[:1]:
            recording.record_answer(assignment.pk, respond(assignment))
            given += 1
    return given


def test_the_clock_runs_from_when_a_question_is_shown():
    run = make_run(minutes=5)
    engine.advance(run.pk)
    assert set(Assignment.objects.values_list("due", flat=True)) == {None}
    assert "Say yes to" in visit(run, "w0")
    (shown,) = Assignment.objects.exclude(due=None)
    assert shown.candidate.worker.key == "w0"
    assert timedelta(minutes=4) < shown.due - timezone.now() <= timedelta(minutes=5)


def test_unseen_assignment_never_lapses():
    run = make_run(minutes=1)
    engine.advance(run.pk)
    visit(run, "w0")
    assert sorted(overdue.expire_overdue(now=timezone.now() + timedelta(days=30))) == [run.pk]
    assert Answer.objects.filter(expired=True).count() == 1
    assert Answer.objects.get().assignment.candidate.worker.key == "w0"


def test_fetching_a_question_by_the_api_shows_it_and_peeking_does_not(token):
    run, client = make_run(), Client(headers={"authorization": f"Bearer {token}"})
    engine.advance(run.pk)
    url = f"/api/runs/{run.pk}/assignments?worker=w1"
    looked = client.get(url + "&peek=true").json()
    assert {one["due_at"] for one in looked} == {None}
    assert run.candidates.get(worker__key="w1").seen is None
    assert all(one["due_at"] for one in client.get(url).json())
    assert Assignment.objects.exclude(due=None).count() == len(looked) > 0
    assert run.candidates.get(worker__key="w1").seen is not None


def test_slots_do_not_wait_for_absent_workers():
    run = make_run(n=6, slots=6, slots_per_worker=2, hours_to_come=48)
    engine.advance(run.pk)
    out = Assignment.objects.filter(candidate__run=run)
    assert out.count() == 6  # all workers are called, because none is there yet
    respond, there = crowd(1, good=2), {"w0", "w1"}
    for _ in range(12):
        answer_of(run, there, respond)
        engine.advance(run.pk)
    pulls = dict(run.candidates.values_list("worker__key", "pulls"))
    assert pulls["w0"] + pulls["w1"] >= 12
    assert sum(pulls[key] for key in pulls if key not in there) == 0
    with_them = out.filter(answer=None, candidate__worker__key__in=there).count()
    assert with_them >= 2, "slots that others do not use are theirs"


def test_absent_worker_who_returns_gets_a_question_again():
    run = make_run(n=4, slots=6, slots_per_worker=2, hours_to_come=48)
    engine.advance(run.pk)
    for _ in range(6):
        answer_of(run, {"w0", "w1"}, crowd(1, good=2))
        engine.advance(run.pk)
    visit(run, "w3")
    engine.advance(run.pk)
    assert "Say yes to" in visit(run, "w3")


def test_worker_who_never_came_is_neither_accepted_nor_rejected():
    run = make_run(n=9, k=2, hours_to_come=24, algorithm="credible", epsilon=0.2, slots=30)
    there, respond = {f"w{i}" for i in range(6)}, crowd(3, good=2, high=0.97, low=0.3)
    engine.advance(run.pk)
    answer_of(run, there, respond)
    engine.advance(run.pk)
    assert membership.sweep_absent() == []
    Run.objects.filter(pk=run.pk).update(absence_since=timezone.now() - timedelta(hours=25))
    assert membership.sweep_absent() == [run.pk]
    gone = run.candidates.exclude(gone="")
    assert {one.worker.key for one in gone} == {"w6", "w7", "w8"}
    for _ in range(400):
        answer_of(run, there, respond)
        engine.advance(run.pk)
        run.refresh_from_db()
        if run.status == Run.Status.ENDED:
            break
    assert run.ending == Run.Ending.GUARANTEE
    lines = {line.worker: line for line in reports.worker_standings(run)}
    for key in ("w6", "w7", "w8"):
        assert lines[key].verdict == "not tested"
        assert lines[key].presence == "never came"
        assert (lines[key].answers, lines[key].out, lines[key].selected) == (0, 0, False)
    assert sorted(key for key in lines if lines[key].selected) == ["w0", "w1"]
    export = reports.export_run(run)
    assert "Of the 9 workers 3 never answered" in export["guarantee"]
    assert "the other 6" in export["guarantee"]
    assert not gone.filter(assignments__isnull=False).exists(), "what they never saw went back"


def test_worker_who_answered_and_vanished_has_left():
    run = make_run(n=5, hours_to_come=2)
    engine.advance(run.pk)
    answer_of(run, {"w0", "w1", "w2"}, crowd(1, good=2))
    engine.advance(run.pk)  # an answer that waits would be a sign of life
    age(run, 3)
    presence.note_presence(run, [run.candidates.get(worker__key="w0").pk])
    membership.sweep_absent()
    gone = dict(run.candidates.exclude(gone="").values_list("worker__key", "gone"))
    assert gone == {"w1": "left", "w2": "left", "w3": "absent", "w4": "absent"}
    assert {event.kind for event in run.events.all()} == {"start", "absent"}


def test_a_run_in_which_too_few_are_left_ends_and_guarantees_nothing():
    run = make_run(n=4, k=2, hours_to_come=1)
    engine.advance(run.pk)
    answer_of(run, {"w0", "w1"}, crowd(1, good=2))
    engine.advance(run.pk)
    Run.objects.filter(pk=run.pk).update(absence_since=timezone.now() - timedelta(hours=2))
    membership.sweep_absent()
    engine.advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.ending) == (Run.Status.ENDED, Run.Ending.ROSTER)
    export = reports.export_run(run)
    assert [line["worker"] for line in export["workers"]] == ["w0", "w1"]
    assert export["epsilon_reached"] is None
    assert "there was no choice" in export["guarantee"]


def test_a_recorded_crowd_is_never_absent():
    run = make_run(recorded_only=True, hours_to_come=1)
    age(run, 100)
    assert membership.sweep_absent() == []


def test_a_lapse_is_told_from_a_wrong_answer():
    run = make_run(minutes=1)
    engine.advance(run.pk)
    visit(run, "w0")
    overdue.expire_overdue(now=timezone.now() + timedelta(hours=1))
    engine.advance(run.pk)
    line = next(line for line in reports.worker_standings(run) if line.worker == "w0")
    assert (line.answers, line.right, line.lapsed) == (1, 0, 1)
    rows = list(reports.answer_rows(run))
    assert [row[4] for row in rows] == ["too late"]


def test_question_shown_during_its_withdrawal_stays():
    run = make_run(n=4, slots=4, slots_per_worker=1, hours_to_come=48)
    engine.advance(run.pk)
    arrays = engine.arrays.load_arrays(Run.objects.locked(run.pk))
    own = open_of(run)[0]
    presence.record_shown(run, [own.pk])
    arm = own.candidate.arm
    withdrawal.take_back(arrays, arrays.roster.arms)
    assert arrays.withdrawn[arm] == 0
    assert arrays.withdrawn.sum() == 3
    assert Assignment.objects.filter(pk=own.pk).exists()


def test_the_best_proof_is_kept_with_its_selection():
    run = make_run(n=4, k=1, epsilon=1e-6, algorithm="certified", slots=20)
    respond = crowd(5, good=1, high=0.95, low=0.2)
    least = 1.0
    for _ in range(40):
        engine.advance(run.pk)
        run.refresh_from_db()
        if run.best_guarantee:
            assert run.best_guarantee["epsilon"] <= least
            least = run.best_guarantee["epsilon"]
        for assignment in open_of(run):
            recording.record_answer(assignment.pk, respond(assignment))
    assert least < 1
    assert least <= min(run.history.values_list("gap", flat=True)) + 1e-12
    known = reports.guarantee_of_run(run).epsilon
    assert least <= known <= least + 0.001
    assert Candidate.objects.filter(run=run, arm__in=run.best_guarantee["arms"]).count() == 1


def test_money_held_by_absent_workers_goes_to_present_ones():
    run = make_run(n=4, slots=8, slots_per_worker=2, hours_to_come=48, budget=8)
    engine.advance(run.pk)
    assert Assignment.objects.count() == 8  # all the money is out before a worker is there
    for _ in range(9):
        answer_of(run, {"w0", "w1"}, crowd(1, good=2))
        engine.advance(run.pk)
        handed = Assignment.objects.filter(candidate__run=run).count()
        assert handed <= 8, "the budget is never overrun"
        asked = run.candidates.aggregate(asked=Sum("asked"))["asked"]
        assert asked == handed
    run.refresh_from_db()
    assert (run.status, run.ending) == (Run.Status.ENDED, Run.Ending.BUDGET)
    assert Answer.objects.count() == 8
    assert {answer.assignment.candidate.worker.key for answer in Answer.objects.all()} == {
        "w0",
        "w1",
    }


def test_quotas_continue_with_the_remaining_workers():
    groups = {"w0": "a", "w1": "a", "w2": "a", "w3": "b", "w4": "b", "w5": "b"}
    run = make_run(n=6, k=3, start=False, algorithm="certified", epsilon=0.3, slots=30)
    for key, group in groups.items():
        run.pool.workers.filter(key=key).update(attributes={"group": group})
    run.quotas = {"attribute": "group", "limits": {"a": [1, 1], "b": [2, 2]}}
    run.save()
    lifecycle.start_run(run)
    run.refresh_from_db()
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w4", "w5"])
    for _ in range(200):
        engine.advance(run.pk)
        run.refresh_from_db()
        if run.status == Run.Status.ENDED:
            break
        answer_all(run, crowd(3, good=1, high=0.99, low=0.1))
    assert run.ending == Run.Ending.GUARANTEE
    chosen = {line["worker"] for line in reports.export_run(run)["workers"]}
    assert {"w0", "w3"} <= chosen, "of the two wanted of b one is left"
    assert len(chosen) == 3


def test_fast_clock_of_a_host_does_not_postdate_presence():
    run = make_run(hours_to_come=2)
    engine.advance(run.pk)
    answer_all(run, crowd(3, good=2))
    Answer.objects.update(at=db_clock.database_now() + timedelta(hours=1))
    engine.advance(run.pk)
    seen = run.candidates.exclude(seen=None).values_list("seen", flat=True)
    assert seen
    assert max(seen) <= db_clock.database_now()


def test_figures_of_earlier_looks_are_not_kept_where_the_guarantee_is_about_the_stop():
    run = make_run(n=4, k=1, epsilon=0.3, algorithm="universal", slots=20, questions=200)
    run = play(run, crowd(5, good=1, high=0.95, low=0.2))
    assert run.best_guarantee == {}
    assert run.ended_by_guarantee
    assert run.history.count() > 1


def test_workers_who_left_stay_in_the_likelihood_of_universal():
    run = make_run(n=4, k=1, epsilon=0.05, algorithm="universal", slots=20, questions=200)
    run = play(run, crowd(5, good=1, high=0.95, low=0.2), most=6)
    candidate = run.candidates.filter(pulls__gt=0).first()
    assert arrays.load_arrays(run).selector.state.gone.shape == (3, 0)
    membership.withdraw_workers(run, [candidate.worker.key])
    gone = arrays.load_arrays(Run.objects.get()).selector.state.gone
    assert gone[:2].tolist() == [[candidate.rewards], [candidate.pulls]]


def test_displayed_question_of_a_worker_who_left_counts_at_its_worst():
    run = make_run(n=4, k=1, epsilon=0.05, algorithm="universal", slots=20, questions=200)
    engine.advance(run.pk)
    candidate = run.candidates.filter(asked__gt=1).first()
    visit(run, candidate.worker.key)
    membership.withdraw_workers(run, [candidate.worker.key])
    gone = arrays.load_arrays(Run.objects.get()).selector.state.gone
    assert gone.tolist() == [[0], [0], [1]]


def test_a_step_keeps_to_the_budget_with_present_and_absent_workers():
    """Before there are enough to choose from, no algorithm counts what the step deals itself."""
    run = make_run(n=2, budget=4, enrolling=True, slots_per_worker=4, hours_to_come=48)
    run.candidates.filter(arm=0).update(seen=timezone.now())
    step = engine.advance(run.pk)
    assert step.dealt == Assignment.objects.count() == 4
