"""Connections of a team: made, checked, changed, paused and deleted."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from selection.errors import Conflict, Refused
from selection.models import Connection, Team

from . import health, http, registry
from .connector import Connector, Setting
from .reading import call_now
from .secret_store import read_secrets, store_secrets


class FieldRefused(Refused):
    """A refused value. field: its name."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field = field


def create_connection(
    team: Team | int,
    kind: str,
    name: str,
    secrets: Mapping[str, str],
    address: str = "",
    settings: Mapping[str, Any] | None = None,
) -> Connection:
    """Check the account at once and return its stored connection.

    Raises FieldRefused for a wrong value, Refused with the reason if the check fails.
    """
    team_id = team.pk if isinstance(team, Team) else team
    connection = Connection(team_id=team_id, kind=kind)
    save_connection(connection, name=name, address=address, secrets=secrets, settings=settings)
    return connection


def save_connection(
    connection: Connection,
    *,
    name: str,
    address: str,
    secrets: Mapping[str, str],
    settings: Mapping[str, Any] | None = None,
) -> str:
    """Set these values, check the account, store it; return the account in words.

    See ``set_connection``.
    """
    set_connection(connection, name=name, address=address, secrets=secrets, settings=settings)
    account = check_account(connection)
    store_connection(connection)
    return account


def store_connection(connection: Connection) -> None:
    """Store a checked connection, and make its due calls."""
    connection.problem, connection.failures, connection.rests_until = "", 0, None
    connection.save()
    health.note_success(connection)
    health.request_exchange(connection.pk)


def set_connection(
    connection: Connection,
    *,
    name: str,
    address: str,
    secrets: Mapping[str, str],
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Set these values, without checking the account and without saving.

    secrets  by name; omitted ones stay. A stored one is never sent to another address.

    Raises FieldRefused for a wrong value.
    """
    connector = registry.connector_of(connection)
    stored = Connection.objects.filter(pk=connection.pk).first()
    connection.name = clean_name(connection, name)
    connection.address = _clean_address(connector, address)
    if stored is not None and _origin(stored.address) != _origin(connection.address):
        connection.secrets_encrypted = ""
    connection.settings = clean_settings(connector.settings, settings or {})
    _set_secrets(connector, connection, secrets)


def check_account(connection: Connection) -> str:
    """Describe the account. Raises Refused with the reason if it cannot be used."""
    connector = registry.connector_of(connection)
    return call_now(connection, lambda: connector.check(connection))


def pause_connection(connection: Connection, paused: bool) -> None:
    """Stop or resume everything that is sent and fetched; what is due waits."""
    connection.paused, connection.rests_until = paused, None
    connection.save(update_fields=["paused", "rests_until"])
    if not paused:
        health.request_exchange(connection.pk)


def delete_connection(connection: Connection) -> None:
    """Delete a connection and its log. Raises Conflict while a run or a watch uses it."""
    if (link := connection.runs.select_related("run").first()) is not None:
        raise Conflict(f"The run “{link.run}” uses this connection: pause it instead.")
    if (used := connection.watches.select_related("watch").first()) is not None:
        raise Conflict(f"The watch “{used.watch}” uses this connection: pause it instead.")
    connection.delete()


def clean_settings(declared: tuple[Setting, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    """Check the values of the declared settings. Raises FieldRefused."""
    names = {setting.name for setting in declared}
    if unknown := set(values) - names:
        raise FieldRefused(min(unknown), f"There is no setting “{min(unknown)}”.")
    return {one.name: _clean_setting(one, values.get(one.name, one.default)) for one in declared}


def _clean_setting(setting: Setting, value: Any) -> Any:
    if setting.kind == "yes":
        if not isinstance(value, bool):
            raise FieldRefused(setting.name, f"{setting.label}: enter true or false.")
        return value
    if setting.kind == "number":
        return _clean_number(setting, value)
    text = str(value).strip()
    if setting.required and not text:
        raise FieldRefused(setting.name, f"{setting.label}: enter a value.")
    if setting.kind == "choice" and text not in {choice for choice, _ in setting.choices}:
        labels = ", ".join(choice for choice, _ in setting.choices)
        raise FieldRefused(setting.name, f"{setting.label}: choose one of {labels}.")
    return text


def _clean_number(setting: Setting, value: Any) -> Any:
    text = "" if value is None else str(value).strip()
    if not text:
        return setting.default
    digits = text.removesuffix(".0").removeprefix("-")
    if isinstance(value, bool) or not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise FieldRefused(setting.name, f"{setting.label}: enter a whole number.")
    return int(float(text))


def clean_name(connection: Connection, name: str) -> str:
    """Strip the name of surrounding spaces. Raises FieldRefused if it is taken."""
    name = name.strip()
    if not 0 < len(name) <= 100:
        raise FieldRefused("name", "A name has 1 to 100 characters.")
    twins = Connection.objects.filter(team=connection.team_id, name=name).exclude(pk=connection.pk)
    if twins.exists():
        raise FieldRefused("name", f"There is a connection “{name}” already.")
    return name


def _clean_address(connector: Connector, address: str) -> str:
    try:
        return http.check_url(address.strip() or connector.address)
    except Refused as refusal:
        raise FieldRefused("address", str(refusal)) from refusal


def _set_secrets(connector: Connector, connection: Connection, secrets: Mapping[str, str]) -> None:
    names = {secret.name for secret in connector.secrets}
    if unknown := set(secrets) - names:
        raise FieldRefused(min(unknown), f"There is no secret “{min(unknown)}”.")
    try:
        store_secrets(connection, secrets)
    except Refused as refusal:
        raise FieldRefused(connector.secrets[0].name, str(refusal)) from refusal
    stored = read_secrets(connection)
    for secret in connector.secrets:
        if secret.required and secret.name not in stored:
            raise FieldRefused(secret.name, f"Enter the {secret.label}.")


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
