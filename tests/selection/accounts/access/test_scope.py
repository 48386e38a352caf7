"""Visibility, choices and actions inside a team and across teams."""

import re
from pathlib import Path
from unittest import mock

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from selection.forecast import forecast_requests
from selection.models import ForecastRequest, Membership, Pool, Run, Team, Worker
from selection.runs import lifecycle
from tests.pages import admin_url, press, run_form, save_run, text_of
from tests.worlds import make_pool, make_questions

from .world import Role, member

pytestmark = pytest.mark.django_db
TOP = Path(__file__).parents[4]


def browser(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def okapi(okapis):
    """A browser in which an owner of the okapis is signed in."""
    return browser(member(okapis.team, Role.OWNER))


@pytest.fixture
def both(zebras, okapis):
    """A user that views the zebras and manages the okapis."""
    user = member(zebras.team, Role.VIEWER)
    Membership.objects.create(team=okapis.team, user=user, role=Role.MANAGER)
    return browser(user)


# -- offered choices


def offered(client, field: str) -> list[str]:
    asked = {"app_label": "selection", "model_name": "run", "field_name": field, "term": ""}
    return [row["text"] for row in client.get("/admin/autocomplete/", asked).json()["results"]]


def test_a_search_in_a_form_finds_ones_own_things_only(okapi, both):
    assert offered(okapi, "pool") == ["okapi pool"]
    assert offered(okapi, "question_set") == ["okapi questions"]
    assert offered(both, "pool") == ["okapi pool", "zebra pool"]


def test_a_filter_offers_ones_own_things_only(okapi, okapis):
    Pool.objects.create(team=okapis.team, name="okapi second pool")
    page = text_of(okapi.get(admin_url("worker_changelist")))
    assert "okapi second pool" in page
    assert "zebra" not in page


def test_superuser_cannot_mix_teams_in_a_run(requester, zebras, okapis):
    mixed = {"pool": zebras.pool.pk, "question_set": okapis.question_set.pk, "k": 1}
    begun = requester.post(admin_url("run_begin"), mixed | {"name": "Mixed", "do": "draft"})
    assert "is another team's than the pool" in text_of(begun)
    fields = {"name": "Mixed", "algorithm": "multi-sar", "budget": 100}
    fields["skills"] = f"{okapis.question_set}: 1"
    form = run_form(zebras.pool, zebras.question_set, **fields)
    assert "is another team's than the pool" in text_of(save_run(requester, form))
    assert not Run.objects.filter(name="Mixed").exists()


def test_a_worker_is_not_added_to_another_teams_pool(okapi, both, zebras, okapis):
    for client in (okapi, both):
        form = {"pool": zebras.pool.pk, "key": "spy", "attributes": "{}"}
        assert "of the list" in text_of(client.post(admin_url("worker_add"), form))
    both.post(admin_url("worker_add"), form | {"pool": okapis.pool.pk})
    assert Worker.objects.get(key="spy").pool == okapis.pool


def test_a_run_is_found_in_its_team_only(okapi, zebras, okapis):
    for theirs in (zebras, okapis):
        lifecycle.stop_run(theirs.run)
    form = okapi.get(admin_url("run_begin")).content.decode()
    assert "okapi run: " in form
    assert "zebra" not in form
    gold = okapi.get(admin_url("questionset_gold", okapis.question_set.pk), {"run": zebras.run.pk})
    assert gold.status_code == 404


def test_full_form_requires_permission_to_make_runs(zebras):
    viewer = browser(member(zebras.team, Role.VIEWER))
    assert viewer.get(admin_url("run_add")).status_code == 403


def test_the_guided_start_offers_and_takes_ones_own_things_only(okapi, zebras, okapis):
    for theirs in (zebras, okapis):
        lifecycle.stop_run(theirs.run)
    page = okapi.get(admin_url("run_begin"))
    assert "okapi pool" in text_of(page)
    assert "okapi run: " in text_of(page)
    assert "zebra" not in page.content.decode()
    asked = {"pool": okapis.pool.pk, "question_set": okapis.question_set.pk, "k": 1}
    for theirs in (
        {"pool": zebras.pool.pk},
        {"question_set": zebras.question_set.pk},
        {"belief": "run", "run": zebras.run.pk},
    ):
        shown = okapi.post(admin_url("run_begin"), asked | theirs)
        assert shown.status_code == 200
        assert "of the list" in text_of(shown)


def test_forecast_belongs_to_its_team_and_learns_by_run_not_by_name(okapi, zebras, okapis):
    Run.objects.filter(pk=zebras.run.pk).update(name="Spring")
    Run.objects.filter(pk=okapis.run.pk).update(name="Spring")
    okapis.run.candidates.update(rewards=3, pulls=4)
    zebras.run.candidates.update(rewards=0, pulls=9)
    for theirs in (okapis, zebras):
        lifecycle.stop_run(theirs.run)
    asked = {"pool": okapis.pool.pk, "question_set": okapis.question_set.pk, "k": 1}
    with mock.patch.object(forecast_requests, "FIRST", 0.0):
        made = okapi.post(admin_url("run_begin"), asked | {"belief": "run", "run": okapis.run.pk})
    forecast = ForecastRequest.objects.exclude(
        pk__in=[zebras.forecast.pk, okapis.forecast.pk]
    ).get()
    assert f"/forecast/{forecast.pk}/" in made["Location"]
    assert forecast.team == okapis.team
    assert set(forecast.wanted["belief"]["answers"]) == {4}


def test_two_teams_that_ask_the_same_have_each_a_forecast_of_their_own(zebras, okapis):
    plan, belief = (
        forecast_requests.stored_plan(zebras.forecast),
        forecast_requests.stored_belief(zebras.forecast),
    )
    with mock.patch.object(forecast_requests, "FIRST", 0.0):
        same = forecast_requests.request_forecast(plan, belief, team=zebras.team.pk)
        other = forecast_requests.request_forecast(plan, belief, team=okapis.team.pk)
    assert same == zebras.forecast
    assert (other == same, other.team) == (False, okapis.team)


# -- names


def test_a_name_is_taken_in_its_team_and_free_in_others(okapi, okapis):
    shown = okapi.post(admin_url("pool_add"), {"name": "okapi pool"})
    assert "This name is already in use." in text_of(shown)
    okapi.post(admin_url("pool_add"), {"name": "zebra pool"})
    assert Pool.objects.get(name="zebra pool", team=okapis.team)
    form = run_form(okapis.pool, okapis.question_set, name="okapi run", algorithm="lucb")
    assert "There is another run of the name “okapi run”." in text_of(save_run(okapi, form))


# -- a user of two teams


def test_a_role_counts_in_its_own_team_only(both, zebras, okapis):
    for theirs, status in ((zebras, 403), (okapis, 302)):
        stop = both.post(admin_url("run_verb", theirs.run.pk, "pause"))
        assert stop.status_code == status
    assert both.get(admin_url("run_page", zebras.run.pk)).status_code == 200
    assert both.get(admin_url("run_links_csv", zebras.run.pk)).status_code == 403
    changed = both.post(admin_url("pool_change", zebras.pool.pk), {"name": "taken over"})
    assert changed.status_code == 403


def test_many_are_not_deleted_at_once_where_one_may_only_look(both, zebras, okapis):
    bare = [Pool.objects.create(team=each.team, name="bare") for each in (zebras, okapis)]
    chosen = {"action": "delete_selected", "_selected_action": [pool.pk for pool in bare]}
    done = both.post(admin_url("pool_changelist"), chosen | {"post": "yes"})
    assert done.status_code == 403
    assert Pool.objects.filter(name="bare").count() == 2
    chosen["_selected_action"] = [bare[1].pk]
    both.post(admin_url("pool_changelist"), chosen | {"post": "yes"})
    assert Pool.objects.get(name="bare") == bare[0]


def test_new_object_goes_to_a_team_with_permission(both, okapis, zebras):
    form = both.get(admin_url("pool_add")).content.decode()
    options = re.findall(r'<option value="(\d+)"', form)
    assert options == [str(okapis.team.pk)]
    both.post(admin_url("pool_add"), {"name": "new", "team": zebras.team.pk})
    assert not Pool.objects.filter(name="new").exists()
    both.post(admin_url("pool_add"), {"name": "new", "team": okapis.team.pk})
    assert Pool.objects.get(name="new").team == okapis.team


def test_member_of_one_team_is_asked_for_no_team(okapi, okapis):
    assert 'name="team"' not in okapi.get(admin_url("pool_add")).content.decode()
    okapi.post(admin_url("pool_add"), {"name": "new"})
    assert Pool.objects.get(name="new").team == okapis.team


# -- one team, as at the beginning


def test_pages_mention_no_team_while_only_one_exists(requester):
    pool, questions = make_pool(3), make_questions(5)
    pages = ["pool_add", "pool_changelist", "questionset_add", "run_changelist", "apitoken_add"]
    for page in pages:
        shown = requester.get(admin_url(page))
        assert 'name="team"' not in shown.content.decode()
        assert "First team" not in text_of(shown)
    save_run(requester, run_form(pool, questions))
    assert Run.objects.get().team == pool.team == Team.objects.get()


def grant(user, *names: str):
    user.user_permissions.add(*Permission.objects.filter(codename__in=names))


def test_login_keeps_its_own_permissions_while_only_one_team_exists(django_user_model):
    make_pool(2)
    user = django_user_model.objects.create_user("clerk", is_staff=True)
    grant(user, "view_pool")
    assert browser(user).get(admin_url("pool_changelist")).status_code == 200
    assert browser(user).get(admin_url("run_changelist")).status_code == 403


def test_second_team_leaves_existing_permissions_unchanged(django_user_model):
    pool = make_pool(2)
    clerk = django_user_model.objects.create_user("clerk", is_staff=True)
    grant(clerk, "view_pool")
    Team.objects.create(name="Second")
    late = django_user_model.objects.create_user("late", is_staff=True)
    grant(late, "view_pool")
    assert pool.name in text_of(browser(clerk).get(admin_url("pool_changelist")))
    assert browser(late).get(admin_url("pool_changelist")).status_code == 403
    assert browser(clerk).get(admin_url("pool_add")).status_code == 403


# -- members of a team


def members_form(theirs, username: str, role: str) -> dict[str, object]:
    known = theirs.team.memberships.order_by("pk")
    form = {
        "name": theirs.team.name,
        "memberships-TOTAL_FORMS": len(known) + 1,
        "memberships-INITIAL_FORMS": len(known),
        f"memberships-{len(known)}-username": username,
        f"memberships-{len(known)}-role": role,
        f"memberships-{len(known)}-team": theirs.team.pk,
    }
    for i, one in enumerate(known):
        form |= {f"memberships-{i}-id": one.pk, f"memberships-{i}-role": one.role}
        form |= {f"memberships-{i}-team": theirs.team.pk}
    return form


def test_an_owner_puts_a_login_into_the_team_by_its_name(okapi, okapis, django_user_model):
    django_user_model.objects.create_user("newcomer")
    url = admin_url("team_change", okapis.team.pk)
    assert "no user with this name" in text_of(okapi.post(url, members_form(okapis, "nobody", "")))
    okapi.post(url, members_form(okapis, "newcomer", "viewer"))
    newcomer = django_user_model.objects.get(username="newcomer")
    assert okapis.team.memberships.get(user=newcomer).role == Role.VIEWER
    seen = browser(newcomer).get(admin_url("run_page", okapis.run.pk))
    assert seen.status_code == 200
    again = okapi.post(url, members_form(okapis, "newcomer", "owner"))
    assert "already in the team" in text_of(again)


def test_owner_removes_a_member(okapi, okapis):
    out = member(okapis.team, Role.MANAGER)
    form = members_form(okapis, "", "")
    number = [one.user for one in okapis.team.memberships.order_by("pk")].index(out)
    form |= {"memberships-TOTAL_FORMS": form["memberships-INITIAL_FORMS"]}
    okapi.post(
        admin_url("team_change", okapis.team.pk), form | {f"memberships-{number}-DELETE": "on"}
    )
    assert browser(out).get(admin_url("run_page", okapis.run.pk)).status_code == 404


def test_manager_cannot_change_members(okapis, django_user_model):
    django_user_model.objects.create_user("newcomer")
    client = browser(member(okapis.team, Role.MANAGER))
    url = admin_url("team_change", okapis.team.pk)
    client.post(url, members_form(okapis, "newcomer", "owner"))
    assert not Membership.objects.filter(user__username="newcomer").exists()


def test_a_superuser_makes_a_team_and_puts_its_first_owner_into_it(requester, okapis):
    requester.post(admin_url("team_add"), {"name": "Gnus"})
    made = Team.objects.get(name="Gnus")
    requester.post(
        admin_url("team_change", made.pk),
        {
            "name": "Gnus",
            "memberships-TOTAL_FORMS": 1,
            "memberships-INITIAL_FORMS": 0,
            "memberships-0-username": okapis.user.username,
            "memberships-0-role": "owner",
            "memberships-0-team": made.pk,
        },
    )
    assert made.memberships.get().user == okapis.user


# -- kept for later tests


def test_a_viewer_is_shown_no_button_that_would_be_refused(zebras):
    client = browser(member(zebras.team, Role.VIEWER))
    page = client.get(admin_url("run_page", zebras.run.pk)).content.decode()
    for url in ("run_do_change", "run_copy", "run_import", "run_links_csv"):
        assert admin_url(url, zebras.run.pk) not in page
    assert admin_url("run_verb", zebras.run.pk, "pause") not in page
    press(browser(member(zebras.team, Role.MANAGER)), zebras.run, "pause")
    assert zebras.run.status == Run.Status.PAUSED


# Modules that may read rows without ``scoped``, with the reason.
MAY = {
    "Upload.objects": "of an object that is scoped, and by its kind and id",
    "Candidate.objects.filter(worker__in=workers)": "of workers that are scoped",
    "WatchedWorker.objects.filter(worker__in=workers)": "of workers that are scoped",
    "Run.objects.filter(Q(question_set=item) | Q(further__question_set=item))": "of a scoped set",
    "Run.objects.locked(self.instance.pk)": "the one that the form is about",
    "Team.objects": "its number, or for a superuser",
    "Membership.objects": "whether a login is in the team that the page is about",
    "User.objects.filter(username=given)": "one, by its whole name",
    "User.objects.get(username=request.user.get_username())": "whoever asks",
    "IdempotencyKey.objects.get_or_create(token=token": "what this very token created",
    "ApiToken.objects.get(team=obj.team": "the one that was just made",
    "AuditEntry.objects.filter(model=name, item=": "of an object that may be looked at",
    "super().get_queryset(request)": "the admin's own",
}
STARTS = re.compile(
    r"\.objects\b|_default_manager|get_object_or_404\([A-Z]|user\.has_perm\("
    r"|orders\.find\("
)


def test_pages_and_api_read_no_rows_and_ask_for_no_permission_of_their_own_accord():
    """Check that they use ``scoped`` and ``is_allowed``; objects related to a row stay in its team.
    Check that they use ``scoped`` and ``is_allowed``; objects related to a row stay in its team."""
    wrong = []
    for room in ("admin", "api"):
        for file in sorted((TOP / "selection" / room).glob("*.py")):
            for line in file.read_text(encoding="utf-8").splitlines():
                if STARTS.search(line) and "scoped(" not in line and not _may(line):
                    wrong.append(f"{file.name}: {line.strip()}")
    assert not wrong, "\n".join(wrong)


def test_forecasts_are_ordered_for_a_team():
    """Check that a team is passed; without one a forecast would be the first team's."""
    for room in ("admin", "api"):
        for file in sorted((TOP / "selection" / room).glob("*.py")):
            calls = file.read_text(encoding="utf-8").split("orders.order(")[1:]
            assert all("team=" in call.split("\n\n")[0] for call in calls), file.name


def _may(line: str) -> bool:
    return any(one in line for one in MAY)


def test_a_viewer_is_led_from_the_form_of_a_started_run_to_its_page(okapis, zebras):
    """Strangers are told nothing, not even that it has started."""
    viewer = browser(member(okapis.team, Role.VIEWER))
    stranger = browser(member(zebras.team, Role.OWNER))
    page = viewer.get(admin_url("run_change", okapis.run.pk), follow=True)
    assert page.redirect_chain == [(admin_url("run_page", okapis.run.pk), 302)]
    assert (page.status_code, okapis.run.name in text_of(page)) == (200, True)
    assert viewer.get(admin_url("run_change", okapis.draft.pk)).status_code == 403
    for run in (okapis.run, okapis.draft):
        address = admin_url("run_change", run.pk)
        assert stranger.get(address).status_code == 404
        assert "/login/" in Client().get(address).url
        assert browser(member(okapis.team, "")).get(address, follow=True).status_code == 403
