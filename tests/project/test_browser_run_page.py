"""The running run's page answers in its first screen, in few words, and loads fast."""

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from selection import engine
from selection.forecast import running_forecast
from selection.models import Run
from tests import slim_styles
from tests.chromium import CHROMIUM
from tests.pages import admin_url
from tests.worlds import answer_all, crowd, make_run

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]

MOST_BYTES, MOST_REQUESTS, MOST_WORDS, MOST_CONTROLS = 340_000, 13, 250, 40
SIZES = [(1280, 900), (390, 844)]
VISIBLE_WORDS = """() => document.querySelector("#content").innerText
    .split(/\\s+/).filter(word => /[\\p{L}\\p{N}]/u.test(word))"""
CONTROLS = """() => [...document.querySelectorAll(
    "#content :is(a[href], button, input:not([type=hidden]), select, textarea, summary)"
)].filter(control => control.checkVisibility()).map(control => control.textContent.trim())"""


@pytest.fixture
def running(monkeypatch) -> Run:
    """A run of 14 workers in its middle, with a forecast."""
    monkeypatch.setattr(running_forecast, "RUNS", 20)
    monkeypatch.setattr(running_forecast, "SECONDS", 1000.0)
    settings = {"k": 4, "algorithm": "credible", "epsilon": 0.05, "delta": 0.05, "slots": 20}
    run = make_run(n=14, questions=60, price="0.10", currency="€", **settings)
    for _ in range(5):
        engine.advance(run.pk)
        answer_all(run, crowd(3, 5, 0.93, 0.6))
    engine.advance(run.pk)
    running_forecast.refresh_forecast(run.pk)
    return run


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_page_is_short_and_answers_in_its_first_screen(
    desktop: Page, running: Run, width: int, height: int
):
    desktop.set_viewport_size({"width": width, "height": height})
    desktop.goto(admin_url("run_page", running.pk))
    status = desktop.locator("#live-status .cs-status")
    expect(status).to_contain_text("On track: about")
    answers = [status, desktop.locator(".cs-remaining"), desktop.locator(".cs-workers tr.selected")]
    labels = ("accepted", "rejected", "undecided", "not tested")
    counts = [desktop.locator(".cs-counts > div", has_text=label) for label in labels]
    for answer in (*answers, *counts):
        box = answer.last.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= height
    words, controls = desktop.evaluate(VISIBLE_WORDS), desktop.evaluate(CONTROLS)
    assert len(words) <= MOST_WORDS, words
    assert len(controls) <= MOST_CONTROLS, controls
    assert desktop.evaluate("document.documentElement.scrollWidth") <= width


def test_folded_parts_open_by_heading_and_by_link(desktop: Page, running: Run):
    desktop.goto(admin_url("run_page", running.pk))
    for heading, inside in (
        ("Details", "Collusion check"),
        ("Import and export", "Download open assignments (CSV)"),
        ("Settings and history", "Change settings or roster"),
    ):
        part = desktop.locator("summary", has_text=heading).locator("..")
        expect(part.get_by_text(inside)).to_be_hidden()
        part.locator("summary").first.click()
        expect(part.get_by_text(inside)).to_be_visible()
    desktop.goto(admin_url("run_page", running.pk) + "#signs")
    desktop.reload()
    expect(desktop.get_by_text("Collusion check")).to_be_visible()


def test_the_first_load_is_light(browser: Browser, desktop: Page, running: Run):
    context = browser.new_context(storage_state=desktop.context.storage_state())
    page = context.new_page()
    responses: list[Response] = []
    page.on("response", lambda response: responses.append(response))
    url = desktop.url.split("/admin")[0] + admin_url("run_page", running.pk)
    page.goto(url, wait_until="load")
    page.evaluate("document.fonts.ready")
    weights = {response.url: len(response.body()) for response in responses}
    assert 5 < len(responses) <= MOST_REQUESTS, weights
    assert sum(weights.values()) <= MOST_BYTES, weights
    context.close()


def test_menu_icons_are_in_the_font(desktop: Page):
    """An icon is as wide as its font is large; a missing one is shown as its name."""
    widths = desktop.evaluate("""async () => {
        await document.fonts.ready;
        const icons = [...document.querySelectorAll(".material-symbols-outlined")];
        return icons.filter(icon => icon.checkVisibility()).map(icon => [
            icon.textContent.trim(),
            icon.scrollWidth / parseFloat(getComputedStyle(icon).fontSize),
        ]);
    }""")
    assert len(widths) > 10
    assert [icon for icon, width in widths if width > 1.1] == []


def test_the_pages_have_all_rules_of_the_theme_that_they_use():
    assert slim_styles.SLIM.read_text() == slim_styles.write_slim()
