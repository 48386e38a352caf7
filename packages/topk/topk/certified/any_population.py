"""``universal`` by populations or, where cheaper, by swaps: docs/universal.md, section 7."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from topk.options import Option
from topk.problem import Problem
from topk.selector import Counts, Floats, Standing
from topk.universal.selector import AnyPopulation

from .selector import ASKED_OPEN, PLANNED_FOR, TUNED_FOR, Certified

ASKED = replace(
    ASKED_OPEN,
    about="Whether questions went out while workers could still join: then populations "
    "certify, because swaps are about the workers of the start.",
)
JOINED_LATE = Option(
    "joined_late",
    None,
    "How many workers joined after the start, if some joined after the first question.",
    "integer",
    above=0,
    by_hand=False,
)

# What swaps decide where they certify: the rest is as by populations.
BY_SWAPS = ("wait_for", "_is_done", "is_held_up", "selection", "shortfall", "_ask")
CHANGED = 0.1  # part of delta for the time after a change of the roster, where swaps certify
# Swaps certify where fewer workers are on a side of the border, fewer times epsilon, or in all.
LEAST, LEAST_PLACES, LEAST_WORKERS = 3, 0.1, 8


def prefers_swaps(problem: Problem) -> bool:
    """Return True if swaps are foreseen to need fewer answers than the worst population.

    problem  of the start of the run; what is True for some n is for every smaller one
    """
    border = min(problem.k, problem.n - problem.k)
    few = problem.n < LEAST_WORKERS or border < LEAST
    return few or border * problem.epsilon < LEAST_PLACES


class Universal(AnyPopulation):
    """By swaps, which hold for every pool, until the roster changes; afterwards by populations."""

    weighs_start = True
    known_options: ClassVar[tuple[Option, ...]] = (
        *AnyPopulation.known_options,
        *(TUNED_FOR, PLANNED_FOR, ASKED, JOINED_LATE),
    )

    @classmethod
    def judges_anew(cls, problem: Problem, options: Mapping[str, Any]) -> bool:
        """Return False where swaps certified: they are about the whole roster."""
        return not _began_by_swaps(problem, options) and super().judges_anew(problem, options)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._swaps: Certified | None = None
        problem, chosen = self.problem, self.options
        ever = chosen["planned_for"] or problem.n
        if not _began_by_swaps(replace(problem, n=ever), chosen):
            return
        if chosen["joined_late"] or ever > problem.n or self.state.gone.size:
            self._delta = CHANGED * problem.delta
            return
        rest = replace(problem, delta=(1 - CHANGED) * problem.delta)
        same = {name: chosen[name] for name in ("accuracy", "questions", "tuned_for")}
        self._swaps = Certified(rest, self.state, asked_open=True, **same)
        for name in BY_SWAPS:
            setattr(self, name, getattr(self._swaps, name))

    def _count(self, pulls: Counts, rewards: Floats) -> None:
        if self._swaps is None:
            super()._count(pulls, rewards)
        else:
            self._swaps._count(pulls, rewards)
            self._forget()

    def standing(self) -> Standing:
        if self._swaps is None:
            return super().standing()
        mean, lower, upper = self._credible()
        return replace(self._swaps.standing(), mean=mean, lower=lower, upper=upper)


def _began_by_swaps(problem: Problem, options: Mapping[str, Any]) -> bool:
    """Return True if swaps certified at the start.

    problem  with the workers that ever were on the roster
    """
    late, tuned = options.get("joined_late") or 0, options.get("tuned_for")
    epsilon = problem.epsilon if tuned is None else tuned
    start = replace(problem, n=max(problem.n - late, problem.k + 1), epsilon=epsilon)
    return not options.get("asked_open") and prefers_swaps(start)
