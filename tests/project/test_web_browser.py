"""The policy that pages are sent with forbids nothing that they do."""

import pytest
from playwright.sync_api import Page, expect

from selection import engine
from selection.worker import links
from tests.chromium import CHROMIUM
from tests.pages import admin_url
from tests.worlds import crowd, make_questions, make_run, play

from .test_browser_pages import PHONE

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.any_database,
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]

SCRIPT = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.refused.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


def refused(page: Page, address: str) -> list[str]:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    return page.evaluate("window.refused ?? []")


def test_admin_pages_respect_their_content_policy(desktop: Page):
    desktop.context.add_init_script(SCRIPT)
    errors: list[str] = []
    desktop.on("pageerror", lambda error: errors.append(str(error)))
    desktop.on("console", lambda line: _note(line, errors))
    run, draft = make_run(questions=900), make_run(start=False)
    play(run, crowd(1, 2), most=3)
    engine.advance(run.pk)
    pages = [
        "/admin/",
        admin_url("run_changelist"),
        admin_url("run_begin"),
        admin_url("run_change", draft.pk),
        admin_url("run_page", run.pk),
        admin_url("run_page", draft.pk),
        admin_url("run_worker", run.pk, run.candidates.first().pk),
        admin_url("run_do_change", run.pk),
        admin_url("pool_import", run.pool_id),
        admin_url("question_changelist"),
        admin_url("questionset_gold", run.question_set_id),
        "/admin/auth/user/1/change/",
        "/api/docs",
    ]
    for address in pages:
        assert (address, refused(desktop, address)) == (address, [])
    assert errors == []


def _note(line, errors: list[str]) -> None:
    if "Content Security Policy" in line.text or "EvalError" in line.text:
        errors.append(line.text)


def test_menus_and_fields_that_need_scripts_still_work(desktop: Page):
    name = make_questions(3).name
    desktop.goto(admin_url("question_add"))
    desktop.locator("#id_question_set + .select2").click()
    expect(desktop.locator(".select2-results__option").first).to_contain_text(name)


def test_the_workers_page_works_under_a_policy_without_scripts(browser, live_server):
    run = make_run()
    engine.advance(run.pk)
    context = browser.new_context(base_url=live_server.url, viewport=PHONE)
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda line: _note(line, errors))
    page.goto(f"/work/{links.worker_token(run.candidates.first().pk)}/?go")
    before = page.locator("#prompt").inner_text()
    page.get_by_role("textbox").fill("yes")
    page.get_by_role("button", name="Send answer").click()
    expect(page.locator("#prompt")).not_to_have_text(before)
    expect(page.get_by_text("Question 2 of at most")).to_be_visible()
    size = page.locator("#prompt").evaluate("one => getComputedStyle(one).fontWeight")
    assert int(size) >= 500  # its styles are there
    assert errors == []
    context.close()
