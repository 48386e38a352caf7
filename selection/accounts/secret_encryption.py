"""Encryption of the secrets of apps and recovery codes, against a leak of the database alone.

The key is derived from SECRET_KEY. Values encrypted by SECRET_KEY_FALLBACKS can be read.
"""

import base64
import logging
import secrets

from selection import encryption

logger = logging.getLogger(__name__)

PURPOSE = "selection.accounts.secret_encryption"


def encrypt_secret(text: str) -> str:
    return encryption.encrypt_text(text, PURPOSE)


def decrypt_secret(stored: str) -> str:
    text = encryption.try_decrypt(stored, PURPOSE)
    if text is None:
        logger.error(
            "A second factor was encrypted with another SECRET_KEY: name that one in "
            "SECRET_KEY_FALLBACKS, or have the factor taken away (manage.py forget_factors)."
        )
        return base64.b32encode(secrets.token_bytes(20)).decode()
    return text
