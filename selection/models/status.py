"""The status of a worker in a run, for every page, count, file, reply and message.

A worker without a counted answer is *not tested*, irrespective of the algorithm's stored verdict:
it reached that verdict without an answer of the worker.
"""

from typing import Protocol

from django.db.models import Count, Q

from topk import Verdict

NOT_TESTED = "not tested"
WORDS = {Verdict.ACCEPTED: "accepted", Verdict.REJECTED: "rejected", Verdict.UNDECIDED: "undecided"}
SETTLED = {Verdict.ACCEPTED: "settled in", Verdict.REJECTED: "settled out"}


class Tally(Protocol):
    """A candidate, or a row with these columns of one."""

    @property
    def pulls(self) -> int: ...
    @property
    def verdict(self) -> int: ...
    @property
    def gone(self) -> str: ...


def status_of(row: Tally, settled: int = Verdict.UNDECIDED) -> str:
    """Name the worker's status.

    settled  status by the algorithm's present bounds, for a worker without a verdict

    A worker that left the run before a verdict is not tested either, also after some answers.
    """
    if not row.pulls:
        return NOT_TESTED
    if row.verdict != Verdict.UNDECIDED:
        return WORDS[Verdict(row.verdict)]
    if row.gone:
        return NOT_TESTED
    return SETTLED.get(Verdict(settled), WORDS[Verdict.UNDECIDED])


def status_counts(prefix: str = "") -> dict[str, Count]:
    """Aggregate ``accepted``, ``rejected`` and ``not_tested``, as ``status_of`` decides.

    prefix  path from the aggregated rows to candidates: "candidates__" from runs
    """
    undecided = {f"{prefix}verdict": Verdict.UNDECIDED}
    untested = Q(**{f"{prefix}pulls": 0})
    leavers = Q(**undecided) & ~Q(**{f"{prefix}gone": ""})

    def count(condition: Q) -> Count:
        return Count(f"{prefix}id", filter=condition)

    return {
        "accepted": count(Q(**{f"{prefix}verdict": Verdict.ACCEPTED}) & ~untested),
        "rejected": count(Q(**{f"{prefix}verdict": Verdict.REJECTED}) & ~untested),
        "not_tested": count(untested | leavers),
    }
