"""Watched workers' data are exported, erased and forgotten in time; corrections reach them."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail as django_mail

from crowdselect.mail import delivery, notices
from crowdselect.mail.models import Follower, Mail
from selection import privacy, tasks
from selection.errors import Conflict
from selection.models import (
    DELETED,
    AuditEntry,
    Delivery,
    GoldAnswer,
    Membership,
    Team,
    Watch,
    Webhook,
    Worker,
    default_team,
)
from selection.questions import corrections
from selection.runs import deletion
from selection.transfer.tables import copied_models
from selection.watches import begin, gold, steps
from selection.watches.gold import GivenGold
from tests.selection.watches.worlds import answers, make_watch, state_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def member(settings) -> User:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.EMAIL_HOST = "mail.example.org"
    return User.objects.create_superuser("ada", "ada@example.org")


def fallen_watch():
    watch = make_watch()
    gold.record_gold(watch, answers("w0", "n" * 20))
    steps.advance_watch(watch.pk)
    return watch


def test_export_of_a_worker_has_their_gold_answers():
    fallen_watch()
    document = privacy.export_worker(privacy.same_person("w0", default_team()))
    (watch,) = document["watches"]
    assert (watch["state"], len(watch["answers"])) == ("alarm", 20)
    assert watch["answers"][0]["response"] == "no"
    assert "accepted" not in json.dumps(document)


def test_erasure_removes_the_name_everywhere_and_ends_the_watch_of_the_worker(member):
    Webhook.objects.create(url="https://example.org/", events=["watch.alarm"])
    watch = fallen_watch()
    notices.write_alarm_notices()
    assert "“w0”" in Mail.objects.get().words
    erased = privacy.erase_worker(privacy.same_person("w0", default_team()), "ada", "asked")
    row = state_of(watch, erased.pseudonym)
    assert (row.state, row.gold_answers.count()) == ("left", 20)
    stored = [*Delivery.objects.values_list("body", flat=True), Mail.objects.get().words]
    entries = AuditEntry.objects.values_list("name", "after", "before", "why")
    assert not [text for text in map(str, [*stored, *entries]) if "'w0'" in text or "“w0”" in text]


def test_members_are_told_of_each_alarm_once(member):
    watch = fallen_watch()
    for _ in range(2):
        notices.write_alarm_notices()
    letter = Mail.objects.get()
    assert (
        letter.words == "Gold answers show that these workers have fallen below their level: “w0”."
    )
    assert (letter.run, letter.watch, letter.team_id) == (None, watch, watch.team_id)
    delivery.send_due()
    (sent,) = django_mail.outbox
    assert sent.subject == f"The watch “{watch}” has an alarm"
    assert f"/admin/selection/watch/{watch.pk}/" in sent.body
    gold.record_gold(watch, answers("w1", "n" * 20))
    steps.advance_watch(watch.pk)
    notices.write_alarm_notices()
    assert "“w1”" in Mail.objects.order_by("pk").last().words


@pytest.mark.parametrize(
    ("wish", "told"), [(None, True), ({"alarms": False}, False), ({"runs": False}, True)]
)
def test_member_is_told_of_alarms_unless_they_turned_it_off(member, wish, told):
    if wish:
        Follower.objects.create(team_id=default_team(), user=member, **wish)
    fallen_watch()
    notices.write_alarm_notices()
    assert Mail.objects.exists() == told


def test_nobody_of_another_team_is_told_unless_they_want_it(member):
    """A superuser may see all teams; only where they are a member is e-mail the default."""
    other = Team.objects.create(name="another")
    Membership.objects.create(team=other, user=member)
    fallen_watch()
    notices.write_alarm_notices()
    assert not Mail.objects.exists()
    Follower.objects.create(team_id=default_team(), user=member)
    Watch.objects.update(alarms_sent=None)
    notices.write_alarm_notices()
    assert Mail.objects.get().user == member


def test_old_responses_go_and_grades_stay(settings):
    settings.RESPONSES_DAYS = 30
    watch = fallen_watch()
    GoldAnswer.objects.update(at=steps.db_clock.database_now() - timedelta(days=31))
    gold.record_gold(watch, answers("w1", "y"))
    assert privacy.count_due().responses == 20
    tasks.retain()
    assert GoldAnswer.objects.filter(response=DELETED, right=False).count() == 20
    again = gold.record_gold(watch, answers("w0", "n"))
    steps.recount_watch(watch)
    steps.advance_watch(watch.pk)
    assert (again[0].result, state_of(watch).state) == ("unchanged", "alarm")


def test_watched_workers_are_erased_only_after_the_watch(settings):
    settings.PERSONAL_DATA_DAYS = 10
    watch = fallen_watch()
    tasks.retain()
    assert Worker.objects.filter(key="w0").exists()
    begin.stop_watch(watch)
    watch.stopped -= timedelta(days=11)
    watch.save()
    tasks.retain()
    assert not Worker.objects.filter(key="w0").exists()


def test_correction_and_retirement_count_the_answers_anew():
    watch = make_watch()
    gold.record_gold(watch, [GivenGold("w0", "q1", "no"), GivenGold("w0", "q2", "no")])
    steps.advance_watch(watch.pk)
    first, second = watch.question_sets.get().questions.filter(key__in=["q1", "q2"])
    corrected = corrections.Gold(first.prompt, ["no"], [])
    corrections.correct_question(first, corrected, "ada", "the key was wrong")
    corrections.retire_question(second, "ada", "unclear")
    steps.advance_watch(watch.pk)
    row = state_of(watch)
    assert (row.answers, row.right, row.met) == (1, 1, 2)


def test_objects_of_a_watch_stay():
    watch = fallen_watch()
    for item in (watch.pool, watch.question_sets.get(), state_of(watch).worker):
        with pytest.raises(Conflict, match=f"needed by the watch “{watch}”"):
            deletion.delete_item(item)


def test_all_tables_are_copied_into_another_database():
    tables = {model._meta.db_table for model in copied_models()}
    names = ("watch", "watch_question_sets", "watchedworker", "goldanswer")
    assert {f"selection_{name}" for name in names} <= tables
