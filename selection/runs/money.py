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


def places(currency: str) -> int:
    """Decimal places of what is paid in it; two where it is not known."""
    return PLACES.get(currency.strip(" .").upper(), 2)


def payable(amount: Decimal, currency: str) -> Decimal:
    """The least that can be paid and is not less: nobody gets less than they were told."""
    return amount.quantize(Decimal(1).scaleb(-places(currency)), ROUND_CEILING)


def cost(answers: int, price: Decimal, currency: str) -> Decimal:
    return payable(price * answers, currency)


def number(amount: Decimal | float, currency: str) -> str:
    """The amount without its currency, with more places than can be paid only where it has more, as
    the price of a single answer may: 12.50, 1,200.00, 0.0125; of yen 38, 12.5."""
    exact = Decimal(str(amount)).quantize(Decimal("0.0001"))
    digits = max(places(currency), -int(exact.normalize().as_tuple().exponent))
    return f"{exact:,.{digits}f}"


def words(amount: Decimal | float, currency: str) -> str:
    """The amount with its currency: 12.50 €, 1,200.00 USD, 0.0125 €, 38 JPY."""
    return f"{number(amount, currency)} {currency}".strip()


def price(run: Run) -> str:
    """Of an answer; empty where it is not known."""
    return "" if run.price is None else words(run.price, run.currency)


def of(run: Run, answers: int) -> str:
    """What so many answers of this run cost; empty where no price is known."""
    return "" if run.price is None else words(cost(answers, run.price, run.currency), run.currency)


def between(run: Run, low: int, high: int) -> str:
    """What as many answers cost at least and at most: 4.00 – 9.50 €."""
    if run.price is None:
        return ""
    return f"{number(cost(low, run.price, run.currency), run.currency)} – {of(run, high)}"


def last_currency(runs: QuerySet[Run]) -> str:
    """That of the latest of these runs, to begin the next one with."""
    latest = runs.order_by("-pk").values_list("currency", flat=True).first()
    return str(Run._meta.get_field("currency").default) if latest is None else latest
