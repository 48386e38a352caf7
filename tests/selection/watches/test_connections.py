"""A watch is joined to Label Studio on its page and by the API; erasure and export know of it."""

import json

import pytest
from django.test import Client

from selection import connectors, privacy
from selection.models import Connection, WatchConnection, default_team
from selection.transfer.tables import copied_models
from selection.watches import alarms
from tests.jobs import finish_job, follow_page
from tests.label_studio_stub import LEGACY, LabelStudioStub
from tests.label_studio_world import add_project, exchange, join, watch_with
from tests.pages import admin_url, text_of

from .worlds import state_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def studio(settings):
    settings.CONNECTORS_INSIDE = True
    with LabelStudioStub() as stub:
        stub.invite(*(f"w{i}@example.org" for i in range(3)))
        yield stub


@pytest.fixture
def connection(studio):
    secrets = {"token": LEGACY}
    return connectors.create_connection(default_team(), "label_studio", "Ours", secrets, studio.url)


@pytest.fixture
def api(token):
    return Client(headers={"authorization": f"Bearer {token}"})


def where(requester, watch, query="", **values):
    url = admin_url("watch_where", watch.pk) + query
    return follow_page(requester, requester.post(url, values)) if values else requester.get(url)


def test_watch_is_connected_and_disconnected_on_its_page(requester, studio, connection):
    watch, project = watch_with(studio), add_project(studio)
    page = text_of(requester.get(admin_url("watch_page", watch.pk)))
    assert "Put gold questions into Label Studio" in page
    assert "Ours" in text_of(where(requester, watch))
    query = f"?connection={connection.pk}"
    assert f"Birds ({project})" in text_of(where(requester, watch, query, do="sources"))
    shown = where(requester, watch, query, do="connect", setting_project=str(project))
    assert "Gold questions come among the tasks in “Ours”." in text_of(shown)
    link = watch.connections.get()
    exchange(link)
    page = text_of(requester.get(admin_url("watch_page", watch.pk)))
    assert "Gold questions in Ours" in page
    assert "A pause pauses the member in Label Studio, if its edition allows that." in page
    assert "Gold tasks open there 5" in page
    connectors.health.note_problem(link, "A problem.")
    where(requester, watch, do="dismiss", link=link.pk)
    shown = text_of(where(requester, watch, do="disconnect", link=link.pk))
    assert "are being removed" in shown
    link.refresh_from_db()
    assert (link.on, link.problem) == (False, "")


def test_project_that_does_not_fit_is_told_at_the_form(requester, studio, connection):
    watch, project = watch_with(studio), add_project(studio)
    studio.projects[project]["parsed_label_config"] = {}
    query = f"?connection={connection.pk}"
    shown = where(requester, watch, query, do="connect", setting_project=str(project))
    assert "needs one control" in text_of(shown)
    assert not WatchConnection.objects.exists()


def test_pause_that_the_edition_refuses_is_left_to_people(requester, studio, connection):
    watch = watch_with(studio)
    link = join(watch, connection, add_project(studio))
    alarms.pause_worker(state_of(watch), "ada")
    exchange(link)
    page = text_of(requester.get(admin_url("watch_page", watch.pk)))
    assert "does not let this connection pause w0: take them out of the project by hand" in page


def test_watch_is_connected_by_the_api(api, studio, connection):
    watch, project = watch_with(studio), add_project(studio)
    url = f"/api/watches/{watch.pk}/connections"
    body = {"connection": connection.pk, "settings": {"project": str(project)}}
    reply = api.post(url, body, content_type="application/json")
    assert finish_job(reply).state == "done"
    (row,) = api.get(url).json()
    assert (row["connection"], row["enabled"], row["notes"], row["by_hand"]) == (
        connection.pk,
        True,
        [],
        [],
    )
    assert api.delete(f"{url}/{connection.pk}").status_code == 204
    assert not watch.connections.get().on


def test_erasure_and_export_know_the_member(studio, connection):
    watch = watch_with(studio)
    link = join(watch, connection, add_project(studio))
    connectors.health.note_problem(link, "“w0”, gold question “q1”: no.")
    rows = privacy.same_person("w0", default_team())
    document = privacy.export_worker(rows)
    (place,) = document["watches"][0]["works_in"]
    assert place["connection"] == "Ours"
    member = link.members.get(watched=state_of(watch))
    assert place["id_there"] == member.outside_id != ""
    pseudonym = privacy.erase_worker(rows, "ada").pseudonym
    member.refresh_from_db()
    link.refresh_from_db()
    assert member.outside_id == ""
    assert "w0" not in json.dumps([link.problem, link.memory])
    assert pseudonym in link.problem


def test_deletion_page_names_the_watch_that_uses_the_connection(requester, studio, connection):
    watch = watch_with(studio)
    join(watch, connection, add_project(studio))
    page = text_of(requester.get(admin_url("connection_delete", connection.pk)))
    assert f"the watch “{watch}” uses “Ours”" in page
    page = text_of(requester.get(admin_url("connection_calls", connection.pk)))
    assert f"Watches {watch}" in page


def test_copies_of_the_database_have_the_gold_tasks():
    tables = {model._meta.model_name for model in copied_models()}
    assert {"watchconnection", "watchedmember", "goldtask"} <= tables


def test_connections_of_other_teams_are_not_offered(requester, studio, connection):
    watch = watch_with(studio)
    Connection.objects.update(paused=True)
    query = f"?connection={connection.pk}"
    shown = where(requester, watch, query, do="connect", setting_project="1")
    assert "is paused: resume it first" in text_of(shown)
    assert where(requester, watch, "?connection=999", do="sources").status_code == 404
