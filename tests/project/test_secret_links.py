"""Every address with a secret is kept from logs and traces, and from other hosts."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import Client
from django.urls import URLResolver, get_resolver, path
from django.urls.converters import IntConverter

from crowdselect.web.logs import SECRETS
from crowdselect.web.secret_links import LINKS, PASSWORDS, secret_path
from crowdselect.web.tracing import HIDDEN

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

TOKEN = "12.SECRETsecret:x-y_z"
# A login or a token opens these, and the address is none.
CLOSED = ("/admin/", "/api/")


def walk_routes(patterns: list[Any], before: str = "/") -> Iterator[tuple[str, dict[str, Any]]]:
    for one in patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from walk_routes(one.url_patterns, route)
        else:
            yield route, one.pattern.converters


def find_secret_routes(patterns: list[Any]) -> set[str]:
    """Find the prefixes of routes with a part that is no number, or that is called a token."""
    return {
        route.partition("<")[0]
        for route, converters in walk_routes(patterns)
        if "token" in converters
        or (
            not route.startswith(CLOSED)
            and any(type(one) is not IntConverter for one in converters.values())
        )
    }


def test_every_route_with_a_secret_is_in_the_list() -> None:
    assert find_secret_routes(get_resolver().url_patterns) == {*LINKS, PASSWORDS}


def test_a_new_route_with_a_secret_must_be_in_the_list() -> None:
    added = path("enter/<str:signed>/", lambda request, signed: HttpResponse())
    assert find_secret_routes([added]) == {"/enter/"}
    with pytest.raises(ImproperlyConfigured, match="LINKS"):
        secret_path("enter", lambda request, token: HttpResponse(), "enter")


@pytest.mark.parametrize("prefix", [*LINKS, PASSWORDS])
@pytest.mark.parametrize(
    "line",
    [
        "Service Unavailable: {}{}/",
        'GET "https://c.example{}{}/?a=b" 404',
        "Not Found: /admin/login/?next={}{}/",
    ],
)
def test_no_log_line_has_the_secret_of_a_link(prefix: str, line: str) -> None:
    masked = SECRETS.sub("…", line.format(prefix, TOKEN))
    assert "SECRET" not in masked
    assert prefix[:5] in masked


@pytest.mark.parametrize("prefix", LINKS)
def test_no_query_in_a_log_line_has_the_secret_of_a_link(prefix: str) -> None:
    for slash in ("%2F", "%2f"):
        line = f"/admin/login/?next={prefix.replace('/', slash)}{TOKEN}{slash}&x=1"
        assert "SECRET" not in SECRETS.sub("…", line)


@pytest.mark.parametrize("prefix", [*LINKS, PASSWORDS])
def test_no_link_is_traced(prefix: str) -> None:
    assert prefix in HIDDEN.split(",")


@pytest.mark.parametrize("prefix", LINKS)
def test_pages_of_links_tell_nobody_their_address_and_show_files_of_others(
    prefix: str, client: Client
) -> None:
    page = client.get(f"{prefix}{TOKEN}/")
    assert page.status_code == 404
    assert page["Referrer-Policy"] == "no-referrer"
    policy = page["Content-Security-Policy"]
    for part in ("script-src 'none'", "img-src 'self' https:", "media-src 'self' https:"):
        assert part in policy


@pytest.mark.parametrize("prefix", LINKS)
def test_wrong_links_are_limited(prefix: str, settings: Any) -> None:
    client = Client(REMOTE_ADDR=f"10.9.0.{LINKS.index(prefix)}")
    settings.LINK_FAILURES_PER_MINUTE = 2
    codes = [client.get(f"{prefix}{TOKEN}{i}/").status_code for i in range(4)]
    assert codes[0] == 404
    assert codes[-1] == 429


@pytest.mark.parametrize("token", ["17.1t9AbC-_x", "3.2.AbCdEf_12", "12.SECRETsecret"])
def test_a_signed_token_is_masked_at_addresses_that_are_no_more(token):
    assert SECRETS.sub("…", f"Not Found: /anything/{token}/") == "Not Found: /anything/…/"


@pytest.mark.parametrize("address", ["/admin/selection/run/12/change/", "/static/3.js", "/api/1.5"])
def test_other_addresses_stay_in_the_log(address):
    assert SECRETS.sub("…", address) == address
