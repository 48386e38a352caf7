"""The main job from signing in to a started run: with few clicks, and by keyboard alone."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Locator, Page, expect

from selection.models import Run
from selection.outbox import celery_messages
from tests.chromium import CHROMIUM

MOST_CLICKS = 20
PASSWORD = "crowd-select"
WORKERS = "worker,name\n" + "".join(f"w{i},Worker {i}\n" for i in range(1, 9))
QUESTIONS = "question,prompt,answer\n" + "".join(f"q{i},Bird {i}?,yes\n" for i in range(1, 31))
START = re.compile("^Start (the )?run$")

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]


@pytest.fixture(autouse=True)
def first_numbers_only(monkeypatch):
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)


@pytest.fixture
def visitor(browser, live_server):
    """The sign-in page of a requester without any data."""
    User.objects.create_superuser("requester", password=PASSWORD)
    page = browser.new_page(base_url=live_server.url, viewport={"width": 1280, "height": 900})
    page.goto("/")
    yield page
    page.close()


class Mouse:
    """A hand that clicks into every field that does not have the focus, and counts its clicks."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks = page, 0

    def click(self, target: Locator) -> None:
        self.clicks += 1
        target.click()

    def press(self, name: str | re.Pattern[str]) -> None:
        buttons = self.page.get_by_role("button", name=name)
        links = self.page.locator("#content").get_by_role("link", name=name)
        self.click(buttons.or_(links).first)

    def fill(self, label: str, text: str) -> None:
        field = self.page.get_by_label(label).first
        expect(field).to_be_visible()
        self.page.wait_for_load_state()
        if not field.evaluate("one => one === document.activeElement"):
            self.click(field)
        self.page.keyboard.type(text)

    def choose_file(self, path: Path) -> None:
        """Open the browser's dialog and choose in it: two clicks."""
        with self.page.expect_file_chooser() as chooser:
            self.click(self.page.locator("#id_file"))
        self.clicks += 1
        chooser.value.set_files(path)


def test_a_run_is_started_with_few_clicks(visitor: Page, tmp_path):
    workers, questions = tmp_path / "workers.csv", tmp_path / "gold.csv"
    workers.write_text(WORKERS)
    questions.write_text(QUESTIONS)
    hand = Mouse(visitor)
    hand.fill("Username", "requester")
    hand.fill("Password", PASSWORD)
    hand.press("Log in")
    for step, name, file, confirm in (
        ("Add a pool", "Spring crowd", workers, "Import 8 workers"),
        ("Add gold questions", "Birds", questions, "Import 30 questions"),
    ):
        hand.press(step)
        hand.fill("Name", name)
        hand.choose_file(file)
        hand.press("Save")
        hand.press(confirm)
        hand.click(visitor.get_by_role("link", name="Overview"))
    hand.press("Create a run")
    hand.fill("How many workers to select", "2")
    hand.press("Estimate cost")
    hand.press("Create draft run")
    start = visitor.get_by_role("button", name=START)
    expect(start).to_be_in_viewport()
    hand.click(start)
    expect(visitor.locator(".cs-status")).to_have_text("Waiting for the first answers")
    run = Run.objects.get()
    assert (run.pool.workers.count(), run.question_set.questions.count(), run.k) == (8, 30, 2)
    assert hand.clicks <= MOST_CLICKS


class Keys:
    """Two hands on the keyboard, and no mouse."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def reach(self, target: Locator) -> None:
        """Press Tab until the target has the focus."""
        target.wait_for()
        self.page.wait_for_load_state()
        for _ in range(80):
            if target.evaluate("one => one === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{target} cannot be reached by keyboard.")

    def press(self, name: str | re.Pattern[str], role: str = "button", key: str = "Enter") -> None:
        main = self.page.locator("#content" if role == "link" else "body")
        self.reach(main.get_by_role(role, name=name).first)  # type: ignore[arg-type]
        self.page.keyboard.press(key)

    def fill(self, label: str, text: str) -> None:
        self.reach(self.page.get_by_label(label).first)
        self.page.keyboard.insert_text(text)


def test_a_run_is_started_by_keyboard_alone(visitor: Page):
    keys = Keys(visitor)
    keys.fill("Username", "requester")
    keys.fill("Password", PASSWORD)
    visitor.keyboard.press("Enter")
    for step, name, lines, confirm in (
        ("Add a pool", "Spring crowd", WORKERS, "Import 8 workers"),
        ("Add gold questions", "Birds", QUESTIONS, "Import 30 questions"),
    ):
        keys.press(step, "link")
        keys.fill("Name", name)
        keys.fill("Or paste the lines here", lines)
        keys.press("Save", key="Space")
        keys.press(confirm)
        overview = visitor.get_by_role("link", name="Overview")
        keys.reach(overview)
        visitor.keyboard.press("Enter")
    keys.press("Create a run", "link")
    keys.fill("How many workers to select", "2")
    visitor.keyboard.press("Enter")
    keys.press("Create draft run")
    keys.press(START, key="Space")
    expect(visitor.locator(".cs-status")).to_have_text("Waiting for the first answers")
    assert Run.objects.get().pool.workers.count() == 8
