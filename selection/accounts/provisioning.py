"""Whom others vouch for: who is let in, and what a new login may see."""

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
    """At every sign-in. Raises Forbidden unless a confirmed address is of a domain that may."""
    app = sociallogin.provider.app
    domains = app.settings["domains"]
    for one in sociallogin.email_addresses:  # some providers send the word, not the truth value
        one.verified = str(one.verified).lower() == "true"
    confirmed = [one.email for one in sociallogin.email_addresses if one.verified]
    if ANY in domains or any(email.rpartition("@")[2].lower() in domains for email in confirmed):
        return
    raise Forbidden(
        f"{app.name} confirms no e-mail address of yours that may sign in here: it has to end in "
        + " or ".join(f"@{domain}" for domain in domains)
        + "."
    )


def refuse_taken(sociallogin: Any) -> None:
    """Raises Conflict where somebody else's login has the address.

    It might be the same person's; but whoever is signed in connects the two, not whoever comes.
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
    """A login that was made for whom somebody vouches: in no team, or in the one of the settings.

    by  the provider's name, or "proxy"
    """
    name = settings.NEW_LOGINS_TEAM
    team = Team.objects.filter(name=name).first() if name else None
    if team:
        Membership.objects.create(user=user, team=team, role=settings.NEW_LOGINS_ROLE)
    elif name:
        logger.warning("NEW_LOGINS_TEAM is “%s”, and there is no team of this name.", name)
    told = {"username": user.get_username(), "by": by, "team": str(team or "")}
    audit.record_entry("added", user, who=user.get_username(), after=told)
