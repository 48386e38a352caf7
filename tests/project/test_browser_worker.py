"""The worker's page in a real browser: any kind of question, any language, nothing but HTML."""

import io
import struct
import wave
import zlib
from collections.abc import Iterator
from decimal import Decimal

import pytest
from playwright.sync_api import Browser, Page, expect

from selection import engine
from selection.models import Answer, Candidate, Practice, QuestionSet, Run
from selection.questions import media
from selection.runs import worker_texts
from selection.runs.roster import membership
from selection.runs.worker_texts import PageFacts
from selection.worker import links, mturk
from tests.axe import find_faults_at_all_widths
from tests.chromium import CHROMIUM
from tests.processes import wait_until
from tests.worlds import make_run, open_of

PHONE = {"width": 390, "height": 844}
MOST_BYTES = 50_000

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CHROMIUM, reason="No Chromium is installed on this machine."),
]


def picture(width: int = 1600, height: int = 900) -> bytes:
    """A PNG that is larger than a phone."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\x0f\x76\x6e" * width) * height
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def sound(seconds: int = 2) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes(bytes([128, 160] * 4000 * seconds))
    return out.getvalue()


@pytest.fixture
def run() -> Run:
    """With a picture and a sound in every question."""
    run = make_run()
    media.store_media(run.question_set, "bird.png", picture())
    media.store_media(run.question_set, "call.wav", sound())
    QuestionSet.objects.update(instructions="Look **and** listen. [More](https://example.org/)")
    run.question_set.questions.update(
        prompt="Which bird is it?\n\n![A bird on a rock](media:bird.png)\n\n"
        "![Its call](media:call.wav)",
        choices=["Gull", "Tern", "Skua"],
    )
    worker_texts.change_facts(run, PageFacts(Decimal("0.05"), after="You are paid **on Friday**."))
    engine.advance(run.pk)
    return run


@pytest.fixture
def worker(run: Run) -> Candidate:
    return open_of(run)[0].candidate


@pytest.fixture
def phone(browser: Browser, live_server):
    context = browser.new_context(
        base_url=live_server.url, viewport=PHONE, java_script_enabled=False, has_touch=True
    )
    yield context.new_page()
    context.close()


def path_of(worker: Candidate) -> str:
    return f"/work/{links.worker_token(worker.pk)}/?go"


def test_a_picture_and_a_sound_are_shown_on_a_phone_without_javascript(phone: Page, worker):
    phone.goto(path_of(worker))
    bird = phone.get_by_alt_text("A bird on a rock")
    expect(bird).to_be_visible()
    small = bird.bounding_box()
    assert small is not None
    assert 300 < small["width"] <= PHONE["width"]
    bird.tap()
    large = bird.bounding_box()
    assert large is not None
    assert large["width"] >= 1600
    bird.tap()
    call = phone.get_by_label("Its call")
    expect(call).to_be_visible()
    phone.get_by_text("Gull").tap()
    phone.get_by_role("button", name="Send answer").tap()
    expect(phone.get_by_text("Question 2 of at most 200")).to_be_visible()
    expect(phone.get_by_text("€0.05 for each answer, €0.05 so far")).to_be_visible()
    assert Answer.objects.get().response == "Gull"


def test_first_answer_of_two_tabs_counts_and_the_second_tab_continues(phone: Page, worker):
    other = phone.context.new_page()
    for tab in (phone, other):
        tab.goto(path_of(worker))
    for tab, said in ((phone, "Gull"), (other, "Tern")):
        tab.get_by_text(said).tap()
        tab.get_by_role("button", name="Send answer").tap()
        expect(tab.get_by_text("Question 2 of at most 200")).to_be_visible()
    expect(other.get_by_text("your first answer to it counts")).to_be_visible()
    assert Answer.objects.get().response == "Gull"


def test_a_player_gets_the_sound_and_the_policy_lets_it(browser: Browser, live_server, worker):
    page = browser.new_page(base_url=live_server.url)
    told = []
    page.on("console", lambda message: told.append(message.text))
    page.goto(path_of(worker))
    wait_until(lambda: page.evaluate("document.querySelector('audio').readyState"), "the sound")
    assert page.evaluate("document.querySelector('audio').duration") == 2
    assert not [text for text in told if "Content Security" in text]
    page.close()


@pytest.mark.parametrize("kind", ["single", "multiple", "order", "text", "number"])
def test_question_kinds_are_answered_by_keyboard_alone(phone: Page, run, worker, kind):
    choices = [] if kind in ("text", "number") else ["Gull", "Tern", "Skua"]
    run.question_set.questions.update(prompt="?", choices=choices, grading={kind: True})
    phone.goto(path_of(worker))
    expected = _answer_by_keys(phone, kind)
    phone.keyboard.press("Enter")
    expect(phone.get_by_text("Question 2 of")).to_be_visible()
    assert Answer.objects.get().response == expected


def _answer_by_keys(page: Page, kind: str) -> str:
    page.locator("[name=response]").first.focus()
    if kind in ("text", "number"):
        page.keyboard.type("1,5")
        return "1,5"
    if kind == "order":
        for letter in "STG":
            page.keyboard.press(letter)
            page.keyboard.press("Tab")
        return "Skua | Tern | Gull"
    page.keyboard.press("Space")
    if kind == "multiple":
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
    page.keyboard.press("Tab")
    return "Gull | Skua" if kind == "multiple" else "Gull"


@pytest.mark.parametrize(
    ("state", "language"),
    [
        ("question", "en"),
        ("multiple", "de"),
        ("order", "ar"),
        ("text", "en"),
        ("practice", "ar"),
        ("gone", "ar"),
    ],
)
def test_worker_page_has_no_accessibility_fault(
    browser: Browser, live_server, run, worker, state, language
):
    _bring(run, worker, state)
    context = browser.new_context(
        base_url=live_server.url, viewport=PHONE, locale=language, bypass_csp=True
    )
    page = context.new_page()
    page.goto(path_of(worker))
    assert page.locator("html").get_attribute("dir") == ("rtl" if language == "ar" else "ltr")
    assert find_faults_at_all_widths(page) == []
    context.close()


def _bring(run: Run, worker: Candidate, state: str) -> None:
    if state in ("multiple", "order"):
        run.question_set.questions.update(grading={state: True})
    elif state == "text":
        run.question_set.questions.update(choices=[])
    elif state == "practice":
        Practice.objects.create(question_set=run.question_set, prompt="Is it?", accepted=["yes"])
    elif state == "gone":
        membership.record_leaving(run, worker.worker_id)


def test_the_first_view_weighs_less_than_50_kb_without_its_media(
    browser: Browser, live_server, worker
):
    page = browser.new_page(base_url=live_server.url)
    weights: dict[str, int] = {}
    page.on("response", lambda answer: weights.update({answer.url: len(answer.body())}))
    page.goto(path_of(worker), wait_until="networkidle")
    own = {url: weight for url, weight in weights.items() if "/media/" not in url}
    assert own
    assert sum(own.values()) < MOST_BYTES
    assert all(url.startswith(live_server.url) for url in own)
    page.close()


@pytest.fixture
def visitor(browser: Browser, live_server) -> Iterator[Page]:
    """A worker's browser, without a session."""
    context = browser.new_context(base_url=live_server.url, viewport=PHONE)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("frame", [False, True])
