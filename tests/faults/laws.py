"""Invariants to check after each fault: of every run, and of the replies to its crowd."""

from collections.abc import Iterable

from django.db import transaction

from selection import reports
from selection.models import Answer, Run
from selection.runs import consistency
from topk.verify import verify_dump

from .traffic import SILENT, Ledger

CHUNK = 500


@transaction.atomic
def of_run(run_id: int) -> list[str]:
    """Return violations in a run: its figures and verdicts must match its answers."""
    run = Run.objects.locked(run_id)
    if run is None or run.status == Run.Status.DRAFT:
        return []
    wrong = [f"{fault.law}: {fault.words}" for fault in consistency.find_faults(run)]
    found = verify_dump(reports.dump_run(run)).findings
    return [f"run {run_id}: {one}" for one in (*wrong, *map(str, found))]


def of_ledger(ledger: Ledger, assignments: Iterable[int] | None = None) -> list[str]:
    """Return replies that turned out false, for these assignments or all.

    taken    an answer that the server reported as taken is stored as it was sent
    made up  every stored answer was sent
    late     no worker who answers as soon as possible loses a question by a fault
    odd      no reply is meaningless
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
        f"taken: answer {pk} is {response!r} and not {sent[pk]!r}"
        for pk, response in stored.items()
        if response != sent[pk]
    ]
    lapsed = Answer.objects.filter(expired=True)
    late |= dict(lapsed.values_list("pk", "assignment__candidate__worker__key"))
    unfair = [f"late: {pk} of {worker}" for pk, worker in late.items() if worker != SILENT]
    return [*lost, *changed, *_made_up(ledger), *unfair, *(f"odd: {reply}" for reply in odd)]


def _stored(assignments: list[int]) -> dict[int, str]:
    responses: dict[int, str] = {}
    for start in range(0, len(assignments), CHUNK):
        answers = Answer.objects.filter(pk__in=assignments[start : start + CHUNK], expired=False)
        responses |= dict(answers.values_list("pk", "response"))
    return responses


def _made_up(ledger: Ledger) -> list[str]:
    people = Answer.objects.filter(assignment__candidate__worker__endpoint=None, expired=False)
    stored = dict(people.values_list("pk", "response"))
    with ledger.lock:
        return [
            f"made up: {pk}" for pk, response in stored.items() if ledger.sent.get(pk) != response
        ]


def of_end(runs: Iterable[int]) -> list[str]:
    """Return the runs that did not end after the last fault."""
    rest = Run.objects.filter(pk__in=list(runs)).exclude(status=Run.Status.ENDED)
    return [f"end: {run} is {run.status} after {run.steps} steps" for run in rest]
