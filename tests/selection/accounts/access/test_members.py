"""Members of a team, and refusals of the owner's form."""

import pytest
from django.test import Client

from selection.models import Membership
from tests.pages import admin_url, text_of

from .world import Role, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(okapis) -> Membership:
    """The only owner of the team."""
    okapis.team.memberships.filter(role=Role.OWNER).delete()
    return okapis.team.memberships.get(user=member(okapis.team, Role.OWNER))


@pytest.fixture
def save(owner):
    """Send the form unchanged except for these fields of members, by their number in it."""
    client, known = Client(), list(owner.team.memberships.order_by("pk"))
    client.force_login(owner.user)
    form = {"name": owner.team.name, "memberships-INITIAL_FORMS": len(known)}
    for number, one in enumerate(known):
        form |= {f"memberships-{number}-id": one.pk, f"memberships-{number}-role": one.role}

    def send(size: int = len(known), **fields: str):
        team = {f"memberships-{number}-team": owner.team.pk for number in range(size)}
        given = {f"memberships-{name.replace('_', '-')}": value for name, value in fields.items()}
        sent = form | team | given | {"memberships-TOTAL_FORMS": size}
        return client.post(admin_url("team_change", owner.team.pk), sent, follow=True)

    return send


def number_of(one: Membership) -> int:
    return list(one.team.memberships.order_by("pk")).index(one)


def test_a_login_that_is_written_twice_is_told_and_added_not_at_all(save, owner, django_user_model):
    django_user_model.objects.create_user("newcomer")
    size = owner.team.memberships.count()
    fields = {"username": "newcomer", "role": "viewer"}
    twice = {f"{size + i}_{name}": fields[name] for i in (0, 1) for name in fields}
    assert "This user is listed twice" in text_of(save(size + 2, **twice))
    assert owner.team.memberships.count() == size


@pytest.mark.parametrize("leaving", [{"role": "viewer"}, {"DELETE": "on"}])
def test_last_owner_cannot_leave_the_team(save, owner, leaving):
    fields = {f"{number_of(owner)}_{name}": value for name, value in leaving.items()}
    assert "The team needs an owner" in text_of(save(**fields))
    owner.refresh_from_db()
    assert owner.role == Role.OWNER


def test_former_owner_is_led_to_a_permitted_page(save, owner, django_user_model):
    heir = django_user_model.objects.create_user("heir")
    size = owner.team.memberships.count()
    mine = {f"{number_of(owner)}_role": "viewer"}
    page = save(size + 1, **mine, **{f"{size}_username": "heir", f"{size}_role": "owner"})
    assert page.status_code == 200
    assert owner.team.memberships.get(user=heir).role == Role.OWNER


def test_forbidden_page_explains_itself_and_links_home(okapis):
    client = Client()
    client.force_login(member(okapis.team, Role.VIEWER))
    page = client.get(admin_url("pool_add"))
    assert (page.status_code, "Your role in the team cannot open this page" in text_of(page)) == (
        403,
        True,
    )
    assert client.get(admin_url("pool_add")).content.decode().count('href="/admin/"') == 1


def test_form_from_before_a_new_login_is_refused_with_advice(okapis):
    client = Client(enforce_csrf_checks=True)
    client.force_login(member(okapis.team, Role.MANAGER))
    page = client.post(admin_url("pool_add"), {"name": "Spring"})
    assert (page.status_code, "reload the page" in text_of(page)) == (403, True)
