"""What answers cost and pay, in amounts that the currency can pay, and as people say it."""

from decimal import ROUND_CEILING, Decimal

from django.db.models import QuerySet

from selection.models import Run

# The currencies that are not paid in hundredths, by their decimal places: all in ISO 4217, and
# other names in use. The list hardly ever changes; Babel, which has it, too, takes 33 MB.
OTHERS = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF "
    "¥ ￥ JP¥ 円 YEN ₩ 원 WON ₫ Đ VNĐ ĐỒNG DONG CFA FCFA ₲",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
PLACES = {name: places for places, names in OTHERS.items() for name in names.split()}


def decimal_places(currency: str) -> int:
    """Decimal places of what is paid in it; two where it is not known."""
    return PLACES.get(currency.strip(" .").upper(), 2)


def round_up_to_payable(amount: Decimal, currency: str) -> Decimal:
    """The least that can be paid and is not less: nobody gets less than they were told."""
    return amount.quantize(Decimal(1).scaleb(-decimal_places(currency)), ROUND_CEILING)


def compute_cost(answers: int, price: Decimal, currency: str) -> Decimal:
    return round_up_to_payable(price * answers, currency)


def format_number(amount: Decimal | float, currency: str) -> str:
    """The amount without its currency, with more places than can be paid only where it has more, as
    the price of a single answer may: 12.50, 1,200.00, 0.0125; of yen 38, 12.5."""
    exact = Decimal(str(amount)).quantize(Decimal("0.0001"))
    digits = max(decimal_places(currency), -int(exact.normalize().as_tuple().exponent))
    return f"{exact:,.{digits}f}"


def format_amount(amount: Decimal | float, currency: str) -> str:
    """The amount with its currency: 12.50 €, 1,200.00 USD, 0.0125 €, 38 JPY."""
    return f"{format_number(amount, currency)} {currency}".strip()


def format_price(run: Run) -> str:
    """Of an answer; empty where it is not known."""
    return "" if run.price is None else format_amount(run.price, run.currency)


def format_cost(run: Run, answers: int) -> str:
    """What so many answers of this run cost; empty where no price is known."""
    return (
        ""
        if run.price is None
        else format_amount(compute_cost(answers, run.price, run.currency), run.currency)
    )


def format_cost_range(run: Run, low: int, high: int) -> str:
    """What as many answers cost at least and at most: 4.00 – 9.50 €."""
    if run.price is None:
        return ""
    return f"{format_number(compute_cost(low, run.price, run.currency), run.currency)} – {format_cost(run, high)}"


def last_currency(runs: QuerySet[Run]) -> str:
    """That of the latest of these runs, to begin the next one with."""
    latest = runs.order_by("-pk").values_list("currency", flat=True).first()
    return str(Run._meta.get_field("currency").default) if latest is None else latest
