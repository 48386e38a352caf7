"""Prices per answer: stored with a run, changeable at any time, formatted for people."""

from decimal import Decimal

import pytest

from selection import reports, viewer_locale
from selection.errors import Refused
from selection.models import Run
from selection.runs import changes, lifecycle, money
from selection.runs.settings import drafts
from tests.worlds import make_run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (Decimal("0.0500"), "0.05 €"),
        (Decimal("0.0125"), "0.0125 €"),
        (1234.5, "1,234.50 €"),
        (0, "0.00 €"),
        (Decimal("0.001"), "0.001 €"),
    ],
)
def test_an_amount_has_cents_and_more_only_where_there_are_more(amount, words):
    assert money.format_amount(amount, "€") == words


@pytest.mark.parametrize(
    ("currency", "price", "three"),
    [
        ("€", "12.50 €", "37.50 €"),
        ("JPY", "12.5 JPY", "38 JPY"),
        ("jpy.", "12.5 jpy.", "38 jpy."),
        ("¥", "12.5 ¥", "38 ¥"),
        ("CN¥", "12.50 CN¥", "37.50 CN¥"),
        ("₩", "12.5 ₩", "38 ₩"),
        ("đồng", "12.5 đồng", "38 đồng"),
        ("KWD", "12.500 KWD", "37.500 KWD"),
        ("CLF", "12.5000 CLF", "37.5000 CLF"),
        ("", "12.50", "37.50"),
    ],
)
def test_an_amount_is_one_that_its_currency_can_pay_and_never_less(currency, price, three):
    run = make_run(start=False, price=Decimal("12.5"), currency=currency)
    assert (money.format_price(run), money.format_cost(run, 3)) == (price, three)
    assert money.format_cost_range(run, 2, 3) == f"{money.format_cost(run, 2).split()[0]} – {three}"


def test_price_may_be_finer_than_a_cent():
    run = make_run(start=False, price=Decimal("0.0125"), currency="$")
    assert (money.format_price(run), money.format_cost(run, 1), money.format_cost(run, 80)) == (
        "0.0125 $",
        "0.02 $",
        "1.00 $",
    )


def test_a_run_of_no_price_costs_an_unknown_amount():
    run = make_run(start=False)
    assert (run.price, run.currency, money.format_cost(run, 10)) == (None, "€", "")
    assert money.format_price(run) == money.format_cost_range(run, 1, 2) == ""


@pytest.mark.parametrize("state", ["draft", "running", "ended"])
def test_the_price_changes_at_any_time_and_is_exported(state):
    run = make_run(start=state != "draft", budget=30)
    if state == "ended":
        lifecycle.stop_run(run)
    said = changes.apply_changes(run, {"price": Decimal("0.05"), "currency": "USD"}, "ann")
    assert "An answer costs 0.05 €" in said["price"]
    run.refresh_from_db()
    assert money.format_cost(run, 30) == "1.50 USD"
    document = reports.export_run(run)
    assert (document["price"], document["currency"], document["budget"]) == (0.05, "USD", 30)
    assert changes.apply_changes(run, {"price": Decimal("0.05")}) == {}


@pytest.mark.parametrize("price", [Decimal(-1), Decimal("0.00001"), Decimal("NaN"), Decimal(10**9)])
def test_a_price_that_cannot_be_is_refused(price):
    with pytest.raises(Refused, match="Price per answer"):
        changes.apply_changes(make_run(), {"price": price})


def test_a_copy_keeps_the_price_and_the_next_run_the_currency():
    run = make_run(start=False, price=Decimal("0.2"), currency="kr")
    copied = drafts.copy_run(run, "again")
    assert (copied.price, copied.currency) == (Decimal("0.2"), "kr")
    assert money.last_currency(Run.objects.all()) == "kr"


@pytest.mark.parametrize(
    ("amount", "words"),
    [("0", "0.00 €"), ("0.5", "0.50 €"), ("0.0000240", "0.000024 €"), ("0.0123456", "0.0123 €")],
)
def test_costs_of_calls_are_shown_with_three_digits(amount, words):
    assert money.format_call_cost(Decimal(amount), "€") == words
    with viewer_locale.formatting_for(viewer_locale.ENGLISH):
        assert money.format_call_cost(Decimal(amount), "€") == f"€{words[:-2]}"
