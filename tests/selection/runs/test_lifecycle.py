"""The life of a run."""

from datetime import timedelta

import pytest
from django.utils import timezone

from selection import engine
from selection.answers import presence
from selection.errors import Conflict, Refused
from selection.models import Candidate, Run
from selection.runs import lifecycle
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db


def test_starting_fixes_the_roster_and_numbers_the_arms_by_the_seed():
    one, two, other = make_run(seed=1), make_run(seed=1), make_run(seed=2)
    rosters = [
        list(run.candidates.order_by("arm").values_list("worker__key", flat=True))
        for run in (one, two, other)
    ]
    assert rosters[0] == rosters[1] != rosters[2]
    assert sorted(rosters[0]) == [f"w{i}" for i in range(6)]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"k": 6}, "K must be at least 1 and less than the number of workers (6), but it is 6."),
        ({"k": 0}, "K must be at least 1 and less than the number of workers (6), but it is 0."),
        ({"questions": 0}, "is empty: import gold questions first."),
        ({"n": 0}, "There must be at least 2 workers to choose from, not 0."),
    ],
)
def test_a_run_that_cannot_be_run_is_refused_and_stays_a_draft(fields, sentence):
    run = make_run(start=False, **fields)
    with pytest.raises(Refused) as refusal:
        lifecycle.start_run(run)
    assert sentence in str(refusal.value)
    run.refresh_from_db()
    assert run.status == Run.Status.DRAFT
    assert not Candidate.objects.filter(run=run).exists()


def test_moves_are_allowed_from_their_own_states_only():
    run = make_run(start=False)
    for move in (lifecycle.pause_run, lifecycle.resume_run, lifecycle.stop_run):
        with pytest.raises(Conflict, match="is draft"):
            move(run)
    lifecycle.start_run(run)
    with pytest.raises(Conflict, match="is running"):
        lifecycle.start_run(run)
    lifecycle.pause_run(run)
    lifecycle.resume_run(run)
    lifecycle.stop_run(run)
    with pytest.raises(Conflict, match="is ended"):
        lifecycle.resume_run(run)


def test_stopping_ends_the_run_and_says_it_was_by_hand():
    run = make_run()
    engine.advance(run.pk)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    assert (run.status, run.ending) == ("ended", "stopped")
    assert run.ended is not None
    assert engine.advance(run.pk) is None
    assert open_of(run)


def test_pause_takes_no_time_from_open_assignments():
    run = make_run()
    engine.advance(run.pk)
    presence.record_shown(run, [assignment.pk for assignment in open_of(run)])
    before = {assignment.pk: assignment.due for assignment in open_of(run)}
    lifecycle.pause_run(run)
    Run.objects.filter(pk=run.pk).update(paused=timezone.now() - timedelta(hours=3))
    lifecycle.resume_run(run)
    for assignment in open_of(run):
        assert assignment.due - before[assignment.pk] >= timedelta(hours=3)
