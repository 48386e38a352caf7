"""Provisioning of users that sign in by SSO."""

import logging
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from selection import audit
from selection.errors import Conflict, Forbidden
from selection.models import Membership, Team

logger = logging.getLogger(__name__)
ANY = "*"


def refuse_foreign(sociallogin: Any) -> None:
    """Raise Forbidden unless a confirmed e-mail address is in an allowed domain.

    Runs at every sign-in.
    """
    app = sociallogin.provider.app
    domains = app.settings["domains"]
    for address in sociallogin.email_addresses:  # some providers send "true" as text
        address.verified = str(address.verified).lower() == "true"
    confirmed = [address.email for address in sociallogin.email_addresses if address.verified]
    if ANY in domains or any(email.rpartition("@")[2].lower() in domains for email in confirmed):
        return
    raise Forbidden(
        f"{app.name} confirms no e-mail address of yours that may sign in here: it has to end in "
        + " or ".join(f"@{domain}" for domain in domains)
        + "."
    )


def refuse_taken(sociallogin: Any) -> None:
    """Raise Conflict if another login has the same e-mail address.

    It may belong to the same person, but only a signed-in user can connect the two.
    """
    if sociallogin.is_existing or sociallogin.state.get("process") == "connect":
        return
    email = sociallogin.user.email
    if email and User.objects.filter(email__iexact=email).exists():
        raise Conflict(
            f"There is a login with the address {email} already. Sign in with its password, then "
            f"connect it with {sociallogin.provider.app.name} on the page of your account."
        )


def provision_user(user: User, by: str) -> None:
    """Record a login made by SSO, and add it to the team of the settings, if any.

    by  the provider's name
    """
    name = settings.NEW_LOGINS_TEAM
    team = Team.objects.filter(name=name).first() if name else None
    if team:
        Membership.objects.create(user=user, team=team, role=settings.NEW_LOGINS_ROLE)
    elif name:
        logger.warning("NEW_LOGINS_TEAM is “%s”, and there is no team of this name.", name)
    values = {"username": user.get_username(), "by": by, "team": str(team or "")}
    audit.record_entry("added", user, who=user.get_username(), after=values)
