"""From a platform to its file, in a real browser: a local page plays the platform."""

import html
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from selection import engine
from selection.models import Run
from selection.runs import lifecycle, worker_texts
from selection.runs.roster import roster_opening
from selection.worker import links
from tests.chromium import CHROMIUM
from tests.pages import admin_url
from tests.worlds import make_run

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]
PROLIFIC = "https://app.prolific.com/submissions/complete"
SKILL = {"A1GOOD": "yes", "A2FAIR": "yes", "A3POOR": "no"}


class Platform(ThreadingHTTPServer):
    """Shows tasks in a frame, as Mechanical Turk does, and keeps the submissions.

    tasks      by path, the address that is framed there
    handed_in  the forms that came
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Pages)
        self.tasks: dict[str, str] = {}
        self.handed_in: list[dict[str, list[str]]] = []

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Pages(BaseHTTPRequestHandler):
    server: Any

    def do_GET(self) -> None:
        address = html.escape(self.server.tasks.get(self.path, ""))
        self._say(f'<title>HIT</title><iframe src="{address}" width="360" height="700"></iframe>')

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.handed_in.append({"path": [self.path]} | parse_qs(body))
        self._say("<p>Thank you for this HIT.</p>")

    def _say(self, words: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(words.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[Platform]:
    server = Platform()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def platform() -> Iterator[Platform]:
    with serving() as server:
        yield server


@pytest.fixture
def run() -> Run:
    made = make_run(n=0, k=1, enrolling=True, questions=12, epsilon=0.5, slots_per_worker=12)
    made.question_set.questions.update(choices=["yes", "no"])
    return made


def answer_all(place: Page | FrameLocator, said: str) -> None:
    """Answer this worker's open questions, until there are none."""
    send, asked = place.get_by_role("button", name="Send answer"), "input[name=assignment]"
    nothing = place.get_by_role("heading", name="No question for you")
    while send.count():
        slip = place.locator(asked).first.input_value()
        place.get_by_role("radio", name=said, exact=True).check()
        send.click()
        expect(place.locator(f'{asked}[value="{slip}"]')).to_have_count(0)
        expect(send.or_(nothing).first).to_be_visible()


def finish(run: Run) -> None:
    roster_opening.close_roster(run)
    engine.advance(run.pk)
    run.refresh_from_db()
    if run.status != Run.Status.ENDED:
        lifecycle.stop_run(run)


def taken_out(desktop: Page, run: Run, name: str) -> list[str]:
    """The lines of the file that the requester takes away for a platform."""
    desktop.goto(admin_url("run_page", run.pk))
    address = admin_url("run_export", run.pk, name)
    expect(desktop.locator(f'a[href="{address}"]')).to_have_count(1)
    return desktop.request.get(address).text().replace("\ufeff", "").splitlines()


def test_framed_hit_leads_to_the_file_for_mechanical_turk(
    desktop: Page, browser: Browser, live_server, settings, platform: Platform, run: Run
):
    settings.MTURK_FRAMES = settings.MTURK_SUBMITS_TO = [platform.origin]
    settings.PUBLIC_URL = live_server.url
    for worker, said in SKILL.items():
        given = {
            "assignmentId": f"3{worker}",
            "hitId": "3HIT",
            "workerId": worker,
            "turkSubmitTo": platform.origin,
        }
        preview = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "3HIT"}
        platform.tasks["/preview"] = f"{links.mturk_address(run)}?{urlencode(preview)}"
        platform.tasks["/accepted"] = f"{links.mturk_address(run)}?{urlencode(given)}"
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto(f"{platform.origin}/preview")
        frame = page.frame_locator("iframe")
        expect(frame.get_by_text("Accept the task to begin")).to_be_visible()
        page.goto(f"{platform.origin}/accepted")
        expect(frame.get_by_role("button", name="Start")).to_be_visible()
        expect(frame.get_by_role("button", name="Hand the task in")).to_have_count(0)
        engine.advance(run.pk)
        frame.get_by_role("button", name="Start").click()
        expect(frame.get_by_role("button", name="Send answer")).to_be_visible()
        answer_all(frame, said)
        frame.get_by_role("button", name="Hand the task in").click()
        expect(frame.get_by_text("Thank you for this HIT.")).to_be_visible()
        page.context.close()
    handed = [(one["path"], one["assignmentId"], one["outcome"]) for one in platform.handed_in]
    assert handed == [(["/mturk/externalSubmit"], [f"3{one}"], ["wait"]) for one in SKILL]
    finish(run)
    header, *rows = taken_out(desktop, run, "mturk")
    assert header.startswith("Worker ID,")
    assert len(rows) == 1
    assert rows[0].split(",")[0] in {"A1GOOD", "A2FAIR"}


def test_foreign_site_cannot_frame_the_task_page(browser: Browser, live_server, settings, run: Run):
    settings.PUBLIC_URL = live_server.url
    given = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}
    with serving() as stranger:
        stranger.tasks["/"] = f"{links.mturk_address(run)}?{urlencode(given)}"
        page = browser.new_page()
        page.goto(stranger.origin)
        page.wait_for_timeout(500)
        expect(page.frame_locator("iframe").get_by_text("Accept the task")).to_have_count(0)
        page.close()


def test_prolific_link_leads_to_the_list_of_participants(
    desktop: Page, browser: Browser, live_server, settings, run: Run
):
    settings.PUBLIC_URL = live_server.url
    ids = {worker: worker.encode().hex().ljust(24, "0") for worker in SKILL}
    for worker, said in SKILL.items():
        given = {"PROLIFIC_PID": ids[worker], "STUDY_ID": "s1", "SESSION_ID": f"x{worker}"}
        entry = f"{links.join_address(run)}?{urlencode(given)}"
        page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
        page.goto(entry)
        engine.advance(run.pk)
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_role("button", name="Send answer")).to_be_visible()
        answer_all(page, said)
        page.route(f"{PROLIFIC}?**", lambda route: route.fulfill(body="Thank you for this study."))
        page.get_by_role("link", name="Go back to Prolific").click()
        expect(page.get_by_text("Thank you for this study.")).to_be_visible()
        assert page.url == f"{PROLIFIC}?cc={worker_texts.completion_code(run, 'nothing')}"
        page.context.close()
    finish(run)
    (chosen,) = taken_out(desktop, run, "prolific-allow")
    assert chosen in {ids["A1GOOD"], ids["A2FAIR"]}
