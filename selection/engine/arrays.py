"""A run's arrays, as one step of the engine needs them."""

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from django.db.models import F
from django.db.models.functions import Coalesce
from numpy.typing import NDArray

from selection import db_clock
from selection.db.read_columns import Seconds, read_table
from selection.models import Answer, Assignment, Run
from selection.models.roster import Roster
from topk import Selector

from . import model_pace
from .exposure_limits import ExposureLimits
from .packed import CandidateColumns

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

# A worker seen within this time counts as present.
PRESENT = timedelta(minutes=15)


@dataclass
class UncountedAnswers:
    """Answers not yet counted, in order of arm and position. All arrays are (a,).

    ids, arms  ids of the assignments, and the run's arms
    right      1 or 0
    void       True if the question was retired
    ripe       True if all earlier positions are closed
    at         seconds since the epoch; -inf if the assignment lapsed
    noted      seconds at which the worker was last noted as present; -inf if never
    """

    ids: Counts
    arms: Counts
    right: Counts
    void: Flags
    ripe: Flags
    at: NDArray[np.float64]
    noted: NDArray[np.float64]

    def per_arm(self, mask: Flags, n: int, weights: Any = None) -> Counts:
        """Count (n,) the selected answers of each arm, or sum their weights."""
        chosen = None if weights is None else weights[mask]
        return np.bincount(self.arms[mask], chosen, n).astype(np.int64)


@dataclass
class StepArrays:
    """A run's arrays during one step. All are (n,), by the run's arms.

    now        time of the step, by the clock shared by all hosts
    candidates the columns as read, to be kept
    roster     the arms that the algorithm knows, which it numbers anew
    selector   None while there are too few workers to choose from
    ids, workers, skill, asked, pulls, void, rewards, verdict, noted
               as stored in Candidate before this step; noted is the time at which the worker was
               last seen, -inf if never, or if long ago and without a new answer
    gone       True if the worker has left the run
    skipped    questions of the deck that the worker met in another run
    answers    those not yet counted
    unseen     outstanding assignments that the worker has not been shown
    shown      outstanding assignments with a running clock
    unaffordable  True for a model of which the run cannot afford a further call
    recorded   True if imported answers of the worker wait: the worker counts as present
    model      True for a model
    counts     assignments to deal in this step
    limits     remaining uses of questions with an exposure limit
    doubtful   True for arms that hold up the end until their pass mark is settled
    withdrawn  assignments withdrawn in this step; ``asked`` and ``unseen`` exclude them
    """

    run: Run
    now: datetime
    candidates: CandidateColumns
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
    unaffordable: Flags
    recorded: Flags
    model: Flags
    counts: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    ending: Run.Ending | None = None
    limits: ExposureLimits | None = None
    doubtful: Flags = field(default_factory=lambda: np.zeros(0, bool))

    def __post_init__(self) -> None:
        self.doubtful = np.zeros(self.ids.size, bool)
        self.counted = np.zeros(self.answers.ids.size, bool)
        self.counts = np.zeros(self.ids.size, np.int64)
        self.withdrawn = np.zeros(self.ids.size, np.int64)
        # An answer shows that its worker was present.
        self.seen = self.noted.copy()
        at = np.minimum(self.answers.at, self.now.timestamp())  # a web host's clock may be ahead
        np.maximum.at(self.seen, self.answers.arms, at)

    @property
    def changed(self) -> bool:
        orphaned = (self.gone & (self.unseen > 0)).any()
        moved = self.counted.any() or self.counts.any() or self.withdrawn.any()
        return bool(moved or self.ending or orphaned)

    @property
    def decks(self) -> Counts:
        """Size of each arm's deck: its skill's questions except those met before."""
        return np.array([skill.deck_size for skill in self.run.skills])[self.skill] - self.skipped

    @property
    def free_pace(self) -> bool:
        """Tell if questions may go to models by their speed."""
        return self.selector is None or model_pace.may_depend_on_speed(self.selector.guarantee)

    @property
    def waits_for_models(self) -> bool:
        """Tell if the step must wait: for all models that reply, or for one that fails."""
        if not self.model.any():
            return False
        waits = not self.free_pace and model_pace.has_outstanding(self.run)
        return waits or (bool(self.model.all()) and model_pace.is_held(self.run))

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
        """Count the positions closed without a gap, counted from the first."""
        return self.pulls + self.void + self.new_pulls + self.new_void

    @property
    def waiting(self) -> Counts:
        """Count the answers, void ones included, that wait for an earlier position."""
        return self.answers.per_arm(~self.counted, self.ids.size)

    @property
    def pending(self) -> Counts:
        """Count the assignments that will count and are not counted yet."""
        void = self.answers.per_arm(~self.counted & self.answers.void, self.ids.size)
        return self.uncounted - void

    @property
    def uncounted(self) -> Counts:
        return self.asked - self.closed

    @property
    def outstanding(self) -> Counts:
        return self.uncounted - self.waiting

    @property
    def spent(self) -> int:
        """Count the assignments that cost money, in any end (Run.tally)."""
        return int(self.asked.sum()) - self._free

    @cached_property
    def _free(self) -> int:
        """Positions with a question that was retired before any worker saw it."""
        if not (self.void.any() or self.answers.void.any()):
            return 0
        return self.run.answers.closed_unseen().count()

    @property
    def worker_load(self) -> Counts:
        """Count the unanswered assignments of the arm's worker, over all skills."""
        if not self.run.several:
            return self.outstanding
        _, worker = np.unique(self.workers, return_inverse=True)
        return np.bincount(worker, self.outstanding).astype(np.int64)[worker]

    # -- presence

    @property
    def present(self) -> Flags:
        """Flag arms with a present worker, or one who stays if the run waits for all."""
        if self.run.hours_to_come is None or self.run.recorded_only:
            return ~self.gone
        since = self.now.timestamp() - PRESENT.total_seconds()
        present = (self.seen > since) | (self.shown > 0) | self.recorded
        return np.isin(self.workers, self.workers[present]) & ~self.gone


