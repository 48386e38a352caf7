"""Leaving a run of rounds: the remaining workers are judged from the start."""

import numpy as np
import pytest
from django.utils import timezone

from selection import engine
from selection.models import Answer, Candidate, Run
from selection.models.roster import Roster
from selection.runs.roster import membership
from tests.worlds import answer_all, crowd, make_run, play
from topk import State, expand_memory, pack_memory

pytestmark = pytest.mark.django_db


def counted(run: Run) -> dict[int, list[bool]]:
    """Of each arm the answers that were counted, in the order of asking."""
    rows = Answer.objects.filter(run=run, void=False).exclude(applied_in=None)
    found: dict[int, list[bool]] = {}
    for arm, right in rows.order_by("assignment__position").values_list(
        "assignment__candidate__arm", "right"
    ):
        found.setdefault(arm, []).append(right)
    return found


def test_a_round_goes_on_when_the_best_of_the_undecided_have_left():
    run = make_run(n=12, k=3, algorithm="kl-racing", epsilon=0.4, questions=5000, delta=0.2)
    respond = crowd(3, good=3, high=1.0, low=0.05)
    for _ in range(400):
        engine.advance(run.pk)
        answer_all(run, respond)
        if run.candidates.filter(verdict=-1).count() > 6:
            break
    best = run.candidates.filter(worker__key__in=["w0", "w1", "w2"], verdict=0)
    leavers = [candidate.worker.key for candidate in best[:2]]
    assert leavers
    membership.withdraw_workers(run, leavers)
    ended = play(run, respond)
    assert ended.ended_by_guarantee
    assert run.candidates.filter(verdict=1, gone="").count() == 3
    assert run.candidates.exclude(gone="").filter(verdict=0).count() == len(leavers)


def test_rounds_continue_with_the_remaining_workers():
    run = make_run(n=10, algorithm="adaptive-top-k", epsilon=0.2, slots=400, slots_per_worker=40)
    respond = crowd(5, good=4)
    for _ in range(4):
        engine.advance(run.pk)
        answer_all(run, respond)
    engine.advance(run.pk)
    before = counted(run)
    membership.withdraw_workers(run, ["w7", "w8", "w9"])
    engine.advance(run.pk)
    run.refresh_from_db()
    rows = list(run.candidates.order_by("arm"))
    pulls = np.array([row.pulls for row in rows])
    gone = np.array([bool(row.gone) for row in rows])
    there = Roster.build(run, np.zeros(10, np.int64), gone, pulls)
    alone = there.selector(run, State.fresh(7))
    answers = {arm: before[arm] for arm in there.arms.tolist()}
    given = np.zeros(7, np.int64)
    while True:
        takes = np.minimum(alone.takes(), [len(own) for own in answers.values()] - given)
        if not takes.any():
            break
        for place, own in enumerate(answers.values()):
            told = own[given[place] : given[place] + takes[place]]
            alone.tell(np.full(len(told), place), np.array(told, float))
            given[place] += takes[place]
    assert given.tolist() == pulls[there.arms].tolist()
    assert pack_memory(expand_memory(run.memory)) == pack_memory(alone.state.memory)
    assert [row.verdict for row in rows if not row.gone] == alone.state.verdict.tolist()


def test_regraded_counts_add_up_to_the_answers():
    run = make_run(n=8, algorithm="adaptive-top-k", epsilon=0.3, slots=200, slots_per_worker=25)
    respond = crowd(6, good=3)
    for _ in range(3):
        engine.advance(run.pk)
        answer_all(run, respond)
    Run.objects.filter(pk=run.pk).update(hours_to_come=1, absence_since=timezone.now())
    membership.record_leaving(run, run.candidates.get(worker__key="w5").worker_id)
    play(run, respond)
    for candidate in Candidate.objects.filter(run=run):
        own = counted(run).get(candidate.arm, [])
        assert (candidate.pulls, candidate.rewards) == (len(own), sum(own))
