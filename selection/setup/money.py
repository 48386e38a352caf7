"""What answers cost, as people say it."""

from decimal import Decimal

from django.db.models import QuerySet

from selection.models import Run


def words(amount: Decimal | float, currency: str) -> str:
    """The amount with its currency: 12.50 €, 1,200.00 USD, 0.0125 €."""
    exact = Decimal(str(amount)).quantize(Decimal("0.0001"))
    cents = exact.quantize(Decimal("0.01"))
    return f"{cents if cents == exact else exact.normalize():,f} {currency}".strip()


def of(run: Run, answers: int) -> str:
    """What so many answers of this run cost; empty where no price is known."""
    return "" if run.price is None else words(run.price * answers, run.currency)


def last_currency(runs: QuerySet[Run]) -> str:
    """That of the latest of these runs, to begin the next one with."""
    latest = runs.order_by("-pk").values_list("currency", flat=True).first()
    return str(Run._meta.get_field("currency").default) if latest is None else latest
