"""Servers and endpoints: checked, stored, changed."""

import math
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import transaction

from selection.errors import Conflict, Refused
from selection.models import Candidate, Endpoint, ModelServer, Pool, Worker, plain_key

from . import api_keys, extras, fixed_settings, parsing, prompts, server_calls, spending

SERVER_FIELDS = (
    "name",
    "url",
    "key_variable",
    "requests_per_minute",
    "concurrency",
    "extra_headers",
    "extra_query",
)
ENDPOINT_FIELDS = (
    "model",
    "system_prompt",
    "template",
    "temperature",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
    "extra_body",
    "timeout",
    "structured",
    "parsing",
    "pattern",
    "unreadable",
    "reuse",
    "price_in",
    "price_out",
    "price_call",
)
SWITCHES = ("structured", "reuse")
AUTO = "auto"  # a temperature: the server's own
MOST_GRID = 1_000  # workers of one grid


class FieldRefused(Refused):
    """A refused value. field: its name."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field, self.why = field, why


def save_server(server: ModelServer, values: Mapping[str, Any], key: str | None = None) -> None:
    """Set these fields and store the server; see ``set_server``."""
    set_server(server, values, key)
    server.save()


def set_server(server: ModelServer, values: Mapping[str, Any], key: str | None = None) -> None:
    """Set these fields, without saving; ``key`` is the API key, None keeps the stored one.

    Raises FieldRefused for an invalid value, Conflict for a name that is taken. A stored key is
    never sent to another address: a new address needs the key again.
    """
    keyed = ModelServer.objects.filter(pk=server.pk).exclude(key_encrypted="")
    keyed_url = server.pk and keyed.values_list("url", flat=True).first()
    check_server(server, values, key, keyed_url or "")
    if server.pk:
        fixed_settings.refuse_server_change(server)
    twins = ModelServer.objects.filter(team=server.team_id, name=server.name).exclude(pk=server.pk)
    if twins.exists():
        raise Conflict(f"There is a model server “{server.name}” already.")


def check_server(
    server: ModelServer, values: Mapping[str, Any], key: str | None, keyed_url: str = ""
) -> None:
    """Set these fields of a server that need not be stored. Raises FieldRefused.

    keyed_url  address that its stored key belongs to
    """
    for name, value in values.items():
        _refuse_shape(name, value)
        setattr(server, name, value)
    server.extra_headers = _check("extra_headers", extras.check_headers, server.extra_headers)
    server.extra_query = _check("extra_query", extras.check_query, server.extra_query)
    _clean_fields(server, SERVER_FIELDS)
    server.url = _check("url", server_calls.check_url, server.url)
    if keyed_url and key is None and _origin_of(keyed_url) != _origin_of(server.url):
        raise FieldRefused("key", "The address has changed: enter the API key again.")
    if key is not None:
        _check("key", lambda text: api_keys.store_key(server, text), key)
    _check("key_variable", lambda _: api_keys.check_variable(server), server.key_variable)
    if server.key_variable and server.key_encrypted:
        raise FieldRefused("key_variable", "Give either an API key or its variable, not both.")


def build_endpoint(
    server: ModelServer, values: Mapping[str, Any], columns: Collection[str] = ()
) -> Endpoint:
    """Build an endpoint of these settings, without a worker and not stored.

    columns  of the gold file that the template may name

    Raises FieldRefused for an invalid value.
    """
    endpoint = Endpoint(server=server)
    for name, value in values.items():
        if name not in ENDPOINT_FIELDS:
            raise FieldRefused(
                name, f"There is no such setting; there are {', '.join(ENDPOINT_FIELDS)}."
            )
        _refuse_shape(name, value)
        if name == "temperature" and value == AUTO:
            value = None
        # YAML and JSON read 0.1 as the float nearest to it.
        setattr(endpoint, name, Decimal(repr(value)) if isinstance(value, float) else value)
    endpoint.extra_body = _check("extra_body", extras.check_body, endpoint.extra_body)
    _clean_fields(endpoint, ENDPOINT_FIELDS)
    for name in ENDPOINT_FIELDS:  # Django takes nan for a number of every range
        value = getattr(endpoint, name)
        if isinstance(value, float) and not math.isfinite(value):
            raise FieldRefused(name, "Enter a number.")
    for name in ("price_in", "price_out", "price_call"):
        setattr(endpoint, name, Decimal(getattr(endpoint, name)))
    _check("template", lambda t: prompts.validate_template(t, columns), endpoint.template)
    _check(
        "pattern",
        lambda pattern: parsing.validate_pattern(endpoint.parsing, pattern),
        endpoint.pattern,
    )
    return endpoint


@transaction.atomic
def store_endpoints(pool: Pool, endpoints: Sequence[tuple[str, Endpoint]]) -> tuple[int, int]:
    """Store these (worker, endpoint) in the pool; return the numbers of new and changed workers.

    A worker of the name gets the settings from now on. Raises Refused for another team's server,
    Conflict for a person of the name who takes part in a run, and for other settings of a model
    that a run in progress has called.
    """
    stored = {name: plain_key(name) for name, _ in endpoints}
    present = pool.workers.filter(key__in=stored).select_related("endpoint")
    workers, new = {one.key: one for one in present}, []
    people = {one.pk for one in workers.values() if not hasattr(one, "endpoint")}
    if busy := Candidate.objects.filter(worker__in=people).select_related("worker").first():
        raise Conflict(f"The worker “{busy.worker}” takes part in a run as a person.")
    for name, endpoint in endpoints:
        if endpoint.server.team_id != pool.team_id:
            raise Refused(f"The model server “{endpoint.server}” is another team's.")
        if stored[name] not in workers:
            new.append(Worker(pool=pool, key=stored[name]))
            workers[stored[name]] = new[-1]
    Worker.objects.bulk_create(new)
    for name, endpoint in endpoints:
        endpoint.worker = workers[stored[name]]
    fixed_settings.refuse_endpoint_changes([endpoint for _, endpoint in endpoints])
    columns = [field.name for field in Endpoint._meta.fields if not field.primary_key]
    Endpoint.objects.bulk_create(
        [endpoint for _, endpoint in endpoints],
        update_conflicts=True,
        unique_fields=["worker"],
        update_fields=columns,
    )
    spending.forget_unaffordable(Candidate.objects.filter(worker__in=present))
    return len(new), len(endpoints) - len(new)


def _origin_of(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _clean_fields(instance: Endpoint | ModelServer, names: Sequence[str]) -> None:
    others = {field.name for field in instance._meta.fields} - set(names)
    try:
        instance.clean_fields(exclude=others)
    except ValidationError as error:
        name, faults = next(iter(error.error_dict.items()))
        why = faults[0].messages[0]
        if faults[0].code == "invalid_choice":
            field = next(field for field in instance._meta.fields if field.name == name)
            options = ", ".join(value for value, _ in field.flatchoices)
            why = f"“{getattr(instance, name)}” is unknown; there are {options}."
        raise FieldRefused(name, why) from error


MAPPINGS = ("extra_body", "extra_headers", "extra_query")  # their own checks refuse other shapes


def _refuse_shape(name: str, value: Any) -> None:
    """Raise FieldRefused for a value of a wrong type that Django would convert silently."""
    if isinstance(value, list | dict) and name not in MAPPINGS:
        shape = "list" if isinstance(value, list) else "mapping"
        raise FieldRefused(name, f"Give one value, not a {shape}.")
    if isinstance(value, bool) and name not in SWITCHES:
        why = "YAML reads yes, no, on and off as true and false: put a text in quotes."
        raise FieldRefused(name, why)


def _check(field: str, check: Any, value: Any) -> Any:
    try:
        return check(value)
    except FieldRefused:
        raise
    except Refused as refusal:
        raise FieldRefused(field, str(refusal)) from refusal
