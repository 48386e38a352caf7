"""Forms that differ from django-allauth's."""

import base64
import time
from typing import Any

from allauth.account.forms import LoginForm as BaseLoginForm
from allauth.core import context
from allauth.mfa import app_settings
from allauth.mfa.base import forms as mfa_forms
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import decrypt
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP
from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.crypto import constant_time_compare

from . import lockout
from .adapters import FactorAdapter


class LoginForm(BaseLoginForm):
    """Login form with the field names of Django's own login."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs["autofocus"] = True
        self.fields["password"].help_text = ""

    def add_prefix(self, field_name: str) -> str:
        return super().add_prefix("username" if field_name == "login" else field_name)


class CodeFormMixin(forms.Form):
    """Form for a code of the app or a recovery code: each works once, and tries are limited.

    django-allauth keeps used codes and counts in the cache, which may be unreachable or emptied
    here.
    """

    user: Any
    authenticator: Authenticator

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].widget.attrs["autofocus"] = True

    def clean_code(self) -> str:
        code = self.cleaned_data["code"]
        if not lockout.is_code_locked(context.request, self.user):
            authenticator = self._matching_authenticator(code)
            if authenticator is not None:
                lockout.reset_lockout(self.user)
                self.authenticator = authenticator
                return str(code)
            lockout.record_wrong_code(context.request, self.user)
        raise ValidationError(FactorAdapter.error_messages["incorrect_code"])

    def _matching_authenticator(self, code: str) -> Authenticator | None:
        authenticators = Authenticator.objects.filter(user=self.user).exclude(type="webauthn")
        for authenticator in authenticators.order_by("-type"):
            valid = (
                use_app_code(authenticator.pk, code)
                if authenticator.type == "totp"
                else authenticator.wrap().validate_code(code)
            )
            if valid:
                authenticator.refresh_from_db()
                authenticator.user = self.user
                return authenticator
        return None


@transaction.atomic
def use_app_code(pk: int, code: str) -> bool:
    """Use up the app's code; True if it is valid and newer than the last one used."""
    locked = Authenticator.objects.select_for_update().get(pk=pk)
    secret, last = decrypt(locked.data["secret"]), locked.data.get("last", 0)
    key, digits = base64.b32decode(secret, casefold=True), app_settings.TOTP_DIGITS
    app = HOTP(key, digits, SHA1(), enforce_key_length=False)  # noqa: S303  # as apps do
    now, near = int(time.time()) // app_settings.TOTP_PERIOD, app_settings.TOTP_TOLERANCE
    for moment in range(max(now - near, last + 1), now + near + 1):
        if constant_time_compare(app.generate(moment), code.replace(" ", "").replace("-", "")):
            locked.data["last"] = moment
            locked.save(update_fields=["data"])
            return True
    return False


class AuthenticateForm(CodeFormMixin, mfa_forms.AuthenticateForm):
    pass


class ConfirmForm(CodeFormMixin, mfa_forms.ReauthenticateForm):
    pass


class PasskeyForm(AddWebAuthnForm):
    """Form for a passkey, by default one that signs in alone; old security keys cannot do that."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        alone = self.fields["passwordless"]
        alone.initial, alone.label = True, "Use it instead of my password"
        alone.help_text = "Otherwise it is a second factor after the password."

    def clean(self) -> dict[str, Any]:
        """Raise ValidationError for malformed data: the browser's reply may be forged."""
        try:
            cleaned: dict[str, Any] = super().clean()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValidationError("That is not a passkey.") from error
        return cleaned
