"""Forecasts with numbers at once, or for a large pool only after a while."""

import threading
import time
from types import SimpleNamespace

import pytest

from crowdselect_client import ApiError, Client
from selection.models import ApiToken, ForecastRequest
from selection.outbox import celery_messages, jobs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
PLAN = {"workers": 6, "k": 2, "epsilon": 0.3, "questions": 20}


@pytest.fixture
def client(live_server, monkeypatch) -> Client:
    monkeypatch.setattr(celery_messages.current_app, "send_task", lambda *args, **options: None)
    with Client(live_server.url, ApiToken.issue("program")) as made:
        yield made


@pytest.fixture
def large(monkeypatch) -> None:
    """Treat every pool as too large for numbers at once."""
    monkeypatch.setattr("selection.forecast.plan.MOST_AT_ONCE", 0.0)


def test_numbers_that_are_there_at_once_are_returned(client):
    shown = client.forecast(**PLAN)
    assert shown["rows"][0]["recommended"]
    assert client.show_forecast(shown["id"])["id"] == shown["id"]


def test_numbers_that_come_later_are_waited_for(client, large, monkeypatch):
    looked = threading.Event()
    usual = client.show_forecast

    def look(number: str):
        if not looked.is_set():
            looked.set()
            jobs.work_on_job(number)
        return usual(number)

    monkeypatch.setattr(client, "show_forecast", look)
    shown = client.forecast(every=0, **PLAN)
    assert looked.is_set()
    assert len([row for row in shown["rows"] if not row["cannot"]]) == 1


def test_forecast_raises_a_timeout_after_at_most_seconds(client, large):
    with pytest.raises(TimeoutError, match="no numbers in 0 s"):
        client.forecast(every=0, at_most=0, **PLAN)


def test_stopped_forecast_raises_an_error(client, large, monkeypatch):
    def stop(_: float) -> None:
        for job in ForecastRequest.objects.all():
            jobs.cancel_job(job)

    clock = SimpleNamespace(sleep=stop, monotonic=time.monotonic)
    monkeypatch.setattr("crowdselect_client.client.time", clock)
    with pytest.raises(ApiError, match="cancelled"):
        client.forecast(**PLAN)
