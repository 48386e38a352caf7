"""Every page that there is, those of Django's admin included, in a real browser and for axe."""

from collections.abc import Callable
from zlib import crc32

import pytest
from playwright.sync_api import Error, Page, expect

from selection.watches import alarms, gold, steps
from tests.axe import find_faults_at_all_widths
from tests.chromium import CHROMIUM
from tests.pages import admin_url
from tests.selection.accounts.access.table import LINK, NOBODY, PAGES
from tests.selection.accounts.access.test_every_address import filled
from tests.selection.accounts.access.world import camp
from tests.selection.watches.worlds import answers, make_watch, state_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]

# Parts of pages, which scripts fetch; and the page that ends the session.
NO_PAGES = {
    "admin/search/",
    "admin/logout/",
}


def routes(sample: Callable[[int, int], int]) -> list[str]:
    """All pages of the table of access, or a spread of them that is always the same."""
    there = [route for route, (look, _) in PAGES.items() if look not in (LINK, NOBODY)]
    spread = sorted(set(there) - NO_PAGES, key=lambda route: crc32(route.encode()))
    return spread[: sample(12, len(spread))]


def faults(page: Page, address: str) -> list[str]:
    """Faults of the page; none of a file."""
    try:
        response = page.goto(address)
    except Error as error:
        return [] if "Download is starting" in str(error) else [str(error)]
    assert response is not None
    if "html" not in response.headers.get("content-type", ""):
        return []
    if address == "/api/docs":  # drawn by a script
        expect(page.locator(".opblock-tag").first).to_be_visible()
    return find_faults_at_all_widths(page) + [f"{response.status}"] * (not response.ok)


def test_no_page_has_a_fault_or_is_wider_than_the_screen(desktop: Page, sample):
    theirs = camp("zebra")
    wrong = {route: faults(desktop, filled(route, theirs)) for route in routes(sample)}
    assert {route: told for route, told in wrong.items() if told} == {}


@pytest.mark.slow
def test_pages_of_a_watch_with_an_alarm_have_no_fault(desktop: Page):
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "n" * 20) + answers("w1", "y" * 20))
    gold.record_gold(watch, answers("w2", "ynnynnnnn"))
    steps.advance_watch(watch.pk)
    alarms.pause_worker(state_of(watch, "w1"), "ada", "on leave")
    pages = ("page", "edit", "workers", "import")
    addresses = [admin_url(f"watch_{name}", watch.pk) for name in pages]
    addresses += [admin_url("watch_changelist"), admin_url("watch_begin")]
    wrong = {address: faults(desktop, address) for address in addresses}
    assert {address: told for address, told in wrong.items() if told} == {}


def test_the_run_form_begins_in_its_first_field(desktop: Page):
    """It took 18 tabs to get there."""
    desktop.goto("/admin/selection/run/begin/")
    expect(desktop.locator("#id_pool")).to_be_focused()


def test_the_keyboard_is_past_the_menu_with_three_keys(desktop: Page):
    desktop.goto("/admin/selection/pool/")
    desktop.keyboard.press("Tab")
    skip = desktop.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    desktop.keyboard.press("Enter")
    desktop.keyboard.press("Tab")
    focused = desktop.evaluate("document.activeElement.outerHTML")
    assert desktop.evaluate("document.activeElement.closest('main') !== null"), focused
