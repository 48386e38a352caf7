"""Who is to be paid for what: everybody who was tested, selected or not."""

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
from .writing import ExportTable, csv_file, plain_lines, program_csv

COLUMNS = [
    *("worker", "name", "shown", "answered", "too_late"),
    *("pay_per_answer", "due", "currency", "platform", "task"),
]
MOST_REASON = 200
DOLLARS = {
    "",
    "$",
    "us$",
    "us-$",
    "us $",
    "$us",
    "usd",
    "us dollar",
    "us dollars",
    "dollar",
    "dollars",
}
POUNDS = {"£", "gbp", "£ gbp", "gbp £", "gb£", "uk£", "pound", "pounds", "sterling"}
UNKNOWN = (
    "It is not known what an answer is paid: give the run a price per answer, or say the pay when "
    "exporting."
)
GIVEN = is_given("answer__")
LATE = Q(answer__expired=True)


def write_payments(wanted: ExportContext) -> Iterator[bytes]:
    """For people: what each was shown, answered and is due."""
    pay, currency = _pay_per_answer(wanted), wanted.run.currency
    rows = (
        [
            *person,
            answered,
            late,
            pay,
            amount_due(pay, answered, currency),
            currency,
            platform,
            task,
        ]
        for *person, answered, late, platform, task in _tested_workers(wanted.run)
    )
    return csv_file(ExportTable(COLUMNS, rows))


def prolific_bonus(wanted: ExportContext) -> Iterator[bytes]:
    """``id,amount`` on each line, as Prolific pays bonuses in bulk: of all but those who came by
    MTurk, for they would be paid twice.

    Raises Refused where it is not known what an answer is paid, or the run's amounts are of a
    currency that Prolific does not pay in.
    """
    if wanted.pay is None and (lack := lacks_pounds(wanted.run)):
        raise Refused(lack)
    bonuses, mturk = _bonus_rows(wanted), Candidate.Platform.MTURK
    return plain_lines([worker, due] for worker, due, platform, _ in bonuses if platform != mturk)


def mturk_bonus(wanted: ExportContext) -> Iterator[bytes]:
    """What MTurk's SendBonus is told of each worker who came by one of its tasks, in US dollars.

    Raises Refused as above, and where the run's amounts are of another currency.
    """
    if wanted.pay is None and (lack := lacks_dollars(wanted.run)):
        raise Refused(lack)
    reason = f"{wanted.run}"[:MOST_REASON]
    rows = (
        [worker, task, due, reason]
        for worker, due, platform, task in _bonus_rows(wanted)
        if task and platform == Candidate.Platform.MTURK
    )
    return program_csv(ExportTable(["WorkerId", "AssignmentId", "BonusAmount", "Reason"], rows))


def _bonus_rows(wanted: ExportContext) -> Iterator[tuple[str, Decimal, str, str]]:
    """(worker, amount, platform, their task there) of whoever is due something: in dollars or
    pounds, whatever the run's own amounts are in."""
    pay = _pay_per_answer(wanted)
    if pay is None:
        raise Refused(UNKNOWN)
    return (
        (worker, amount, platform, task)
        for worker, _, _, answered, _, platform, task in _tested_workers(wanted.run)
        if (amount := amount_due(pay, answered, "USD"))
    )


def lacks_pay(run: Run) -> str:
    """Why bonuses cannot be told unless the pay is said, in a sentence; empty if they can."""
    return UNKNOWN if _pay_per_answer(ExportContext(run)) is None else ""


def lacks_dollars(run: Run) -> str:
    """The same for MTurk, which pays the amount as US dollars whatever was meant by it.

    Where a run names no currency its amounts are taken for the platform's.
    """
    return _missing_pay(run, DOLLARS, "MTurk pays bonuses in US dollars", "US dollars")


def lacks_pounds(run: Run) -> str:
    """The same for Prolific, which takes it for the currency of the study."""
    known = DOLLARS | POUNDS
    return _missing_pay(
        run, known, "Prolific pays in pounds or US dollars", "your study’s currency"
    )


def _missing_pay(run: Run, currencies: Collection[str], pays: str, there: str) -> str:
    if (lack := lacks_pay(run)) or run.currency.strip(" .").casefold() in currencies:
        return lack
    return (
        f"{pays}, and the amounts of this run are in {run.currency}: say the pay for an answer in "
        f"{there} when exporting."
    )


def amount_due(pay: Decimal | None, answered: int, currency: str) -> Decimal | None:
    """Answers of a retired question are work all the same."""
    return None if pay is None else money.compute_cost(answered, pay, currency)


def _pay_per_answer(wanted: ExportContext) -> Decimal | None:
    """As said for this file; else what the workers were told, for that is what they expect; else
    the price."""
    told = PageFacts.from_run(wanted.run).pay
    pay = next((one for one in (wanted.pay, told, wanted.run.price) if one is not None), None)
    return None if pay is None else pay.normalize() + 0


def _tested_workers(run: Run) -> Iterator[tuple[Any, ...]]:
    """(worker, name, shown, answered, too late, platform, task) of whoever was shown a question, or
    answered one.

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
