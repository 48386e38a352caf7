"""Checks of the record against the algorithm's judgement of the answers."""

from typing import Any

import numpy as np

from topk.selector import BUDGET_SPENT, GUARANTEE_KEPT, Counts, Selector
from topk.state import Verdict, pack_memory

from .dump_reader import DumpRecord
from .findings import MOST_NAMED, Finding
from .marks import reject_short
from .replaying import ReplayedRun, replay_run

CLOSE = 1e-6  # two machines differ in the last digits of a float
WORDS = {Verdict.ACCEPTED: "accepted", Verdict.REJECTED: "rejected", Verdict.UNDECIDED: "undecided"}
# Kinds of events that change the workers, or the ε, of a step's gap.
MOVES = (
    "join",
    "withdraw",
    "absent",
    "leave",
    "screened",
    "take back",
    "epsilon",
    "open roster",
    "reopen",
)


def check_verdicts(record: DumpRecord, now: ReplayedRun) -> list[Finding]:
    """List the claims about verdicts, gap, proof and end that differ from ``now``, after all
    answers.
    """
    last_step = _replay_last_step(record, now)
    findings = [*_check_taken(now), *_check_memory(record, now), *_check_best_proof(record)]
    return [
        *findings,
        *_check_gap(record, last_step),
        *_check_ending(record, last_step),
        *_check_each_verdict(record, last_step),
    ]


def _replay_last_step(record: DumpRecord, now: ReplayedRun) -> ReplayedRun:
    """Replay to the last step: it shares δ among workers with earlier answers, and deals after
    judging.
    """
    if not record.steps or not (record.gone.any() or record.algorithm.weighs_out):
        return now
    return replay_run(record, max(record.steps))


def _check_taken(replayed: ReplayedRun) -> list[Finding]:
    if not replayed.refused:
        return []
    message = f"{replayed.refused} are counted that the algorithm had not asked for by then"
    return [Finding("Answers", message)]


def _check_memory(record: DumpRecord, replayed: ReplayedRun) -> list[Finding]:
    if replayed.selector is None or record.algorithm.open_roster or not record.steps:
        return []
    memory = pack_memory(replayed.selector.state.memory)
    # Entries that were never stored are as an algorithm begins with them.
    differing = [
        key for key, value in record.memory.items() if not _are_alike(value, memory.get(key))
    ]
    if not differing:
        return []
    message = f"by these answers it is another ({', '.join(sorted(differing))})"
    return [Finding("What the algorithm remembers", message)]


def _are_alike(left: Any, right: Any) -> bool:
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            _are_alike(left[key], right[key]) for key in left
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_are_alike, left, right))
    if isinstance(left, int | float) and isinstance(right, int | float):
        return abs(left - right) <= CLOSE
    return bool(left == right)


def _check_gap(record: DumpRecord, replayed: ReplayedRun) -> list[Finding]:
    """Check the gap of the last step, for the workers that took part then."""
    last = max(record.steps, default=0)
    moved = any(event["kind"] in MOVES and event["step"] >= last for event in record.events)
    if not last or moved:
        return []
    claimed = float(record.steps[last]["gap"])
    gap = replayed.selector.standing().gap if replayed.selector else 1.0
    if _may_state(record, claimed, gap):
        return []
    return [Finding(f"Step {last}", f"the gap was {gap:.6f}, and {claimed:.6f} is stated")]


def _may_state(record: DumpRecord, claimed: float, made: float) -> bool:
    """Tell if a claimed gap is valid although the rest of the record gives another.

    Outstanding answers that were withdrawn later are not in a record. They can only have made a gap
    larger.
    """
    more_was_out = record.algorithm.weighs_out and claimed > made
    return more_was_out or abs(claimed - made) <= CLOSE


def _check_best_proof(record: DumpRecord) -> list[Finding]:
    """Check the least ε that was proved on the way, and the arms it was proved of."""
    if not record.best_guarantee:
        return []
    step = int(record.best_guarantee["step"])
    replayed = replay_run(record, step)
    if (selector := replayed.selector) is None:
        return [Finding("Guarantee", f"in step {step} there was nothing to choose")]
    gap, arms = selector.standing().gap, sorted(replayed.arms[selector.selection()].tolist())
    if not _may_state(record, record.best_guarantee["epsilon"], gap):
        stated = record.best_guarantee["epsilon"]
        message = f"in step {step} ε = {gap:.6f} was guaranteed, and {stated:.6f} is stated"
        return [Finding("Guarantee", message)]
    if arms != sorted(record.best_guarantee["arms"]):
        return [Finding("Guarantee", f"what was guaranteed in step {step} was of others")]
    return []


def _check_ending(record: DumpRecord, replayed: ReplayedRun) -> list[Finding]:
    ending, selector = record.run["ending"], replayed.selector
    message = ""
    if ending == "guarantee":
        if selector is None or GUARANTEE_KEPT not in selector.stop():
            message = f"it is said to have kept its guarantee, and {_format_gap(selector)}"
    elif record.fixed_budget and ending == "budget":
        if not _is_budget_spent(record) and (
            selector is None or BUDGET_SPENT not in selector.stop()
        ):
            message = "its plan is said to be carried out, and by these answers it is not"
    elif ending == "roster" and selector is not None:
        message = "it is said to have ended because nobody was left to choose from, and some were"
    return [Finding("End", message)] if message else []


def _is_budget_spent(record: DumpRecord) -> bool:
    """Tell if the budget is spent: answers of retired questions or of leavers count towards it."""
    budget = record.run["budget"]
    return budget is not None and record.asked.arm.size >= budget


def _format_gap(selector: Selector | None) -> str:
    if selector is None:
        return "too few are left to choose from"
    standing = selector.standing()
    return f"by these answers the gap is {standing.gap:.6f} where {standing.wanted:g} is wanted"


def _check_each_verdict(record: DumpRecord, replayed: ReplayedRun) -> list[Finding]:
    """Check the verdicts of workers on the roster: others keep a verdict that was given before."""
    verdict = _recomputed_verdicts(record, replayed)
    if verdict is None:
        return []
    claimed = record.claim("verdict").astype(np.int64)[replayed.arms]
    return [
        Finding(
            f"Worker {record.worker_name(int(replayed.arms[i]))}",
            f"{WORDS[Verdict(int(verdict[i]))]} by these answers, and stated to be "
            f"{WORDS.get(int(claimed[i]), 'something else')}",  # type: ignore[call-overload]
        )
        for i in np.flatnonzero(verdict != claimed)[:MOST_NAMED].tolist()
    ]


def _recomputed_verdicts(record: DumpRecord, replayed: ReplayedRun) -> Counts | None:
    if record.run["ending"] == "roster":
        everybody = np.ones(replayed.arms.size, np.int64)
        return None if record.several else reject_short(record, replayed.arms, everybody)
    if replayed.selector is None:
        return None
    selector = replayed.selector
    if not record.finished:
        return selector.state.verdict.astype(np.int64)
    verdict = selector.standing().verdict.astype(np.int64)
    return reject_short(record, replayed.arms, verdict)
