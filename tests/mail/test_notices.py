"""Messages to members: on request, about their team's runs, once."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from crowdselect.mail import notices
from crowdselect.mail.models import Follower, Mail
from selection import tasks
from selection.models import Membership, Run, Team
from selection.runs import lifecycle
from tests.worlds import make_run

from .conftest import send_all

pytestmark = pytest.mark.django_db


def make_follower(team: Team, name: str, **fields: object) -> User:
    user = User.objects.create_user(name, email=f"{name}@team.example", **fields)
    Membership.objects.create(team=team, user=user, role=Membership.Role.VIEWER)
    Follower.objects.create(team=team, user=user)
    return user


@pytest.fixture
def run(mailbox) -> Run:
    return make_run()


def test_following_member_learns_of_the_end_once(run, mailbox):
    make_follower(run.team, "ada")
    User.objects.create_user("grace", email="grace@team.example")
    lifecycle.stop_run(run)
    notices.write_end_notices()
    notices.write_end_notices()
    send_all()
    (letter,) = mailbox.letters
    assert (letter["To"], letter["Subject"]) == ("ada@team.example", f"The run “{run}” has ended")
    assert f"/admin/selection/run/{run.pk}/" in letter.get_content()
    assert run.events.filter(what="Sent by e-mail: 1 message about the end, to members.").exists()


def test_a_run_with_its_notice_is_not_read_again_until_it_ends_again(
    run, django_assert_num_queries
):
    make_follower(run.team, "ada")
    lifecycle.stop_run(run)
    notices.write_end_notices()
    with django_assert_num_queries(1):
        notices.write_end_notices()
    Run.objects.update(ended=timezone.now())
    notices.write_end_notices()
    assert Mail.objects.filter(kind="ended").count() == 2


def test_run_is_not_followed_without_a_mail_server(run, settings):
    make_follower(run.team, "ada")
    assert Run.objects.filter(notices.followed_runs()).exists()
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert not Run.objects.filter(notices.followed_runs()).exists()
    lifecycle.stop_run(run)
    notices.write_end_notices()
    notices.write_alert_notices(run, ["It waits."])
    assert not Mail.objects.exists()


def test_a_stalled_run_is_reported_once_until_it_is_over(run, mailbox):
    make_follower(run.team, "ada")
    run.refresh_from_db()
    early = timezone.now() - timedelta(days=1)
    Run.objects.filter(pk=run.pk).update(started=early, absence_since=early)
    tasks.tell_needs()
    tasks.tell_needs()
    send_all()
    (letter,) = mailbox.letters
    assert letter["Subject"] == f"The run “{run}” needs attention"
    run.refresh_from_db()
    assert run.alerts_sent


@pytest.mark.parametrize("change", ["is_active", "email", "membership"])
def test_former_member_gets_no_waiting_message(run, mailbox, change):
    Team.objects.create(name="another")  # with one team only, every login belongs to it
    user = make_follower(run.team, "ada")
    lifecycle.stop_run(run)
    notices.write_end_notices()
    if change == "membership":
        user.memberships.all().delete()
    else:
        User.objects.filter(pk=user.pk).update(**{change: False if change == "is_active" else ""})
    send_all()
    assert mailbox.letters == []
    assert Mail.objects.get().state == "skipped"


def test_foreign_teams_and_earlier_ends_cause_no_message(run, mailbox):
    lifecycle.stop_run(run)
    make_follower(run.team, "late")
    make_follower(Team.objects.create(name="another"), "stranger")
    notices.write_end_notices()
    assert not Mail.objects.exists()


def test_the_account_page_has_the_wish(run, client, mailbox):
    user = User.objects.create_superuser("ada", email="ada@team.example")
    client.force_login(user)
    columns = ("team", "user", "runs", "alarms")

    def ticked() -> list[str]:
        return re.findall(
            r'name="(\w+)" [^>]* checked', client.get("/admin/account/").content.decode()
        )

    assert ticked() == ["alarms"]
    client.post("/admin/account/mail/", {"runs": [str(run.team_id), "999"]})
    assert list(Follower.objects.values_list(*columns)) == [(run.team_id, user.pk, True, False)]
    assert ticked() == ["runs"]
    client.post("/admin/account/mail/", {})
    assert list(Follower.objects.values_list(*columns)) == [(run.team_id, user.pk, False, False)]
    lifecycle.stop_run(run)
    notices.write_end_notices()
    assert not Mail.objects.exists()
