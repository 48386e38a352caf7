"""The pages that are not as django-allauth has them."""

from http import HTTPStatus
from typing import Any

from allauth.account.views import LoginView
from allauth.mfa.base.views import IndexView
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialAccount, SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect import views as openid
from django.conf import settings
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from . import rate_limits, second_factor
from .adapters import list_providers
from .forms import app_code
from .oidc_nonce import NonceAdapter
from .pages import context_of, render_refusal


def is_hurried(request: HttpRequest) -> bool:
    """Count what is sent from this address to sign in; return whether it is too much in a minute.

    To check a password takes a quarter of a second, whatever the name; axes counts each name apart.
    """
    place = rate_limits.client_network(request)
    sent = request.method == "POST"
    return sent and rate_limits.is_over_limit("signin", place, settings.LINK_FAILURES_PER_MINUTE)


def wait(request: HttpRequest) -> HttpResponse:
    response = render_refusal(request, HURRIED, HTTPStatus.TOO_MANY_REQUESTS)
    response["Retry-After"] = str(rate_limits.seconds_left())
    return response


HURRIED = "From this address too many have tried to sign in. Wait a minute, then try again."


class LoginPage(LoginView):
    """The admin's own login page. Whoever is in no team stays here, and is told why."""

    template_name = "signin/login.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = request.user
        if is_hurried(request):
            return wait(request)
        if user.is_authenticated and not user.is_staff:
            context = context_of(request, "Welcome")
            return render(request, "signin/no_team.html", context, status=HTTPStatus.FORBIDDEN)
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"providers": list_providers()}


class AccountPage(IndexView):
    """How somebody signs in, and what they may add to it."""

    template_name = "signin/account.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        user: Any = self.request.user
        mine = list(SocialAccount.objects.filter(user=user))
        names = {one["provider_id"]: one["name"] for one in list_providers()}
        connected = [(one, names.get(one.provider, one.provider)) for one in mine]
        known = {one.provider for one in mine}
        return super().get_context_data(**kwargs) | {
            "connected": connected,
            "others": [one for one in list_providers() if one["provider_id"] not in known],
            "needed": second_factor.needs_factor(user) and not second_factor.has_one(user),
        }


class AddApp(ActivateTOTPView):
    """The code that adds the app is used up by that: it signs nobody in who looked on."""

    def get_form(self, *args: Any, **kwargs: Any) -> Form:
        form: Form = super().get_form(*args, **kwargs)
        form.fields["code"].widget.attrs["autofocus"] = True
        return form

    def form_valid(self, form: Form) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        added = Authenticator.objects.get(user=self.request.user, type=Authenticator.Type.TOTP)
        app_code(added.pk, form.cleaned_data["code"])
        return response


# -- single sign-on


@never_cache
def start_provider_login(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """On to the provider, by a page and not by a redirect.

    The policy of our pages lets no form lead away from here, and browsers hold what a form is
    redirected to against it.
    """
    if request.method != "POST":
        return redirect("account_login")
    if is_hurried(request):
        return wait(request)
    try:
        response = openid.login(request, provider_id)
    except (OSError, OAuth2Error, KeyError, ValueError):  # of the network, or what came of it
        return render_refusal(request, SILENT, HTTPStatus.BAD_GATEWAY)
    if response.status_code != HTTPStatus.FOUND:
        return response
    away = {"address": response["Location"], "provider": _provider_name(request, provider_id)}
    return render(request, "signin/away.html", context_of(request, "Signing in") | away)


@never_cache
def come_back(request: HttpRequest, provider_id: str) -> HttpResponse:
    """From the provider: with a proof of who it is, or with none."""
    try:
        view = OAuth2CallbackView.adapter_view(NonceAdapter(request, provider_id))
        response: HttpResponse = view(request)
    except SocialApp.DoesNotExist:
        raise Http404 from None
    except (KeyError, ValueError):  # of what the provider sent
        return render_refusal(request, SILENT, HTTPStatus.BAD_GATEWAY)
    return response


SILENT = "The place where you sign in does not answer as it should. Try again a little later."


def _provider_name(request: HttpRequest, provider_id: str) -> str:
    return str(get_adapter().get_app(request, provider_id).name)
