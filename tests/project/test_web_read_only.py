"""A PostgreSQL that takes no writes, as during a failover: nothing sent is lost or half done."""

import logging

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpResponse
from django.test import Client, RequestFactory

from crowdselect.web.request_limits import DatabaseErrorsMiddleware
from selection import engine, tasks
from selection.models import Answer, ApiToken
from selection.worker import links
from tests.pages import text_of
from tests.worlds import make_run, open_of

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no failover"),
]
SIGN_IN = {"username": "ada", "password": "pw-of-ada-1"}
SAID = "is read-only at the moment"


def set_read_only(on):
    with connection.cursor() as cursor:
        cursor.execute(f"SET default_transaction_read_only = {'on' if on else 'off'}")


@pytest.fixture
def run(transactional_db):
    made = make_run()
    engine.advance(made.pk)
    return made


@pytest.fixture
def token(transactional_db):
    return {"authorization": f"Bearer {ApiToken.issue('robot')}"}


@pytest.fixture
def signed_in(client, transactional_db):
    client.force_login(User.objects.create_superuser("olga"))
    return client


@pytest.fixture
def read_only(run, token):
    User.objects.create_superuser("ada", password=SIGN_IN["password"])
    set_read_only(True)
    yield
    set_read_only(False)


def test_typed_answer_survives_a_read_only_database(run, read_only):
    assignment = open_of(run)[0]
    address = f"/work/{links.worker_token(assignment.candidate_id)}/"
    sent = {"assignment": assignment.pk, "response": "typed with care"}
    page = Client().post(address, sent)
    assert (page.status_code, page["Retry-After"]) == (503, "60")
    assert "typed with care" in text_of(page)
    assert Client().get(f"{address}?go").status_code == 503
    set_read_only(False)
    assert Client().post(address, sent).status_code == 303
    assert Answer.objects.get().response == "typed with care"


def test_a_program_is_told_to_send_it_again(token, read_only):
    answer = Client(headers=token).post(
        "/api/pools", {"name": "Autumn"}, content_type="application/json"
    )
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert SAID in answer.json()["error"]


@pytest.mark.parametrize("password", [SIGN_IN["password"], "wrong"])
def test_login_explains_a_read_only_database(read_only, password):
    page = Client().post("/admin/login/", SIGN_IN | {"password": password})
    assert (page.status_code, page["Retry-After"]) == (503, "60")
    assert SAID in text_of(page)


def test_signed_in_user_reads_but_cannot_write(signed_in, run, read_only):
    assert signed_in.get(f"/admin/selection/run/{run.pk}/").status_code == 200
    assert signed_in.post("/admin/selection/pool/add/", {"name": "Autumn"}).status_code == 503

    def touch(request):
        request.session["who"] = "olga"
        return HttpResponse("kept")

    request = RequestFactory().post("/admin/")
    request.COOKIES = {key: one.value for key, one in signed_in.cookies.items()}
    assert (
        DatabaseErrorsMiddleware(touch)(request).status_code == 503
    )  # not 400: the session was not deleted


def test_readyz_fails_on_a_read_only_database(read_only):
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["database"]) == (503, False)


def test_tasks_say_so_in_a_line_and_go_on(run, read_only, caplog):
    caplog.set_level(logging.WARNING)
    tasks.advance(run.pk)
    tasks.sweep()
    tasks.retain()
    tasks.forecast_run(run.pk)
    assert any("read-only" in record.getMessage() for record in caplog.records)
    assert not [record for record in caplog.records if record.exc_info]
