"""What each role may do, as Django's permissions.

By rule and not by list, so that a new table is covered: its rows may be looked at by viewers, and
changed by managers.
"""

from functools import cache

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model

from selection.models import ApiToken, AuditEntry, Delivery, Membership, Team, Webhook
from selection.models.team_paths import path_of

Role = Membership.Role
# Who is in a team, its name, and who did what are its owners' affair; viewers see neither tokens
# nor webhooks.
PEOPLE = (Team, Membership, AuditEntry)
KEYS = (ApiToken, Delivery, Webhook)
ACTIONS = ("view", "add", "change", "delete")


@cache
def permissions_of(role: str) -> frozenset[str]:
    """As "selection.change_run"; empty for whom the login's own permissions count alone."""
    things = [model for model in _team_models() if model not in PEOPLE]
    shown = frozenset(permission_name(model, "view") for model in things if model not in KEYS)
    handled = frozenset(permission_name(model, action) for model in things for action in ACTIONS)
    audit = {permission_name(AuditEntry, "view")}
    people = frozenset(permission_name(Membership, action) for action in ACTIONS)
    return {
        Role.OWNER: handled
        | people
        | {permission_name(Team, "view"), permission_name(Team, "change")}
        | audit,
        Role.MANAGER: handled,
        Role.VIEWER: shown,
    }.get(Role(role), frozenset())


def permission_name(model: type[Model], action: str) -> str:
    """The permission's, as Django calls it."""
    return f"{model._meta.app_label}.{action}_{model._meta.model_name}"


def _team_models() -> list[type[Model]]:
    found = []
    for model in apps.get_app_config("selection").get_models():
        try:
            path_of(model)
        except ImproperlyConfigured:
            continue  # nobody but superusers
        found.append(model)
    return found
