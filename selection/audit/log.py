"""One entry of the audit log."""

from contextvars import ContextVar
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest
from django.utils import timezone

from selection.actor import person
from selection.models import ApiToken, AuditEntry, Question, Run, Skill, Worker
from selection.models.team_paths import team_of

# A receiver of deletions makes Django load every row that goes: not for those that are many.
MANY = (Question, Skill, Worker)
# What the machine writes as it goes on.
OWN = {
    Run: {
        "memory",
        "proof",
        "steps",
        "called",
        "joined",
        "has_recorded",
        "rationed",
        "deck_size",
        "told",
    },
    ApiToken: {"used"},
    User: {"last_login"},
}
SECRET, HIDDEN = {"password", "digest", "salt"}, "hidden"

# The request that is answered just now; None in tasks and commands.
asking: ContextVar[HttpRequest | None] = ContextVar("asking", default=None)


def actor_name() -> str:
    """The login's name, "token NAME", or whose command it is; empty for workers and tasks."""
    request = asking.get()
    if request is None:
        return person()
    token = getattr(request, "auth", None)
    if isinstance(token, ApiToken):
        return f"token {token}"
    user = getattr(request, "user", None)
    return str(user.get_username()) if user is not None and user.is_authenticated else ""


def request_principal() -> str:
    """Who asks without a login or a token; nobody, where nobody asks."""
    return "a worker" if asking.get() is not None else ""


def record_entry(kind: str, item: Model, **fields: Any) -> None:
    """Write down that this was done to this thing by whoever asks; by nobody, nothing is written.

    fields  before, after, why, who

    The address is that of a login or a program: a worker's is nobody's business.
    """
    fields.setdefault("who", actor_name())
    if not fields["who"]:
        return
    request = asking.get()
    AuditEntry.objects.create(
        at=timezone.now(),
        address=request.META.get("REMOTE_ADDR", "")[:45] if request and actor_name() else "",
        team_id=_team_id(item),
        kind=kind,
        model=item._meta.model_name or "",
        item=str(item.pk or ""),
        name=str(item)[:200],
        **fields,
    )


def _team_id(item: Model) -> int | None:
    """None for logins and groups, which are of no team."""
    return team_of(item) if item._meta.app_label == AuditEntry._meta.app_label else None


def record_deletion(item: Model) -> None:
    """Write down that this goes, with what it was."""
    record_entry(
        "deleted",
        item,
        before={name: display_value(name, value) for name, value in field_values(item).items()},
    )


def field_values(item: Model, written: Any = None) -> dict[str, Any]:
    """By field, those that people set; of a partial save those that it wrote."""
    kind = type(item)
    left_out = {"id", *OWN.get(kind, ())}
    fields = [one for one in kind._meta.concrete_fields if one.name not in left_out]
    if written is not None:
        fields = [one for one in fields if {one.name, one.attname} & set(written)]
    return {one.attname: getattr(item, one.attname) for one in fields}


def display_value(name: str, value: Any) -> Any:
    return HIDDEN if name in SECRET else value
