"""A user's wish for e-mails about the runs of their teams, on the page of their account."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from selection.facts import Facts
from selection.models import Follower, Team

from .permissions import roles_of


def list_wishes(user: Any) -> list[Facts]:
    followed = set(Follower.objects.filter(user=user).values_list("team_id", flat=True))
    teams = Team.objects.all() if user.is_superuser else Team.objects.filter(pk__in=roles_of(user))
    return [Facts(team=team, followed=team.pk in followed) for team in teams]


def change_wishes(request: HttpRequest) -> HttpResponse:
    user: Any = request.user
    if not user.is_authenticated:
        return redirect("admin:login")
    ticked = set(request.POST.getlist("team"))
    with transaction.atomic():
        for wish in list_wishes(user):
            row = {"team": wish.team, "user": user}
            if str(wish.team.pk) in ticked:
                Follower.objects.get_or_create(**row)
            else:
                Follower.objects.filter(**row).delete()
    messages.success(request, "Your choice of e-mails is saved.")
    return redirect("mfa_index")
