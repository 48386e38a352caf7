"""A user's choice of e-mails about their teams' runs and watches, on the page of their account."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from crowdselect.mail.models import Follower
from selection import db_clock
from selection.accounts import roles_of
from selection.facts import Facts
from selection.models import Team


def list_wishes(user: Any) -> list[Facts]:
    """List the wishes by team. Members get e-mail about alarms until they turn it off."""
    roles = roles_of(user)
    choices = {row.team_id: row for row in Follower.objects.filter(user=user)}
    teams = Team.objects.all() if user.is_superuser else Team.objects.filter(pk__in=roles)
    usual = {team.pk: Follower(runs=False, alarms=team.pk in roles) for team in teams}
    return [Facts(team=team, choice=(usual | choices)[team.pk]) for team in teams]


def wish_facts(context: Mapping[str, Any]) -> dict[str, Any] | None:
    wishes = list_wishes(context["request"].user)
    return {"wishes": wishes} if wishes else None


def change_wishes(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    if not user.is_authenticated:
        return redirect("admin:login")
    runs, alarms = (set(request.POST.getlist(name)) for name in ("runs", "alarms"))
    with transaction.atomic():
        for wish in list_wishes(user):
            pk = str(wish.team.pk)
            wanted: dict[str, Any] = {"runs": pk in runs, "alarms": pk in alarms}
            if wanted["runs"] and not wish.choice.runs:
                wanted["since"] = db_clock.database_now()
            Follower.objects.update_or_create(team=wish.team, user=user, defaults=wanted)
    messages.success(request, "Your choice of e-mails is saved.")
    return redirect("mfa_index")
