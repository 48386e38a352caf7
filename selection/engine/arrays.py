"""A run's arrays, as one step of the engine needs them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import F, Q
from numpy.typing import NDArray

from selection import db_clock
from selection.db.read_columns import read_table
from selection.models import Answer, Assignment, Candidate, Run
from selection.models.roster import Roster
from topk import Selector

from .exposure_limits import ExposureLimits

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

# Whoever was seen within this time is taken to be there.
THERE = timedelta(minutes=15)
MANY = 2000  # rows are read all together beyond that


@dataclass
class UncountedAnswers:
    """Those that were not counted yet, in order of arm and position. All are (a,).

    ids, arms  of assignment, and by the run's numbers
    right      1 or 0
    void       whether the question was retired
    ripe       whether all earlier positions are closed
    """

    ids: Counts
    arms: Counts
    right: Counts
    void: Flags
    ripe: Flags
    at: NDArray[np.float64]

    def per_arm(self, which: Flags, n: int, weights: Any = None) -> Counts:
        """(n,) how many of these, or the sum of their weights."""
        chosen = None if weights is None else weights[which]
        return np.bincount(self.arms[which], chosen, n).astype(np.int64)


@dataclass
class StepArrays:
    """A run's arrays while a step is made of it. All are (n,), by the run's arms.

    now       when the step is made, by the clock of all hosts
    roster    the arms that the algorithm knows; it numbers them anew
    selector  None while there are too few to choose from
    ids, workers, skill, asked, pulls, void, rewards, verdict, noted
              as stored in Candidate, before this step; noted is when the worker was last seen,
              -inf where never
    answers   those that are not counted yet
    unseen    assignments out that the worker has not been shown
    shown     assignments out whose clock runs
    recorded  whether the worker has imported answers that wait: they are present
    counts    how many assignments to deal
    rations   which questions are left, where that is limited
    taken     how many were taken back in this step; ``asked`` and ``unseen`` are without them
    """

    run: Run
    now: datetime
    roster: Roster
    selector: Selector | None
    ids: Counts
    workers: Counts
    skill: Counts
    asked: Counts
    pulls: Counts
    void: Counts
    rewards: NDArray[np.float64]
    verdict: Counts
    noted: NDArray[np.float64]
    gone: Flags
    skipped: Counts
    answers: UncountedAnswers
    unseen: Counts
    shown: Counts
    recorded: Flags
    counts: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    ending: Run.Ending | None = None
    rations: ExposureLimits | None = None

    def __post_init__(self) -> None:
        self.counted = np.zeros(self.answers.ids.size, bool)
        self.counts = np.zeros(self.ids.size, np.int64)
        self.taken = np.zeros(self.ids.size, np.int64)
        # An answer shows that its worker was there.
        self.seen = self.noted.copy()
        at = np.minimum(self.answers.at, self.now.timestamp())  # a web host's clock may be ahead
        np.maximum.at(self.seen, self.answers.arms, at)

    @property
    def changed(self) -> bool:
        orphaned = (self.gone & (self.unseen > 0)).any()
        moved = self.counted.any() or self.counts.any() or self.taken.any()
        return bool(moved or self.ending or orphaned)

    @property
    def decks(self) -> Counts:
        """How many questions there are for each arm: of its skill, but those met before."""
        return np.array([skill.deck_size for skill in self.run.skills])[self.skill] - self.skipped

    # -- after what was counted in this step

    @property
    def new_pulls(self) -> Counts:
        return self.answers.per_arm(self.counted & ~self.answers.void, self.ids.size)

    @property
    def new_void(self) -> Counts:
        return self.answers.per_arm(self.counted & self.answers.void, self.ids.size)

    @property
    def new_rewards(self) -> Counts:
        which = self.counted & ~self.answers.void
        return self.answers.per_arm(which, self.ids.size, self.answers.right)

    @property
    def closed(self) -> Counts:
        """Positions from the first that are closed without a gap."""
        return self.pulls + self.void + self.new_pulls + self.new_void

    @property
    def waiting(self) -> Counts:
        """Answers that are in and wait for an earlier position; void ones too."""
        return self.answers.per_arm(~self.counted, self.ids.size)

    @property
    def pending(self) -> Counts:
        """Asked and not yet counted, of those that will count."""
        void = self.answers.per_arm(~self.counted & self.answers.void, self.ids.size)
        return self.uncounted - void

    @property
    def uncounted(self) -> Counts:
        """Asked and not yet counted."""
        return self.asked - self.closed

    @property
    def out(self) -> Counts:
        """With the crowd: asked and not yet answered."""
        return self.uncounted - self.waiting

    @property
    def spent(self) -> int:
        """Assignments handed out, whatever became of them (Run.tally)."""
        return int(self.asked.sum()) - self._free

    @cached_property
    def _free(self) -> int:
        """Positions of which nobody saw the question before it was retired."""
        if not (self.void.any() or self.answers.void.any()):
            return 0
        return self.run.answers.closed_unseen().count()

    @property
    def held(self) -> Counts:
        """With the arm's worker, in all skills."""
        if not self.run.several:
            return self.out
        _, worker = np.unique(self.workers, return_inverse=True)
        return np.bincount(worker, self.out).astype(np.int64)[worker]

    # -- who is there

    @property
    def there(self) -> Flags:
        """Whose worker is there now; everybody, where everybody is waited for."""
        if self.run.hours_to_come is None or self.run.recorded_only:
            return ~self.gone
        since = self.now.timestamp() - THERE.total_seconds()
        there = (self.seen > since) | (self.shown > 0) | self.recorded
        return np.isin(self.workers, self.workers[there]) & ~self.gone


