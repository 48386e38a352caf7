"""Checks of the answers of a dump, and of the tallies made of them; they need no algorithm."""

import numpy as np

from topk import question_order

from .dump_reader import UNCOUNTED, DumpRecord
from .findings import MOST_NAMED, Finding, findings_of_workers


def _check_positions(record: DumpRecord) -> list[Finding]:
    """Check that each arm's positions go from 0 without a gap, and that the counted ones come
    first.
    """
    rows, findings = record.asked, []
    first = np.searchsorted(rows.arm, rows.arm)
    gaps = np.unique(rows.arm[rows.position != np.arange(rows.arm.size) - first])
    findings += findings_of_workers(
        record, gaps, "the positions of their questions do not go from 0 without a gap"
    )
    applied = rows.counted != UNCOUNTED
    earlier = (rows.counted[1:] < rows.counted[:-1]) | ~applied[:-1]
    same = rows.arm[1:] == rows.arm[:-1]
    wrong = np.unique(rows.arm[1:][applied[1:] & earlier & same])
    return findings + findings_of_workers(
        record, wrong, "answers were not counted in the order asked"
    )


def _check_order(record: DumpRecord) -> list[Finding]:
    """Check that no worker is asked a question twice."""
    rows = record.asked
    pairs, times = np.unique(np.stack([rows.arm, rows.question]), axis=1, return_counts=True)
    return findings_of_workers(record, np.unique(pairs[0][times > 1]), "a question was asked twice")


def _check_questions(record: DumpRecord) -> list[Finding]:
    """Check that each worker's questions come in the order that the seed gives, if nothing else
    decides.
    """
    deals, wrong = record.asked, set()
    if record.run["recorded"]:
        return []
    for number, size in enumerate(record.decks):
        mine = record.kind[deals.arm] == number
        beyond = deals.position[mine] >= size
        wrong |= set(deals.arm[mine][beyond].tolist())
        rows = np.flatnonzero(mine)[~beyond]
        if rows.size:
            seed, arms, places = record.run["seed"], deals.arm[rows], deals.position[rows]
            decks = question_order.decks_of(arms, record.algorithm.common_order)
            dealt = question_order.questions_at(seed, decks, places, size)
            for arm in np.unique(arms).tolist():
                if met := record.claims[arm].get("met"):  # questions met before are passed over
                    same_arm = arms == arm
                    dealt[same_arm] = question_order.questions_without(
                        seed, arm, places[same_arm], size, met
                    )
            other = dealt != deals.question[rows]
            wrong |= set(arms[other].tolist())
    message = "the questions did not come in the order that the seed gives"
    return findings_of_workers(record, np.array(sorted(wrong), np.int64), message)


def _check_numbers(record: DumpRecord) -> list[Finding]:
    """Check the numbers of arms, by which ties are broken: the seed deals them; later arms get the
    next.
    """
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
    rows, n = record.asked, record.n
    applied = rows.counted != UNCOUNTED
    tallies = {
        "asked": rows.tally(np.ones(rows.arm.size, bool), n),
        "pulls": rows.tally(applied & ~rows.void, n),
        "void": rows.tally(applied & rows.void, n),
        "rewards": rows.tally(applied & ~rows.void & (rows.right == 1), n),
    }
    words = {
        "asked": "questions were handed out",
        "pulls": "answers count",
        "void": "answers are void",
        "rewards": "answers are right",
    }
    findings = []
    for column, numbers in tallies.items():
        claimed = record.claim(column)
        for arm in np.flatnonzero(claimed != numbers)[:MOST_NAMED].tolist():
            message = f"{numbers[arm]} {words[column]}, and {claimed[arm]:g} are stated"
            findings.append(Finding(f"Worker {record.worker_name(arm)}", message))
    return findings


def _check_steps(record: DumpRecord) -> list[Finding]:
    """Check that every step counted as many answers as it states, after the last step of a full
    retelling.
    """
    applied = record.asked.counted
    counts = dict(
        zip(*(part.tolist() for part in np.unique(applied, return_counts=True)), strict=True)
    )
    findings = [
        Finding(f"Step {number}", f"it is not in the dump, and {count} answers were counted in it")
        for number, count in counts.items()
        if number != UNCOUNTED and number not in record.steps
    ]
    for number, step in record.steps.items():
        if number > record.anew and counts.get(number, 0) != step["applied"]:
            message = (
                f"{counts.get(number, 0)} answers were counted in it, and {step['applied']} stated"
            )
            findings.append(Finding(f"Step {number}", message))
    return findings[:MOST_NAMED]


def _check_money(record: DumpRecord) -> list[Finding]:
    budget, rows = record.run["budget"], record.asked
    if any(event["kind"] == "regrade" for event in record.events):
        return []  # a question that was restored costs again what it had cost
    spent = int((~rows.void).sum())
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
