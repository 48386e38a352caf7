"""Pages of a watch: the first screen, the actions on an alarm, forms and files."""

import re

import pytest
from django.urls import reverse

from selection.models import AuditEntry, Connection, RunConnection, Watch
from selection.watches import alarms, begin, gold, steps
from tests.pages import admin_url, text_of
from tests.worlds import make_pool, make_questions

from .test_api import ended_run
from .worlds import answers, make_watch, state_of

pytestmark = pytest.mark.django_db


def page_url(watch: Watch) -> str:
    return admin_url("watch_page", watch.pk)


def fall(watch: Watch, *workers: str) -> None:
    gold.record_gold(watch, [row for worker in workers for row in answers(worker, "n" * 20)])
    steps.advance_watch(watch.pk)


def test_first_screen_says_what_to_do(requester):
    watch = make_watch()
    assert "There is no gold answer yet." in text_of(requester.get(page_url(watch)))
    gold.record_gold(watch, answers("w1", "yyy"))
    steps.advance_watch(watch.pk)
    assert "There is nothing to do: no alarm is open." in text_of(requester.get(page_url(watch)))
    fall(watch, "w0")
    shown = text_of(requester.get(page_url(watch)))
    assert "1 worker has an alarm: pause or dismiss it." in shown
    assert "0 of the last 20 right" in shown
    assert "Most workers fall together" not in shown


def test_first_screen_names_a_paused_worker_and_where_a_pause_takes_effect(requester):
    watch = make_watch(tries=1)
    shown = text_of(requester.get(page_url(watch)))
    assert "A pause marks the worker here and tells your webhooks; no platform is changed." in shown
    gold.record_gold(watch, answers("w1", "y"))
    steps.advance_watch(watch.pk)
    alarms.pause_worker(state_of(watch), "ada")
    shown = text_of(requester.get(page_url(watch)))
    assert "1 worker is paused: test, resume or replace them." in shown
    assert "nothing to do" not in shown
    watch.workers.update(tried=1)
    spent = requester.get(page_url(watch))
    assert "no try left of 1: edit the watch to allow another one" in text_of(spent)
    assert "Test w0 again" not in spent.content.decode()


@pytest.mark.parametrize("pauses", [False, True])
def test_overview_and_list_name_an_alarm_until_it_is_dismissed(requester, pauses):
    home, changes = reverse("admin:index"), admin_url("watch_changelist")
    watch = make_watch(pause_on_alarm=pauses)
    assert str(watch) not in text_of(requester.get(home))
    fall(watch, "w0")
    shown = text_of(requester.get(home))
    assert "watch of 3 workers 1 worker with an alarm" in shown
    assert ("1 paused" in shown) == pauses
    (line,) = re.findall(rf"{watch}.*", text_of(requester.get(changes)))
    assert line.split()[len(str(watch).split()) :][:3] == ["active", "1", "0"]
    begin.stop_watch(watch)
    assert str(watch) not in text_of(requester.get(home))
    begin.resume_watch(watch)
    alarms.dismiss_alarm(state_of(watch), "ada", "trained")
    assert str(watch) not in text_of(requester.get(home))


def test_page_of_a_run_at_prolific_says_that_paused_workers_leave_its_group(requester):
    watch = make_watch()
    watch.run = ended_run()
    watch.save()
    account = Connection.objects.create(kind="prolific", name="Ours")
    link = RunConnection.objects.create(run=watch.run, connection=account)
    words = "leaves the Prolific group of the accepted workers within seconds"
    assert words in text_of(requester.get(page_url(watch)))
    RunConnection.objects.filter(pk=link.pk).update(on=False)
    assert words not in text_of(requester.get(page_url(watch)))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"level": "2"}, "Enter 5 or more."),
        ({"delta": "60"}, "Enter 50 or less."),
        ({"tolerance": "30"}, "Enter 20 or less."),
    ],
)
def test_form_states_its_limits_in_percent(requester, changes, why):
    edit = admin_url("watch_edit", make_watch().pk)
    assert why in text_of(requester.post(edit, FORM | changes))


def test_workers_who_fall_together_point_at_the_gold(requester):
    watch = make_watch()
    gold.record_gold(watch, answers("w2", "yyy"))
    fall(watch, "w0", "w1")
    shown = requester.get(page_url(watch))
    assert "Most workers fall together." in text_of(shown)
    assert admin_url("questionset_gold", watch.question_sets.get().pk) in shown.content.decode()