COLUMNS = ("arm", "id", "worker_id", "asked", "pulls", "void", "verdict", "skipped", "left")


def load_arrays(run: Run) -> StepArrays:
    rows = run.candidates.order_by().annotate(left=~Q(gone=""))
    columns = read_table(rows, (*COLUMNS, "rewards"))
    columns[:, columns[0].astype(np.int64)] = columns.copy()  # quicker than in order from the disk
    ids, workers, asked, pulls, void, verdict, skipped, left = columns[1:-1].astype(np.int64)
    skill, gone, rewards = _read_skills(run, ids.size), left > 0, columns[-1]
    roster = Roster.build(run, skill, gone, pulls)
    state = roster.state(pulls, rewards, verdict, run.memory)
    answers = _read_answers(run, ids, pulls + void)
    unseen, shown = _count_outstanding(run, gone)
    return StepArrays(
        run=run,
        now=db_clock.database_now(),
        roster=roster,
        selector=roster.selector(run, state) if roster.ready(run) else None,
        ids=ids,
        workers=workers,
        skill=skill,
        asked=asked,
        pulls=pulls,
        void=void,
        rewards=rewards,
        verdict=verdict,
        noted=_read_last_seen(run, ids, answers),
        gone=gone,
        skipped=skipped,
        answers=answers,
        unseen=unseen,
        shown=shown,
        recorded=_recorded(run, ids.size),
        rations=ExposureLimits.of(run),
    )


def _read_skills(run: Run, n: int) -> Counts:
    """(n,) the skill of each arm: read only where there are several."""
    if not run.several:
        return np.zeros(n, np.int64)
    return np.array(run.candidates.order_by("arm").values_list("skill", flat=True), np.int64)


def _recorded(run: Run, n: int) -> Flags:
    """(n,) by arm; read only where some workers are away."""
    recorded = np.zeros(n, bool)
    if run.has_recorded and run.hours_to_come is not None and not run.recorded_only:
        waiting = run.candidates.exclude(recorded=None).order_by()
        recorded[list(waiting.values_list("arm", flat=True).distinct())] = True
    return recorded


def _read_last_seen(run: Run, ids: Counts, answers: UncountedAnswers) -> NDArray[np.float64]:
    """(n,) seconds at which each was last noted to be there.

    Where everybody is waited for, only of those who answered: the rest is not looked at.
    """
    answered = np.unique(answers.arms)
    if run.hours_to_come is None and answered.size < MANY:
        known = Candidate.objects.filter(pk__among=ids[answered]).order_by()
    else:
        known = run.candidates.order_by()
    noted = np.full(ids.size, -np.inf)
    for arm, at in known.values_list("arm", "seen"):
        noted[arm] = at.timestamp() if at else -np.inf
    return noted


def _read_answers(run: Run, candidates: Counts, closed: Counts) -> UncountedAnswers:
    """The answers that are not counted yet.

    candidates  (n,) their ids, by arm

    An answer is ripe when all earlier positions of its worker are closed, so that slow answers,
    right or wrong, count as soon as quick ones.
    """
    rows = Answer.objects.filter(run=run, applied_in=None).order_by()
    found = rows.values_list("assignment_id", "right", "void", "expired", "at")
    # Whoever let their time run out was not there.
    flat = [(*row[:3], -np.inf if row[3] else row[4].timestamp()) for row in found]
    waiting = np.array(sorted(flat), np.float64).reshape(-1, 4).T
    owners, positions = _read_places(waiting[0].astype(np.int64))
    by_id = candidates.argsort()
    arms = by_id[np.searchsorted(candidates, owners, sorter=by_id)]
    order = np.lexsort((positions, arms))
    arms, positions, at = arms[order], positions[order], waiting[3, order]
    ids, right, void = waiting[:3, order].astype(np.int64)
    # (a,) the index of the arm's first answer: the j-th of an arm is ripe when its position is
    # j places behind those that are closed already, for then none is missing between.
    first = np.searchsorted(arms, arms)
    ripe = positions == closed[arms] + np.arange(arms.size) - first
    return UncountedAnswers(ids, arms, right, void.astype(bool), ripe, at)


def _read_places(assignments: Counts) -> tuple[Counts, Counts]:
    """(a,) candidate and position of each, which are in order.

    By their ids: joined to the answers that wait, the database sometimes reads all that ever were,
    because of how many waited when it last looked.
    """
    rows = Assignment.objects.filter(pk__among=assignments).order_by()
    found = read_table(rows, ("id", "candidate_id", "position")).astype(np.int64)
    return found[1:, found[0].argsort()]  # type: ignore[return-value]


def _count_outstanding(run: Run, gone: Flags) -> tuple[Counts, Counts]:
    """(n,) assignments out that were not shown yet, and those that were; where it matters."""
    n = gone.size
    if run.recorded_only or (run.hours_to_come is None and not gone.any()):
        return np.zeros(n, np.int64), np.zeros(n, np.int64)
    behind = F("candidate__pulls") + F("candidate__void")
    rows = (
        Assignment.objects.open()
        .filter(candidate__run=run, candidate__asked__gt=behind)
        .values_list("candidate__arm", "due")
    )
    arms = np.array([arm for arm, _ in rows], np.int64)
    unseen = np.array([due is None for _, due in rows], bool)
    return np.bincount(arms[unseen], minlength=n), np.bincount(arms[~unseen], minlength=n)
