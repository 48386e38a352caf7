"""What the algorithm makes of the answers, and whether the record says the same."""

from typing import Any

import numpy as np

from topk.selector import BUDGET_SPENT, PROMISE_KEPT, Counts, Selector
from topk.state import Verdict, pack_memory

from .dump_reader import DumpRecord
from .findings import MOST_NAMED, Finding
from .replaying import ReplayedRun, replay_run

CLOSE = 1e-6  # two machines differ in the last digits of a float
WORDS = {Verdict.ACCEPTED: "accepted", Verdict.REJECTED: "rejected", Verdict.UNDECIDED: "undecided"}
# What changes for whom, or for which ε, a step's gap was worked out.
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
    """now  as all answers leave it"""
    then = _replay_last_step(record, now)
    found = [*_check_taken(now), *_check_memory(record, now), *_check_best_proof(record)]
    return [
        *found,
        *_check_gap(record, then),
        *_check_ending(record, then),
        *_check_each_verdict(record, then),
    ]


def _replay_last_step(record: DumpRecord, now: ReplayedRun) -> ReplayedRun:
    """A step shares δ among those who had given answers before it, and deals after judging."""
    if not record.steps or not (record.gone.any() or record.algorithm.weighs_out):
        return now
    return replay_run(record, max(record.steps))


def _check_taken(found: ReplayedRun) -> list[Finding]:
    if not found.refused:
        return []
    said = f"{found.refused} are counted that the algorithm had not asked for by then"
    return [Finding("Answers", said)]


def _check_memory(record: DumpRecord, found: ReplayedRun) -> list[Finding]:
    if found.selector is None or record.algorithm.open_roster or not record.steps:
        return []
    made = pack_memory(found.selector.state.memory)
    # What was never stored is what an algorithm begins with.
    other = [key for key, value in record.memory.items() if not _are_alike(value, made.get(key))]
    if not other:
        return []
    said = f"by these answers it is another ({', '.join(sorted(other))})"
    return [Finding("What the algorithm remembers", said)]


def _are_alike(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_are_alike, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= CLOSE
    return bool(one == other)


def _check_gap(record: DumpRecord, found: ReplayedRun) -> list[Finding]:
    """The last step says how far it was from its stop, by whoever took part then."""
    last = max(record.steps, default=0)
    moved = any(one["kind"] in MOVES and one["step"] >= last for one in record.events)
    if not last or moved:
        return []
    claimed = float(record.steps[last]["gap"])
    made = found.selector.standing().gap if found.selector else 1.0
    if _may_state(record, claimed, made):
        return []
    return [Finding(f"Step {last}", f"the gap was {made:.6f}, and {claimed:.6f} is stated")]


def _may_state(record: DumpRecord, claimed: float, made: float) -> bool:
    """Whether this gap may be stated, where what is left in the record makes it another.

    What was out and was taken back later is not in a record. It can only have made a gap larger.
    """
    more_was_out = record.algorithm.weighs_out and claimed > made
    return more_was_out or abs(claimed - made) <= CLOSE


def _check_best_proof(record: DumpRecord) -> list[Finding]:
    """The least ε that was proved on the way, and of whom."""
    if not record.proof:
        return []
    step = int(record.proof["step"])
    found = replay_run(record, step)
    if (then := found.selector) is None:
        return [Finding("Proof", f"in step {step} there was nothing to choose")]
    gap, arms = then.standing().gap, sorted(found.arms[then.selection()].tolist())
    if not _may_state(record, record.proof["epsilon"], gap):
        said = (
            f"in step {step} ε = {gap:.6f} was proved, and {record.proof['epsilon']:.6f} is stated"
        )
        return [Finding("Proof", said)]
    if arms != sorted(record.proof["arms"]):
        return [Finding("Proof", f"what was proved in step {step} was proved of others")]
    return []


def _check_ending(record: DumpRecord, found: ReplayedRun) -> list[Finding]:
    ending, selector = record.run["ending"], found.selector
    said = ""
    if ending == "promise":
        if selector is None or PROMISE_KEPT not in selector.stop():
            said = f"it is said to have ended with its promise kept, and {_format_gap(selector)}"
    elif record.fixed_budget and ending == "budget":
        if not _is_budget_spent(record) and (
            selector is None or BUDGET_SPENT not in selector.stop()
        ):
            said = "its plan is said to be carried out, and by these answers it is not"
    elif ending == "roster" and selector is not None:
        said = "it is said to have ended because nobody was left to choose from, and some were"
    return [Finding("End", said)] if said else []


def _is_budget_spent(record: DumpRecord) -> bool:
    """What was retired, or asked of those who left, is gone from the plan, not from the bill."""
    budget = record.run["budget"]
    return budget is not None and record.asked.arm.size >= budget


def _format_gap(selector: Selector | None) -> str:
    if selector is None:
        return "too few are left to choose from"
    standing = selector.standing()
    return f"by these answers the gap is {standing.gap:.6f} where {standing.wanted:g} is wanted"


def _check_each_verdict(record: DumpRecord, found: ReplayedRun) -> list[Finding]:
    """Of those who are there: who is gone keeps a verdict that was given before."""
    verdict = _recomputed_verdicts(record, found)
    if verdict is None:
        return []
    claimed = record.claim("verdict").astype(np.int64)[found.arms]
    return [
        Finding(
            f"Worker {record.who(int(found.arms[i]))}",
            f"{WORDS[Verdict(int(verdict[i]))]} by these answers, and stated to be "
            f"{WORDS.get(int(claimed[i]), 'something else')}",  # type: ignore[call-overload]
        )
        for i in np.flatnonzero(verdict != claimed)[:MOST_NAMED].tolist()
    ]


def _recomputed_verdicts(record: DumpRecord, found: ReplayedRun) -> Counts | None:
    if record.run["ending"] == "roster":
        return None if record.several else np.ones(found.arms.size, np.int64)
    if found.selector is None:
        return None
    selector = found.selector
    own = selector.standing().verdict if record.finished else selector.state.verdict
    return own.astype(np.int64)
