"""Enrolment: a run that begins with an open roster, and the workers that join it."""

import unicodedata
from datetime import timedelta

import pytest
from django.utils import timezone

from packages.topk.tests.parameters import mostly_slow
from selection import engine, reports
from selection.errors import Conflict, Refused
from selection.models import Pool, Run, Worker
from selection.runs import changes, lifecycle
from selection.runs.roster import enrolment, roster_opening
from selection.runs.settings import validation
from tests.worlds import crowd, make_pool, make_run, open_of, play

pytestmark = pytest.mark.django_db

BEGUN_EMPTY = ["lucb", "adaptive-top-k", "certified", "credible"]


def reload_run(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def arrive(run: Run, count: int, **attributes: str) -> None:
    first = run.candidates.count()
    for i in range(first, first + count):
        enrolment.enrol_worker(run, f"w{i}", attributes=attributes)


@pytest.mark.parametrize("algorithm", mostly_slow(BEGUN_EMPTY, ("certified",)))
def test_run_may_start_with_an_empty_roster_and_ends_with_its_guarantee(algorithm):
    run = make_run(
        n=0,
        enrolling=True,
        algorithm=algorithm,
        questions=3000,
        slots=5000,
        slots_per_worker=1000,
        epsilon=0.5,
    )
    assert run.state == "enrolling"
    assert engine.advance(run.pk) is None
    assert "More than 2 workers must join" in reports.guarantee_of_run(run).text
    arrive(run, 6)
    engine.advance(run.pk)
    if not run.selector_class.open_roster:
        assert not open_of(run)  # a round is everybody's
    assert Worker.objects.filter(pool=run.pool).count() == 6
    roster_opening.close_roster(run, "ann")
    done = play(run, crowd(3, 2))
    assert done.ending == Run.Ending.GUARANTEE
    assert reports.export_run(done)["workers"]


def test_a_roster_is_not_closed_by_hand_with_too_few():
    run = make_run(n=2, enrolling=True)
    with pytest.raises(
        Refused, match="2 workers have joined; the roster can close when there are more than 2"
    ):
        roster_opening.close_roster(run)
    assert reload_run(run).enrolling


def pass_closing_time(*rosters: Run) -> None:
    """Set the closing time of these rosters to one minute ago."""
    since = timezone.now() - timedelta(minutes=1)
    Run.objects.filter(pk__in=[run.pk for run in rosters]).update(enrol_until=since)


def test_a_roster_with_too_few_stays_open_at_its_time_and_closes_when_enough_have_come():
    run = make_run(n=2, enrolling=True)
    pass_closing_time(run)
    roster_opening.close_due()
    assert reload_run(run).enrolling
    arrive(run, 1)
    roster_opening.close_due()
    assert not reload_run(run).enrolling


def test_roster_closed_by_a_person_meanwhile_does_not_stop_the_closing_of_others(monkeypatch):
    first, second = (make_run(enrolling=True) for _ in range(2))
    pass_closing_time(first, second)
    close, once = roster_opening.close_roster, []

    def late(run: Run) -> int:
        if not once:
            once.append(close(run))  # by another process
        return close(run)

    monkeypatch.setattr(roster_opening, "close_roster", late)
    roster_opening.close_due()
    assert not reload_run(first).enrolling
    assert not reload_run(second).enrolling


def test_a_roster_closes_with_its_number_of_workers():
    run = make_run(n=0, enrolling=True, enrol_most=4)
    arrive(run, 4)
    assert not reload_run(run).enrolling
    with pytest.raises(Conflict, match="is closed"):
        enrolment.enrol_worker(run, "late")
    assert not Worker.objects.filter(key="late").exists()
    assert enrolment.enrol_worker(run, "w1")[1] is False


def test_a_roster_that_could_never_be_chosen_from_is_refused():
    assert (
        "more than the 2 wanted"
        in validation.validate_run(Run(k=2, enrolling=True, enrol_most=2), 0)["enrol_most"]
    )
    with pytest.raises(Refused, match="over already"):
        make_run(enrolling=True, enrol_until=timezone.now() - timedelta(days=365))


def test_a_closing_time_may_be_changed_while_it_is_open():
    run = make_run(enrolling=True)
    soon = timezone.now() + timedelta(hours=1)
    changes.apply_changes(run, {"enrol_most": 30, "enrol_until": soon}, "ann")
    assert (reload_run(run).enrol_most, reload_run(run).enrol_until) == (30, soon)
    with pytest.raises(Refused, match="over already"):
        changes.apply_changes(run, {"enrol_until": timezone.now() - timedelta(days=365)})
    assert reload_run(run).enrol_until == soon
    with pytest.raises(Refused, match="more than 2 workers"):
        changes.apply_changes(run, {"enrol_most": 2})


NO_IDS = ["", "   ", "x" * 201, "a\0b", "J\ufffdger", "{{%PROLIFIC_PID%}}", "${workerId}"]


@pytest.mark.parametrize("key", NO_IDS)
def test_invalid_id_is_refused(key):
    run = make_run(enrolling=True)
    with pytest.raises(Refused, match="1 to 200 readable characters"):
        enrolment.enrol_worker(run, key)


@pytest.mark.parametrize("key", ["60a1\u202e", "\u200b60a1", "60a1\u200f", "60a1\t60"])
def test_id_with_invisible_characters_makes_no_second_worker(key):
    run = make_run(n=0, enrolling=True)
    with pytest.raises(Refused, match=r"contains an invisible character \(U\+"):
        enrolment.enrol_worker(run, key)


@pytest.mark.parametrize(("first", "then"), [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
def test_a_worker_is_one_however_their_accents_are_written(first, then):
    run = make_run(n=0, enrolling=True)
    key = "Jäger"
    own, new = enrolment.enrol_worker(run, unicodedata.normalize(first, key))
    assert new
    assert own.worker.key == unicodedata.normalize("NFC", key)
    assert enrolment.enrol_worker(run, unicodedata.normalize(then, key)) == (own, False)


def test_existing_worker_keeps_the_stored_spelling_of_the_id():
    run = make_run(n=0, enrolling=True)
    apart = unicodedata.normalize("NFD", "Jäger")
    known = run.pool.workers.create(key=apart)
    own, _ = enrolment.enrol_worker(run, "Jäger")
    assert own.worker == known


def test_draft_and_ended_run_admit_no_worker():
    draft, over = make_run(start=False, enrolling=True), make_run(enrolling=True)
    lifecycle.stop_run(over)
    for run in (draft, over):
        with pytest.raises(Conflict):
            enrolment.enrol_worker(run, "new")


def test_quotas_keep_a_roster_open_until_they_can_be_kept():
    quotas = {"attribute": "tongue", "limits": {"en": [1, None], "es": [1, None]}}
    run = make_run(n=0, enrolling=True, algorithm="certified", quotas=quotas)
    arrive(run, 3, tongue="en")
    engine.advance(run.pk)
    with pytest.raises(Refused, match="No worker has “es” as tongue"):
        roster_opening.close_roster(run)
    assert "“es”" in reports.guarantee_of_run(reload_run(run)).text
    arrive(run, 1, tongue="es")
    roster_opening.close_roster(run)
    assert engine.advance(run.pk)
    assert "keep to the quotas" in reports.guarantee_of_run(reload_run(run)).text


def test_remaining_workers_join_a_running_run_and_the_roster_closes_again():
    run = make_run()
    play(run, crowd(1, 2), most=2)
    for i in (6, 7):
        Worker.objects.create(pool=run.pool, key=f"w{i}")
    assert roster_opening.join_others(run, "ann") == 2
    now = reload_run(run)
    assert (now.candidates.count(), now.enrolling, now.best_guarantee) == (8, False, {})
    assert sorted(now.candidates.values_list("arm", flat=True)) == list(range(8))
    assert engine.advance(run.pk)
    with pytest.raises(Refused, match="All workers of the pool"):
        roster_opening.join_others(run)


def test_running_algorithm_of_rounds_admits_no_worker():
    run = make_run(algorithm="adaptive-top-k")
    Worker.objects.create(pool=run.pool, key="late")
    with pytest.raises(Conflict, match="cannot join it while it runs"):
        roster_opening.join_others(run)
    assert not reload_run(run).enrolling


def test_only_workers_of_the_pool_join():
    run = make_run(enrolling=True)
    with pytest.raises(Refused, match="is not in the pool"):
        roster_opening.join_roster(run, make_pool(1).workers.get())
    assert Pool.objects.count() == 2
