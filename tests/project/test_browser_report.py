"""The report of a run in a real browser: its own style, at every width, on paper, and for axe."""

import pytest
from playwright.sync_api import Page, expect

from selection.models import Run
from tests.axe import find_faults
from tests.chromium import CHROMIUM
from tests.pages import admin_url
from tests.selection.exports.test_formats import kinds, mixed

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]

WIDTHS = (1280, 390)


def _open(page: Page, run: Run, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(admin_url("run_report", run.pk))


def test_report_style_is_allowed_and_fits_the_screen_widths(desktop: Page):
    run = mixed()
    for width in WIDTHS:
        _open(desktop, run, width)
        body = desktop.locator("body")
        assert body.evaluate("e => getComputedStyle(e).maxWidth") == "832px"
        assert desktop.evaluate("document.documentElement.scrollWidth") == width


def test_axe_finds_nothing_at_any_width(desktop: Page):
    run = kinds()
    for width in WIDTHS:
        _open(desktop, run, width)
        assert find_faults(desktop) == []


def test_printed_report_has_no_back_link_and_cuts_nothing_off(desktop: Page):
    _open(desktop, kinds(), 680)
    back = desktop.get_by_role("link", name="Back to the run")
    expect(back).to_be_visible()
    desktop.emulate_media(media="print")
    expect(back).to_be_hidden()
    for chart in desktop.locator("svg").all():
        box = chart.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 680


def test_a_run_s_page_leads_to_it_and_to_the_other_files(desktop: Page):
    run = kinds()
    desktop.goto(admin_url("run_page", run.pk))
    desktop.locator("#files").click()
    with desktop.expect_download() as waiting:
        desktop.get_by_role("link", name="MTurk: grant a qualification").click()
    assert waiting.value.suggested_filename == "kinds-mturk.csv"
    desktop.get_by_role("link", name="Open printable report").first.click()
    expect(desktop.get_by_role("heading", name="For a paper")).to_be_visible()
    desktop.get_by_role("link", name="Back to the run").click()
    expect(desktop.locator("#files")).to_be_visible()
