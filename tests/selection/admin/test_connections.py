"""Pages of connections: connect, read, see waiting calls, and let a run use one."""

import pytest
from django.db import transaction

from selection import connectors, engine
from selection.connectors.platforms.label_studio.client import Client
from selection.models import AuditEntry, Connection, Pool, QuestionSet
from selection.reports import list_alerts
from tests.jobs import follow_page
from tests.label_studio_stub import LEGACY, LabelStudioStub
from tests.pages import admin_url, text_of
from tests.worlds import make_run

pytestmark = pytest.mark.django_db
CONFIG = '<View><Text name="t" value="$text"/><Choices name="answer" toName="t"/></View>'
PARSED = {
    "answer": {"type": "Choices", "inputs": [{"value": "text"}], "labels": ["yes", "no"]},
}


@pytest.fixture(autouse=True)
def inside(settings):
    settings.CONNECTORS_INSIDE = True


@pytest.fixture
def studio():
    with LabelStudioStub() as stub:
        project = stub.add_project(CONFIG, PARSED)
        stub.invite("ann@example.org", "bob@example.org", "cy@example.org")
        for i in range(40):
            task = stub.add_task(project, {"text": f"Say yes to {i}."})
            stub.annotate(task, {"choices": ["yes"]}, gold=True)
            for user in stub.users[1:]:
                stub.annotate(task, {"choices": ["yes" if user["id"] % 2 else "no"]}, user["id"])
        yield stub


def make(requester, studio, **changes):
    values = {"name": "Ours", "address": studio.url, "secret_token": LEGACY} | changes
    return follow_page(
        requester, requester.post(f"{admin_url('connection_add')}?kind=label_studio", values)
    )


@pytest.fixture
def connection(requester, studio):
    make(requester, studio)
    return Connection.objects.get()


def do(requester, connection, **values):
    url = admin_url("connection_calls", connection.pk)
    return follow_page(requester, requester.post(url, values))


def test_a_connection_is_made_and_its_token_is_never_shown(requester, studio):
    page = make(requester, studio)
    connection = Connection.objects.get()
    assert connection.kind == "label_studio"
    assert connection.checked
    for url in (
        admin_url("connection_calls", connection.pk),
        admin_url("connection_change", connection.pk),
        admin_url("connection_changelist"),
    ):
        assert LEGACY not in requester.get(url).content.decode()
    assert LEGACY not in page.content.decode()
    assert LEGACY not in connection.secrets_encrypted
    entry = AuditEntry.objects.get(model="connection", kind="added")
    assert entry.after["secrets_encrypted"] == "hidden"


def test_a_wrong_token_is_told_on_the_form(requester, studio):
    page = make(requester, studio, secret_token="wrong-token")
    assert "does not accept the token" in text_of(page)
    assert 'value="Ours"' in page.content.decode()  # typed values are not lost
    assert not Connection.objects.exists()


def test_no_transaction_waits_for_the_check_of_an_account(requester, studio, monkeypatch):
    depths, whoami = [len(transaction.get_connection().savepoint_ids)], Client.whoami

    def check(client):
        depths.append(len(transaction.get_connection().savepoint_ids))
        return whoami(client)

    monkeypatch.setattr(Client, "whoami", check)
    make(requester, studio)
    assert depths == [depths[0]] * 2
    assert Connection.objects.exists()


def test_a_blank_token_keeps_the_stored_one_except_for_another_address(requester, connection):
    url = admin_url("connection_change", connection.pk)
    values = {"name": "Theirs", "address": connection.address, "secret_token": ""}
    follow_page(requester, requester.post(url, values))
    connection.refresh_from_db()
    assert connection.name == "Theirs"
    assert connectors.check_account(connection)
    page = requester.post(url, values | {"address": "http://127.0.0.1:9"})
    assert "Enter the access token" in text_of(page)


def test_gold_and_people_are_read_with_a_click_each(requester, connection, studio):
    page = do(requester, connection, do="sources")
    assert "Birds" in text_of(page)
    project = str(min(studio.projects))
    shown = do(requester, connection, do="gold", source=project, name="Birds")
    assert "40 gold questions" in text_of(shown)
    assert QuestionSet.objects.get().name == "Birds"
    do(requester, connection, do="gold", source=project, name="Birds")
    assert QuestionSet.objects.filter(name="Birds 2").exists()
    shown = do(requester, connection, do="workers")
    assert "3 workers were read into People of Ours" in text_of(shown)
    assert Pool.objects.get().workers.filter(key="ann@example.org").exists()


