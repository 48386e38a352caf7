"""Replay of a run: its algorithm in the state to which the answers of a record lead."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topk.feed import choose_answers, tell_in_turn
from topk.registry import build_selector
from topk.roster import (
    CLOSED,
    OPENED,
    RunStart,
    active_arms,
    build_problem,
    drop_no_shows,
    has_enough,
    is_guarantee_lost,
    opening_option,
    plan_options,
    quotas_per_kind,
    restrict_options,
    share_left,
)
from topk.selector import Counts, Selector
from topk.state import State, pack_memory

from .dump_reader import UNCOUNTED, DumpRecord

HISTORY = {"asked_open", "joined_late"}  # options that the dump's word does not decide


@dataclass(frozen=True)
class ReplayedRun:
    """The algorithm after a replay.

    arms      (r,) the run's numbers of the arms left to choose from
    selector  None if they are too few
    refused   number of answers that it had not asked for when they were counted
    """

    arms: Counts
    selector: Selector | None
    refused: int = 0


def roster_arms(record: DumpRecord) -> Counts:
    """List (r,) the run's numbers of the arms that the algorithm knows, in its order."""
    run = record.run
    return active_arms(record.kind, record.gone, run["seed"], bool(run["joined"]))


def is_lost(record: DumpRecord) -> bool:
    """Tell if changes of the roster cost the guarantee of this run."""
    events = record.events if record.run["joined"] else []
    opened = [event["step"] for event in events if event["kind"] == OPENED]
    pulls, _ = count_answers(record, None)
    covers = _start_of(record).covers_withdrawal
    return is_guarantee_lost(record.algorithm, record.gone, pulls, opened, covers)


def _start_of(record: DumpRecord) -> RunStart:
    limits = record.run["epsilon"], record.run["delta"]
    return RunStart(record.algorithm, record.n, record.ks, limits, _settle_options(record))


def replay_participants(record: DumpRecord) -> ReplayedRun | None:
    """Replay the end of the run without workers without a counted answer; None if they stay."""
    if record.run["keep_no_shows"]:
        return None
    pulls, _ = count_answers(record, None)
    rule = record.ks, record.run["one_kind_each"], _start_of(record).judges_anew
    leavers, answers = drop_no_shows(record.algorithm, record.gone, pulls, record.worker, *rule)
    if np.array_equal(leavers, record.gone):
        return None
    rest = replace(record, gone=leavers)
    arms = roster_arms(rest)
    return ReplayedRun(arms, _selector_from_tallies(rest, arms, None, share_left(leavers, answers)))


def _settle_options(record: DumpRecord) -> dict[str, Any]:
    """Settle the options, with those that the history of the roster decides."""
    changes = [(event["kind"], event["step"]) for event in record.events]
    changes = [(kind, step) for kind, step in changes if kind in {OPENED, CLOSED}]
    rest = {name: value for name, value in record.options.items() if name not in HISTORY}
    run = record.run
    return rest | opening_option(
        record.algorithm, changes, bool(run["enrolling"]), int(run["joined"])
    )


def replay_run(record: DumpRecord, upto: int | None = None) -> ReplayedRun:
    """Replay the run to the step ``upto``; None for now."""
    arms = roster_arms(record)
    waits = record.run["enrolling"] and not record.algorithm.open_roster
    workers = arms.size // len(record.ks)
    if waits or not has_enough(workers, record.ks, record.run["one_kind_each"]):
        return ReplayedRun(arms, None)
    if record.algorithm.open_roster:
        return ReplayedRun(arms, _selector_from_tallies(record, arms, upto))
    return _step_by_step(record, arms, upto)


def count_answers(record: DumpRecord, upto: int | None) -> tuple[Counts, Counts]:
    """Count (n,) answers that count, and right ones, after this step."""
    rows = record.asked
    which = (rows.counted != UNCOUNTED) & ~rows.void
    if upto is not None:
        which &= rows.counted <= upto
    hits = which & (rows.right == 1)
    return rows.tally(which, record.n), rows.tally(hits, record.n)


