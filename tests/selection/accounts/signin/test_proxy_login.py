"""Sign-in by a proxy's header: only if configured, and only from trusted proxies."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from selection import engine
from selection.models import AuditEntry, Membership, Team
from selection.worker import links
from tests.pages import text_of
from tests.signing import inside, person, sign_in
from tests.worlds import make_run

PROXY = "10.0.0.1"

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def ada() -> User:
    return person("ada")


@pytest.fixture
def behind(settings) -> None:
    settings.TRUSTED_PROXIES, settings.USER_HEADER = [PROXY], "HTTP_X_REMOTE_USER"


def said(name: str, peer: str = PROXY) -> Client:
    return Client(REMOTE_ADDR=peer, HTTP_X_REMOTE_USER=name, HTTP_X_FORWARDED_FOR="192.0.2.7")


def test_user_of_the_proxy_header_is_signed_in(behind, ada):
    client = said("ada")
    assert inside(client)
    assert inside(client)
    entry = AuditEntry.objects.get(kind="signed in")
    assert (entry.who, entry.address, entry.after) == ("ada", "192.0.2.7", {"by": "proxy"})


def test_header_from_an_untrusted_peer_is_refused(behind, ada):
    for address in ("/admin/", "/admin/login/", "/api/docs", "/"):
        answer = said("ada", peer="192.0.2.66").get(address)
        assert answer.status_code == 403
        assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert not AuditEntry.objects.exists()


def test_header_has_no_effect_while_proxy_login_is_off(settings, ada):
    assert not inside(said("ada"))
    settings.TRUSTED_PROXIES = [PROXY]
    assert not inside(said("ada"))


def test_changed_header_switches_the_user(behind, ada):
    person("bob")
    client = said("ada")
    inside(client)
    client.defaults["HTTP_X_REMOTE_USER"] = "bob"
    page = client.get("/admin/")
    assert page.wsgi_request.user.get_username() == "bob"


def test_missing_header_ends_the_session(behind, ada):
    client = said("ada")
    inside(client)
    del client.defaults["HTTP_X_REMOTE_USER"]
    assert not inside(client)


def test_password_session_survives_without_the_header(behind, ada):
    client = Client(REMOTE_ADDR=PROXY)
    sign_in(client)
    assert inside(client)
    assert inside(client)


def test_first_visitor_has_no_team_and_reads_how_to_get_one(behind):
    client = said("grace@example.org")
    page = client.get("/admin/", follow=True)
    assert page.status_code == 403
    assert "You are signed in as grace@example.org , but you are in no team yet" in text_of(page)
    made = User.objects.get()
    assert (made.is_staff, made.is_superuser, made.has_usable_password()) == (False,) * 3
    entry = AuditEntry.objects.get(kind="added")
    assert (entry.who, entry.after["by"]) == ("grace@example.org", "proxy")


def test_or_in_the_team_of_the_settings(behind, settings):
    team = Team.objects.create(name="Birds")
    settings.NEW_LOGINS_TEAM, settings.NEW_LOGINS_ROLE = "Birds", "manager"
    assert inside(said("grace"))
    member = Membership.objects.get()
    assert (member.team, member.user.username, member.role) == (team, "grace", "manager")
    assert not member.user.is_superuser


def test_a_team_that_is_not_there_gives_nothing(behind, settings, caplog):
    settings.NEW_LOGINS_TEAM = "Bees"
    assert not inside(said("grace"))
    assert "there is no team of this name" in caplog.text


@pytest.mark.parametrize("name", ["ada, eve", "a b", "a\0b", "x" * 151, "<script>"])
def test_invalid_name_in_the_header_is_refused(behind, ada, name):
    answer = said(name).get("/admin/")
    assert answer.status_code == 403
    assert "<script>alert" not in answer.content.decode()
    assert User.objects.count() == 1


def test_a_closed_login_does_not_come_in(behind, ada):
    User.objects.update(is_active=False)
    assert "login was closed" in text_of(said("ada").get("/admin/"))


def test_a_second_factor_is_the_proxys_affair(behind, settings, ada):
    settings.SECOND_FACTOR = "everybody"
    assert inside(said("ada"))


def test_workers_get_no_session(behind):
    run = make_run()
    engine.advance(run.pk)
    client = said("ada")
    page = client.get(f"/work/{links.worker_token(run.candidates.first().pk)}/")
    assert page.status_code == 200
    assert not client.cookies
    assert not User.objects.exists()