def test_back_shows_a_page_and_sends_nothing_again(visitor: Page, run: Run, frame: bool):
    run.question_set.questions.update(choices=["a", "b", "None"], grading={"multiple": True})
    Practice.objects.create(
        question_set=run.question_set, number=1, prompt="Try.", choices=["a", "b"], accepted=["a"]
    )
    slip = open_of(run)[0]
    token = links.worker_token(slip.candidate_id)
    visit = mturk._signer.sign_object([token, "A1", "https://www.mturk.com"])
    visitor.goto(f"/mturk/at/{visit}/" if frame else f"/work/{token}/")
    visitor.get_by_text("b", exact=True).click()
    visitor.get_by_role("button", name="Send answer").click()
    expect(visitor.get_by_role("heading")).to_have_text("That is not the answer")
    visitor.reload()
    expect(visitor.get_by_role("heading")).to_have_text("That is not the answer")
    visitor.get_by_role("link", name="Go on").click()
    visitor.get_by_role("button", name="Start answering").click()
    visitor.get_by_role("button", name="Send answer").click()
    expect(visitor.get_by_role("status")).to_contain_text("Please give an answer first")
    visitor.get_by_text("b", exact=True).click()
    expect(visitor.locator(".alone")).to_have_css("pointer-events", "none")
    visitor.get_by_role("button", name="Send answer").click()
    expect(visitor.get_by_role("heading")).to_contain_text("Question 2")
    for _ in range(4):
        visitor.go_back()
        expect(visitor.locator("main form, main .lesson").first).to_be_visible()
    assert Answer.objects.get().response == "b"
