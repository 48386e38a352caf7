"""Pages that differ from django-allauth's."""

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
from django.contrib.auth.mixins import LoginRequiredMixin
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.generic import TemplateView

from selection import extensions

from . import rate_limits, second_factor
from .adapters import list_providers
from .forms import use_app_code
from .pages import context_of, render_refusal


def is_signin_limited(request: HttpRequest) -> bool:
    """Count a sign-in attempt from this address; return True if it exceeds the limit per minute.

    Checking a password takes a quarter of a second for any name; axes counts each name separately.
    """
    client = rate_limits.client_network(request)
    posted = request.method == "POST"
    return posted and rate_limits.is_over_limit("signin", client, settings.LINK_FAILURES_PER_MINUTE)


def render_wait(request: HttpRequest) -> HttpResponse:
    response = render_refusal(request, HURRIED, HTTPStatus.TOO_MANY_REQUESTS)
    response["Retry-After"] = str(rate_limits.seconds_left())
    return response


HURRIED = "From this address too many have tried to sign in. Wait a minute, then try again."


class LoginPage(LoginView):
    """The admin's login page. Users without a team stay here and read the reason."""

    template_name = "signin/login.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        user = request.user
        if is_signin_limited(request):
            return render_wait(request)
        if user.is_authenticated and not user.is_staff:
            context = context_of(request, "Welcome")
            return render(request, "signin/no_team.html", context, status=HTTPStatus.FORBIDDEN)
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {
            "providers": list_providers(),
            "has_mail": extensions.can_mail_passwords(),
        }


class TermsPage(LoginRequiredMixin, TemplateView):
    """Page that explains the terms of the other pages."""

    template_name = "selection/terms.html"


class AccountPage(IndexView):
    """Page with a user's ways of signing in, and those that they may add."""

    template_name = "signin/account.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        user: Any = self.request.user
        accounts = list(SocialAccount.objects.filter(user=user))
        names = {provider["provider_id"]: provider["name"] for provider in list_providers()}
        connected = [(item, names.get(item.provider, item.provider)) for item in accounts]
        used = {item.provider for item in accounts}
        return super().get_context_data(**kwargs) | {
            "connected": connected,
            "others": [row for row in list_providers() if row["provider_id"] not in used],
            "needed": second_factor.needs_factor(user) and not second_factor.has_factor(user),
        }


class AddApp(ActivateTOTPView):
    """Page to add an app. It uses the code up, so that an onlooker cannot sign in with it."""

    def get_form(self, *args: Any, **kwargs: Any) -> Form:
        form: Form = super().get_form(*args, **kwargs)
        form.fields["code"].widget.attrs["autofocus"] = True
        return form

    def form_valid(self, form: Form) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        added = Authenticator.objects.get(user=self.request.user, type=Authenticator.Type.TOTP)
        use_app_code(added.pk, form.cleaned_data["code"])
        return response


# -- single sign-on


@never_cache
def start_provider_login(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Send the user on to the provider, by a page and not by a redirect.

    Our Content-Security-Policy lets forms lead to this site only, and browsers apply it to a form's
    redirects as well.
    """
    if request.method != "POST":
        return redirect("account_login")
    if is_signin_limited(request):
        return render_wait(request)
    try:
        response = openid.login(request, provider_id)
    except (OSError, OAuth2Error, KeyError, ValueError):  # network errors and malformed replies
        return render_refusal(request, SILENT, HTTPStatus.BAD_GATEWAY)
    if response.status_code != HTTPStatus.FOUND:
        return response
    provider = get_adapter().get_app(request, provider_id).name
    target = {"address": response["Location"], "provider": provider}
    return render(request, "signin/away.html", context_of(request, "Signing in") | target)


@never_cache
def finish_provider_login(request: HttpRequest, provider_id: str) -> HttpResponse:
    try:
        view = OAuth2CallbackView.adapter_view(
            openid.OpenIDConnectOAuth2Adapter(request, provider_id)
        )
        response: HttpResponse = view(request)
    except SocialApp.DoesNotExist:
        raise Http404 from None
    except (KeyError, ValueError):  # malformed reply of the provider
        return render_refusal(request, SILENT, HTTPStatus.BAD_GATEWAY)
    return response


SILENT = "The place where you sign in does not answer as it should. Try again a little later."
