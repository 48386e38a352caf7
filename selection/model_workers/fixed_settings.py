"""What a run in progress has called stays as it is: address, model, parameters, prices.

Else its calls would go to another server, its answers be another model's, and its money be counted
at other prices. The key, the pace and the reading of replies may change.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import F, Model, Q

from selection.errors import Conflict
from selection.models import Endpoint, ModelCall, ModelServer, Run

SERVER = ("url", "extra_headers", "extra_query")
ENDPOINT = (
    *("server", "model", "system_prompt", "template", "temperature", "seed", "structured"),
    *("max_tokens", "max_completion_tokens", "reasoning_effort", "extra_body"),
    *("price_in", "price_out", "price_call"),
)
GOING_ON = (Run.Status.RUNNING, Run.Status.PAUSED)
LONGEST = 60  # characters of a value that are shown


def refuse_server_change(server: ModelServer) -> None:
    """Raise Conflict if a run in progress has called this server at another address."""
    stored = ModelServer.objects.filter(pk=server.pk).first()
    if stored is not None:
        _refuse(stored, server, SERVER, Q(worker__endpoint__server=server.pk))


def refuse_endpoint_changes(endpoints: Sequence[Endpoint]) -> None:
    """Raise Conflict if a run in progress has called one of these models with other settings."""
    stored = Endpoint.objects.select_related("server").in_bulk([one.worker_id for one in endpoints])
    for endpoint in endpoints:
        if before := stored.get(endpoint.worker_id):
            _refuse(before, endpoint, ENDPOINT, Q(worker=endpoint.worker_id))


def _refuse(stored: Model, changed: Model, names: Sequence[str], called: Q) -> None:
    differences = "; ".join(_list_differences(stored, changed, names))
    if not differences:
        return
    present = {"run__candidates__worker": F("worker"), "run__candidates__gone": ""}
    calls = ModelCall.objects.filter(called, run__status__in=GOING_ON, **present)
    calls = calls.exclude(state=ModelCall.State.FAILED)
    call = calls.select_related("run", "worker").first()
    if call is not None:
        raise Conflict(
            f"The run “{call.run}” is in progress and has called “{call.worker}” as it is: "
            f"{differences}. End the run or withdraw the model, or add it under another name."
        )


def _list_differences(stored: Model, changed: Model, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        before, after = getattr(stored, name), getattr(changed, name)
        if before != after:
            label = str(stored._meta.get_field(name).verbose_name)  # type: ignore[union-attr]
            yield f"{label} is {_shorten(before)} and would be {_shorten(after)}"


def _shorten(value: Any) -> str:
    text = "empty" if value in (None, "") else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
