"""The audit log: recording, display, export."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client

from selection import engine
from selection.models import (
    ApiToken,
    AuditEntry,
    Membership,
    Pool,
    Run,
    Team,
    Worker,
    default_team,
)
from tests.pages import admin_url, confirm, lines_of, press, text_of, upload
from tests.worlds import make_pool, make_questions, make_run, open_of


def latest(**fields: object) -> AuditEntry:
    return AuditEntry.objects.filter(**fields).order_by("id").last()


# -- entries


@pytest.mark.django_db
def test_change_on_a_page_is_logged_with_user_values_and_address(requester):
    pool = make_pool(2)
    old = pool.name
    requester.post(admin_url("pool_change", pool.pk), {"name": "Autumn"}, REMOTE_ADDR="192.0.2.7")
    entry = latest(model="pool")
    assert (entry.who, entry.kind, entry.item) == ("requester", "changed", str(pool.pk))
    assert (entry.before, entry.after) == ({"name": old}, {"name": "Autumn"})
    assert (entry.address, entry.team) == ("192.0.2.7", pool.team)


@pytest.mark.django_db
def test_unchanged_save_is_not_logged(requester):
    pool = make_pool(2)
    requester.post(admin_url("pool_change", pool.pk), {"name": pool.name})
    assert latest(model="pool") is None


@pytest.mark.django_db
def test_a_run_is_followed_from_its_draft_to_its_end(requester):
    form = {"pool": make_pool(4).pk, "question_set": make_questions(9).pk, "k": 2, "seed": 5}
    requester.post(admin_url("run_begin"), form | {"do": "draft"})
    run = Run.objects.get()
    added = latest(model="run", kind="added")
    assert (added.kind, added.after["seed"], added.before) == ("added", 5, {})
    press(requester, run, "start")
    url = admin_url("run_do_change", run.pk)
    requester.post(url, {"do": "links", "why": "A leak."})
    said = latest(model="run", kind="link")
    assert (said.why, said.who) == ("A leak.", "requester")
    press(requester, run, "stop")
    statuses = [
        (entry.before["status"], entry.after["status"])
        for entry in AuditEntry.objects.filter(model="run").order_by("id")
        if "status" in entry.before
    ]
    assert statuses == [("draft", "running"), ("running", "ended")]


@pytest.mark.django_db
def test_a_program_is_named_by_its_token(db):
    run = make_run()
    api = Client(headers={"authorization": f"Bearer {ApiToken.issue('robot')}"})
    api.patch(f"/api/runs/{run.pk}", {"minutes": 7}, content_type="application/json")
    entry = latest(model="run", kind="changed")
    assert (entry.who, entry.before, entry.after) == (
        "token robot",
        {"minutes": 60},
        {"minutes": 7},
    )


@pytest.mark.django_db
def test_an_import_is_one_entry(requester):
    pool = make_pool(0)
    url = admin_url("pool_import", pool.pk)
    confirm(requester, upload(requester, url, "worker\nada\ngrace\n"))
    entry = latest(model="pool")
    assert (entry.kind, entry.after) == ("import", {"file": "file.csv", "workers": 2})
    assert latest(model="worker") is None


@pytest.mark.django_db
def test_deletion_is_logged_with_the_last_values(requester):
    pool = make_pool(1)
    worker = pool.workers.get()
    requester.post(admin_url("worker_delete", worker.pk), {"post": "yes"})
    assert not Worker.objects.exists()
    gone = latest(model="worker")
    assert (gone.kind, gone.before["key"]) == ("deleted", "w0")
    requester.post(admin_url("pool_delete", pool.pk), {"post": "yes"})
    assert latest(model="pool").before["name"] == pool.name


@pytest.mark.django_db
def test_rights_are_written_down_and_secrets_are_not(requester):
    group = Group.objects.create(name="Helpers")
    user = User.objects.create_user("ada", password="first-password")
    user = User.objects.get(pk=user.pk)
    form = {"username": "ada", "groups": [group.pk], "is_active": "on", "is_staff": "on"}
    joined = {"date_joined_0": "2026-01-01", "date_joined_1": "12:00:00"}
    requester.post(f"/admin/auth/user/{user.pk}/change/", form | joined)
    entries = AuditEntry.objects.filter(model="user", item=str(user.pk)).order_by("id")
    assert {"is_staff": True}.items() <= entries[0].after.items()
    assert entries.last().after == {"add user_groups": [group.pk]}
    twice = {
        "password1": "Plum-Tree-4711",
        "password2": "Plum-Tree-4711",
        "usable_password": "true",
    }
    requester.post(f"/admin/auth/user/{user.pk}/password/", twice)
    assert latest(model="user").after == {"password": "hidden"}
    page = requester.post(admin_url("apitoken_add"), {"name": "robot", "scope": "read"})
    made = latest(model="apitoken").after
    assert made["digest"] == "hidden"
    assert made["prefix"] in page.content.decode()


@pytest.mark.django_db
def test_signing_in_and_out_is_written_down(client):
    User.objects.create_superuser("ada", password="crowd-select")
    client.post("/admin/login/", {"username": "ada", "password": "crowd-select"})
    client.post("/admin/logout/")
    entries = AuditEntry.objects.order_by("id").values_list("who", "kind")
    assert list(entries) == [("ada", "signed in"), ("ada", "signed out")]


@pytest.mark.django_db
def test_the_machine_and_workers_write_nothing(client):
    run = make_run()
    engine.advance(run.pk)
    assignment = open_of(run)[0]
    client.get("/admin/login/")  # later actions happen after a request
    engine.advance(run.pk)
    Pool.objects.filter(pk=run.pool_id).first().save()
    assert assignment
    assert not AuditEntry.objects.exists()


# -- absent entries


@pytest.fixture
def three(transactional_db, client) -> list[AuditEntry]:
    """Three entries."""
    default_team()
    client.force_login(User.objects.create_superuser("ada"))
    for name in ("one", "two"):
        client.post(admin_url("pool_add"), {"name": name})
    return list(AuditEntry.objects.order_by("id"))


def test_the_app_neither_changes_nor_deletes_an_entry(three):
    with pytest.raises(TypeError, match="never changed"):
        three[0].save()
    with pytest.raises(TypeError, match="never changed"):
        AuditEntry.objects.update(who="eve")
    with pytest.raises(TypeError, match="never shortened"):
        three[0].delete()
    with pytest.raises(TypeError, match="never shortened"):
        AuditEntry.objects.all().delete()


def test_entry_outlives_its_object(three, client):
    team = Team.objects.create(name="Gone soon")
    client.post(admin_url("team_delete", team.pk), {"post": "yes"})
    assert not Team.objects.filter(name="Gone soon").exists()
    assert latest(model="team").name == "Gone soon"


# -- the command, the file, the pages


def told(*options: str) -> str:
    out = StringIO()
    call_command("audit", *options, stdout=out)
    return out.getvalue()


def test_the_command_prints_an_entry_a_line(three):
    entries = [json.loads(line) for line in told().splitlines()]
    assert [entry["after"].get("name") for entry in entries[1:]] == ["one", "two"]
    assert not {"number", "digest", "salt"} & set(entries[0])


@pytest.mark.django_db
def test_the_list_and_its_file_are_there_to_look_at(requester):
    requester.post(admin_url("pool_add"), {"name": "Autumn"})
    page = requester.get(admin_url("auditentry_changelist"))
    assert "name: Autumn" in text_of(page)
    assert "at__gte" not in page.content.decode(), "links that the list refuses"
    header, *rows = lines_of(requester.get(admin_url("audit_export")))
    assert header.startswith("at,who,address,team_id,kind,model,item,name")
    assert any("Autumn" in row for row in rows)


@pytest.mark.django_db
def test_object_page_shows_its_log_and_addresses_only_to_owners(client):
    team = Team.objects.create(name="Birds")
    for name, role in (("olga", "owner"), ("vera", "viewer")):
        user = User.objects.create_user(name)
        Membership.objects.create(user=user, team=team, role=role)
    client.force_login(User.objects.get(username="olga"))
    client.post(admin_url("pool_add"), {"name": "Autumn"}, REMOTE_ADDR="192.0.2.7")
    url = admin_url("pool_history", Pool.objects.get().pk)
    page = text_of(client.get(url))
    assert "olga from 192.0.2.7" in page
    assert "name: Autumn" in page
    client.force_login(User.objects.get(username="vera"))
    page = text_of(client.get(url))
    assert "olga" in page
    assert "192.0.2.7" not in page