def test_buttons_pause_resume_and_dismiss(requester):
    watch = make_watch()
    fall(watch, "w0")
    row = state_of(watch)
    for action, why, state in (
        ("pause", "", "paused"),
        ("resume", "", "alarm"),
        ("dismiss", "", "alarm"),  # without a reason
        ("dismiss", "new task", "fine"),
    ):
        requester.post(page_url(watch), {"do": action, "worker": row.pk, "why": why})
        assert state_of(watch).state == state
    entry = AuditEntry.objects.get(kind="alarm dismissed")
    assert (entry.who, entry.why) == ("requester", "new task")
    requester.post(page_url(watch), {"do": "leave", "worker": row.pk})
    assert state_of(watch).state == "left"
    assert requester.post(page_url(watch), {"do": "dance", "worker": row.pk}).status_code == 404
    requester.post(page_url(watch), {"do": "stop"})
    assert "This watch is stopped" in text_of(requester.get(page_url(watch)))


FORM = {
    "name": "Spring",
    "level": "80",
    "pace": "tasks",
    "every": 20,
    "rule": "rate",
    "once_in": 2000,
    "delta": "5",
}


def test_form_begins_a_watch_from_a_run(requester):
    run = ended_run()
    shown = requester.get(admin_url("watch_begin") + f"?run={run.pk}")
    assert f'<option value="{run.pk}" selected>' in shown.content.decode()
    requester.post(admin_url("watch_begin"), FORM | {"run": run.pk, "level": ""})
    watch = Watch.objects.get()
    assert (watch.run, watch.level, watch.workers.count()) == (run, None, run.k)


def test_form_begins_a_watch_of_a_pool_and_changes_it(requester):
    pool, questions = make_pool(3), make_questions(5)
    missing = requester.post(admin_url("watch_begin"), FORM)
    assert "Choose a run or a pool" in text_of(missing)
    of_pool = FORM | {"pool": pool.pk, "workers": "w0\nw1"}
    assert "Choose at least one question set" in text_of(
        requester.post(admin_url("watch_begin"), of_pool)
    )
    requester.post(admin_url("watch_begin"), of_pool | {"question_sets": [questions.pk]})
    watch = Watch.objects.get()
    assert (watch.level, watch.workers.count()) == (0.8, 2)
    requester.post(admin_url("watch_workers", watch.pk), {"workers": "w2", "level": "60"})
    assert state_of(watch, "w2").level == 0.6
    changed = FORM | {"question_sets": [questions.pk], "delta": "1", "rule": "lasting"}
    requester.post(admin_url("watch_edit", watch.pk), changed)
    watch.refresh_from_db()
    assert (watch.rule, watch.delta) == ("lasting", 0.01)


def test_gold_that_runs_out_is_announced(requester):
    watch = make_watch(questions=8)
    gold.record_gold(watch, answers("w0", "y" * 6))
    steps.advance_watch(watch.pk)
    assert "The gold runs out: 1 worker will have met every gold question, the first now." in (
        text_of(requester.get(page_url(watch)))
    )


def test_list_counts_workers_by_state(requester):
    fall(watch := make_watch(name="Spring"), "w0")
    shown = requester.get(admin_url("watch_changelist"))
    assert page_url(watch) in shown.content.decode()
    empty = requester.get(admin_url("watch_changelist") + "?q=nothing")
    assert "Spring" not in text_of(empty)


@pytest.mark.parametrize("name", ["workers", "gold", "json"])
def test_file_is_downloaded(requester, name):
    fall(watch := make_watch(), "w0")
    assert b"w0" in requester.get(admin_url("watch_export", watch.pk, name)).getvalue()


def test_pasted_answers_are_imported(requester):
    watch = make_watch()
    rows = "worker,question,response\nw0,q0,yes\nw0,q1,no\nw0,q0,no\n"
    sent = requester.post(admin_url("watch_import", watch.pk), {"pasted": rows})
    shown = text_of(requester.get(sent["Location"]))
    assert "2 gold answers will be counted in the watch" in shown
    assert "This gold answer is there already, in line 2." in shown
    requester.post(sent["Location"])
    steps.advance_watch(watch.pk)
    assert (state_of(watch).answers, state_of(watch).right) == (2, 1)


def test_stopped_watch_takes_no_file(requester):
    watch = make_watch()
    begin.stop_watch(watch)
    rows = {"pasted": "worker,question,response\nw0,q0,yes\n"}
    shown = text_of(requester.post(admin_url("watch_import", watch.pk), rows))
    assert "is stopped: resume it" in shown
