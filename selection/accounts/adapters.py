"""Adapters for django-allauth: sign-up, messages, single sign-on and second factors."""

import base64
import logging
import secrets
from http import HTTPStatus
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from selection import encryption
from selection.errors import Refused

from . import provisioning
from .pages import render_refusal

logger = logging.getLogger(__name__)
FACTORS = "selection.accounts.factors"  # purpose of the key that encrypts their secrets
BACKEND = "selection.accounts.RoleBackend"
SAID = {
    "mfa/messages/totp_activated.txt": "The app is added. Keep the recovery codes as well.",
    "mfa/messages/totp_deactivated.txt": "The app is removed.",
    "mfa/messages/webauthn_added.txt": "The passkey is added.",
    "mfa/messages/webauthn_removed.txt": "The passkey is removed.",
    "socialaccount/messages/account_connected.txt": "The accounts are connected.",
    "socialaccount/messages/account_connected_updated.txt": "The accounts are connected.",
    "socialaccount/messages/account_connected_other.txt": "That account belongs to another user.",
    "socialaccount/messages/account_disconnected.txt": "The accounts are disconnected.",
}


class AccountAdapter(DefaultAccountAdapter):
    """Account adapter without sign-up. Passwords are checked by Django's backends."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": "Wrong name or password.",
        "incorrect_password": "Wrong password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: Any = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        """Add our wording of the message. Signing in and out have none: the page shows it."""
        text = message or SAID.get(message_template or "")
        if text:
            messages.add_message(request, level, text, extra_tags)

    def login(self, request: HttpRequest, user: Any) -> None:
        user.backend = BACKEND
        super().login(request, user)

    def respond_user_inactive(self, request: HttpRequest, user: Any) -> HttpResponse:
        return render_refusal(request, "This account is closed. Ask the administrator.")


class SingleSignOnAdapter(DefaultSocialAccountAdapter):
    """Adapter that lets users in by SSO if they have an e-mail address in an allowed domain."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        try:
            provisioning.refuse_foreign(sociallogin)
            provisioning.refuse_taken(sociallogin)
        except Refused as refusal:
            raise ImmediateHttpResponse(
                render_refusal(request, str(refusal), HTTPStatus(refusal.status))
            ) from refusal

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> Any:
        user = super().save_user(request, sociallogin, form)
        provisioning.provision_user(user, by=sociallogin.account.provider)
        return user

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        return reverse("mfa_index")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Any = None,
        extra_context: Any = None,
    ) -> None:
        reason = f"{provider.name} did not confirm your identity. Start again from the beginning."
        raise ImmediateHttpResponse(render_refusal(request, reason, HTTPStatus.UNAUTHORIZED))


class FactorAdapter(DefaultMFAAdapter):
    """Adapter for second factors: encrypted secrets, and names that users recognise."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "That code is wrong or was used before. Check that the clock of your "
        "phone is correct to half a minute."
    }

    def encrypt(self, text: str) -> str:
        return encryption.encrypt_text(text, FACTORS)

    def decrypt(self, encrypted_text: str) -> str:
        text = encryption.try_decrypt(encrypted_text, FACTORS)
        if text is None:
            logger.error(
                "A second factor was encrypted with another SECRET_KEY: name that one in "
                "SECRET_KEY_FALLBACKS, or have the factor taken away (manage.py forget_factors)."
            )
            return base64.b32encode(secrets.token_bytes(20)).decode()  # no code fits it
        return text

    def get_totp_issuer(self) -> str:
        return "CrowdSelect"

    def get_totp_label(self, user: Any) -> str:
        return str(user.get_username())

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        return f"Passkey {Authenticator.objects.filter(user=user, type=type).count() + 1}"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return super().get_public_key_credential_rp_entity() | {"name": "CrowdSelect"}

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        entity = super().get_public_key_credential_user_entity(user)
        return entity | {"name": user.get_username(), "display_name": user.get_username()}


def list_providers() -> list[dict[str, Any]]:
    providers: list[dict[str, Any]] = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
    return providers
