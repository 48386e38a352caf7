"""Faults of a page for people with a keyboard, a screen reader or a phone."""

from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

WIDTHS = (1280, 390)
# All rules of the standard, and those of good practice. Rules that are off, with the reason:
OFF = {
    "/api/docs": {
        "nested-interactive": "Swagger UI puts a link into the button of each operation.",
        "heading-order": "Swagger UI begins its sections with a third level.",
    }
}
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def find_faults(page: Page) -> list[str]:
    """Return the rules broken by the page, of any impact, each with an element."""
    off = OFF.get(urlsplit(page.url).path, {})
    found = Axe().run(page, options=RULES).response["violations"]
    nodes = {one["id"]: one["nodes"][0]["html"][:200] for one in found if one["id"] not in off}
    return [f"{rule}: {html}" for rule, html in nodes.items()]


def find_faults_at_all_widths(page: Page) -> list[str]:
    """Return the same for a desktop and a phone, with the width of a page that scrolls sideways."""
    faults = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        # In view as a whole, so that the bar with the buttons, which sticks, covers no field.
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": width, "height": max(844, height)})
        wide = page.evaluate("document.documentElement.scrollWidth")
        faults += [f"{wide} wide at {width}"] * (wide > width) + find_faults(page)
    return faults
