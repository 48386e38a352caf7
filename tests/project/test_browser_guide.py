"""The guided start in a real browser: by keyboard, without JavaScript, on a phone, and for axe."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from selection.forecast import draft_forecast, forecast_requests
from selection.models import ForecastRequest, Run
from selection.outbox import celery_messages
from tests.axe import find_faults, find_faults_at_all_widths
from tests.chromium import CHROMIUM
from tests.project.conftest import sign_in
from tests.worlds import crowd, make_pool, make_questions, make_run, play

PHONE = {"width": 390, "height": 844}

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """No process refines a forecast here."""
    monkeypatch.setattr(forecast_requests, "FIRST", 20.0)  # until each algorithm has had its turn
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)


@pytest.fixture
def phone(browser: Browser, live_server) -> Iterator[Page]:
    """A signed-in requester's page on a phone without JavaScript."""
    context = browser.new_context(
        base_url=live_server.url, viewport=PHONE, java_script_enabled=False, has_touch=True
    )
    page = context.new_page()
    sign_in(page)
    yield page
    context.close()


def _tab_to(page: Page, words: str) -> None:
    """Move by keyboard alone to the element with these words as its label or text."""
    for _ in range(80):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "(e => (e.labels?.[0]?.innerText ?? e.innerText ?? ''))(document.activeElement)"
        )
        if words in focused:
            return
    raise AssertionError(f"“{words}” cannot be reached by keyboard.")


def _unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('.cs details').forEach(one => one.open = true)")


def test_a_run_is_made_by_keyboard_alone(desktop: Page):
    pool, questions = make_pool(8), make_questions(40)
    make_pool(3)  # so that there is a choice
    make_questions(3)
    desktop.goto("/admin/selection/run/add/")
    expect(desktop.locator("#id_pool")).to_be_focused()
    desktop.keyboard.type(pool.name)
    _tab_to(desktop, "Question set*")
    desktop.keyboard.type(questions.name)
    _tab_to(desktop, "How many workers to select")
    desktop.keyboard.type("2")
    _tab_to(desktop, "A good group, on average")
    _tab_to(desktop, "Well enough")
    desktop.keyboard.press("ArrowUp")  # roughly
    _tab_to(desktop, "Very sure")
    for _ in range(2):
        desktop.keyboard.press("ArrowDown")  # a number of your own, which then has a field
    _tab_to(desktop, "Confidence in percent")
    desktop.keyboard.type("90")
    desktop.keyboard.press("Enter")
    expect(desktop.get_by_text("First estimate")).to_be_visible()
    _tab_to(desktop, "Create draft run")
    desktop.keyboard.press("Enter")
    expect(desktop.locator(".cs-status")).to_have_text("Draft")
    expect(desktop.get_by_text("Estimated cost: about")).to_be_visible()
    _tab_to(desktop, "Start the run")
    desktop.keyboard.press("Enter")
    expect(desktop.locator(".cs-status")).to_have_text("Waiting for the first answers")
    run = Run.objects.get()
    assert (run.k, run.epsilon, run.delta) == (2, 0.2, 0.1)


def test_guide_works_on_a_phone_without_javascript(phone: Page):
    pool, questions = make_pool(8), make_questions(40)
    phone.goto("/admin/selection/run/begin/")
    expect(phone.get_by_label("Lowest usual accuracy")).to_be_hidden()
    phone.locator("#id_pool").select_option(pool.name)
    phone.get_by_label("Question set", exact=True).select_option(questions.name)
    phone.get_by_label("How many workers to select").fill("2")
    phone.get_by_text("Your crowd").tap()
    phone.get_by_text("Your own range").tap()
    phone.get_by_label("Lowest usual accuracy").fill("60")
    phone.get_by_label("Highest usual accuracy").fill("90")
    phone.get_by_label("Price per answer").fill("0.05")
    phone.get_by_role("button", name="Estimate cost").tap()
    expect(phone.get_by_role("link", name="Refresh numbers")).to_be_visible()
    phone.get_by_role("button", name="Stop estimate").tap()
    expect(phone.get_by_text("Estimate stopped at")).to_be_visible()
    phone.get_by_role("link", name="Edit these settings").first.tap()
    expect(phone.get_by_label("Highest usual accuracy")).to_have_value("90")
    phone.get_by_role("button", name="Estimate cost").tap()
    phone.get_by_role("button", name="Create draft run").first.tap()
    expect(phone.get_by_text("Estimated cost: about")).to_be_visible()
    assert Run.objects.get().belief == ForecastRequest.objects.get().wanted["belief"]


def test_a_draft_works_out_its_cost_by_itself_and_changes_at_a_click(desktop: Page):
    run = make_run(n=8, questions=20, start=False, algorithm="certified", epsilon=0.11)
    desktop.goto(f"/admin/selection/run/{run.pk}/")
    expect(desktop.get_by_text("Estimated cost: about")).to_be_visible()
    desktop.get_by_role("button", name="Take Credible").click()
    expect(desktop.get_by_text("Done. The draft is changed")).to_be_visible()
    run.refresh_from_db()
    assert run.algorithm == "credible"


def test_axe_finds_nothing_at_any_width(desktop: Page):
    pool, questions = make_pool(8), make_questions(20)
    earlier = play(make_run(name="Spring", pool=pool, question_set=questions), crowd(1, 2), most=2)
    draft = make_run(pool=pool, question_set=questions, start=False, algorithm="certified")
    job = draft_forecast.request_draft_forecast(draft)
    query = f"pool={pool.pk}&question_set={questions.pk}&k=2&precise=own&precise_own=30&sure=0.1"
    pages = [
        "/admin/selection/run/begin/?belief=range&sure=own&precise=own",
        f"/admin/selection/run/begin/?belief=run&run={earlier.pk}",
        "/admin/selection/run/begin/?belief=file",
        f"/admin/selection/run/forecast/{job.pk}/?{query}&price=0.1&speed=10",
        f"/admin/selection/run/{draft.pk}/",
        "/admin/",
    ]
    for address in pages:
        desktop.goto(address)
        _unfold(desktop)
        assert find_faults_at_all_widths(desktop) == [], address
    desktop.goto("/admin/selection/run/begin/")
    desktop.get_by_role("button", name="Estimate cost").click()
    expect(desktop.get_by_text("This field is required").first).to_be_visible()
    assert find_faults(desktop) == []
