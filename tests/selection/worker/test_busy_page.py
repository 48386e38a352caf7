"""The page without a usable database: the worker's input is kept."""

import re
from html import unescape

import pytest
from django.db import OperationalError
from django.http import QueryDict
from django.urls import reverse

from selection import engine
from selection.answers import presence, recording
from selection.models import Answer
from selection.runs.roster import enrolment
from selection.worker import links
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def slip():
    run = make_run()
    engine.advance(run.pk)
    return open_of(run)[0]


@pytest.fixture
def open_run():
    return make_run(n=0, enrolling=True)


def path(slip):
    return reverse("work", args=[links.worker_token(slip.candidate_id)]) + "?go"


def local(address):
    return address.removeprefix("http://127.0.0.1:8000")


def full(*given, **more):
    raise OperationalError("database or disk is full")


def test_answer_refused_by_a_full_server_can_be_sent_again(client, slip, monkeypatch):
    address, sent = path(slip), {"assignment": slip.pk, "response": "<yes & no>"}
    with monkeypatch.context() as away:
        away.setattr(recording, "record_answer", full)
        refused = client.post(address, sent)
    words = refused.content.decode()
    assert (refused.status_code, refused["Retry-After"]) == (503, "60")
    assert "<q>&lt;yes &amp; no&gt;</q>" in words
    assert f'name="assignment" value="{slip.pk}"' in words
    assert 'name="response" value="&lt;yes &amp; no&gt;"' in words
    assert not Answer.objects.exists()
    assert client.post(address, sent).status_code == 303
    assert Answer.objects.get().response == "<yes & no>"


@pytest.mark.parametrize(
    ("language", "said"),
    [("de", "kann gerade nicht gezeigt"), ("ar", "لا يمكن عرض")],
)
def test_a_page_that_cannot_be_shown_says_so_and_tries_again(
    client, slip, monkeypatch, language, said
):
    monkeypatch.setattr(presence, "record_shown", full)
    monkeypatch.setattr(presence, "note_presence", full)
    page = client.get(path(slip), headers={"accept-language": language})
    assert (page.status_code, page["Refresh"]) == (503, "60")
    assert said in page.content.decode()
    assert "<form" not in page.content.decode()


def test_busy_join_page_keeps_the_typed_id(client, open_run, monkeypatch):
    address = local(links.join_address(open_run)) + "?PROLIFIC_PID=&SESSION_ID=x-7"
    with monkeypatch.context() as away:
        away.setattr(enrolment, "enrol_worker", full)
        refused = client.post(address, {"worker": "añna"}, headers={"accept-language": "de"})
    words = refused.content.decode()
    assert (refused.status_code, refused["Retry-After"]) == (503, "60")
    assert "<q>añna</q>" in words
    assert "Noch einmal senden" in words
    assert 'name="worker" value="añna"' in words
    assert "?language" not in words  # a link to another page would lose the typed text
    assert client.post(address, {"worker": "añna"}).status_code == 302
    assert open_run.candidates.get().task == "x-7"


ENTRIES = {
    "join": lambda run: local(links.join_address(run)) + "?PROLIFIC_PID=" + "60a1" * 6,
    "mturk": lambda run: (
        local(links.mturk_address(run))
        + "?assignmentId=3ABC&workerId=A1&turkSubmitTo=https://workersandbox.mturk.com"
    ),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_busy_page_of_a_platform_link_tries_again(client, open_run, monkeypatch, entry):
    address = ENTRIES[entry](open_run)
    with monkeypatch.context() as away:
        away.setattr(enrolment, "enrol_worker", full)
        page = client.get(address, headers={"accept-language": "ar"})
    words = page.content.decode()
    assert (page.status_code, page["Refresh"]) == (503, "60")
    assert "لا يمكن عرض" in words
    kept = re.search(r'href="\?(.*)&amp;language=de"', words)[1]
    assert QueryDict(unescape(kept)) == QueryDict(address.partition("?")[2])
    assert client.get(address).status_code == 302


def test_an_answer_in_mturks_frame_is_kept_there_too(client, open_run, monkeypatch):
    own = client.get(ENTRIES["mturk"](open_run)).url
    engine.advance(open_run.pk)
    sent = {"assignment": open_of(open_run)[0].pk, "response": "yes"}
    client.get(own)
    with monkeypatch.context() as away:
        away.setattr(recording, "record_answer", full)
        refused = client.post(own, sent, headers={"accept-language": "de"})
    assert refused.status_code == 503
    assert "<q>yes</q>" in refused.content.decode()
    assert "x-frame-options" not in refused.headers
    assert "frame-ancestors https://" in refused["Content-Security-Policy"]
    assert client.post(own, sent).status_code == 303
    assert Answer.objects.get().response == "yes"
