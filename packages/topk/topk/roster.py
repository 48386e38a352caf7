"""The roster of a run as pure arrays: the arms to choose from, and the problem to solve for them.

A run numbers its arms once. Workers that are gone are left out, and the algorithm numbers the rest
anew.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .problem import Problem
from .published.multi import MultiProblem
from .selector import Selector

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

OPENED = "open roster"  # kind of the event that opens a roster after the start
CLOSED = "close roster"  # and of the one that closes it


def active_arms(kind: Counts, gone: Flags, seed: int, joined: bool) -> Counts:
    """Order (r,) the arms left, kind by kind, independently of when workers joined.

    kind, gone  (n,) by arm
    joined      True if a worker joined after the start: arm numbers reveal that, and ties go by
                them, so a seeded order takes their place
    """
    present = np.flatnonzero(~gone)
    # The first numbers of a stream stay the same however many are drawn.
    key = np.random.default_rng([seed, 1]).random(gone.size)[present] if joined else present
    return present[np.lexsort((key, kind[present]))]


def share_left(gone: Flags, pulls: Counts) -> float:
    """Compute the share of δ for the workers that are still there (docs/absence.md)."""
    present, losses = int((~gone).sum()), int((gone & (pulls > 0)).sum())
    return present / (present + losses) if losses else 1.0


def drop_no_shows(
    kind: type[Selector],
    gone: Flags,
    pulls: Counts,
    worker: Counts,
    ks: Sequence[int],
    one_kind_each: bool,
    anew: bool,
) -> tuple[Flags, Counts]:
    """Reduce the roster of a run that is over by workers without a counted answer.

    It is ``gone`` with them, and the answers by which ``share_left`` shares δ. Where the proof does
    not allow that they follow from answers of others, and where too few would be left, both are
    unchanged (docs/absence.md, section 2).

    gone, pulls, worker  (n,) by arm
    anew                 ``judges_anew`` of the problem that the run began with
    """
    present = np.isin(worker, worker[(pulls > 0) & ~gone])
    rest = np.unique(worker[present & ~gone]).size
    allowed = kind.open_roster and (kind.guarantee.average or anew)
    if not allowed or not has_enough(rest, ks, one_kind_each):
        return gone, pulls
    dropped = gone | ~present
    # An absence says nothing to a posterior; any other bound has the level of the whole roster.
    answers = pulls if kind.guarantee.average else np.where(gone, pulls, 1)
    return dropped, answers


def plan_options(kind: type[Selector], n: int, left: int) -> dict[str, Any]:
    """Keep the weights of the start if some of n arms are gone.

    left  number of arms left
    """
    return {"planned_for": n} if kind.weighs_start and left < n else {}


def opening_option(
    kind: type[Selector], changes: Iterable[tuple[str, int]], open_now: bool, joined: int
) -> dict[str, Any]:
    """Find the options of an algorithm that must know who could join after the first question.

    changes  kind and number of steps of the events that opened or closed the roster, in order
    joined   how many workers joined after the start
    """
    if not kind.weighs_start:
        return {}
    history = list(changes)
    if _is_asked_open(history, open_now):
        return {"asked_open": True}
    late = joined and any(step > 0 for what, step in history if what == OPENED)
    return {"joined_late": joined} if late and not kind.roster_fixed else {}


def _is_asked_open(changes: Sequence[tuple[str, int]], open_now: bool) -> bool:
    before = [kind for kind, step in changes if step == 0]
    if before:
        return before[-1] == OPENED
    return changes[0][0] == CLOSED if changes else open_now


def is_guarantee_lost(
    kind: type[Selector],
    gone: Flags,
    pulls: Counts,
    opened_at: Iterable[int] = (),
    covers_withdrawal: bool = False,
) -> bool:
    """Tell if changes of the roster cost the guarantee (docs/absence.md, section 3).

    gone, pulls        (n,) by arm: flags of workers out of the run, and counted answers
    opened_at          the number of steps taken each time the roster was opened again
    covers_withdrawal  ``kind.covers_withdrawal`` of the problem that the run began with
    """
    if not kind.roster_fixed:
        return False
    withdrawn = bool((gone & (pulls > 0)).any()) and not covers_withdrawal
    return withdrawn or any(step > 0 for step in opened_at)


class RunStart(NamedTuple):
    """The start of a run: it alone decides on changes of the roster that the guarantee covers.

    workers  number of arms that the run began with
    limits   ε and δ of the run
    """

    kind: type[Selector]
    workers: int
    ks: Sequence[int]
    limits: tuple[float, float]
    options: Mapping[str, Any]

    @property
    def covers_withdrawal(self) -> bool:
        """Tell if the guarantee holds although workers are withdrawn after answers."""
        if self._problem is None:
            return not self.kind.roster_fixed
        return self.kind.covers_withdrawal(self._problem, self.options)

    @property
    def judges_anew(self) -> bool:
        """Tell if an early end may be judged among the workers that answered alone."""
        if self._problem is None:
            return self.kind.covers_leavers and not self.kind.roster_fixed
        return self.kind.judges_anew(self._problem, self.options)

    @property
    def _problem(self) -> Problem | None:
        """The one problem; None with several, and without a choice."""
        if len(self.ks) > 1 or self.workers <= self.ks[0]:
            return None
        return Problem(self.workers, self.ks[0], *self.limits)


def has_enough(workers: int, ks: Sequence[int], one_kind_each: bool) -> bool:
    """Tell if every kind of task has more workers to choose from than it needs.

    With each worker in one kind at most, there must also be a worker for every place.
    """
    places = sum(ks) if len(ks) > 1 and one_kind_each else 1
    return places <= workers and all(k < workers for k in ks)


def build_problem(
    ks: Sequence[int],
    workers: int,
    several_skills: bool,
    epsilon: float,
    delta: float,
    budget: int | None,
) -> Problem:
    """Build the problem: the best ``ks[j]`` of ``workers`` workers in each kind j.

    several_skills  True if the algorithm is for several problems only
    """
    if len(ks) == 1 and not several_skills:
        return Problem(workers, ks[0], epsilon, delta, budget)
    parts = np.repeat(np.arange(len(ks)), workers)
    return MultiProblem.build(parts.tolist(), ks, epsilon, delta, budget)


def quotas_per_kind(
    ks: Sequence[int], workers: Counts, several_skills: bool, one_kind_each: bool
) -> dict[str, Any]:
    """State the places of each kind as an option of algorithms that take any family of sets.

    workers  (n,) worker of each arm, numbered from 0; arms are numbered kind by kind
    """
    if len(ks) == 1 or several_skills:
        return {}
    kinds = np.repeat(np.arange(len(ks)), workers.size // len(ks)).tolist()
    if one_kind_each:
        return {"matching": {"workers": workers.tolist(), "tasks": kinds, "wanted": list(ks)}}
    return {"quotas": {"groups": kinds, "at_least": list(ks), "at_most": list(ks)}}


def restrict_options(
    options: Mapping[str, Any], arms: Sequence[int] | Counts, k: int
) -> dict[str, Any]:
    """Restrict the options to these arms: quotas, prices and groups have a value for each."""
    restricted = dict(options)
    if options.get("quotas"):
        restricted["quotas"] = restrict_quotas(options["quotas"], arms, k)
    for name in ("prices", "groups"):
        if options.get(name):
            restricted[name] = [options[name][i] for i in arms]
    return restricted


def restrict_quotas(option: dict[str, Any], arms: Sequence[int] | Counts, k: int) -> dict[str, Any]:
    """Restrict the option ``quotas`` to these arms: a group that has shrunk cannot have to give
    more.

    If the greatest numbers then leave fewer than k, they no longer exclude anybody.
    """
    groups = np.asarray(option["groups"], np.int64)[np.asarray(arms, np.int64)]
    sizes = np.bincount(groups, minlength=len(option["at_most"]))
    most = np.minimum(option["at_most"], sizes)
    return option | {
        "groups": groups.tolist(),
        "at_least": np.minimum(option["at_least"], sizes).tolist(),
        "at_most": (most if most.sum() >= k else sizes).tolist(),
    }
