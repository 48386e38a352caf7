"""Passwords that users set by a link: colleagues who are new, and users who forgot theirs."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import tokens, views
from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils.crypto import get_random_string
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.views.generic import FormView

from selection import audit, extensions
from selection.models import Membership, Team

from . import lockout
from .views import is_signin_limited, render_wait

DAYS = settings.PASSWORD_RESET_TIMEOUT // 86_400


@transaction.atomic
def create_colleague(name: str, email: str, role: str, team: Team) -> User:
    """Store a login without a known password: its user sets one by ``password_address``."""
    user = User.objects.create_user(email, email, get_random_string(60), first_name=name)
    Membership.objects.create(user=user, team=team, role=role)
    return user


def password_address(user: User) -> str:
    """Build the link by which a user sets a password: once, within ``DAYS`` days."""
    key = urlsafe_base64_encode(force_bytes(user.pk))
    token = tokens.default_token_generator.make_token(user)
    return str(settings.PUBLIC_URL) + reverse("set_password", args=[key, token])


def request_mail(user: User) -> None:
    """Have the link sent by e-mail."""
    for mail in extensions.PASSWORD_MAIL:
        mail.request(user)


class ForgottenPage(FormView):
    """A form for an address. The reply is the same whether there is a login or not."""

    form_class = PasswordResetForm
    template_name = "signin/forgotten.html"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if is_signin_limited(request):
            return render_wait(request)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        for user in form.get_users(form.cleaned_data["email"]):
            request_mail(user)
        messages.success(
            self.request,
            "If there is a login with this address, a link is on its way. It works for "
            f"{DAYS} days.",
        )
        return redirect("account_login")


class SetPasswordPage(views.PasswordResetConfirmView):
    template_name = "signin/set_password.html"
    success_url = reverse_lazy("account_login")

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        user: Any = self.user
        lockout.reset_lockout(user)
        audit.record_entry("password set", user, who=user.get_username(), why="by an e-mailed link")
        messages.success(self.request, f"Your password is set. Your user name is {user}.")
        return response
