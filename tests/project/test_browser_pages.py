"""Pages of a run in a real browser: answer on a phone, watch it move, narrow screens."""

import pytest
from playwright.sync_api import Browser, Page, expect

from selection import engine
from selection.models import Answer, QuestionSet
from selection.runs import lifecycle
from selection.worker import links
from tests.chromium import CHROMIUM
from tests.worlds import answer_all, crowd, make_pool, make_run, open_of, play

PHONE = {"width": 390, "height": 844}

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]


# A tenth of a second is fifteen.
HURRY = """AbortSignal.timeout = (span) => {
  const quick = new AbortController();
  setTimeout(() => quick.abort(), span / 150);
  return quick.signal;
}"""


def test_a_server_that_stands_still_is_not_shown_as_a_run_that_goes_on(desktop: Page):
    run = make_run()
    desktop.add_init_script(HURRY)
    url = f"/admin/selection/run/{run.pk}/"
    desktop.route(f"**{url}live/**", lambda route: None)  # nothing comes, and nothing breaks off
    desktop.goto(url)
    expect(desktop.locator("body.cs-lost")).to_be_visible()
    desktop.unroute(f"**{url}live/**")
    expect(desktop.locator("body.cs-lost")).to_have_count(0)


def test_keyboard_starts_at_the_sign_in_field_and_then_at_the_error(
    browser: Browser, desktop: Page
):
    pool = make_pool(1)
    desktop.goto("/admin/selection/pool/add/")
    desktop.get_by_label("Name").fill(pool.name)
    desktop.keyboard.press("Enter")
    expect(desktop.get_by_text("This name is already in use")).to_be_visible()
    expect(desktop.get_by_label("Name")).to_be_focused()
    stranger = browser.new_page()
    stranger.goto(desktop.url)
    expect(stranger.get_by_label("Username")).to_be_focused()


def test_a_worker_answers_on_a_phone_without_javascript(browser: Browser, live_server):
    run = make_run()
    QuestionSet.objects.update(instructions="Say what you see.")
    question = run.question_set.questions
    question.update(choices=["yes", "no"])
    engine.advance(run.pk)
    worker = open_of(run)[0].candidate
    context = browser.new_context(
        base_url=live_server.url, viewport=PHONE, java_script_enabled=False, has_touch=True
    )
    page = context.new_page()
    page.goto(f"/work/{links.worker_token(worker.pk)}/")
    expect(page.get_by_text("Say what you see.")).to_be_visible()
    page.get_by_role("button", name="Start").tap()
    for said in ("Question 2 of at most", "Question 3 of at most", "3 answered"):
        page.get_by_text("yes", exact=True).tap()
        page.get_by_role("button", name="Send answer").tap()
        expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_text("No question for you right now")).to_be_visible()
    page.reload()
    assert Answer.objects.count() == 3

    engine.advance(run.pk)  # and the waiting page finds the next question by itself
    expect(page.get_by_role("button", name="Send answer")).to_be_visible()
    button = page.get_by_role("button", name="Send answer").bounding_box()
    assert button is not None
    assert button["height"] >= 44
    assert button["x"] + button["width"] <= PHONE["width"]
    lifecycle.stop_run(run)
    page.reload()
    expect(page.get_by_text("Thank you, this test is over")).to_be_visible()
    context.close()


def test_a_run_s_page_refreshes_itself_and_says_when_it_ended(desktop: Page):
    run = make_run()
    engine.advance(run.pk)
    desktop.goto(f"/admin/selection/run/{run.pk}/")
    answers = desktop.locator(".cs-remaining > div", has_text="Spent so far").locator("b")
    expect(answers).to_have_text("0 answers")
    name = desktop.locator(".c-worker a").first
    address = name.get_attribute("href")
    desktop.get_by_text("Filter and sort").click()
    desktop.get_by_label("Search for a worker").fill("w1")
    name.focus()
    given = answer_all(run, crowd(1, 2))
    engine.advance(run.pk)
    expect(answers).to_have_text(f"{given} answers")
    expect(desktop.locator(".c-answers").first).not_to_have_text("0")
    # typed text is still there, and the focus is unchanged
    focus = desktop.evaluate("document.activeElement.getAttribute('href')")
    assert focus == address
    expect(desktop.get_by_label("Search for a worker")).to_have_value("w1")
    lifecycle.stop_run(run)
    expect(desktop.get_by_text("it was stopped by hand")).to_be_visible()
    expect(desktop.locator(".cs-status")).to_have_text("Ready for review")


@pytest.mark.parametrize("edits", [True, False])
def test_form_shows_fields_of_the_algorithm_and_six_algorithms_first(desktop: Page, edits: bool):
    pool = make_pool(6, language=["English", "Spanish"])
    draft = make_run(name="Spring", pool=pool, start=False, algorithm="credible")
    desktop.goto(
        f"/admin/selection/run/{draft.pk}/change/" if edits else "/admin/selection/run/begin/"
    )
    if not edits:
        desktop.get_by_text("All settings").click()
    attribute, chosen = desktop.locator("#id_quota_attribute"), desktop.locator("#id_algorithm")
    chosen.select_option("pair-lucb")
    expect(attribute).to_be_hidden()
    chosen.select_option("certified")
    expect(attribute).to_be_visible()
    expect(desktop.get_by_text("English (3)")).to_be_visible()
    hidden = desktop.locator("#id_algorithm optgroup[hidden] option")
    assert hidden.count() > 20
    desktop.get_by_role("button", name="other algorithms").click()
    expect(hidden).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 390])
def test_no_page_is_wider_than_the_screen(desktop: Page, width: int):
    run = play(make_run(algorithm="credible", epsilon=0.01), crowd(1, 2), most=4)
    draft = make_run(start=False, algorithm="credible")
    desktop.set_viewport_size({"width": width, "height": 844})
    page = "/admin/selection/run/"
    for path in (
        "/admin/",
        page,
        f"{page}{run.pk}/",
        f"{page}{draft.pk}/",
        f"{page}{draft.pk}/change/",
    ):
        desktop.goto(path)
        assert desktop.evaluate("document.documentElement.scrollWidth") <= width
