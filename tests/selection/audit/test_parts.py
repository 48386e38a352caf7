"""Audit entries of commands, the engine, the sweep and workers."""

import csv
import json
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from selection import actor, engine, tasks
from selection.models import Answer, ApiToken, Assignment, AuditEntry, Membership, Team
from selection.runs import lifecycle
from selection.worker import links
from tests.pages import admin_url, lines_of, text_of
from tests.worlds import answer_all, crowd, make_pool, make_questions, make_run, play

pytestmark = pytest.mark.django_db
COMMAND = ["manage.py", "createsuperuser"]


def entries(**fields: object) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(**fields).order_by("id"))


# -- actors


def test_change_by_a_command_is_logged_for_its_user(monkeypatch):
    monkeypatch.setattr(actor.getpass, "getuser", lambda: "ada")
    with actor.acting_as_command(COMMAND):
        User.objects.create_superuser("grace")
        pool = make_pool(2)
        pool.name = "Autumn"
        pool.save()
    (made,) = entries(model="user")
    assert (made.who, made.kind, made.address) == ("ada, manage.py createsuperuser", "added", "")
    assert "password" not in str(made.after).replace("'password': 'hidden'", "")
    changed = entries(model="pool")[-1]
    assert (changed.kind, changed.after) == ("changed", {"name": "Autumn"})
    Group.objects.create(name="later")
    assert entries(model="group") == []


def test_a_command_that_makes_tables_or_keeps_nothing_writes_nothing():
    for name in ("migrate", "replay"):
        with actor.acting_as_command(["manage.py", name]):
            make_pool(2)
    with actor.acting_as_command(["manage.py"]):
        make_pool(2)
    assert entries() == []


def test_the_end_of_a_run_is_the_engine_s():
    run = play(make_run(), crowd(1, good=2))
    (ended,) = entries(model="run")
    assert (ended.who, ended.kind) == ("engine", "ended")
    assert ended.after == {"status": "ended", "ending": "guarantee", "step": run.steps}
    assert engine.advance(run.pk) is None
    assert len(entries()) == 1


def test_change_by_the_sweep_is_logged_for_the_sweep(monkeypatch):
    monkeypatch.setattr(tasks.wakeups, "send_step", lambda *args, **kwargs: None)
    run = make_run(start=False, enrolling=True)
    lifecycle.start_run(run)
    type(run).objects.update(enrol_until=timezone.now() - timedelta(minutes=1))
    assert entries() == []
    tasks.sweep()
    (closed,) = entries(model="run")
    assert (closed.who, closed.kind) == ("sweep", "close roster")
    assert "closed" in closed.after["said"]


def test_a_part_of_the_sweep_that_fails_keeps_the_others_from_nothing(monkeypatch, caplog):
    done = []

    def broken() -> None:
        raise ValueError("odd")

    monkeypatch.setattr(tasks, "PARTS", [broken, lambda: done.append(True)])
    tasks.sweep()
    assert done
    assert "broken failed" in caplog.text


@pytest.mark.parametrize(("many", "written"), [(24, 1), (6, 0)])
def test_many_lapsed_answers_make_one_entry_and_few_make_no_entry(monkeypatch, many, written):
    monkeypatch.setattr(tasks.wakeups, "send_step", lambda *args, **kwargs: None)
    run = make_run(slots=many, slots_per_worker=4)
    engine.advance(run.pk)
    past = timezone.now() - timedelta(hours=2)
    Assignment.objects.update(shown=past, due=past)
    tasks.sweep()
    assert Answer.objects.filter(expired=True).count() == many
    found = entries(kind="expired")
    assert [(one.who, one.after) for one in found] == [
        ("sweep", {"answers not in time": many})
    ] * written


def test_leaving_worker_is_logged_as_a_worker(client: Client):
    run = make_run()
    engine.advance(run.pk)
    candidate = run.candidates.get(worker__key="w3")
    client.post(f"/work/{links.worker_token(candidate.pk)}/", {"leave": "yes"})
    (left,) = entries()
    assert (left.who, left.kind, left.item) == ("a worker", "leave", str(run.pk))
    assert left.address == ""


def test_answers_and_steps_write_nothing():
    run = make_run(epsilon=0.05)
    with actor.acting_as_part("engine"):
        engine.advance(run.pk)
        answer_all(run, crowd(1, good=2))
        engine.advance(run.pk)
    assert entries() == []


# -- where it shows


def test_object_pages_show_only_the_history_of_their_team(client: Client):
    team = Team.objects.create(name="Birds")
    user = User.objects.create_user("olga")
    Membership.objects.create(user=user, team=team, role="owner")
    client.force_login(user)
    client.post(admin_url("pool_add"), {"name": "Autumn"})
    pool = team.pools.get()
    client.post(admin_url("worker_add"), {"pool": pool.pk, "key": "ada", "attributes": "{}"})
    client.post(admin_url("questionset_add"), {"name": "Colours"})
    client.post(admin_url("apitoken_add"), {"name": "robot", "scope": "read"})
    client.post(admin_url("team_change", team.pk), members(name="Finches"))
    things = {
        "pool": pool,
        "worker": pool.workers.get(),
        "questionset": team.question_sets.get(),
        "apitoken": ApiToken.objects.get(team=team),
        "team": team,
    }
    for name, item in things.items():
        page = text_of(client.get(admin_url(f"{name}_change", item.pk)))
        assert "History" in page, name
        assert ", olga added" in page or ", olga changed" in page, name
    told = {"at": timezone.now(), "who": "mallory", "kind": "changed", "name": "x"}
    other = Team.objects.create(name="Bees")
    AuditEntry.objects.create(team=other, model="pool", item=str(pool.pk), **told)
    assert "mallory" not in text_of(client.get(admin_url("pool_change", pool.pk)))
    assert "mallory" not in text_of(client.get(admin_url("pool_history", pool.pk)))


def members(name: str) -> dict[str, object]:
    return {
        "name": name,
        "memberships-TOTAL_FORMS": 0,
        "memberships-INITIAL_FORMS": 0,
    }


def test_the_log_comes_as_json_lines_and_the_command_takes_a_part_of_it(client: Client):
    client.force_login(User.objects.create_superuser("ada"))
    client.post(admin_url("pool_add"), {"name": "=1+1"})
    client.post(admin_url("pool_add"), {"name": "Spring"})
    run = make_run(question_set=make_questions(20))
    lifecycle.stop_run(run)
    made = [json.loads(line) for line in lines_of(client.get(admin_url("audit_lines")))]
    assert [one["after"].get("name") for one in made if one["model"] == "pool"] == [
        "=1+1",
        "Spring",
    ]
    pool = next(one["item"] for one in made if one["model"] == "pool")
    (line,) = told(of=f"pool:{pool}").splitlines()
    assert json.loads(line)["item"] == pool
    rows = list(csv.DictReader(StringIO(told(csv=True))))
    assert rows[-1]["name"] == "Spring"
    assert any("'=1+1" in row["name"] for row in rows)
    assert told(team="First team").count("Spring") >= 1
    with pytest.raises(CommandError, match="no team “Bees”"):
        told(team="Bees")
    with pytest.raises(CommandError, match="as in run:12"):
        told(of="12")
    with pytest.raises(CommandError, match="nothing of the kind “pol”, but: pool"):
        told(of="pol:1")


def told(**options: object) -> str:
    out = StringIO()
    call_command("audit", stdout=out, **options)
    return out.getvalue()
