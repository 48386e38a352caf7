"""No log of any process has a secret in it at any level of detail."""

import logging

import httpx
import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from crowdselect.web.logs import RedactingFormatter
from selection import engine
from selection.models import ApiToken, Question, Run
from selection.runs import lifecycle
from selection.worker import links
from tests.processes import free_port, wait_until
from tests.worlds import make_run, open_of

from .test_supervision import supervised, web_answers

PASSWORD, MISTYPED, KEY = "a mellow harpsichord", "a yellow harpsichord", "xylophone-37"


def sign_in(browser: httpx.Client, password: str) -> httpx.Response:
    browser.get("/admin/login/")
    form = {"username": "her", "password": password, "next": "/admin/"}
    form["csrfmiddlewaretoken"] = browser.cookies["csrftoken"]
    return browser.post("/admin/login/", data=form)


@pytest.mark.slow
@pytest.mark.any_database
@pytest.mark.django_db(transaction=True)
def test_the_logs_of_a_full_run_have_no_secret(tmp_path, monkeypatch, settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]  # as theirs
    monkeypatch.setenv("LOG_LEVEL", "DEBUG")
    User.objects.create_superuser("her", password=PASSWORD)
    run = make_run(n=4, questions=40, k=1)
    Question.objects.update(accepted=[KEY])
    engine.advance(run.pk)
    slip = open_of(run)[0]
    token, dead = ApiToken.issue("answers", scope="answer"), f"cs_{'0123456789' * 4}"
    work = reverse("work", args=[links.worker_token(slip.candidate_id)])
    join = links.join_address(run).split("/")[-2]
    port = free_port()
    with supervised(tmp_path, port):
        wait_until(web_answers(port), "the web server")
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as browser:
            assert sign_in(browser, MISTYPED).status_code == 200
            assert sign_in(browser, PASSWORD).status_code == 302
            session = browser.cookies["sessionid"]
            assert browser.get(f"/admin/selection/run/{run.pk}/").status_code == 200
            browser.get(work)
            form = {"assignment": slip.pk, "response": KEY}
            assert browser.post(work, data=form).status_code == 303
            for secret in (token, dead):
                headers = {"authorization": f"Bearer {secret}"}
                browser.get(f"/api/runs/{run.pk}/assignments", headers=headers)
                other = open_of(run)[0]
                url = f"/api/assignments/{other.pk}/answer"
                browser.post(url, json={"response": KEY}, headers=headers)
                browser.post("/api/assignments/0/answer", content="{", headers=headers)
            steps = Run.objects.get(pk=run.pk).steps
            wait_until(lambda: Run.objects.get(pk=run.pk).steps > steps, "a step of the worker")
            assert browser.get(f"/join/{join}/").status_code == 409
            lifecycle.stop_run(run)
            assert browser.get(work).status_code == 410
            assert browser.get(f"{work}nothing/").status_code == 404
    said = (tmp_path / "said").read_text()
    assert "Gone: /work/…/" in said
    assert "Conflict: /join/…/" in said
    secrets = [PASSWORD, MISTYPED, KEY, token, dead, session, join.split(".")[-1]]
    for secret in [*secrets, work.split(".")[-1].strip("/"), "the same in every run of the tests"]:
        assert secret not in said


def test_secrets_go_out_of_tracebacks_too():
    try:
        raise ValueError("/work/12.abcDEF-_/ with cs_0123456789abcdefghij")
    except ValueError as error:
        record = logging.LogRecord(
            "web", logging.ERROR, "", 0, "At %s", ("/join/3.xyz/",), (type(error), error, None)
        )
    said = RedactingFormatter("%(message)s").format(record)
    assert "At /join/…/" in said
    assert "/work/…/ with …" in said
