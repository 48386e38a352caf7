"""Pages show numbers, amounts and times in the browser's locale; files and the API do not."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings
from django.template import Context, Template
from django.urls import reverse

from selection import exports, viewer_locale
from selection.runs import money
from tests.selection.admin.test_changes import settings_of
from tests.worlds import make_run

AMERICAN, BRITISH, GERMAN = "en-US,en;q=0.9", "en-GB,en;q=0.9", "de-DE,de;q=0.9,en;q=0.5"


def format_in(accept_language: str, text: str, **values) -> str:
    with viewer_locale.formatting_for(viewer_locale.accepted_locale(accept_language)):
        return Template(text).render(Context(values)).replace("\xa0", " ")


@pytest.mark.parametrize(
    ("browser", "amount"),
    [(AMERICAN, "€1,215.80"), (BRITISH, "€1,215.80"), (GERMAN, "1.215,80 €"), ("", "€1,215.80")],
)
def test_an_amount_is_written_as_in_the_browser_s_locale(browser, amount):
    with viewer_locale.formatting_for(viewer_locale.accepted_locale(browser)):
        assert money.format_amount(Decimal("1215.8"), "€").replace("\xa0", " ") == amount


@pytest.mark.parametrize(
    ("currency", "british", "german"),
    [
        ("USD", "US$0.0125", "0,0125 $"),
        ("CHF", "CHF 0.0125", "0,0125 CHF"),
        ("credits", "0.0125 credits", "0,0125 credits"),
        ("", "0.0125", "0,0125"),
    ],
)
def test_a_price_keeps_its_places_in_any_currency(currency, british, german):
    for browser, words in ((BRITISH, british), (GERMAN, german)):
        with viewer_locale.formatting_for(viewer_locale.accepted_locale(browser)):
            shown = money.format_amount(Decimal("0.0125"), currency)
        assert shown.replace("\xa0", " ") == words


@pytest.mark.parametrize(
    ("browser", "words"),
    [
        (AMERICAN, "1,200 0.089 5% 99.5% 10 7.6"),
        (BRITISH, "1,200 0.089 5% 99.5% 10 7.6"),
        (GERMAN, "1.200 0,089 5 % 99,5 % 10 7,6"),
    ],
)
def test_numbers_of_templates_follow_the_browser(browser, words):
    text = (
        "{{ n|number }} {{ x|decimal:3 }} {{ d|percent }} {{ s|percent:1 }} {{ e|points }} "
        "{{ g|points }}"
    )
    values = {"n": 1200, "x": 0.0891, "d": 0.05, "s": 0.995, "e": 0.1, "g": 0.076}
    assert format_in(browser, text, **values) == words


@pytest.mark.parametrize(("share", "words"), [(0.0125, "1,25"), (0.1, "10"), (0.001, "0,1")])
def test_points_have_the_places_that_they_need(share, words):
    assert format_in(GERMAN, "{{ e|points }}", e=share) == words


def test_a_missing_number_is_empty():
    text = "[{{ n|number }}{{ n|decimal:3 }}{{ n|percent }}{{ n|of_100 }}{{ n|local_time }}]"
    assert format_in(GERMAN, text, n=None) == "[]"


def test_a_time_names_its_zone_and_leaves_the_browser_s_to_a_script():
    at = datetime(2026, 11, 22, 14, 5, tzinfo=UTC)
    expected = '<time datetime="2026-11-22T14:05:00+00:00">22 Nov 2026, 14:05 UTC</time>'
    assert format_in(AMERICAN, "{{ at|local_time }}", at=at) == expected


def test_an_unknown_language_gets_american_english():
    for header in ("", "*", "xx-YY", "x'><script>", "de" * 400):
        assert str(viewer_locale.accepted_locale(header)) == "en_US"


@pytest.mark.django_db
def test_a_page_and_its_live_parts_have_the_viewer_s_locale(admin_client):
    run = make_run(price=Decimal("0.1"), currency="€", budget=1200)
    for browser, budget in ((AMERICAN, "1,200"), (GERMAN, "1.200"), (BRITISH, "1,200")):
        for page in ("page", "live"):
            address = reverse(f"admin:selection_run_{page}", args=[run.pk])
            response = admin_client.get(address, headers={"Accept-Language": browser})
            assert budget in response.content.decode(), (browser, page)
            assert "Accept-Language" in response["Vary"]


@pytest.mark.django_db
def test_files_of_one_separator_are_the_same_for_every_browser(admin_client):
    run = make_run(price=Decimal("0.1"), currency="€", budget=1200)
    addresses = [
        *(
            reverse("admin:selection_run_export", args=[run.pk, name])
            for name, kind in exports.FORMATS.items()
            if kind.ending != "xlsx"  # a workbook holds the time to the second
        ),
    ]
    for address in addresses:
        files = set()
        for browser in (AMERICAN, GERMAN):
            headers = {"Accept-Language": browser}
            response = admin_client.get(f"{address}?csv=comma", headers=headers)
            if response.streaming:
                files.add(re.sub(rb"\d\d:\d\d(:\d\d)?", b"", b"".join(response.streaming_content)))
        assert len(files) <= 1, address


@pytest.mark.django_db
def test_stored_values_ignore_the_locale_of_the_browser(admin_client):
    run = make_run(price=Decimal("0.1"), currency="€", budget=1200)
    address = reverse("admin:selection_run_do_change", args=[run.pk])
    form = settings_of(run, budget=1500, price="0.2", confirm="1")
    admin_client.post(address, form, headers={"Accept-Language": GERMAN})
    told = " ".join(run.events.values_list("what", flat=True))
    assert "0.20 €" in told
    assert "1,500" in told


def test_templates_use_the_filters_of_the_viewer_s_locale():
    found = [
        f"{path.name}: {use}"
        for path in (Path(settings.BASE_DIR) / "templates").rglob("*.html")
        for use in re.findall(r"\|floatformat|\|date:\S*|\}\} %|\|intcomma", path.read_text())
    ]
    assert not found


def test_pages_separate_thousands_as_the_viewer_does():
    english = {
        str(path.relative_to(settings.BASE_DIR))
        for path in (Path(settings.BASE_DIR) / "selection" / "admin").rglob("*.py")
        if re.search(r'\{[^{}"]+:,[^{}]*\}', path.read_text())
    }
    assert not english