def _outstanding(record: DumpRecord, upto: int | None, counted: int | None) -> Counts:
    """Count (n,) assignments made before the step ``upto``, and not counted by ``counted``."""
    rows = record.asked
    if upto is None or counted is None:
        return rows.tally(rows.counted == UNCOUNTED, record.n)
    open_ = (rows.counted == UNCOUNTED) | (rows.counted > counted)
    return rows.tally(open_ & (rows.dealt < upto), record.n)


def _selector_from_tallies(
    record: DumpRecord, arms: Counts, upto: int | None, share: float | None = None
) -> Selector:
    """Build an algorithm that remembers nothing but tallies, in the state of this step."""
    pulls, hits = count_answers(record, upto)
    undecided = np.zeros(arms.size, np.int8)
    before = (pulls, hits) if upto is None else count_answers(record, upto - 1)
    waiting = _outstanding(record, upto, counted=None if upto is None else upto - 1)
    leavers = record.gone & ((before[0] > 0) | (waiting > 0))
    states = np.array([before[1][leavers], before[0][leavers], waiting[leavers]], float)
    outstanding = _outstanding(record, upto, counted=upto)[arms]
    columns = (pulls[arms], hits[arms].astype(float), undecided)
    state = State(*columns, {}, outstanding, states)
    share = share_left(record.gone, before[0]) if share is None else share
    return rebuild_selector(record, arms, state, share)


def _step_by_step(record: DumpRecord, arms: Counts, upto: int | None) -> ReplayedRun:
    """Replay the run in the steps in which it was told, because rounds end in them.

    A step at which everything was told again is replayed at once, and so is a run with a common
    order: its state is the same in any steps.
    """
    deals, state, refused = record.asked, State.fresh(arms.size), 0
    places = np.full(record.n, -1)
    places[arms] = np.arange(arms.size)
    last = max(record.steps, default=0) if upto is None else upto
    anew = last if record.algorithm.common_order else record.anew
    numbers = sorted(number for number in record.steps if anew < number <= last)
    for number in [anew, *numbers] if anew else numbers:
        retold = number == anew
        which = (deals.counted <= number) if retold else (deals.counted == number)
        present = which & (deals.counted != UNCOUNTED) & (places[deals.arm] >= 0)
        rows, rewards = choose_answers(record.algorithm, present, deals.void, deals.right)
        before, _ = count_answers(record, number if retold else number - 1)
        share = share_left(record.gone, before)
        selector = rebuild_selector(record, arms, state, share, _epsilon_at(record, number))
        takes = tell_in_turn(selector, rows, deals.arm, places[deals.arm], rewards)
        refused += int(rows.sum() - takes.sum())
        state = _roundtrip_state(selector.state)
    now, _ = count_answers(record, None if upto is None else upto - 1)
    return ReplayedRun(
        arms, rebuild_selector(record, arms, state, share_left(record.gone, now)), refused
    )


def _roundtrip_state(state: State) -> State:
    return State(state.pulls, state.rewards, state.verdict, pack_memory(state.memory))


def _epsilon_at(record: DumpRecord, number: int) -> float:
    """Find the ε of this step: it may have been changed since, so each step states its own."""
    kind, step = record.algorithm, record.steps.get(number)
    moves = kind.epsilon_moves and "epsilon" in kind.needs and kind.guarantee.fixed == "confidence"
    return float(step["wanted"] if step and moves else record.run["epsilon"])


def rebuild_selector(
    record: DumpRecord, arms: Counts, state: State, share: float, epsilon: float | None = None
) -> Selector:
    """Rebuild the algorithm on these arms, in this state; share is the part of δ left to them."""
    run, kind = record.run, record.algorithm
    options = restrict_options(_settle_options(record), arms, record.ks[0])
    people = np.unique(record.worker[arms], return_inverse=True)[1]
    several = (kind.several_skills, run["one_kind_each"])
    options |= quotas_per_kind(record.ks, people, *several)
    options |= plan_options(kind, record.n, arms.size)
    target = run["epsilon"] if epsilon is None else epsilon
    limits = (target, run["delta"] * share, run["budget"])
    size = arms.size // len(record.ks)
    problem = build_problem(record.ks, size, kind.several_skills, *limits)
    return build_selector(run["algorithm"], problem, state, **options)
