"""How the answers came, and whether the tallies are theirs: no algorithm is needed for this."""

import numpy as np

from topk import question_order

from .dump_reader import UNCOUNTED, DumpRecord
from .findings import MOST_NAMED, Finding, findings_of_workers


def _check_positions(record: DumpRecord) -> list[Finding]:
    """Each arm's positions go from 0 without a gap, and what counted of them is a beginning."""
    asked, found = record.asked, []
    first = np.searchsorted(asked.arm, asked.arm)
    gaps = np.unique(asked.arm[asked.position != np.arange(asked.arm.size) - first])
    found += findings_of_workers(
        record, gaps, "the positions of their questions do not go from 0 without a gap"
    )
    counted = asked.counted != UNCOUNTED
    earlier = (asked.counted[1:] < asked.counted[:-1]) | ~counted[:-1]
    same = asked.arm[1:] == asked.arm[:-1]
    wrong = np.unique(asked.arm[1:][counted[1:] & earlier & same])
    return found + findings_of_workers(record, wrong, "answers were not counted in the order asked")


def _check_order(record: DumpRecord) -> list[Finding]:
    """Nobody is asked a question twice."""
    asked = record.asked
    pairs, times = np.unique(np.stack([asked.arm, asked.question]), axis=1, return_counts=True)
    return findings_of_workers(record, np.unique(pairs[0][times > 1]), "a question was asked twice")


def _check_questions(record: DumpRecord) -> list[Finding]:
    """The seed fixes each worker's order of questions, where nothing else has a say in it."""
    asked, wrong = record.asked, set()
    if record.run["recorded"]:
        return []
    for number, size in enumerate(record.decks):
        mine = record.kind[asked.arm] == number
        beyond = asked.position[mine] >= size
        wrong |= set(asked.arm[mine][beyond].tolist())
        known = np.flatnonzero(mine)[~beyond]
        if known.size:
            seed, arms, places = record.run["seed"], asked.arm[known], asked.position[known]
            dealt = question_order.questions_at(seed, arms, places, size)
            for arm in np.unique(arms).tolist():
                if met := record.claims[arm].get("met"):  # what was met before is passed over
                    own = arms == arm
                    dealt[own] = question_order.questions_without(seed, arm, places[own], size, met)
            other = dealt != asked.question[known]
            wrong |= set(arms[other].tolist())
    said = "the questions did not come in the order that the seed gives"
    return findings_of_workers(record, np.array(sorted(wrong), np.int64), said)


def _check_numbers(record: DumpRecord) -> list[Finding]:
    """The seed deals the numbers by which ties are broken; who joins later gets the next ones."""
    if record.run["joined"]:
        return []
    kinds = len(record.ks)
    size = record.n // kinds
    rng = np.random.default_rng(record.run["seed"])
    dealt = np.concatenate([rng.permutation(size) + number * size for number in range(kinds)])
    worker, kind = np.empty(record.n, np.int64), np.empty(record.n, np.int64)
    worker[dealt], kind[dealt] = np.tile(np.arange(size), kinds), np.repeat(np.arange(kinds), size)
    if np.array_equal(worker, record.worker) and np.array_equal(kind, record.kind):
        return []
    return [Finding("Seed", "the workers are not numbered as this seed numbers them")]


def _check_tallies(record: DumpRecord) -> list[Finding]:
    asked, n = record.asked, record.n
    counted = asked.counted != UNCOUNTED
    made = {
        "asked": asked.tally(np.ones(asked.arm.size, bool), n),
        "pulls": asked.tally(counted & ~asked.void, n),
        "void": asked.tally(counted & asked.void, n),
        "rewards": asked.tally(counted & ~asked.void & (asked.right == 1), n),
    }
    words = {
        "asked": "questions were handed out",
        "pulls": "answers count",
        "void": "answers are void",
        "rewards": "answers are right",
    }
    found = []
    for column, numbers in made.items():
        claimed = record.claim(column)
        for arm in np.flatnonzero(claimed != numbers)[:MOST_NAMED].tolist():
            said = f"{numbers[arm]} {words[column]}, and {claimed[arm]:g} are stated"
            found.append(Finding(f"Worker {record.who(arm)}", said))
    return found


def _check_steps(record: DumpRecord) -> list[Finding]:
    """Every step counted as many answers as it says; before all was told anew that may differ."""
    counted = record.asked.counted
    made = dict(
        zip(*(part.tolist() for part in np.unique(counted, return_counts=True)), strict=True)
    )
    found = [
        Finding(f"Step {number}", f"it is not in the dump, and {count} answers were counted in it")
        for number, count in made.items()
        if number != UNCOUNTED and number not in record.steps
    ]
    for number, step in record.steps.items():
        if number > record.anew and made.get(number, 0) != step["applied"]:
            said = f"{made.get(number, 0)} answers were counted in it, and {step['applied']} stated"
            found.append(Finding(f"Step {number}", said))
    return found[:MOST_NAMED]


def _check_money(record: DumpRecord) -> list[Finding]:
    budget, asked = record.run["budget"], record.asked
    if any(one["kind"] == "regrade" for one in record.events):
        return []  # a question that was restored costs again what it had cost
    spent = int((~asked.void).sum())
    if budget is None or spent <= budget:
        return []
    return [Finding("Budget", f"{spent:,} questions were handed out, of {budget:,} allowed")]


CHECKS = (
    _check_positions,
    _check_order,
    _check_questions,
    _check_numbers,
    _check_tallies,
    _check_steps,
    _check_money,
)
