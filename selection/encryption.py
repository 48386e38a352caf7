"""Encryption of stored secrets, against a leak of the database alone.

The key is derived from SECRET_KEY and a purpose. Values encrypted by SECRET_KEY_FALLBACKS can be
read.
"""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac


def encrypt_text(text: str, purpose: str) -> str:
    return _build_cipher(purpose).encrypt(text.encode()).decode()


def try_decrypt(stored: str, purpose: str) -> str | None:
    try:
        return _build_cipher(purpose).decrypt(stored).decode()
    except InvalidToken:
        return None


def _build_cipher(purpose: str) -> MultiFernet:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derive_key(key, purpose)) for key in keys])


def _derive_key(secret: str, purpose: str) -> bytes:
    derived = salted_hmac(purpose, "", secret=secret, algorithm="sha256")
    return base64.urlsafe_b64encode(derived.digest())
