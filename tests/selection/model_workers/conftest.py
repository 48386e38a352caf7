"""Small worlds of models."""

from typing import Any

import pytest

from selection.model_workers import dispatcher
from selection.models import Endpoint, ModelServer, Run, Worker
from tests.worlds import make_pool, make_run


@pytest.fixture(autouse=True)
def inside(settings: Any) -> None:
    """Allow model servers on this machine: the stub is there."""
    settings.MODELS_INSIDE = True


@pytest.fixture(autouse=True)
def throttles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test throttles of its own: ids of servers repeat."""
    monkeypatch.setattr(dispatcher, "THROTTLES", {})


def make_model_run(
    url: str,
    models: int = 6,
    start: bool = True,
    endpoint: dict[str, Any] | None = None,
    **run: Any,
) -> Run:
    """Return a run; its workers w0, w1 … are the models m0, m1 … of one server."""
    pool = make_pool(models)
    server = ModelServer.objects.create(name=f"server {pool.pk}", url=url, concurrency=32)
    for number, worker in enumerate(Worker.objects.filter(pool=pool)):
        values = {"server": server, "model": f"m{number}", "timeout": 3} | (endpoint or {})
        Endpoint.objects.create(worker=worker, **values)
    return make_run(pool=pool, start=start, **{"slots": 1000, "slots_per_worker": 8} | run)
