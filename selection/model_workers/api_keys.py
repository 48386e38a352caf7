"""API keys of model servers: from the environment, or encrypted in the database.

No key is ever part of a page, reply, log, dump, export or error: see ``hide_key``.
"""

import os

from django.conf import settings

from selection import encryption
from selection.errors import Refused
from selection.models import ModelServer

PURPOSE = "selection.model_workers.api_keys"
HIDDEN = "[API key]"
# Shorter ones could be a part of ordinary words.
SHORTEST_HIDDEN = 6


def store_key(server: ModelServer, key: str) -> None:
    """Set the server's encrypted key, without saving; an empty one removes it.

    Raises Refused for a key that no header could carry.
    """
    key = key.strip()
    if not key.isascii() or not key.isprintable() or len(key) > 1_000:
        raise Refused("An API key is at most 1,000 printable ASCII characters without line breaks.")
    server.key_encrypted = encryption.encrypt_text(key, PURPOSE) if key else ""


def check_variable(server: ModelServer) -> None:
    """Raise Refused if the server may not use the environment variable that it names.

    Otherwise a member of any team could have any secret of this machine sent to an own address.
    """
    name = server.key_variable
    if not name:
        return
    allowed = settings.MODEL_KEYS.get(name)
    if allowed is None:
        raise Refused(
            f"The environment variable “{name}” is not in the setting MODEL_KEYS. "
            "The administrator of this server can add it. Or enter the API key itself."
        )
    # With the slash, https://api.example.org does not allow https://api.example.org.evil.org.
    if not f"{server.url}/".startswith(f"{allowed.rstrip('/')}/"):
        raise Refused(
            f"The setting MODEL_KEYS allows “{name}” for addresses that begin with {allowed} only."
        )


def read_key(server: ModelServer) -> str:
    if server.key_variable:
        check_variable(server)
        key = os.environ.get(server.key_variable, "")
        if not key:
            raise Refused(f"The environment variable “{server.key_variable}” is not set.")
        return key
    if not server.key_encrypted:
        return ""
    text = encryption.try_decrypt(server.key_encrypted, PURPOSE)
    if text is None:
        raise Refused(
            "The API key was encrypted with another SECRET_KEY: enter it again, or name that one "
            "in SECRET_KEY_FALLBACKS."
        )
    return text


def hide_key(text: str, key: str) -> str:
    """Remove the key from the text: a server may repeat it in an error or a reply."""
    return text.replace(key, HIDDEN) if len(key) >= SHORTEST_HIDDEN else text
