"""Secrets of connections, encrypted in the database.

No secret is ever part of a page, reply, log, dump, export or error: see ``hide_secrets``.
"""

import json
from collections.abc import Mapping

from selection import encryption
from selection.errors import Refused
from selection.models import Connection

from .faults import Denied

PURPOSE = "selection.connectors"
HIDDEN = "[token]"
# Shorter ones could be a part of ordinary words.
SHORTEST_HIDDEN = 6
LONGEST = 5_000


def store_secrets(connection: Connection, values: Mapping[str, str]) -> None:
    """Set these secrets, without saving; an empty one is removed, the others stay.

    Raises Refused for a secret that no header could carry.
    """
    secrets = _readable_secrets(connection)
    for name, value in values.items():
        text = value.strip()
        if not text.isascii() or not (text.isprintable() or not text) or len(text) > LONGEST:
            raise Refused(
                f"A token is at most {LONGEST:,} printable ASCII characters without line breaks."
            )
        secrets[name] = text
    secrets = {name: text for name, text in secrets.items() if text}
    connection.secrets_encrypted = (
        encryption.encrypt_text(json.dumps(secrets), PURPOSE) if secrets else ""
    )


def read_secrets(connection: Connection) -> dict[str, str]:
    """Read the secrets by name. Raises Refused if they cannot be read."""
    if not connection.secrets_encrypted:
        return {}
    text = encryption.try_decrypt(connection.secrets_encrypted, PURPOSE)
    if text is None:
        raise Refused(
            "The token was encrypted with another SECRET_KEY: enter it again, or name that one in "
            "SECRET_KEY_FALLBACKS."
        )
    secrets: dict[str, str] = json.loads(text)
    return secrets


def _readable_secrets(connection: Connection) -> dict[str, str]:
    """Read the secrets by name; none if they cannot be read."""
    try:
        return read_secrets(connection)
    except Refused:
        return {}


def require_token(connection: Connection) -> str:
    """Read the secret named *token*. Raises Denied if there is none, or none that can be read."""
    try:
        token = read_secrets(connection).get("token", "")
    except Refused as refusal:
        raise Denied(str(refusal)) from refusal
    if not token:
        raise Denied("The connection has no token: enter one.")
    return token


def hide_secrets(connection: Connection, text: str) -> str:
    """Remove the secrets from the text: the other side may repeat one in an error."""
    for secret in [*_readable_secrets(connection).values(), connection.secret]:
        if len(secret) >= SHORTEST_HIDDEN:
            text = text.replace(secret, HIDDEN)
    return text
