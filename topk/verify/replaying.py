"""The algorithm again, as the answers of a record leave it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from topk.in_turn import tell_in_turn
from topk.registry import build
from topk.roster import among, enough, here, of_each_kind, problem, share_left
from topk.selector import Counts, Selector
from topk.state import State, pack

from .reading import UNCOUNTED, Record


@dataclass(frozen=True)
class Replayed:
    """arms      (r,) the run's numbers of those who are left to choose from
    selector  None where they are too few
    refused   how many answers it had not asked for when they were counted
    """

    arms: Counts
    selector: Selector | None
    refused: int = 0


def roster(record: Record) -> Counts:
    """(r,) the run's numbers of the arms that the algorithm knows, in its order."""
    run = record.run
    return here(record.kind, record.gone, run["seed"], bool(run["joined"]))


def replay(record: Record, upto: int | None = None) -> Replayed:
    """upto  the step after which it is looked at; None for now"""
    arms = roster(record)
    waits = record.run["enrolling"] and not record.algorithm.open_roster
    workers = arms.size // len(record.ks)
    if waits or not enough(workers, record.ks, record.run["one_kind_each"]):
        return Replayed(arms, None)
    if record.algorithm.open_roster:
        return Replayed(arms, _from_tallies(record, arms, upto))
    return _step_by_step(record, arms, upto)


def _counts(record: Record, upto: int | None) -> tuple[Counts, Counts]:
    """(n,) answers that count, and right ones, after this step."""
    asked = record.asked
    which = (asked.counted != UNCOUNTED) & ~asked.void
    if upto is not None:
        which &= asked.counted <= upto
    right = which & (asked.right == 1)
    return asked.tally(which, record.n), asked.tally(right, record.n)


def _out(record: Record, upto: int | None) -> Counts:
    """(n,) what was asked before this step and was not counted in it or before."""
    asked = record.asked
    if upto is None:
        return asked.tally(asked.counted == UNCOUNTED, record.n)
    open_ = (asked.counted == UNCOUNTED) | (asked.counted > upto)
    return asked.tally(open_ & (asked.dealt < upto), record.n)


def _from_tallies(record: Record, arms: Counts, upto: int | None) -> Selector:
    """Such algorithms remember nothing else."""
    pulls, right = _counts(record, upto)
    nobody = np.zeros(arms.size, np.int8)
    before = (pulls, right) if upto is None else _counts(record, upto - 1)
    left = record.gone & (before[0] > 0)
    gone = np.array([before[1][left], before[0][left]], float)
    out = _out(record, upto)[arms]
    state = State(pulls[arms], right[arms].astype(float), nobody, {}, out, gone)
    return selector(record, arms, state, share_left(record.gone, before[0]))


def _step_by_step(record: Record, arms: Counts, upto: int | None) -> Replayed:
    """In the steps in which it was told, because rounds end in them; all at once where all was
    told again."""
    asked, state, refused = record.asked, State.fresh(arms.size), 0
    places = np.full(record.n, -1)
    places[arms] = np.arange(arms.size)
    last = max(record.steps, default=0) if upto is None else upto
    numbers = sorted(number for number in record.steps if record.anew < number <= last)
    for number in [record.anew, *numbers] if record.anew else numbers:
        again = number == record.anew
        which = (asked.counted <= number) if again else (asked.counted == number)
        known = which & (asked.counted != UNCOUNTED) & ~asked.void & (places[asked.arm] >= 0)
        before, _ = _counts(record, number if again else number - 1)
        share = share_left(record.gone, before)
        one = selector(record, arms, state, share, _epsilon(record, number))
        told = tell_in_turn(one, known, asked.arm, places[asked.arm], asked.right)
        refused += int(known.sum() - told.sum())
        state = _stored(one.state)
    now, _ = _counts(record, None if upto is None else upto - 1)
    return Replayed(arms, selector(record, arms, state, share_left(record.gone, now)), refused)


def _stored(state: State) -> State:
    """As it went into a database and came out of it."""
    return State(state.pulls, state.rewards, state.verdict, pack(state.memory))


def _epsilon(record: Record, number: int) -> float:
    """It may have been changed since: each step says which one was wanted."""
    kind, step = record.algorithm, record.steps.get(number)
    moves = kind.epsilon_moves and "epsilon" in kind.needs and kind.promise.fixed == "confidence"
    return float(step["wanted"] if step and moves else record.run["epsilon"])


def selector(
    record: Record, arms: Counts, state: State, share: float, epsilon: float | None = None
) -> Selector:
    """The algorithm on these arms, in this state; share is what of δ is left to them."""
    run, kind = record.run, record.algorithm
    options: dict[str, Any] = dict(record.options)
    if "quotas" in options:
        options["quotas"] = among(options["quotas"], arms, record.ks[0])
    people = np.unique(record.worker[arms], return_inverse=True)[1]
    several = (kind.several_skills, run["one_kind_each"])
    options |= of_each_kind(record.ks, people, *several)
    wanted = run["epsilon"] if epsilon is None else epsilon
    limits = (wanted, run["delta"] * share, run["budget"])
    size = arms.size // len(record.ks)
    asked = problem(record.ks, size, kind.several_skills, *limits)
    return build(run["algorithm"], asked, state, **options)
