"""Liveness, readiness and Prometheus endpoints."""

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
    """Return 200 while this process answers at all: for programs that restart processes."""
    return JsonResponse({"well": True})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Return 200 if answers can be taken, else 503, with the state of each part.

    For load balancers: answers can be taken without Redis or the background processes, but not with
    a read-only database, or if the web cannot write its own heartbeat, for example on a full disk.
    """
    parts = {part.name.lower(): part.well for part in reports.system_parts()}
    ready = parts["database"] and parts["web"]
    status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
    return JsonResponse({"well": all(parts.values()), "parts": parts}, status=status)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return Prometheus's text format to callers with METRICS_TOKEN; 404 while that is unset."""
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    expected = settings.METRICS_TOKEN
    if not expected or not hmac.compare_digest(token.encode(), expected.encode()):
        raise Http404
    registry = CollectorRegistry()
    registry.register(_DatabaseCollector())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)


class _DatabaseCollector:
    """Collector that reads the database on request, so that any process reports on all."""

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
