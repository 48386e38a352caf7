"""A database that takes nothing: a login is told the fault and its remedy."""

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.test import Client, RequestFactory

from crowdselect.web.request_limits import DatabaseErrorsMiddleware
from crowdselect.web.security_headers import SecurityHeaders
from tests.pages import text_of

pytestmark = pytest.mark.django_db
SIGN_IN = {"username": "ada", "password": "pw-of-ada-1"}


@pytest.fixture
def ada():
    return User.objects.create_superuser("ada", password=SIGN_IN["password"])


def refusing(words):
    """A database that answers, and writes nothing."""

    def look(execute, sql, *given):
        if sql.startswith(("INSERT", "UPDATE", "DELETE")):
            raise OperationalError(words)
        return execute(sql, *given)

    return connection.execute_wrapper(look)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("database or disk is full", "Ask the administrator of the server to free disk space"),
        ("disk I/O error", "Ask the administrator of the server to free disk space"),
        ("could not extend file: No space left on device", "sign-in is not possible"),
        ("database is locked", "The database is busy or down"),
    ],
)
@pytest.mark.parametrize("password", [SIGN_IN["password"], "wrong"])
def test_login_on_a_full_disk_explains_the_failed_write(ada, words, said, password):
    with refusing(words):
        page = Client(raise_request_exception=False).post(
            "/admin/login/", SIGN_IN | {"password": password}
        )
    assert (page.status_code, page["Retry-After"]) == (503, "60")
    assert said in text_of(page)
    assert "default-src 'none'" in page["Content-Security-Policy"]


def test_failed_session_write_after_a_page_answers_503():
    """As between a password and a second factor, or on the way to a single sign-on."""

    def page(request):
        request.session["who"] = "ada"
        return HttpResponse("come in")

    with refusing("database or disk is full"):
        answer = SecurityHeaders(DatabaseErrorsMiddleware(page))(
            RequestFactory().post("/admin/login/")
        )
    assert (answer.status_code, answer["Retry-After"]) == (503, "60")
    assert "free disk space" in text_of(answer)
    assert "default-src 'none'" in answer["Content-Security-Policy"]