def test_a_pause_is_shown_and_ends(requester, connection):
    assert "paused" in text_of(do(requester, connection, do="pause"))
    assert "Resume" in text_of(requester.get(admin_url("connection_calls", connection.pk)))
    do(requester, connection, do="resume")
    connection.refresh_from_db()
    assert not connection.paused


@pytest.fixture
def run(connection):
    questions = connectors.create_question_set(connection, "Birds", "2")
    pool = connectors.create_pool(connection)
    made = make_run(pool=pool, question_set=questions)
    engine.advance(made.pk)
    return made


def where(requester, run, query="", **values):
    url = admin_url("run_where", run.pk) + query
    return follow_page(requester, requester.post(url, values)) if values else requester.get(url)


def test_a_run_is_connected_and_its_page_says_where_people_answer(requester, connection, run):
    page = requester.get(admin_url("run_page", run.pk))
    assert "Let people answer in another tool" in text_of(page)
    query = f"?connection={connection.pk}"
    assert "Project of the gold questions" in text_of(where(requester, run, query, do="sources"))
    shown = where(requester, run, query, do="connect", setting_project="2")
    assert "People answer in “Ours” from now on." in text_of(shown)
    connectors.exchange(connection.pk)
    shown = text_of(where(requester, run))
    assert f"Tasks open there {run.connections.get().tasks.count()}" in shown
    page = requester.get(admin_url("run_page", run.pk))
    assert "People answer in Ours" in text_of(page)
    link = run.connections.get()
    where(requester, run, do="disconnect", link=link.pk)
    assert not run.connections.filter(on=True).exists()
    assert list(run.events.filter(kind="connect").values_list("who", flat=True)) == 2 * [
        "requester"
    ]


def test_connected_draft_leads_to_its_page(requester, connection, run):
    draft = make_run(pool=run.pool, question_set=run.question_set, start=False, name="Next")
    query = f"?connection={connection.pk}"
    shown = where(requester, draft, query, do="connect", setting_project="2")
    assert shown.redirect_chain == [(admin_url("run_page", draft.pk), 302)]
    assert "People answer in “Ours” once the run has started." in text_of(shown)


def test_wrong_settings_are_told_at_the_form(requester, connection, run, studio):
    other = studio.add_project(CONFIG, PARSED, title="Cats")
    query = f"?connection={connection.pk}"
    assert f"Cats ({other})" in text_of(where(requester, run, query, do="sources"))
    shown = where(requester, run, query, do="connect", setting_project=str(other))
    assert "The project “Cats” has no task" in text_of(shown)
    assert not run.connections.exists()


def test_run_page_explains_a_failed_connection(requester, connection, run, studio):
    connectors.connect_run(run, connection)
    studio.token = "changed"
    connectors.exchange(connection.pk)
    (alert,) = [one for one in list_alerts(run) if one.kind == "tool"]
    assert "Account & Settings" in alert.words
    assert "Account & Settings" in text_of(requester.get(admin_url("run_page", run.pk)))
    assert "Account & Settings" in text_of(where(requester, run))


def test_a_refused_call_is_shown_and_made_again(requester, connection, run, studio, monkeypatch):
    connectors.connect_run(run, connection)
    studio.users = studio.users[:1]
    connectors.exchange(connection.pk)
    page = text_of(requester.get(admin_url("connection_calls", connection.pk)))
    assert "Nobody in Label Studio is" in page
    assert "Send call again" in page
    failed = connection.calls.filter(due=None, delivered=None).first()
    assert "made again" in text_of(do(requester, connection, do="repeat", call=failed.pk))


def test_a_used_connection_is_not_deleted(requester, connection, run):
    connectors.connect_run(run, connection)
    page = requester.post(admin_url("connection_delete", connection.pk), {"post": "yes"})
    assert Connection.objects.filter(pk=connection.pk).exists()
    assert str(run) in text_of(page)
