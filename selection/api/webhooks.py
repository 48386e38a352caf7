"""Webhooks of a team, and their deliveries."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema, Status

from selection.accounts import scoped
from selection.limits import MOST_PAGE
from selection.models import Delivery, Webhook
from selection.webhooks import registration

from .base import Token, api, find_object
from .fields import Id, Yes, changes_of

EventName = Literal[
    "worker.accepted",
    "worker.rejected",
    "assignment.opened",
    "run.needs_attention",
    "run.ended",
    "watch.alarm",
    "watch.paused",
    "watch.tested",
]
# For the scope to manage only, since an address may contain a key.
MANAGES = Token(manages=True)


class WebhookIn(Schema):
    url: str = Field(max_length=500, examples=["https://example.org/crowdselect"])
    events: list[EventName] = Field(min_length=1, examples=[["worker.accepted", "run.ended"]])
    enabled: Yes = True


WebhookChangeIn: Any = changes_of(WebhookIn)


class WebhookOut(Schema):
    id: int
    url: str
    events: list[EventName]
    enabled: bool
    note: str = Field(description="Reason if CrowdSelect turned the webhook off; usually empty.")
    created_at: datetime = Field(alias="created")


class NewWebhookOut(WebhookOut):
    secret: str = Field(description="Key of the signatures, shown only once.")


class DeliveryOut(Schema):
    id: int
    message_id: str = Field(description="The header webhook-id: the same for every try.")
    kind: str
    state: str = Field(description="waiting, to be tried again, delivered or given up.")
    created_at: datetime = Field(alias="made")
    attempts: int = Field(alias="tries")
    attempted_at: datetime | None = Field(alias="tried")
    next_attempt_at: datetime | None = Field(alias="due", description="Time of the next try.")
    status_code: int | None = Field(alias="code", description="null: no response.")
    response_text: str = Field(
        alias="said",
        description="The start of the last response, or the reason of the failure.",
    )
    body: str


class DeliveryQuery(Schema):
    limit: int = Field(100, ge=1, le=MOST_PAGE)
    before_id: int | None = Field(None, ge=1, le=2**62, description="Only lower ids.")


@api.get("/webhooks", response=list[WebhookOut], auth=MANAGES)
def list_webhooks(request: HttpRequest) -> Any:
    """Return the team's webhooks, at most 20."""
    return scoped(Webhook, request)


@api.post("/webhooks", response={201: NewWebhookOut})
def create_webhook(request: HttpRequest, payload: WebhookIn) -> Status[Any]:
    """Create a webhook; the response has its secret."""
    team = request.auth.team_id  # type: ignore[attr-defined]
    return Status(201, registration.create_webhook(team, **payload.dict()))


@api.get("/webhooks/{webhook_id}", response=WebhookOut, auth=MANAGES)
def show_webhook(request: HttpRequest, webhook_id: Id) -> Any:
    """Return a webhook."""
    return find_object(request, Webhook, webhook_id)


@api.patch("/webhooks/{webhook_id}", response=WebhookOut)
def change_webhook(request: HttpRequest, webhook_id: Id, payload: WebhookChangeIn) -> Any:
    """Change a webhook's address or events, or turn it on or off; omitted fields stay."""
    webhook = find_object(request, Webhook, webhook_id)
    return registration.change_webhook(webhook, **payload.read_changes())


@api.delete("/webhooks/{webhook_id}")
def delete_webhook(request: HttpRequest, webhook_id: Id) -> None:
    """Delete a webhook with its waiting messages and its log of deliveries."""
    find_object(request, Webhook, webhook_id).delete()


@api.post("/webhooks/{webhook_id}/secret", response=NewWebhookOut)
def replace_secret(request: HttpRequest, webhook_id: Id) -> Any:
    """Replace a webhook's secret; the old one signs nothing from now on."""
    hook = find_object(request, Webhook, webhook_id)
    registration.renew_secret(hook)
    return hook


@api.post("/webhooks/{webhook_id}/test", response={202: DeliveryOut})
def test_webhook(request: HttpRequest, webhook_id: Id) -> Status[Any]:
    """Send a test message once; the list of deliveries has its result."""
    return Status(202, registration.send_test(find_object(request, Webhook, webhook_id)))


@api.get("/webhooks/{webhook_id}/deliveries", response=list[DeliveryOut], auth=MANAGES)
def list_deliveries(request: HttpRequest, webhook_id: Id, query: Query[DeliveryQuery]) -> Any:
    """Return sent and waiting deliveries, latest first; page by ``before_id``. Kept 30 days."""
    rows = find_object(request, Webhook, webhook_id).deliveries.all()
    if query.before_id is not None:
        rows = rows.filter(pk__lt=query.before_id)
    return rows[: query.limit]


@api.post("/deliveries/{delivery_id}/replay", response={202: DeliveryOut})
def replay_delivery(request: HttpRequest, delivery_id: Id) -> Status[Any]:
    """Send a delivery again under the same id, even if it has arrived."""
    rows = scoped(Delivery, request).select_related("webhook")
    return Status(202, registration.replay_delivery(get_object_or_404(rows, pk=delivery_id)))
