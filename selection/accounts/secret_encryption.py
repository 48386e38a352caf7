"""Encryption of the secrets of apps and recovery codes, against a leak of the database alone.

The key is derived from SECRET_KEY. Values encrypted by SECRET_KEY_FALLBACKS can be read, and so can
unencrypted values of earlier versions.
"""

import base64
import logging
import secrets
from typing import Any

from selection import encryption

logger = logging.getLogger(__name__)

MARK = "sealed:"
PURPOSE = "selection.accounts.secret_encryption"
NAMES = ("secret", "seed")  # of apps, and of recovery codes


def encrypt_secret(text: str) -> str:
    return MARK + encryption.encrypt_text(text, PURPOSE)


def decrypt_secret(stored: str) -> str:
    text = _try_decrypt(stored)
    if text is None:
        logger.error(
            "A second factor was sealed with another SECRET_KEY: name that one in "
            "SECRET_KEY_FALLBACKS, or have the factor taken away (manage.py forget_factors)."
        )
        return base64.b32encode(secrets.token_bytes(20)).decode()
    return text


def reencrypt_all(authenticators: Any) -> int:
    """Encrypt these (a queryset) with the present key; return their number.

    Rows that no key here can decrypt stay as they are.
    """
    renewed = []
    for authenticator in authenticators.exclude(type="webauthn").select_for_update():
        data = authenticator.data
        texts = {name: _try_decrypt(data[name]) for name in NAMES if name in data}
        if None not in texts.values():
            authenticator.data |= {name: encrypt_secret(text or "") for name, text in texts.items()}
            renewed.append(authenticator)
    authenticators.bulk_update(renewed, ["data"])
    return len(renewed)


def _try_decrypt(stored: str) -> str | None:
    if not stored.startswith(MARK):
        return stored
    return encryption.try_decrypt(stored.removeprefix(MARK), PURPOSE)
