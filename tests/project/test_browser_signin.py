"""Signing in in a real browser: app, passkeys, single sign-on, without scripts, and for axe."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from crowdselect import single_sign_on
from crowdselect.environment import Environment
from selection.models import AuditEntry, Team
from tests import oidc
from tests.axe import find_faults, find_faults_at_all_widths
from tests.chromium import CHROMIUM
from tests.signing import PASSWORD, code, person

PHONE, SCREEN = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]


@pytest.fixture
def ada() -> User:
    return person("ada")


@pytest.fixture
def complaints() -> list[str]:
    """Complaints of the browser: failed scripts, and breaches of the policy."""
    return []


@pytest.fixture
def page(browser: Browser, live_server, complaints: list[str]) -> Iterator[Page]:
    context = browser.new_context(base_url=live_server.url, viewport=SCREEN)
    opened = context.new_page()
    opened.on("console", lambda said: complaints.append(said.text) if _bad(said) else None)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


def _bad(said) -> bool:
    """The pages that refuse have a status that Chromium writes down, too."""
    return said.type == "error" and "status of 40" not in said.text


def sign_in(page: Page, name: str = "ada") -> None:
    page.goto("/admin/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def confirm(page: Page) -> None:
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm identity").click()


def log_out(page: Page) -> None:
    page.context.clear_cookies()


def inside(page: Page) -> None:
    expect(
        page.get_by_role("heading", name="Overview").or_(page.get_by_text("Find the best K")).first
    ).to_be_visible()


@pytest.fixture
def authenticator(page: Page) -> Page:
    """A phone that keeps passkeys and opens them with a finger."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return page


def test_a_passkey_is_added_signs_in_alone_and_is_removed(ada, authenticator: Page):
    page = authenticator
    sign_in(page)
    page.goto("/admin/account/")
    page.get_by_role("link", name="Add passkey").click()
    confirm(page)
    page.get_by_label("Name").fill("My phone")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_text("The passkey is added.")).to_be_visible()
    expect(page.locator("pre")).to_be_visible()  # the recovery codes
    log_out(page)

    page.goto("/admin/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    inside(page)
    assert AuditEntry.objects.filter(kind="signed in").latest("pk").after == {"by": "passkey"}

    page.goto("/admin/account/")
    expect(page.get_by_text("replaces your password")).to_be_visible()
    page.get_by_role("link", name="Remove My phone").click()
    confirm(page)
    page.get_by_role("button", name="Remove passkey").click()
    expect(page.get_by_text("The passkey is removed.")).to_be_visible()
    log_out(page)
    sign_in(page)
    inside(page)


def test_a_passkey_is_a_second_factor_and_confirms_a_change(ada, authenticator: Page):
    page = authenticator
    sign_in(page)
    page.goto("/admin/account/passkeys/add/")
    confirm(page)
    page.get_by_label("Use it instead of my password").uncheck()
    page.get_by_role("button", name="Add passkey").click()
    expect(page.locator("pre")).to_be_visible()
    log_out(page)
    sign_in(page)
    page.get_by_role("button", name="Use passkey").click()
    inside(page)
    page.goto("/admin/account/codes/")
    page.get_by_role("link", name="Use passkey").click()
    page.get_by_role("button", name="Use passkey").click()
    expect(page.locator("pre")).to_be_visible()


def test_a_passkey_that_does_not_come_is_said(ada, authenticator: Page):
    page = authenticator
    page.goto("/admin/login/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("cancelled, or it took too long")


def test_the_app_is_added_and_asked_for_without_scripts_on_a_phone(
    ada, browser: Browser, live_server
):
    context = browser.new_context(
        base_url=live_server.url, viewport=PHONE, java_script_enabled=False
    )
    page = context.new_page()
    sign_in(page)
    page.goto("/admin/account/")
    page.get_by_role("link", name="Add app").click()
    confirm(page)
    page.get_by_text("Can’t scan the code?").click()
    secret = page.locator("details code").inner_text()
    page.get_by_label("Code").fill(code(secret))
    page.get_by_role("button", name="Add app").click()
    expect(page.locator("pre")).to_be_visible()
    log_out(page)
    sign_in(page)
    expect(page.get_by_role("button", name="Use passkey")).to_be_hidden()
    page.get_by_label("Code").fill(code(secret, 1))
    page.get_by_role("button", name="Log in").click()
    page.goto("/admin/account/")
    expect(page.get_by_text("You enter a code from the app after your password")).to_be_visible()
    context.close()


@pytest.fixture
def company(monkeypatch, settings) -> Iterator[oidc.Provider]:
    with oidc.providing() as server:
        for name, value in oidc.environment(server).items():
            monkeypatch.setenv(name, value)
        apps = single_sign_on.read_providers(Environment())
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": apps}}
        server.claims = {"sub": "1", "email": "grace@example.org", "email_verified": True}
        yield server


@pytest.mark.parametrize("scripts", [True, False])
def test_single_sign_on_leads_there_and_back(company, browser, live_server, settings, scripts):
    settings.NEW_LOGINS_TEAM = Team.objects.create(name="Birds").name
    context = browser.new_context(base_url=live_server.url, java_script_enabled=scripts)
    page = context.new_page()
    page.goto("/admin/login/")
    page.get_by_role("button", name="Sign in with Example Inc.").click()
    page.wait_for_url("**/admin/")
    assert "token" in company.asked
    context.close()


def test_axe_finds_nothing_at_any_width(ada, company, authenticator: Page, live_server):
    page = authenticator
    page.goto("/admin/login/")
    look(page, "/admin/login/")
    page.get_by_role("button", name="Log in").click()
    sign_in(page)
    page.goto("/admin/account/app/")
    look(page, "/admin/account/confirm/?next=/admin/account/app/")
    page.goto("/admin/account/app/")
    confirm(page)
    look(page, "/admin/account/app/")
    page.get_by_text("Can’t scan the code?").click()
    secret = page.locator("details code").inner_text()
    page.get_by_label("Code").fill(code(secret))
    page.get_by_role("button", name="Add app").click()
    for place in ("codes/", "codes/new/", "app/remove/", "passkeys/add/", "confirm/code/", ""):
        look(page, f"/admin/account/{place}")
    log_out(page)
    sign_in(page)
    look(page, "/admin/login/code/")
    page.goto("/admin/login/code/")
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("That code is wrong")).to_be_visible()
    assert find_faults(page) == []
    log_out(page)
    page.goto("/admin/login/")
    page.get_by_role("button", name="Sign in with Example Inc.").click()
    expect(page.get_by_text("in no team yet")).to_be_visible()
    look(page, page.url)


def look(page: Page, address: str) -> None:
    page.goto(address)
    assert find_faults_at_all_widths(page) == [], address
