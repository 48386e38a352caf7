"""Photograph the sample run of a server that ``make run`` has started: ``make screenshot``."""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.chromium import ARGUMENTS, CHROMIUM

OUT = Path(__file__).parent.parent / "docs" / "live-run.png"
PASSWORD = Path(__file__).parent.parent / "var" / "first-login"


def main(url: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 1180}, base_url=url)
        page.goto("/admin/")
        page.get_by_label("Username").fill("admin")
        page.get_by_label("Password").fill(PASSWORD.read_text())
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("link", name="Sample: best 6 of 24").first.click()
        page.locator("#live").wait_for()
        page.screenshot(path=OUT)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
