"""Health, for programs and for operators."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from selection import engine, reports
from selection.models import Answer, Heartbeat
from selection.reports import system
from tests.pages import text_of
from tests.processes import celery_worker, wait_until
from tests.worlds import answer_all, crowd, make_run

pytestmark = pytest.mark.django_db

NOWHERE = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": "unix:///nowhere/redis.sock",
    }
}


def all_at_work() -> None:
    for name in (Heartbeat.WEB, Heartbeat.SWEEP):
        Heartbeat.objects.update_or_create(pk=name, defaults={"at": timezone.now()})


def states() -> dict[str, bool]:
    return {part.name: part.well for part in reports.system_parts()}


def test_healthz_answers_get_only():
    assert Client().get("/healthz").json() == {"well": True}
    assert Client().post("/healthz").status_code == 405


def test_readyz_names_the_parts_that_do_not_work():
    all_at_work()
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["well"]) == (200, True)
    Heartbeat.objects.filter(pk=Heartbeat.SWEEP).update(at=timezone.now() - timedelta(minutes=5))
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["well"]) == (200, False)  # it still takes answers
    assert answer.json()["parts"] == {
        "database": True,
        "web": True,
        "redis": True,
        "background": False,
    }


def test_readyz_fails_while_the_web_cannot_write():
    """A full disk: stored rows can be read."""
    all_at_work()
    Heartbeat.objects.filter(pk=Heartbeat.WEB).update(at=timezone.now() - timedelta(minutes=1))
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["web"]) == (503, False)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL's disk is elsewhere")
def test_readyz_fails_on_a_full_disk(monkeypatch):
    all_at_work()
    usage = system.disk_usage("/")._replace(free=1_000_000)
    monkeypatch.setattr(system, "disk_usage", lambda folder: usage)
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["database"]) == (503, False)


def test_health_page_shows_the_state_of_the_parts_separately(settings):
    all_at_work()
    assert states() == {"Database": True, "Web": True, "Redis": True, "Background": True}
    Heartbeat.objects.filter(pk=Heartbeat.WEB).update(at=timezone.now() - timedelta(minutes=1))
    settings.CACHES = NOWHERE
    assert states() == {"Database": True, "Web": False, "Redis": False, "Background": True}


def metrics(token: str = "") -> dict[str, float]:
    answer = Client().get("/metrics", headers={"authorization": f"Bearer {token}"})
    if answer.status_code == 404:
        return {}
    families = text_string_to_metric_families(answer.content.decode())
    return {
        " ".join([sample.name, *sample.labels.values()]): sample.value
        for family in families
        for sample in family.samples
    }


def test_metrics_require_their_token(settings):
    assert metrics() == metrics("anything") == {}
    settings.METRICS_TOKEN = "for-prometheus"
    assert metrics() == metrics("for-prometheu") == {}
    assert metrics("for-prometheus")["crowdselect_up database"] == 1


def test_metrics_count_steps_and_waiting_answers(settings):
    settings.METRICS_TOKEN = "for-prometheus"
    run = make_run()
    engine.advance(run.pk)
    given = answer_all(run, crowd(1, 2))
    Answer.objects.update(at=timezone.now() - timedelta(hours=2))
    seen = metrics("for-prometheus")
    assert seen["crowdselect_answers_total"] == seen["crowdselect_answers_waiting"] == given > 0
    assert seen["crowdselect_lag_seconds"] == pytest.approx(7200, abs=60)
    assert (seen["crowdselect_runs_running"], seen["crowdselect_runs_stuck"]) == (1, 1)
    engine.advance(run.pk)
    seen = metrics("for-prometheus")
    assert (seen["crowdselect_steps_total"], seen["crowdselect_answers_waiting"]) == (2, 0)
    assert (seen["crowdselect_lag_seconds"], seen["crowdselect_runs_stuck"]) == (0, 0)


def test_health_page_names_the_missing_parts(admin_client):
    Heartbeat.objects.create(pk=Heartbeat.SWEEP, at=timezone.now() - timedelta(hours=3))
    said = text_of(admin_client.get("/admin/selection/heartbeat/"))
    assert "A part is not working." in said
    assert "No heartbeat for 3 hours" in said
    assert "No worker process answered within a second." in said


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_that_sweeps_makes_all_well(admin_client):
    with celery_worker():
        wait_until(lambda: Heartbeat.objects.filter(pk=Heartbeat.SWEEP).exists(), "the first sweep")
        said = text_of(admin_client.get("/admin/selection/heartbeat/"))
    assert "All parts are working." in said
    assert "celery@" in said
