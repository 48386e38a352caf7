"""For programs that watch this one: is it there, is it ready, how much is there to do."""

import hmac
from collections.abc import Iterator
from http import HTTPStatus

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from selection import reports


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while this process answers at all: whoever restarts processes asks this."""
    return JsonResponse({"well": True})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 where answers can be taken, 503 otherwise, with the state of each part.

    For load balancers: answers are taken while Redis or the background is away, too. But not where
    the database is read-only, or the web could not write its own beat, as when a disk is full.
    """
    parts = {part.name.lower(): part.well for part in reports.system_parts()}
    taken = parts["database"] and parts["web"]
    status = HTTPStatus.OK if taken else HTTPStatus.SERVICE_UNAVAILABLE
    return JsonResponse({"well": all(parts.values()), "parts": parts}, status=status)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus's text format, for who knows METRICS_TOKEN; there is none while that is unset."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    wanted = settings.METRICS_TOKEN
    if not wanted or not hmac.compare_digest(given.encode(), wanted.encode()):
        raise Http404
    registry = CollectorRegistry()
    registry.register(_DatabaseCollector())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


class _DatabaseCollector:
    """Read from the database when asked, so that any process tells of all."""

    def collect(self) -> Iterator[Metric]:
        up = GaugeMetricFamily("crowdselect_up", "Whether the part is at work.", labels=["part"])
        for part in reports.system_parts():
            up.add_metric([part.name.lower()], float(part.well))
        yield up
        load = reports.system_load()
        yield CounterMetricFamily("crowdselect_answers", "Answers taken.", load.answers)
        yield CounterMetricFamily("crowdselect_steps", "Steps taken.", load.steps)
        yield GaugeMetricFamily("crowdselect_runs_running", "Runs that go on.", load.running)
        yield GaugeMetricFamily("crowdselect_runs_stuck", "Runs that stand still.", load.stuck)
        yield GaugeMetricFamily("crowdselect_answers_waiting", "Not counted yet.", load.waiting)
        yield GaugeMetricFamily("crowdselect_lag_seconds", "Age of the oldest of them.", load.lag)
        queued = GaugeMetricFamily("crowdselect_queued", "Messages waiting.", labels=["queue"])
        for name, count in load.queued.items():
            queued.add_metric([name], count)
        yield queued
