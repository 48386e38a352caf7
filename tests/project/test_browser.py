"""The main job in a real browser: from an empty database to a running run."""

import re

import pytest
from playwright.sync_api import Page, expect

from selection.models import Run
from tests.chromium import CHROMIUM

START = re.compile("^Start (the )?run$")
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]


def _import(page: Page, text: str, words: str) -> None:
    page.get_by_label("Or paste the lines here").fill(text)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name=words).click()


def choose_option(page: Page, field: str, name: str) -> None:
    page.locator(f"#id_{field} + .select2").click()
    page.locator(".select2-results__option", has_text=name).click()


def test_a_requester_goes_from_nothing_to_a_running_run(desktop: Page):
    desktop.get_by_role("link", name="Add a pool").click()
    desktop.get_by_label("Name").fill("Spring crowd")
    desktop.get_by_role("button", name="Save", exact=True).click()
    _import(desktop, "worker,name\nada,Ada\ngrace,Grace\nalan,Alan", "Import 3 workers")
    expect(desktop.get_by_text("3 workers in this pool")).to_be_visible()

    desktop.get_by_role("link", name="Overview").click()
    desktop.get_by_role("link", name="Add gold questions").click()
    desktop.get_by_label("Name").fill("Birds")
    desktop.get_by_role("button", name="Save", exact=True).click()
    _import(desktop, "question,prompt,answer\nq1,Bird?,yes\nq2,Bee?,no", "Import 2 questions")

    desktop.get_by_role("link", name="Overview").click()
    desktop.get_by_role("link", name="Create a run").click()
    desktop.get_by_label("How many workers to select").fill("1")
    desktop.get_by_role("button", name="Create draft without an estimate").click()
    expect(desktop.get_by_text("points less accurate").first).to_be_visible()
    desktop.get_by_role("button", name=START).click()
    expect(desktop.locator(".cs-status")).to_have_text("Waiting for the first answers")
    expect(desktop.locator(".cs-workers tbody tr")).to_have_count(3)
    assert Run.objects.get().status == "running"
