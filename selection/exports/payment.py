"""Payment lists of all tested workers, selected or not."""

from collections.abc import Collection, Iterator
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, Q

from selection.errors import Refused
from selection.models import Assignment, Candidate, Run
from selection.models.answers import is_given
from selection.runs import money
from selection.runs.worker_texts import PageFacts

from .context import ExportContext
from .writing import ExportTable, plain_lines, program_csv

COLUMNS = [
    *("worker", "name", "shown", "answered", "too_late"),
    *("pay_per_answer", "due", "currency", "platform", "task"),
]
MOST_REASON = 200
DOLLARS = {
    *("", "$", "us$", "us-$", "us $", "$us", "usd"),
    *("us dollar", "us dollars", "dollar", "dollars"),
}
POUNDS = {"£", "gbp", "£ gbp", "gbp £", "gb£", "uk£", "pound", "pounds", "sterling"}
UNKNOWN = (
    "It is not known what an answer is paid: give the run a price per answer, or say the pay when "
    "exporting."
)
GIVEN = is_given("answer__")
LATE = Q(answer__expired=True)


def payment_table(context: ExportContext) -> ExportTable:
    pay, currency = _pay_per_answer(context), context.run.currency
    rows = (
        [*facts, late, pay, amount_due(pay, facts[-1], currency), currency, platform, task]
        for *facts, late, platform, task in _tested_workers(context.run)
    )
    return ExportTable(COLUMNS, rows)


def prolific_bonus(context: ExportContext) -> Iterator[bytes]:
    """Yield ``id,amount`` on each line, as Prolific pays bonuses in bulk; see below."""
    return plain_lines(list(row) for row in prolific_amounts(context.run, context.pay).items())


def prolific_amounts(run: Run, pay: Decimal | None = None) -> dict[str, Decimal]:
    """Compute the amount due by worker, for Prolific.

    pay  pay for an answer; None: as for every payment list

    Workers that came by another platform are left out: they would be paid twice. Raises Refused if
    the pay for an answer is unknown, or if the run's amounts are in a currency that Prolific does
    not pay in.
    """
    if pay is None and (lack := lacks_pounds(run)):
        raise Refused(lack)
    ours = ("", Candidate.Platform.PROLIFIC)
    rows = _bonus_rows(ExportContext(run, pay=pay))
    return {worker: due for worker, due, platform, _ in rows if platform in ours}


def find_prolific_amounts(run: Run) -> dict[str, Decimal]:
    try:
        return prolific_amounts(run)
    except Refused:
        return {}


def mturk_bonus(context: ExportContext) -> Iterator[bytes]:
    """Yield the arguments of MTurk's SendBonus for each worker of one of its tasks, in US dollars.

    Raises Refused as above, and if the run's amounts are in another currency.
    """
    if context.pay is None and (lack := lacks_dollars(context.run)):
        raise Refused(lack)
    reason = f"{context.run}"[:MOST_REASON]
    rows = (
        [worker, task, due, reason]
        for worker, due, platform, task in _bonus_rows(context)
        if task and platform == Candidate.Platform.MTURK
    )
    return program_csv(ExportTable(["WorkerId", "AssignmentId", "BonusAmount", "Reason"], rows))


def _bonus_rows(context: ExportContext) -> Iterator[tuple[str, Decimal, str, str]]:
    """Yield (worker, amount, platform, task) of all due payments, in dollars or pounds."""
    pay = _pay_per_answer(context)
    if pay is None:
        raise Refused(UNKNOWN)
    return (
        (worker, amount, platform, task)
        for worker, _, _, answered, _, platform, task in _tested_workers(context.run)
        if (amount := amount_due(pay, answered, "USD"))
    )


def lacks_dollars(run: Run) -> str:
    """Refuse the same for MTurk, which pays any amount as US dollars.

    If a run has no currency its amounts are taken for the platform's.
    """
    return _missing_pay(run, DOLLARS, "MTurk pays bonuses in US dollars", "US dollars")


def lacks_pounds(run: Run) -> str:
    """Refuse the same for Prolific, which pays any amount in the currency of the study."""
    currencies = DOLLARS | POUNDS
    return _missing_pay(
        run, currencies, "Prolific pays in pounds or US dollars", "your study’s currency"
    )


def _missing_pay(run: Run, currencies: Collection[str], rule: str, currency: str) -> str:
    lack = UNKNOWN if _pay_per_answer(ExportContext(run)) is None else ""
    if lack or run.currency.strip(" .").casefold() in currencies:
        return lack
    return (
        f"{rule}, and the amounts of this run are in {run.currency}: say the pay for an "
        f"answer in {currency} when exporting."
    )


def amount_due(pay: Decimal | None, answered: int, currency: str) -> Decimal | None:
    return None if pay is None else money.compute_cost(answered, pay, currency)


def _pay_per_answer(context: ExportContext) -> Decimal | None:
    page_pay = PageFacts.from_run(context.run).pay
    pay = next(
        (amount for amount in (context.pay, page_pay, context.run.price) if amount is not None),
        None,
    )
    return None if pay is None else pay.normalize() + 0


def _tested_workers(run: Run) -> Iterator[tuple[Any, ...]]:
    """Yield (worker, name, shown, answered, too late, platform, task) of workers shown a question.

    Answers that came by file or API were shown elsewhere, and count as shown.
    """
    rows = (
        Assignment.objects.filter(candidate__run=run)
        .order_by("candidate__worker__key")
        .values_list("candidate__worker__key", "candidate__worker__name")
        .annotate(
            shown=Count("pk", filter=Q(shown__isnull=False) | GIVEN | LATE),
            answered=Count("pk", filter=GIVEN),
            late=Count("pk", filter=LATE),
            platform=Max("candidate__platform"),
            task=Max("candidate__task"),
        )
        .filter(shown__gt=0)
    )
    return rows.iterator(2000)
