"""Single sign-on with a provider in a server of its own."""

import html
import re
from typing import Any

import httpx
import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.test import Client

from crowdselect import single_sign_on
from crowdselect.environment import Environment
from selection.checks import check_settings
from selection.models import AuditEntry, Membership, Team
from tests import oidc
from tests.oidc import Provider
from tests.pages import text_of
from tests.signing import ACCOUNT, add_app, browser, code, confirm, inside, next_step, person

BEGIN = "/admin/sso/company/"
GRACE = {
    "sub": "17",
    "email": "grace@example.org",
    "email_verified": True,
    "preferred_username": "grace",
    "given_name": "Grace",
    "family_name": "Hopper",
}

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def company(provider: Provider) -> Provider:
    provider.claims = dict(GRACE)
    return provider


def away(client: Client, **form: str) -> str:
    """Return the provider's address that the page leads to."""
    page = client.post(BEGIN, form)
    assert page.status_code == 200, page.content.decode()
    return html.unescape(re.search(r'content="0; url=([^"]+)"', page.content.decode())[1])


def back(client: Client, address: str) -> Any:
    """Go to the provider and return with its reply."""
    returned = httpx.get(address).headers["Location"]
    assert returned.startswith("http://testserver/admin/sso/company/back/?")
    return client.get(returned.removeprefix("http://testserver"), follow=True)


def come(client: Client, **form: str) -> Any:
    return back(client, away(client, **form))


def test_vouched_user_gets_a_login_without_a_team(company):
    client = Client()
    assert "Sign in with Example Inc." in text_of(client.get("/admin/login/"))
    page = come(client)
    assert "signed in as grace" in text_of(page)
    assert not inside(client)
    made = User.objects.get()
    assert (made.username, made.email, made.get_full_name()) == (
        "grace",
        "grace@example.org",
        "Grace Hopper",
    )
    assert (made.is_staff, made.is_superuser, made.has_usable_password()) == (False,) * 3
    kinds = dict(AuditEntry.objects.values_list("kind", "after"))
    assert kinds["added"] == {"username": "grace", "by": "company", "team": ""}
    assert kinds["signed in"] == {"by": "company"}


def test_or_in_the_team_of_the_settings_and_the_second_time_as_the_same(company, settings):
    Team.objects.create(name="Birds")
    settings.NEW_LOGINS_TEAM = "Birds"
    for _ in range(2):
        client = Client()
        come(client)
        assert inside(client)
    assert User.objects.count() == 1
    assert Membership.objects.get().role == "viewer"


def test_single_sign_on_redirects_to_the_wanted_page(company, settings):
    settings.NEW_LOGINS_TEAM = Team.objects.create(name="Birds").name
    page = come(Client(), next="/admin/selection/run/")
    assert page.request["PATH_INFO"] == "/admin/selection/run/"
    lured = come(Client(), next="https://elsewhere.example.net/")
    assert lured.request["PATH_INFO"] == "/admin/"


# -- permitted users


@pytest.mark.parametrize(
    ("said", "comes"),
    [
        ({"email": "grace@EXAMPLE.com"}, True),
        ({"email_verified": "true"}, True),
        ({"email": "grace@example.net"}, False),
        ({"email": "grace@evil-example.org"}, False),
        ({"email": "grace@sub.example.org"}, False),
        ({"email_verified": False}, False),
        ({"email_verified": "false"}, False),
        ({"email_verified": None}, False),
        ({"email": ""}, False),
    ],
)
def test_only_confirmed_addresses_of_the_domains_sign_in(company, said, comes):
    company.claims |= said
    page = come(Client())
    assert User.objects.count() == comes
    assert ("confirms no e-mail address of yours" in text_of(page)) == (not comes)


def test_user_with_a_foreign_new_address_cannot_return(company):
    come(Client())
    company.claims["email"] = "grace@example.net"
    client = Client()
    page = come(client)
    assert page.status_code == 403
    assert "it has to end in @example.org or @example.com." in text_of(page)
    assert "_auth_user_id" not in client.session


def test_a_provider_of_which_all_addresses_are_confirmed(company, settings):
    settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"][0]["settings"]["verified_email"] = (
        True
    )
    del company.claims["email_verified"]
    come(Client())
    assert User.objects.count() == 1


def test_a_closed_login_does_not_come_in(company):
    come(Client())
    User.objects.update(is_active=False)
    assert "This account is closed" in text_of(come(Client()))


def test_login_with_a_taken_name_or_address_is_not_taken_over(company):
    person("grace")
    come(Client())
    new = User.objects.exclude(username="grace").get()
    assert not new.is_superuser
    User.objects.all().delete()
    person("hopper", email="GRACE@example.org")
    page = come(Client())
    assert page.status_code == 409
    assert "There is a login with the address grace@example.org already" in text_of(page)
    assert User.objects.count() == 1


# -- connecting


