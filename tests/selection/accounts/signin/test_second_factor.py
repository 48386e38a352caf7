"""Authenticator app and recovery codes: adding, using, losing them, and lockout."""

import re
import time
from io import StringIO
from urllib.parse import unquote, urlencode

import pytest
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client

from selection.models import AuditEntry, Membership, Team
from tests.pages import text_of
from tests.signing import (
    ACCOUNT,
    LOGIN,
    PASSWORD,
    add_app,
    browser,
    code,
    confirm,
    inside,
    next_step,
    person,
    recovery_codes,
    sign_in,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return person("ada")


@pytest.fixture
def secret(ada: User) -> str:
    """The secret of Ada's app."""
    return add_app(browser())


def log(kind: str) -> list[tuple[str, str]]:
    """Return the entries: actor, and method or reason."""
    entries = AuditEntry.objects.filter(kind=kind).order_by("id")
    return [(one.who, one.why or next(iter((one.after or one.before).values()))) for one in entries]


# -- one step


def test_password_alone_signs_in_a_user_without_a_second_factor(ada):
    client = Client()
    answer = sign_in(client)
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert inside(client)
    assert set(client.cookies) == {"csrftoken", "sessionid"}
    assert log("signed in") == [("ada", "password")]


def test_login_redirects_to_the_wanted_page_of_this_site_only(ada):
    form = {"username": "ada", "password": PASSWORD}
    wanted = Client().post("/admin/login/?next=/admin/auth/user/", form)
    assert wanted["Location"] == "/admin/auth/user/"
    lured = Client().post("/admin/login/?next=https://elsewhere.example.org/", form)
    assert lured["Location"] == "/admin/"


def test_a_wrong_password_is_said_and_written_down(ada):
    answer = sign_in(Client(), password="wrong")
    assert "Wrong name or password." in text_of(answer)
    sign_in(Client(), name="nobody", password="wrong")
    assert log("failed to sign in") == [("ada", "wrong password")]


def test_a_stranger_does_not_fill_the_log(ada):
    for _ in range(settings.AXES_FAILURE_LIMIT + 5):
        sign_in(Client(), password="wrong")
    assert len(log("failed to sign in")) == settings.AXES_FAILURE_LIMIT


@pytest.mark.parametrize("name", ["a\0b", "ada\ud800", "x" * 10_000])
def test_invalid_name_is_refused_without_an_error(ada, name):
    form = urlencode({"username": name, "password": PASSWORD}, errors="surrogatepass")
    kind = "application/x-www-form-urlencoded"
    assert Client().generic("POST", "/admin/login/", form, kind).status_code == 200


def test_a_closed_login_does_not_come_in(ada):
    User.objects.update(is_active=False)
    client = Client()
    assert sign_in(client).status_code == 200
    assert not inside(client)


def test_sessions_and_people_of_before_go_on(ada):
    """Check sessions and users made by Django's own login."""
    client = Client()
    client.force_login(ada, backend="selection.accounts.RoleBackend")
    assert inside(client)


# -- two steps


def test_password_alone_opens_nothing_for_a_user_with_an_app(secret):
    client = Client()
    assert sign_in(client)["Location"] == "/admin/login/code/"
    assert not inside(client)
    assert "authenticator app" in text_of(client.get("/admin/login/code/"))
    assert next_step(client, "000000").status_code == 200
    assert not inside(client)
    assert next_step(client, code(secret, 1)).status_code == 302
    assert inside(client)
    assert log("signed in")[-1] == ("ada", "password, code")


def test_a_code_is_good_once_and_so_is_one_before_it(secret):
    for given, good in ((code(secret, 1), True), (code(secret, 1), False), (code(secret), False)):
        client = browser()
        next_step(client, given)
        assert inside(client) == good


def test_the_code_that_added_the_app_is_used_up_and_another_one_says_so(secret):
    client = browser()
    refused = next_step(client, code(secret, -1))
    assert "was used before" in text_of(refused)
    assert "clock" in text_of(refused)
    assert not inside(client)
    next_step(client, code(secret))
    assert inside(client)


def test_the_keyboard_begins_in_the_field_of_the_code(ada, secret):
    page = browser().get(f"{LOGIN}code/").content.decode()
    assert "autofocus" in re.search(r'<input[^>]*name="code"[^>]*>', page)[0]


def test_codes_of_clocks_that_are_half_a_minute_off_are_taken_and_no_others(secret, monkeypatch):
    now = time.time() + 300
    monkeypatch.setattr(time, "time", lambda: now)
    for steps, good in ((-2, False), (2, False), (-1, True), (1, True)):
        client = browser()
        next_step(client, code(secret, steps))
        assert inside(client) == good, steps


def test_login_works_while_the_cache_is_away(secret, monkeypatch):
    def away(*args: object, **kwargs: object) -> None:
        raise ConnectionError

    for name in ("get", "add", "set", "incr"):
        monkeypatch.setattr(cache, name, away)
    client = browser()
    next_step(client, code(secret, 1))
    assert inside(client)


def test_recovery_codes_sign_in_once_each(ada):
    at_home = browser()
    add_app(at_home)
    codes = recovery_codes(at_home)
    assert len(set(codes)) == 10
    for good in (True, False):
        client = browser()
        next_step(client, codes[0])
        assert inside(client) == good
    assert len(recovery_codes(at_home)) == 9


def test_new_recovery_codes_take_the_place_of_the_old_ones(ada):
    at_home = browser()
    add_app(at_home)
    old = recovery_codes(at_home)
    at_home.post(f"{ACCOUNT}codes/new/")
    client = browser()
    next_step(client, old[0])
    assert not inside(client)
    next_step(client, recovery_codes(at_home)[0])
    assert inside(client)


def test_ten_wrong_codes_from_any_addresses_lock_the_right_one(secret):
    for i in range(settings.AXES_FAILURE_LIMIT):
        next_step(browser(address=f"192.0.2.{i}"), "000000")
    client = browser(address="192.0.2.200")
    answer = next_step(client, code(secret, 1))
    assert answer.status_code == 429
    assert "Too many attempts" in text_of(answer)
    assert not inside(client)
    assert log("failed to sign in")[0] == ("ada", "wrong code")


def test_wrong_codes_lock_only_their_user_and_a_right_one_clears_them(ada, secret):
    person("bob")
    for _ in range(settings.AXES_FAILURE_LIMIT - 1):
        next_step(browser(), "000000")
    assert inside(browser("bob"))
    client = browser()
    next_step(client, code(secret, 1))
    assert inside(client)
    for _ in range(settings.AXES_FAILURE_LIMIT - 1):
        assert next_step(browser(), "000000").status_code == 200


def test_no_browser_keeps_the_pages_with_secrets(ada):
    client = browser()
    add_app(client)
    assert "no-store" in client.get(f"{ACCOUNT}codes/")["Cache-Control"]


def test_admin_shows_no_secrets_of_other_users(secret):
    root = browser(person("root").username)
    for place in ("mfa/authenticator", "socialaccount/socialapp", "account/emailaddress"):
        assert root.get(f"/admin/{place}/").status_code == 404


def test_no_secret_is_written_down(secret):
    next_step(browser(), "123456")
    told = str(list(AuditEntry.objects.values()))
    assert secret not in told
    assert PASSWORD not in told
    assert "123456" not in told


# -- changing them


def test_changing_a_factor_requires_a_new_confirmation(ada):
    client = browser()
    for page in ("app/", "codes/new/", "passkeys/add/"):
        asked = client.get(f"{ACCOUNT}{page}")
        assert unquote(asked["Location"]) == f"{ACCOUNT}confirm/?next={ACCOUNT}{page}"
    assert client.post(f"{ACCOUNT}confirm/", {"password": "wrong"}).status_code == 200
    assert client.get(f"{ACCOUNT}app/").status_code == 302
    confirm(client)
    assert client.get(f"{ACCOUNT}app/").status_code == 200


def test_changed_factor_ends_the_other_sessions(ada):
    here, there = browser(), browser()
    assert inside(there)
    secret = add_app(here)
    assert (inside(here), inside(there)) == (True, False)
    there = browser()
    next_step(there, code(secret, 1))
    assert inside(there)
    here.post(f"{ACCOUNT}app/remove/")
    assert (inside(here), inside(there)) == (True, False)
    both = {("ada", "recovery codes"), ("ada", "authenticator app")}
    assert set(log("way in added")) == set(log("way in removed")) == both


def test_changed_password_ends_the_other_sessions(ada):
    here, there = browser(), browser()
    new = "another long and right one"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post("/admin/password_change/", form).status_code == 302
    assert (inside(here), inside(there)) == (True, False)


def test_password_set_by_a_superuser_ends_the_sessions_of_the_user(ada):
    person("root")
    root, theirs, new = browser("root"), browser(), "another long and right one"
    form = {"password1": new, "password2": new, "usable_password": "true"}
    assert root.post(f"/admin/auth/user/{ada.pk}/password/", form).status_code == 302
    assert (inside(root), inside(theirs)) == (True, False)


def test_a_session_in_which_the_password_was_changed_ends_with_the_others(ada):
    """Check its new key, which Django's own password page has sent."""
    here, new = browser(), "another long and right one"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post("/admin/password_change/", form).status_code == 302
    assert inside(here)
    call_command("forget_factors", "ada", stdout=StringIO())
    assert not inside(here)


def test_changed_factor_ends_no_session_of_other_users(ada):
    person("bob")
    other = browser("bob")
    add_app(browser())
    assert inside(other)


# -- losing them


def test_superuser_removes_lost_factors(secret):
    person("root")
    root, lost = browser("root"), browser()
    next_step(lost, code(secret, 1))
    chosen = [User.objects.get(username="ada").pk]
    sent = {"action": "take_factors_away", "_selected_action": chosen}
    answer = root.post("/admin/auth/user/", sent, follow=True)
    assert "of 1 user." in text_of(answer)
    assert not Authenticator.objects.exists()
    assert (inside(root), inside(lost)) == (True, False)
    assert inside(browser())
    assert ("root", "authenticator app") in log("way in removed")


def test_command_removes_lost_factors(secret):
    said = StringIO()
    call_command("forget_factors", "ada", stdout=said)
    assert "ada" in said.getvalue()
    assert inside(browser())
    with pytest.raises(CommandError, match="no login of the name"):
        call_command("forget_factors", "nobody")


def test_factors_are_deleted_with_the_login(secret):
    root = browser(person("root").username)
    gone = User.objects.get(username="ada")
    root.post(f"/admin/auth/user/{gone.pk}/delete/", {"post": "yes"})
    assert not User.objects.filter(pk=gone.pk).exists()
    assert not Authenticator.objects.exists()
    assert ("root", "authenticator app") in log("way in removed")


# -- needing them


@pytest.fixture
def owners_need_one(settings) -> None:
    settings.SECOND_FACTOR = "owners"


def member(role: str) -> str:
    team = Team.objects.get_or_create(name="Birds")[0]
    user = person(role, is_superuser=False)
    Membership.objects.create(team=team, user=user, role=role)
    return role


def test_owners_are_led_to_their_account_until_they_have_one(owners_need_one):
    client = browser(member("owner"))
    assert client.get("/admin/")["Location"] == ACCOUNT
    assert client.get("/admin/selection/run/")["Location"] == ACCOUNT
    assert "Add an authenticator app or a passkey to continue" in text_of(client.get(ACCOUNT))
    add_app(client)
    assert inside(client)
    assert inside(browser(member("manager")))


def test_required_second_factor_sends_logins_to_their_account_page(settings, ada):
    settings.SECOND_FACTOR = "everybody"
    for name in (member("viewer"), "ada"):
        assert browser(name).get("/admin/")["Location"] == ACCOUNT


def test_optional_second_factor_admits_a_login_without_one(ada):
    assert inside(browser())
