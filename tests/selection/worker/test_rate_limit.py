"""Rate limits of links, and their message."""

import pytest
from django.core.cache import cache
from django.test import Client

from selection import engine
from selection.models import Answer
from selection.worker import links
from tests.pages import text_of
from tests.rate_limits import begin_window, move_clock
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    made = make_run(enrolling=True)
    engine.advance(made.pk)
    return made


@pytest.fixture(autouse=True)
def one_minute(monkeypatch):
    begin_window(monkeypatch)


@pytest.fixture
def few(settings):
    settings.LINK_REQUESTS_PER_MINUTE = settings.LINK_FAILURES_PER_MINUTE = 3


def own(run, number: int = 0) -> str:
    return f"/work/{links.worker_token(run.candidates.order_by('pk')[number].pk)}/"


def joining(run) -> str:
    return links.join_address(run).removeprefix("http://127.0.0.1:8000")


def opened(address: str, times: int = 5, place: str = "192.0.2.7") -> list[int]:
    client = Client(REMOTE_ADDR=place)
    return [client.get(address).status_code for _ in range(times)]


def test_a_link_that_is_opened_too_often_waits_and_others_do_not(few, run):
    assert opened(own(run)) == [200, 200, 200, 429, 429]
    assert opened(own(run), 1, place="192.0.2.8") == [429]
    assert opened(own(run, 1), 1) == [200]


def test_a_minute_later_it_goes_on(few, run, monkeypatch):
    opened(own(run))
    move_clock(monkeypatch, 1_000_061.0)
    assert opened(own(run), 1) == [200]


def test_limited_visitor_is_told_the_answer_was_not_taken(few, run, client):
    slip = open_of(run)[0]
    address = f"/work/{links.worker_token(slip.candidate_id)}/"
    opened(address, 3)
    sent = client.post(address, {"assignment": slip.pk, "response": "yes"})
    assert (sent.status_code, sent["Retry-After"]) == (429, "60")
    assert "What you sent just now was not taken. Wait a minute" in text_of(sent)
    assert not Answer.objects.exists()
    assert "not taken" not in text_of(client.get(address))


def test_a_join_link_is_counted_for_each_address(few, run):
    assert opened(joining(run)) == [200, 200, 200, 429, 429]
    assert opened(joining(run), 1, place="192.0.2.8") == [200]


@pytest.mark.parametrize("house", ["work", "join"])
def test_guessed_links_are_limited_but_a_good_link_still_works(few, run, house):
    tried = [opened(f"/{house}/{number}.invented/", 1)[0] for number in range(5)]
    assert tried == [404, 404, 404, 429, 429]
    assert opened(own(run), 1) == [200]


def test_missing_cache_disables_the_limit(few, run, monkeypatch):
    def away(*args: object, **kwargs: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(cache, "add", away)
    assert opened(own(run)) == [200] * 5
    assert opened("/work/1.invented/") == [404] * 5


def test_no_limit_counts_nothing(settings, run):
    settings.LINK_REQUESTS_PER_MINUTE = settings.LINK_FAILURES_PER_MINUTE = 0
    assert opened(own(run)) == [200] * 5