def test_connected_user_signs_in_by_password_or_provider(company):
    person("ada")
    at_home, other = browser(), browser()
    confirm(at_home)
    assert "Connect with Example Inc." in text_of(at_home.get(ACCOUNT))
    page = come(at_home, process="connect")
    assert "Connected with Example Inc." in text_of(page)
    assert not inside(other)  # the sign-in methods have changed
    client = Client()
    come(client)
    assert inside(client)
    assert client.get("/admin/").wsgi_request.user.username == "ada"


def test_connecting_requires_a_recent_confirmation(company):
    person("ada")
    client = browser()
    asked = come(client, process="connect")
    assert "confirm your identity" in text_of(asked)
    assert not SocialAccount.objects.exists()
    assert confirm(client).status_code == 302
    assert SocialAccount.objects.get().user.username == "ada"


def test_account_is_disconnected_again(company):
    person("ada")
    client = browser()
    confirm(client)
    come(client, process="connect")
    client.post(f"{ACCOUNT}disconnect/", {"account": SocialAccount.objects.get().pk})
    assert not SocialAccount.objects.exists()
    come(stranger := Client())
    assert not inside(stranger)


def test_lured_visit_connects_no_account(company):
    person("ada")
    client = browser()
    confirm(client)
    assert client.get(f"{BEGIN}?process=connect").status_code == 302
    assert "authorize" not in company.asked
    assert Client(enforce_csrf_checks=True).post(BEGIN).status_code == 403


def test_account_of_another_user_is_not_connected(company):
    come(Client())
    person("ada")
    client = browser()
    confirm(client)
    page = come(client, process="connect")
    assert "That account belongs to another user." in text_of(page)
    assert SocialAccount.objects.get().user.username == "grace"


# -- failures


def test_user_with_a_second_factor_is_asked_for_it(company):
    person("ada")
    at_home = browser()
    confirm(at_home)
    come(at_home, process="connect")
    secret = add_app(at_home)
    client = Client()
    come(client)
    assert not inside(client)
    next_step(client, code(secret, 1))
    assert inside(client)


def test_provider_fulfils_a_required_second_factor(company, settings):
    settings.SECOND_FACTOR = "everybody"
    settings.NEW_LOGINS_TEAM = Team.objects.create(name="Birds").name
    come(client := Client())
    assert inside(client)


@pytest.mark.parametrize("place", ["openid-configuration", "token", "userinfo"])
def test_a_provider_that_does_not_answer_is_said(company, place):
    client = Client()
    if place == "openid-configuration":
        company.out_of_order = place
        page = client.post(BEGIN)
    else:
        address = away(client)
        company.out_of_order = place
        page = back(client, address)
    assert page.status_code in {401, 502}
    again = "Try again" if place == "openid-configuration" else "Start again"
    assert again in text_of(page)
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "somebody else"},
        {"iss": "https://evil.example.org"},
        {"exp": 1},
    ],
)
def test_proof_for_another_audience_or_time_is_refused(company, claims):
    company.claims |= claims
    assert come(Client()).status_code == 401
    assert not User.objects.exists()


def test_provider_without_a_subject_is_refused(company):
    del company.claims["sub"]
    assert come(Client()).status_code == 502
    assert not User.objects.exists()


def test_the_way_back_is_good_once_and_only_where_it_began(company):
    client = Client()
    returned = httpx.get(away(client)).headers["Location"].removeprefix("http://testserver")
    assert Client().get(returned).status_code == 401
    assert client.get(returned).status_code == 302
    User.objects.all().delete()
    assert client.get(returned).status_code == 401
    assert not User.objects.exists()


def test_refusal_at_the_provider_is_explained(company):
    client = Client()
    state = re.search(r"state=([^&]+)", away(client))[1]
    page = client.get(f"{BEGIN}back/?error=access_denied&state={state}")
    assert page.status_code == 401
    assert "Example Inc. did not confirm your identity" in text_of(page)


def test_unknown_provider_is_not_found():
    assert Client().post("/admin/sso/nowhere/").status_code == 404
    assert Client().get("/admin/sso/nowhere/back/").status_code == 404


# -- settings


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"SECRET": ""}, "OIDC_COMPANY_SECRET"),
        ({"CLIENT": ""}, "OIDC_COMPANY_CLIENT"),
        ({"SERVER": "http://login.example.org"}, "OIDC_COMPANY_SERVER"),
        ({"SERVER": ""}, "OIDC_COMPANY_SERVER"),
        ({"DOMAINS": ""}, "OIDC_COMPANY_DOMAINS"),
    ],
)
def test_half_a_provider_does_not_start(company, monkeypatch, settings, more, named):
    assert check_settings(None) == []
    for name, value in oidc.environment(company, **more).items():
        monkeypatch.setenv(name, value)
    apps = single_sign_on.read_providers(Environment())
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": apps}}
    (found,) = check_settings(None)
    assert found.id == "crowdselect.E009"
    assert named in found.msg
