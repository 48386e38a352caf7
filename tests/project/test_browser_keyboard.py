"""Without a mouse: keys open everything a click opens, the focus is visible and goes to errors."""

import pytest
from playwright.sync_api import Page, expect

from selection.models import Pool
from tests.chromium import CHROMIUM
from tests.worlds import make_pool, make_questions, make_run

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]


def tab_to(page: Page, name: str) -> None:
    button = page.get_by_role("button", name=name, exact=True)
    for _ in range(80):
        page.keyboard.press("Tab")
        if button.evaluate_all("all => all.includes(document.activeElement)"):
            return
    raise AssertionError(f"“{name}” cannot be reached by keyboard.")


def test_keyboard_signs_out(desktop: Page):
    desktop.goto("/admin/selection/pool/")
    tab_to(desktop, "R requester")
    desktop.keyboard.press("Enter")
    out = desktop.get_by_role("button", name="Log out")
    expect(out).to_be_visible()
    expect(desktop.get_by_role("button", name="Light")).to_be_focused()
    desktop.keyboard.press("Escape")
    expect(out).to_be_hidden()
    expect(desktop.get_by_role("button", name="R requester")).to_be_focused()
    desktop.keyboard.press("Space")
    for _ in range(9):
        if out.evaluate("one => one === document.activeElement"):
            break
        desktop.keyboard.press("Tab")
    desktop.keyboard.press("Enter")
    expect(desktop.get_by_role("link", name="Log in again")).to_be_visible()


def test_a_list_is_filtered_by_the_keyboard(desktop: Page):
    make_run()
    desktop.goto("/admin/selection/run/")
    tab_to(desktop, "Filters")
    desktop.keyboard.press("Enter")
    panel = desktop.locator("#changelist-filter")
    expect(panel.locator(":focus")).to_be_visible()
    desktop.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(desktop.get_by_role("button", name="Filters")).to_be_focused()


def test_the_menu_of_a_narrow_page_opens_and_closes_by_the_keyboard(desktop: Page):
    desktop.set_viewport_size({"width": 390, "height": 844})
    desktop.goto("/admin/selection/pool/")
    tab_to(desktop, "Menu")
    desktop.keyboard.press("Enter")
    expect(desktop.locator("#nav-sidebar :focus")).to_be_visible()
    tab_to(desktop, "Close")
    desktop.keyboard.press("Enter")
    expect(desktop.locator("#nav-sidebar")).to_be_hidden()
    expect(desktop.get_by_role("button", name="Menu")).to_be_focused()


def test_the_focus_is_seen_on_a_switch(desktop: Page):
    desktop.goto("/admin/selection/questionset/add/")
    desktop.get_by_label("Instructions", exact=True).focus()
    desktop.keyboard.press("Tab")
    switch = desktop.locator("input[type=checkbox]:focus")
    assert switch.evaluate("one => getComputedStyle(one).outlineStyle") == "solid"


def test_the_row_of_buttons_lies_over_nothing_that_has_the_focus(desktop: Page):
    """The row sticks to the foot of the window; browsers scroll no further than to its foot."""
    desktop.goto(f"/admin/selection/questionset/{make_questions(1).pk}/change/")
    button = desktop.get_by_role("link", name="Import questions")
    foot = button.evaluate("one => one.getBoundingClientRect().bottom")
    desktop.set_viewport_size({"width": 1280, "height": int(foot) + 9})
    desktop.locator("#id_name").focus()
    button.focus()
    row = desktop.locator("#submit-row").bounding_box()
    place = button.bounding_box()
    assert row
    assert place
    assert place["y"] + place["height"] <= row["y"]


def test_keyboard_starts_at_the_error_of_a_whole_file(desktop: Page):
    make_pool(1)
    desktop.goto(f"/admin/selection/pool/{Pool.objects.get().pk}/import/")
    desktop.get_by_role("button", name="Preview").press("Enter")
    expect(desktop.get_by_role("alert")).to_be_focused()
    desktop.keyboard.press("Tab")
    expect(desktop.locator("#id_file")).to_be_focused()
