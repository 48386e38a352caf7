"""The visitor's address: by a trusted proxy's word, and by no other."""

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.test import Client

from crowdselect.web import forwarded_headers
from selection.models import ApiToken, AuditEntry
from tests.pages import admin_url
from tests.rate_limits import begin_window

PROXY, INNER, SPOOFED = "10.0.0.1", "10.0.7.2", "203.0.113.9"

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def behind(settings) -> None:
    settings.TRUSTED_PROXIES = [PROXY, "10.0.7.0/24"]


def asked_from(peer: str, forwarded: str = "", **more: str) -> Client:
    """A client with a connection from there."""
    said = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    return Client(REMOTE_ADDR=peer, **said, **more)


def noted(client: Client) -> str:
    """The address that the audit log gets."""
    client.force_login(
        User.objects.get_or_create(username="a", is_superuser=True, is_staff=True)[0]
    )
    client.post(admin_url("pool_add"), {"name": f"Pool {AuditEntry.objects.count()}"})
    return AuditEntry.objects.latest("id").address


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        (PROXY, "192.0.2.7", "192.0.2.7"),
        (PROXY, f"{SPOOFED}, 192.0.2.7", "192.0.2.7"),  # headers sent by the client itself
        (INNER, f"{SPOOFED}, 192.0.2.7, {PROXY}", "192.0.2.7"),
        (PROXY, "192.0.2.7:4711", "192.0.2.7"),
        (PROXY, "[2001:db8::7]:443", "2001:db8::7"),
        (PROXY, "::ffff:192.0.2.7", "192.0.2.7"),
        (PROXY, f"{SPOOFED}, unknown", PROXY),
        (PROXY, f"{INNER}", INNER),
        (PROXY, "", PROXY),
        ("192.0.2.66", SPOOFED, "192.0.2.66"),
        ("::ffff:10.0.0.1", "192.0.2.7", "192.0.2.7"),
    ],
)
def test_the_audit_log_has_the_clients_address(behind, peer, forwarded, address):
    assert noted(asked_from(peer, forwarded)) == address


def test_public_address_sets_the_scheme_if_no_proxy_is_trusted(settings):
    """To redirect visitors to https who may come by it would never end."""
    settings.HTTPS = settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 60
    page = asked_from("192.0.2.66").get("/admin/login/")
    assert page.status_code == 200
    assert page.headers["Strict-Transport-Security"] == "max-age=60"


def test_http_visitor_of_a_trusted_proxy_is_redirected(behind, settings):
    settings.HTTPS = settings.SECURE_SSL_REDIRECT = True
    by_http = asked_from(PROXY, "192.0.2.7", HTTP_X_FORWARDED_PROTO="http")
    assert by_http.get("/admin/login/").status_code == 301
    by_https = asked_from(PROXY, "192.0.2.7", HTTP_X_FORWARDED_PROTO="https")
    assert by_https.get("/admin/login/").status_code == 200


def test_forwarded_headers_have_no_effect_if_no_proxy_is_trusted():
    assert noted(asked_from(PROXY, SPOOFED)) == PROXY
    page = asked_from(PROXY, SPOOFED, HTTP_X_FORWARDED_PROTO="https").get("/admin/login/")
    assert not page.wsgi_request.is_secure()


def test_only_a_trusted_proxy_sets_the_scheme_of_a_request(behind):
    def secure(peer: str, scheme: str) -> bool:
        page = asked_from(peer, HTTP_X_FORWARDED_PROTO=scheme).get("/admin/login/")
        return page.wsgi_request.is_secure()

    assert secure(PROXY, "https")
    assert not secure(PROXY, "gopher")
    assert not secure("192.0.2.66", "https")


def test_proxy_headers_of_strangers_are_removed(behind):
    told = dict.fromkeys(forwarded_headers.PROXY_HEADERS, "x")
    left = Client(REMOTE_ADDR="192.0.2.66", **told).get("/admin/login/").wsgi_request.META
    assert not set(told) & set(left)


# -- and so every limit


@pytest.fixture(autouse=True)
def counted_anew(monkeypatch):
    begin_window(monkeypatch)


def test_failed_logins_are_counted_for_the_client(behind):
    wrong = {"username": "boss", "password": "wrong"}
    asked_from(PROXY, "192.0.2.7").post("/admin/login/", wrong)
    asked_from("192.0.2.66", SPOOFED).post("/admin/login/", wrong)
    counted = set(AccessAttempt.objects.values_list("ip_address", flat=True))
    assert counted == {"192.0.2.7", "192.0.2.66"}


def bad(client: Client) -> int:
    return client.get("/api/runs/1", headers={"authorization": "Bearer bad"}).status_code


def test_bad_tokens_are_counted_for_the_client(behind, settings):
    settings.API_FAILURES_PER_MINUTE = 2
    assert [bad(asked_from(PROXY, "192.0.2.7")) for _ in range(4)] == [401, 401, 429, 429]
    assert bad(asked_from(PROXY, "192.0.2.8")) == 401


def test_forged_addresses_do_not_evade_a_limit(behind, settings):
    settings.API_FAILURES_PER_MINUTE = 2
    spoofing = [asked_from("192.0.2.66", f"203.0.113.{i}") for i in range(4)]
    assert [bad(client) for client in spoofing] == [401, 401, 429, 429]
    through = [asked_from(PROXY, f"203.0.113.{i}, 192.0.2.9") for i in range(4)]
    assert [bad(client) for client in through] == [401, 401, 429, 429]


def test_limit_counts_the_network_of_an_ipv6_address(settings):
    settings.API_FAILURES_PER_MINUTE = 2
    own = [asked_from(f"2001:db8:0:1::{i}") for i in range(4)]
    assert [bad(client) for client in own] == [401, 401, 429, 429]
    assert bad(asked_from("2001:db8:0:2::1")) == 401
    good = Client(headers={"authorization": f"Bearer {ApiToken.issue('good')}"})
    assert good.get("/api/runs/1", REMOTE_ADDR="2001:db8:0:1::1").status_code == 404
