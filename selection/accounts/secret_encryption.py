"""What apps and recovery codes are made of, stored so that the database alone does not tell it.

Sealed with a key that is made of SECRET_KEY; what SECRET_KEY_FALLBACKS sealed is read, too, and so
is what was stored before anything was.
"""

import base64
import logging
import secrets
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac

logger = logging.getLogger(__name__)

MARK = "sealed:"
NAMES = ("secret", "seed")  # of an app, of recovery codes


def encrypt_secret(text: str) -> str:
    return MARK + _cipher().encrypt(text.encode()).decode()


def decrypt_secret(stored: str) -> str:
    """The text; one that nobody knows where it was sealed with a key that is not in the settings,
    so that no code is right."""
    text = _try_decrypt(stored)
    if text is None:
        logger.error(
            "A second factor was sealed with another SECRET_KEY: name that one in "
            "SECRET_KEY_FALLBACKS, or have the factor taken away (manage.py forget_factors)."
        )
        return base64.b32encode(secrets.token_bytes(20)).decode()
    return text


def reencrypt_all(authenticators: Any) -> int:
    """Seal all of these (a queryset) with the present key; how many. Those stay that no key here
    opens."""
    renewed = []
    for one in authenticators.exclude(type="webauthn").select_for_update():
        texts = {name: _try_decrypt(one.data[name]) for name in NAMES if name in one.data}
        if None not in texts.values():
            one.data |= {name: encrypt_secret(text or "") for name, text in texts.items()}
            renewed.append(one)
    authenticators.bulk_update(renewed, ["data"])
    return len(renewed)


def _try_decrypt(stored: str) -> str | None:
    """None for what no key here opens."""
    if not stored.startswith(MARK):
        return stored
    try:
        return _cipher().decrypt(stored.removeprefix(MARK)).decode()
    except InvalidToken:
        return None


def _cipher() -> MultiFernet:
    """The first seals, all open."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derive_key(one)) for one in keys])


def _derive_key(secret: str) -> bytes:
    derived = salted_hmac(
        "selection.accounts.secret_encryption", "", secret=secret, algorithm="sha256"
    )
    return base64.urlsafe_b64encode(derived.digest())
