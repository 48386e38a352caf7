"""Django permissions of each role.

They follow from a rule and not from a list, so that new tables are covered: viewers may view their
rows, managers may change them.
"""

from functools import cache

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model

from selection.models import (
    ApiToken,
    AuditEntry,
    Connection,
    ConnectorCall,
    Delivery,
    Membership,
    Team,
    Webhook,
)
from selection.models.team_paths import path_of

Role = Membership.Role
# Members, the team's name and the audit log are for owners only; viewers see neither tokens nor
# webhooks nor connections.
PEOPLE = (Team, Membership, AuditEntry)
KEYS = (ApiToken, Connection, ConnectorCall, Delivery, Webhook)
ACTIONS = ("view", "add", "change", "delete")


@cache
def permissions_of(role: str) -> frozenset[str]:
    """List a role's permissions, for example "selection.change_run".

    Empty for a role without any: then the login's own permissions count alone.
    """
    models = [model for model in _team_models() if model not in PEOPLE]
    viewable = frozenset(permission_name(model, "view") for model in models if model not in KEYS)
    changeable = frozenset(permission_name(model, action) for model in models for action in ACTIONS)
    people = {permission_name(Membership, action) for action in ACTIONS}
    people |= {permission_name(Team, "view"), permission_name(Team, "change")}
    return {
        Role.OWNER: changeable | people | {permission_name(AuditEntry, "view")},
        Role.MANAGER: changeable,
        Role.VIEWER: viewable,
    }.get(Role(role), frozenset())


def permission_name(model: type[Model], action: str) -> str:
    return f"{model._meta.app_label}.{action}_{model._meta.model_name}"


def _team_models() -> list[type[Model]]:
    models = []
    for model in apps.get_models():
        try:
            path_of(model)
        except ImproperlyConfigured:
            continue  # for superusers only
        models.append(model)
    return models
