"""Entries of the audit log."""

from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from selection import db_clock
from selection.actor import person
from selection.models import (
    ApiToken,
    AuditEntry,
    Connection,
    Endpoint,
    Question,
    Run,
    RunConnection,
    Skill,
    Watch,
    Worker,
)
from selection.models.team_paths import team_of

# Large tables: a receiver of deletions would make Django load every deleted row.
MANY = (Endpoint, Question, Skill, Worker)
# Fields that only the system itself writes.
OWN = {
    Run: {
        "memory",
        "best_guarantee",
        "steps",
        "absence_since",
        "joined",
        "has_recorded",
        "rationed",
        "deck_size",
        "alerts_sent",
    },
    ApiToken: {"used"},
    Endpoint: {"problem", "rests_until", "failures"},
    Connection: {"checked", "problem", "rests_until", "failures"},
    RunConnection: {"memory", "polled", "problem"},
    User: {"last_login"},
    Watch: {"alarms_sent"},
}
SECRET = {"password", "digest", "salt", "mail_address", "key_encrypted", "secrets_encrypted"}
HIDDEN = "hidden"

# The current request; None in tasks and commands.
asking: ContextVar[HttpRequest | None] = ContextVar("asking", default=None)


def actor_name() -> str:
    """Name the login, "token NAME" or the command's user; empty for workers and tasks."""
    request = asking.get()
    if request is None:
        return person()
    token = getattr(request, "auth", None)
    if isinstance(token, ApiToken):
        return f"token {token}"
    user = getattr(request, "user", None)
    return str(user.get_username()) if user is not None and user.is_authenticated else ""


def request_principal() -> str:
    """Name "a worker" for a request without login or token; empty outside requests."""
    return "a worker" if asking.get() is not None else ""


def record_entry(kind: str, item: Model, **fields: Any) -> None:
    """Record an action on this item by the current actor; without an actor nothing is written.

    fields  before, after, why, who

    The address is stored for logins and programs, never for workers.
    """
    fields.setdefault("who", actor_name())
    if not fields["who"]:
        return
    request = asking.get()
    AuditEntry.objects.create(
        at=db_clock.database_now(),
        address=request.META.get("REMOTE_ADDR", "")[:45] if request and actor_name() else "",
        team_id=_team_id(item),
        kind=kind,
        model=item._meta.model_name or "",
        item=str(item.pk or ""),
        name=str(item)[:200],
        **fields,
    )


def _team_id(item: Model) -> int | None:
    return team_of(item) if item._meta.app_label == AuditEntry._meta.app_label else None


def record_deletion(item: Model) -> None:
    record_entry(
        "deleted",
        item,
        before={name: display_value(name, value) for name, value in field_values(item).items()},
    )


def field_values(item: Model, written: Any = None) -> dict[str, Any]:
    """Read the values of the fields that users set; of a partial save, those it wrote."""
    model = type(item)
    excluded = {"id", *OWN.get(model, ())}
    fields = [field for field in model._meta.concrete_fields if field.name not in excluded]
    if written is not None:
        fields = [field for field in fields if {field.name, field.attname} & set(written)]
    return {field.attname: getattr(item, field.attname) for field in fields}


def display_value(name: str, value: Any) -> Any:
    return HIDDEN if name in SECRET else value


# -- entries as a table


FIELDS = (
    "at",
    "who",
    "address",
    "team_id",
    "kind",
    "model",
    "item",
    "name",
    "before",
    "after",
    "why",
)


def list_entries(entries: QuerySet[AuditEntry]) -> Iterator[dict[str, Any]]:
    for row in entries.order_by("id").values(*FIELDS).iterator():
        yield row | {"at": row["at"].isoformat()}
