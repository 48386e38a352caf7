"""Signal receivers of the audit log: rows added, changed and deleted, and the events of runs.

Bulk rows are left out: an import is one entry (``record_entry``), and rows deleted along with a
pool or run are not listed.
"""

from typing import Any

from allauth.account.authentication import get_authentication_records
from django.contrib.auth.models import Group, User
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.db.models import Model
from django.db.models.signals import m2m_changed, post_save, pre_delete, pre_save
from django.dispatch import receiver

from selection.actor import part
from selection.models import (
    ApiToken,
    Connection,
    Event,
    Membership,
    ModelServer,
    Pool,
    Practice,
    QuestionSet,
    Run,
    RunConnection,
    Team,
    Watch,
    Webhook,
)

from .log import (
    MANY,
    actor_name,
    display_value,
    field_values,
    record_deletion,
    record_entry,
    request_principal,
)

FACTORS = {"totp": "code", "recovery_codes": "recovery code", "webauthn": "passkey"}
WATCHED = (
    ApiToken,
    Connection,
    Group,
    Membership,
    ModelServer,
    Pool,
    Practice,
    QuestionSet,
    Run,
    RunConnection,
    Team,
    User,
    Watch,
    Webhook,
    *MANY,
)


def snapshot_before_save(sender: Any, instance: Model, raw: bool, **signal: Any) -> None:
    """Snapshot the stored row before saving, for the before/after difference."""
    if not raw and instance.pk and actor_name():
        rows = sender._base_manager.filter(pk=instance.pk)
        instance._stored = rows.values().first()  # type: ignore[attr-defined]


def on_save(
    sender: Any, instance: Any, created: bool, raw: bool, update_fields: Any, **signal: Any
) -> None:
    if not raw and actor_name():
        old = None if created else instance.__dict__.pop("_stored", None)
        _record_difference(instance, old or {}, update_fields)


@receiver(post_save, sender=Event)
def on_event(instance: Event, raw: bool, **signal: Any) -> None:
    """Record the event, including those of workers and of background tasks."""
    if not raw:
        details = {"after": {"said": instance.what}, "why": instance.why}
        record_entry(
            instance.kind,
            instance.run,
            who=actor_name() or part() or request_principal(),
            **details,
        )


def _record_difference(instance: Model, old: dict[str, Any], written: Any) -> None:
    new = field_values(instance, written)
    changed = [name for name, value in new.items() if not old or old[name] != value]
    if changed:
        before = {name: display_value(name, old[name]) for name in changed if old}
        after = {name: display_value(name, new[name]) for name in changed}
        record_entry("changed" if old else "added", instance, before=before, after=after)


def on_delete(instance: Model, **signal: Any) -> None:
    record_deletion(instance)


# Connected per sender, so that bulk writes of the engine cost nothing.
for watched in WATCHED:
    pre_save.connect(snapshot_before_save, sender=watched)
    post_save.connect(on_save, sender=watched)
    if watched not in MANY:
        pre_delete.connect(on_delete, sender=watched)


def on_permission_change(
    sender: Any, instance: Model, action: str, pk_set: Any, **signal: Any
) -> None:
    if action in ("post_add", "post_remove", "post_clear"):
        change = action.removeprefix("post_")
        record_entry(
            "changed", instance, after={f"{change} {sender._meta.model_name}": sorted(pk_set or ())}
        )


for through in (User.groups.through, User.user_permissions.through, Group.permissions.through):
    m2m_changed.connect(on_permission_change, sender=through)


@receiver(user_logged_in)
def on_login(sender: Any, request: Any, user: User, **signal: Any) -> None:
    methods = [_login_method(record) for record in get_authentication_records(request, user)]
    record_entry("signed in", user, who=user.get_username(), after={"by": ", ".join(methods)})


def _login_method(record: dict[str, Any]) -> str:
    method = str(record.get("type") or record.get("provider") or record["method"])
    return FACTORS.get(method, method)


@receiver(user_logged_out)
def on_logout(sender: Any, user: User | None, **signal: Any) -> None:
    if user is not None:
        record_entry("signed out", user, who=user.get_username())
