"""What has to hold after each fault: of every run by itself, and of what its crowd was told."""

from collections.abc import Iterable

from django.db import transaction

from selection import reports
from selection.models import Answer, Run
from selection.runs import consistency

from .traffic import SILENT, Ledger

CHUNK = 500


@transaction.atomic
def of_run(run_id: int) -> list[str]:
    """That a run's figures and verdicts are those of its answers (``recount``, ``verify``)."""
    run = Run.objects.locked(run_id)
    if run is None or run.status == Run.Status.DRAFT:
        return []
    wrong = [f"{fault.law}: {fault.words}" for fault in consistency.find_faults(run)]
    found = reports.verify_dump(reports.dump_run(run)).findings
    return [f"run {run_id}: {one}" for one in (*wrong, *map(str, found))]


def of_ledger(ledger: Ledger, assignments: Iterable[int] | None = None) -> list[str]:
    """That what the crowd was told is so, of these assignments or of all.

    taken    an answer of which the server said that it has it is stored, as it was sent
    made up  no answer is stored that nobody sent
    late     nobody loses a question by a fault who answers as soon as that can be done
    odd      nobody was told what makes no sense
    """
    with ledger.lock:
        taken = set(ledger.taken) if assignments is None else ledger.taken & set(assignments)
        late = {pk: ledger.workers.get(pk, "") for pk in ledger.late}
        odd = list(ledger.odd)
    stored = _stored(sorted(taken))
    with ledger.lock:
        sent = dict(ledger.sent)
    lost = [f"taken: answer {pk} is lost" for pk in sorted(taken - stored.keys())]
    changed = [
        f"taken: answer {pk} is {said!r} and not {sent[pk]!r}"
        for pk, said in stored.items()
        if said != sent[pk]
    ]
    lapsed = Answer.objects.filter(expired=True)
    late |= dict(lapsed.values_list("pk", "assignment__candidate__worker__key"))
    unfair = [f"late: {pk} of {who}" for pk, who in late.items() if who != SILENT]
    return [*lost, *changed, *_made_up(ledger), *unfair, *(f"odd: {one}" for one in odd)]


def _stored(assignments: list[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for start in range(0, len(assignments), CHUNK):
        own = Answer.objects.filter(pk__in=assignments[start : start + CHUNK], expired=False)
        found |= dict(own.values_list("pk", "response"))
    return found


def _made_up(ledger: Ledger) -> list[str]:
    there = dict(Answer.objects.filter(expired=False).values_list("pk", "response"))
    with ledger.lock:
        return [f"made up: {pk}" for pk, said in there.items() if ledger.sent.get(pk) != said]


def of_end(runs: Iterable[int]) -> list[str]:
    """That every run came to its end once all was well again."""
    rest = Run.objects.filter(pk__in=list(runs)).exclude(status=Run.Status.ENDED)
    return [f"end: {run} is {run.status} after {run.steps} steps" for run in rest]
