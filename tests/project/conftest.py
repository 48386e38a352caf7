"""A real browser with a signed-in requester."""

import os
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.chromium import ARGUMENTS, CHROMIUM

PATIENCE_MS = 60_000  # on a machine that has other things to do, too


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Playwright keeps an event loop in this thread, and Django would take the tests for async code.
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        expect.set_options(timeout=PATIENCE_MS)
        yield browser
        browser.close()
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def foreign() -> list[str]:
    """Addresses outside the server that a page asked for: there must be none."""
    return []


@pytest.fixture
def desktop(browser: Browser, live_server, foreign: list[str]) -> Iterator[Page]:
    """A signed-in requester's page."""
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.on("request", lambda asked: _note(asked.url, live_server.url, foreign))
    sign_in(page)
    yield page
    context.close()
    assert foreign == []


def sign_in(page: Page) -> None:
    """Sign in as a requester with all permissions."""
    User.objects.create_superuser("requester", password="crowd-select")
    page.goto("/")
    page.get_by_label("Username").fill("requester")
    page.get_by_label("Password").fill("crowd-select")
    with page.expect_navigation():
        page.get_by_role("button", name="Log in").click()


def _note(url: str, home: str, foreign: list[str]) -> None:
    if not url.startswith((home, "data:", "blob:")):
        foreign.append(url)
