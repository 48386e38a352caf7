"""URLs of the sign-in pages, all below /admin/, under the names that django-allauth expects."""

from typing import Any

from allauth.account.views import ReauthenticateView
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.base.views import ReauthenticateView as ConfirmView
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as app
from allauth.mfa.webauthn import views as passkeys
from allauth.socialaccount.views import ConnectionsView
from django.urls import path, reverse_lazy
from django.urls.resolvers import URLPattern
from django.views.decorators.http import require_POST

from . import docs_pages, passwords, views
from .pages import View, wrap_in_layout

ACCOUNT = reverse_lazy("mfa_index")


def _page_route(
    route: str, name: str, title: str, view: Any, template: str = "", **options: Any
) -> Any:
    if template:
        options["template_name"] = f"signin/{template}.html"
    crumbs = [("Your account", ACCOUNT)] if route.startswith("account/") and template else []
    return path(route, wrap_in_layout(view.as_view(**options), title, crumbs), name=name)


def _post_route(route: str, name: str, view: View) -> URLPattern:
    return path(route, require_POST(view), name=name)


urlpatterns = [
    _page_route("login/", "account_login", "Sign in", views.LoginPage),
    _page_route("login/code/", "mfa_authenticate", "One more step", AuthenticateView, "second"),
    _page_route("password/", "forgotten", "Forgotten password", passwords.ForgottenPage),
    _page_route(
        "password/<slug:uidb64>/<slug:token>/",
        "set_password",
        "Set a password",
        passwords.SetPasswordPage,
    ),
    # The browser fetches the challenge here first.
    path("login/passkey/", passkeys.LoginWebAuthnView.as_view(), name="mfa_login_webauthn"),
    path("sso/<slug:provider_id>/", views.start_provider_login, name="openid_connect_login"),
    path(
        "sso/<slug:provider_id>/back/", views.finish_provider_login, name="openid_connect_callback"
    ),
    _page_route("terms/", "terms", "Terms", views.TermsPage),
    _page_route("docs/<slug:name>/", "docs", "Documentation", docs_pages.DocsPage),
    _page_route("account/", "mfa_index", "Your account", views.AccountPage),
    _post_route(
        "account/disconnect/",
        "socialaccount_connections",
        ConnectionsView.as_view(success_url=ACCOUNT, template_name="signin/refused.html"),
    ),
    _page_route(
        "account/confirm/", "account_reauthenticate", "Is it you?", ReauthenticateView, "confirm"
    ),
    _page_route(
        "account/confirm/code/", "mfa_reauthenticate", "Is it you?", ConfirmView, "confirm"
    ),
    _page_route(
        "account/confirm/passkey/",
        "mfa_reauthenticate_webauthn",
        "Is it you?",
        passkeys.ReauthenticateWebAuthnView,
        "confirm_passkey",
    ),
    _page_route("account/app/", "mfa_activate_totp", "Authenticator app", views.AddApp, "app"),
    _page_route(
        "account/app/remove/",
        "mfa_deactivate_totp",
        "Remove the app",
        app.DeactivateTOTPView,
        "remove_app",
    ),
    _page_route(
        "account/codes/",
        "mfa_view_recovery_codes",
        "Recovery codes",
        codes.ViewRecoveryCodesView,
        "codes",
    ),
    _page_route(
        "account/codes/new/",
        "mfa_generate_recovery_codes",
        "New recovery codes",
        codes.GenerateRecoveryCodesView,
        "new_codes",
    ),
    _page_route(
        "account/passkeys/add/",
        "mfa_add_webauthn",
        "New passkey",
        passkeys.AddWebAuthnView,
        "passkey",
    ),
    _page_route(
        "account/passkeys/<int:pk>/remove/",
        "mfa_remove_webauthn",
        "Remove a passkey",
        passkeys.RemoveWebAuthnView,
        "remove_passkey",
        success_url=ACCOUNT,
    ),
]