def load_arrays(run: Run) -> StepArrays:
    candidates = CandidateColumns.read(run)
    columns: Any = candidates.columns
    ids, skill, asks, pulls = (columns[name] for name in ("id", "skill", "asked", "pulls"))
    void, rewards, verdict = (columns[name] for name in ("void", "rewards", "verdict"))
    leavers, unaffordable = columns["left"] > 0, columns["unaffordable"] > 0
    roster = Roster.build(run, skill, leavers, pulls)
    answers, now = _read_answers(run, pulls + void), db_clock.database_now()
    unseen, visible = _count_outstanding(run, leavers | unaffordable)
    # The algorithm is told of the roster's own outstanding answers when it judges.
    omissions = np.where(leavers, asks - pulls - void - unseen, 0)
    state = roster.state(pulls, rewards, verdict, run.memory, omissions)
    return StepArrays(
        run=run,
        now=now,
        candidates=candidates,
        roster=roster,
        selector=roster.selector(run, state) if roster.ready(run) else None,
        ids=ids,
        workers=columns["worker_id"],
        skill=skill,
        asked=asks,
        pulls=pulls,
        void=void,
        rewards=rewards,
        verdict=verdict,
        noted=_read_last_seen(run, ids.size, answers, now),
        gone=leavers,
        skipped=columns["skipped"],
        answers=answers,
        unseen=unseen,
        shown=visible,
        unaffordable=unaffordable,
        recorded=_read_recorded(run, ids.size),
        model=model_pace.read_models(run, ids.size),
        limits=ExposureLimits.load(run),
    )


def _read_recorded(run: Run, n: int) -> Flags:
    """Flag arms (n,); queried only if some workers may be away."""
    recorded = np.zeros(n, bool)
    if run.has_recorded and run.hours_to_come is not None and not run.recorded_only:
        waiting = run.candidates.exclude(recorded=None).order_by()
        recorded[list(waiting.values_list("arm", flat=True).distinct())] = True
    return recorded


def _read_last_seen(
    run: Run, n: int, answers: UncountedAnswers, now: datetime
) -> NDArray[np.float64]:
    """Read (n,) the seconds at which each worker was last noted as present.

    Known are workers with a new answer, and those seen recently if absence matters.
    """
    noted = np.full(n, -np.inf)
    noted[answers.arms] = answers.noted
    if run.hours_to_come is not None:
        recent = run.candidates.filter(seen__gt=now - PRESENT).order_by()
        arms, moments = read_table(recent.annotate(at=Seconds("seen")), ("arm", "at"))
        noted[arms.astype(np.int64)] = moments
    return noted


def _read_answers(run: Run, closed: Counts) -> UncountedAnswers:
    """Read the answers that are not counted yet.

    An answer is ripe once all earlier positions of its worker are closed, so that slow answers,
    right or wrong, count as soon as quick ones.
    """
    rows = Answer.objects.filter(run=run, applied_in=None).order_by()
    columns = ("assignment_id", "right", "void", "expired", "seconds")
    waiting = read_table(rows.annotate(seconds=Seconds("at")), columns)
    waiting = waiting[:, waiting[0].argsort()]
    # An assignment that lapsed does not show that its worker was present.
    at = np.where(waiting[3] > 0, -np.inf, waiting[4])
    arms, positions, noted = _read_places(waiting[0].astype(np.int64))
    arms, positions = arms.astype(np.int64), positions.astype(np.int64)
    order = np.lexsort((positions, arms))
    arms, positions = arms[order], positions[order]
    ids, grades, void = waiting[:3, order].astype(np.int64)
    # (a,) the index of the arm's first answer. The j-th answer of an arm is ripe if its position is
    # the j-th after the closed ones, because then no position between is missing.
    first = np.searchsorted(arms, arms)
    ripe = positions == closed[arms] + np.arange(arms.size) - first
    return UncountedAnswers(ids, arms, grades, void > 0, ripe, at[order], noted[order])


def _read_places(assignments: Counts) -> NDArray[np.float64]:
    """Read (3, a) arms, positions and last presence of these assignments, which are sorted.

    They are looked up by id: for a join with the waiting answers the database sometimes scans all
    answers ever given, misled by outdated statistics.
    """
    rows = Assignment.objects.filter(pk__among=assignments).order_by()
    rows = rows.annotate(noted=Coalesce(Seconds("candidate__seen"), -math.inf))
    columns = read_table(rows, ("id", "candidate__arm", "position", "noted"))
    return columns[1:, columns[0].argsort()]


def _count_outstanding(run: Run, absent: Flags) -> tuple[Counts, Counts]:
    """Count (n,) the outstanding assignments not shown yet, and those shown; 0 if not needed."""
    n = absent.size
    if run.recorded_only or (run.hours_to_come is None and not absent.any()):
        return np.zeros(n, np.int64), np.zeros(n, np.int64)
    closed_positions = F("candidate__pulls") + F("candidate__void")
    rows = (
        Assignment.objects.open()
        .filter(candidate__run=run, candidate__asked__gt=closed_positions)
        .values_list("candidate__arm", "due")
    )
    arms = np.array([arm for arm, _ in rows], np.int64)
    unseen = np.array([due is None for _, due in rows], bool)
    return np.bincount(arms[unseen], minlength=n), np.bincount(arms[~unseen], minlength=n)
