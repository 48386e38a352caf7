"""Nothing starts before a person acts: machines that look at a link change nothing."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from selection import engine
from selection.models import Assignment, Candidate, Run
from selection.worker import links
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db

PREFETCHES = [
    {"Sec-Purpose": "prefetch"},
    {"Sec-Purpose": "prefetch;prerender"},
    {"Purpose": "prefetch"},
    {"X-Purpose": "preview"},
    {"X-Moz": "prefetch"},
]


@pytest.fixture
def run() -> Run:
    run = make_run(minutes=1)
    engine.advance(run.pk)
    return run


def own_url(run: Run) -> str:
    return reverse("work", args=[links.worker_token(open_of(run)[0].candidate_id)])


def is_untouched(run: Run) -> bool:
    shown = Assignment.objects.exclude(due=None).exists()
    return not shown and not Candidate.objects.exclude(seen=None).exists()


def test_opened_link_starts_nothing_until_the_button_is_pressed(run):
    url = own_url(run)
    opened = Client().get(url)
    assert opened.context["page"].state == "start"
    assert "Say yes to" not in opened.content.decode()
    assert "Refresh" not in opened
    assert is_untouched(run)
    started = Client().post(url, {"start": "yes"}, follow=True)
    assert started.context["page"].question
    assert Assignment.objects.exclude(due=None).count() == 1
    again = Client().get(url).context["page"]
    assert again.question == started.context["page"].question


@pytest.mark.parametrize("headers", PREFETCHES)
def test_prefetch_of_a_page_that_waits_starts_nothing(run, headers):
    assert Client().get(f"{own_url(run)}?go", headers=headers).context["page"].state == "start"
    assert is_untouched(run)


def test_head_request_starts_nothing(run):
    assert Client().head(f"{own_url(run)}?go").status_code == 200
    assert is_untouched(run)


def test_expired_page_does_not_start_the_next_question(run):
    shown = Client().post(own_url(run), {"start": "yes"}, follow=True)
    seconds, address = shown["Refresh"].split("; url=")
    assert address == own_url(run)
    Assignment.objects.exclude(due=None).update(due=timezone.now() - timedelta(minutes=1))
    assert Client().get(address).context["page"].state == "start"
    assert int(seconds) > 0


def doors(run: Run) -> list[str]:
    mturk = "?assignmentId=3A&workerId=A1&turkSubmitTo=https://workersandbox.mturk.com"
    entry = f"?PROLIFIC_PID={'60a1' * 6}&SESSION_ID=s"
    addresses = (
        links.mturk_address(run) + mturk,
        links.join_address(run) + entry,
        f"{links.join_address(run)}?worker=anna",
    )
    return [address.removeprefix("http://127.0.0.1:8000") for address in addresses]


@pytest.mark.parametrize("door", range(3))
def test_preloaded_page_joins_no_worker(door):
    run = make_run(n=0, enrolling=True)
    address = doors(run)[door]
    assert Client().head(address).status_code == 204
    for headers in PREFETCHES:
        assert Client().get(address, headers=headers).status_code == 204
    assert not run.candidates.exists()
    page = Client().get(address, follow=True)
    assert page.context["page"].state == "start"
    assert run.candidates.get().seen is None


def test_first_to_join_gets_a_question_and_no_completion_code():
    run = make_run(n=0, enrolling=True)
    own = Client().get(doors(run)[2]).url
    waiting = Client().post(own, {"start": "yes"}, follow=True)
    text = waiting.content.decode()
    assert "Your first question is on its way" in text
    assert "completion code" not in text
    assert "app.prolific" not in text
    assert waiting["Refresh"] == f"1; url={own}?go=1"
    engine.advance(run.pk)
    assert Client().get(f"{own}?go=1").context["page"].question


def test_page_offers_other_ways_if_no_first_question_comes():
    run = make_run(n=0, enrolling=True)
    own = Client().get(doors(run)[2]).url
    assert "completion code" in Client().get(f"{own}?go=20").content.decode()
