"""The forms that are not as django-allauth has them."""

from typing import Any

from allauth.account.forms import LoginForm as BaseLoginForm
from allauth.core import context
from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.base import forms as base
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.mfa.utils import decrypt
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction

from . import lockout
from .adapters import FactorAdapter


class LoginForm(BaseLoginForm):
    """Name and password stand in the form under the names that Django's own login has."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs["autofocus"] = True
        self.fields["password"].help_text = ""

    def add_prefix(self, field_name: str) -> str:
        return super().add_prefix("username" if field_name == "login" else field_name)


class CodeFormMixin(forms.Form):
    """A code of the app, or a recovery code: each is good once, and few may be tried.

    django-allauth keeps used codes and counts in the cache, which may be away or emptied here.
    """

    user: Any
    authenticator: Authenticator

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].widget.attrs["autofocus"] = True

    def clean_code(self) -> str:
        code = self.cleaned_data["code"]
        if not lockout.many_codes(context.request, self.user):
            found = self._matching_authenticator(code)
            if found is not None:
                lockout.reset_lockout(self.user)
                self.authenticator = found
                return str(code)
            lockout.wrong_code(context.request, self.user)
        raise ValidationError(FactorAdapter.error_messages["incorrect_code"])

    def _matching_authenticator(self, code: str) -> Authenticator | None:
        own = Authenticator.objects.filter(user=self.user).exclude(type="webauthn")
        for one in own.order_by("-type"):
            right = app_code(one.pk, code) if one.type == "totp" else one.wrap().validate_code(code)
            if right:
                one.refresh_from_db()
                one.user = self.user
                return one
        return None


@transaction.atomic
def app_code(pk: int, code: str) -> bool:
    """Whether it is the app's code of about now, and none that was used, or one before it."""
    locked = Authenticator.objects.select_for_update().get(pk=pk)
    secret, last = decrypt(locked.data["secret"]), locked.data.get("last", 0)
    for moment in totp.yield_hotp_counters_from_time():
        expected = totp.format_hotp_value(totp.hotp_value(secret, moment))
        if moment > last and compare_user_code(actual=code, expected=expected):
            locked.data["last"] = moment
            locked.save(update_fields=["data"])
            return True
    return False


class AuthenticateForm(CodeFormMixin, base.AuthenticateForm):
    pass


class ConfirmForm(CodeFormMixin, base.ReauthenticateForm):
    pass


class PasskeyForm(AddWebAuthnForm):
    """Made to sign in alone, unless said otherwise: old security keys cannot."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        alone = self.fields["passwordless"]
        alone.initial, alone.label = True, "It signs me in alone, without my password"
        alone.help_text = "Without a tick it is asked for after the password, as a second factor."

    def clean(self) -> dict[str, Any]:
        """What is sent is made by a browser, or by whoever pretends to be one."""
        try:
            cleaned: dict[str, Any] = super().clean()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValidationError("That is no passkey.") from error
        return cleaned
