"""A colleague is added on one page, and sets the password by a link."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from selection.models import Membership
from tests.pages import admin_url, text_of

from .world import Role, member

pytestmark = pytest.mark.django_db
FORM = {"name": "Ada Lovelace", "email": "ada@example.org", "role": "manager"}


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_an_owner_adds_a_colleague_who_sets_a_password_by_the_link(okapis, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    page = browser(member(okapis.team, Role.OWNER)).post(admin_url("team_colleague"), FORM)
    shown = text_of(page)
    assert "No mail server is set: send them this link." in shown
    link = re.search(r"https?://[^/\s]+(/admin/password/\S+/)", shown)[1]
    guest = Client()
    form = guest.get(link, follow=True)
    sent = {"new_password1": "engine-analytical", "new_password2": "engine-analytical"}
    done = text_of(guest.post(form.request["PATH_INFO"], sent, follow=True))
    assert "Your user name is ada@example.org." in done
    row = Membership.objects.get(user__username="ada@example.org")
    assert row.user.check_password("engine-analytical")
    assert (row.team, row.role, row.user.first_name) == (okapis.team, "manager", "Ada Lovelace")
    assert "has been used, or is too old" in text_of(Client().get(link))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"email": "ada"}, "Enter a valid email address."),
        ({"email": "Taken@example.org"}, "There is a login with this address."),
        ({"name": ""}, "This field is required."),
        ({"role": ""}, "This field is required."),
    ],
)
def test_the_page_refuses_what_makes_no_colleague(okapis, change, why):
    User.objects.create_user("taken", "taken@example.org")
    owner = browser(member(okapis.team, Role.OWNER))
    assert why in text_of(owner.post(admin_url("team_colleague"), FORM | change))
    assert not User.objects.filter(username="ada@example.org").exists()


def test_an_owner_adds_to_their_own_team_only(okapis, zebras):
    owner = browser(member(okapis.team, Role.OWNER))
    owner.post(admin_url("team_colleague"), FORM | {"team": zebras.team.pk})
    assert not Membership.objects.filter(team=zebras.team, user__email=FORM["email"]).exists()


def test_the_list_of_users_leads_to_the_same_page(admin_client):
    page = admin_client.get("/admin/auth/user/add/", follow=True)
    assert page.request["PATH_INFO"] == admin_url("team_colleague")
    assert "permission" not in text_of(page).casefold()
