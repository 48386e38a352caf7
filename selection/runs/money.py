"""Cost and pay of answers, in amounts payable in the currency, formatted for people."""

from decimal import ROUND_CEILING, Context, Decimal

from django.db.models import QuerySet

from selection import viewer_locale
from selection.models import Run

# Currencies not paid in hundredths, by decimal places: all of ISO 4217, and other names in use.
# Payable amounts do not follow Babel, which has the places usual in a country instead.
UNUSUAL_PLACES = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF "
    "¥ ￥ JP¥ 円 YEN ₩ 원 WON ₫ Đ VNĐ ĐỒNG DONG CFA FCFA ₲",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
PLACES = {name: places for places, names in UNUSUAL_PLACES.items() for name in names.split()}
CALL_DIGITS = 3  # of a cost of calls below 1


def decimal_places(currency: str) -> int:
    """Look up the decimal places of the currency (ISO 4217); 2 if unknown."""
    return PLACES.get(currency.strip(" .").upper(), 2)


def round_up_to_payable(amount: Decimal, currency: str) -> Decimal:
    """Find the least payable amount that is not lower: no worker gets less than announced."""
    return amount.quantize(Decimal(1).scaleb(-decimal_places(currency)), ROUND_CEILING)


def compute_cost(answers: int, price: Decimal, currency: str) -> Decimal:
    return round_up_to_payable(price * answers, currency)


def count_places(amount: Decimal, currency: str) -> int:
    """Count the places payable in the currency, or more if needed, as for a single answer."""
    return max(decimal_places(currency), -int(amount.normalize().as_tuple().exponent))


def format_number(amount: Decimal | float, currency: str) -> str:
    """Write the amount without its currency: 12.50, 1,200.00, 0.0125; in yen 38 or 12.5."""
    exact = Decimal(str(amount)).quantize(Decimal("0.0001"))
    return viewer_locale.format_fraction(exact, count_places(exact, currency))


def format_amount(amount: Decimal | float, currency: str) -> str:
    """Write the amount with its currency: €12.50, or 12.50 € in neutral texts."""
    exact = Decimal(str(amount)).quantize(Decimal("0.0001"))
    return viewer_locale.format_currency(exact, currency, count_places(exact, currency))


def format_call_cost(amount: Decimal, currency: str = "") -> str:
    """Write the cost of calls, which may be far below what can be paid: €12.50, €0.000024."""
    if amount == 0 or amount >= 1:
        return format_amount(amount, currency)
    short = amount.normalize(Context(prec=CALL_DIGITS))
    return viewer_locale.format_currency(short, currency, count_places(short, currency))


def format_price(run: Run) -> str:
    return "" if run.price is None else format_amount(run.price, run.currency)


def format_cost(run: Run, answers: int) -> str:
    """Write the cost of so many answers of this run; empty if its price is unknown."""
    if run.price is None:
        return ""
    return format_amount(compute_cost(answers, run.price, run.currency), run.currency)


def format_cost_range(run: Run, low: int, high: int) -> str:
    """Write the cost of between low and high answers, for example 4.00 – 9.50 €."""
    if run.price is None or low == high:
        return format_cost(run, high)
    if viewer_locale.locale_name():  # the currency may come first
        return f"{format_cost(run, low)} – {format_cost(run, high)}"
    lowest = format_number(compute_cost(low, run.price, run.currency), run.currency)
    return f"{lowest} – {format_cost(run, high)}"


def last_currency(runs: QuerySet[Run]) -> str:
    """Find the currency of the latest of these runs, as the default of the next one."""
    latest = runs.order_by("-pk").values_list("currency", flat=True).first()
    return str(Run._meta.get_field("currency").default) if latest is None else latest
