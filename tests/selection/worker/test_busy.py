"""A database that is locked, full or away: what a worker sent is still in the page."""

import pytest
from django.db import OperationalError
from django.urls import reverse

from selection import engine, intake
from selection.intake import presence
from selection.models import Answer
from selection.worker import links
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def slip():
    run = make_run()
    engine.advance(run.pk)
    return open_of(run)[0]


def path(slip):
    return reverse("work", args=[links.token(slip.candidate_id)])


def full(*given, **more):
    raise OperationalError("database or disk is full")


def test_what_was_sent_can_be_sent_again_when_there_is_room(client, slip, monkeypatch):
    address, sent = path(slip), {"assignment": slip.pk, "response": "<yes & no>"}
    with monkeypatch.context() as away:
        away.setattr(intake, "record", full)
        refused = client.post(address, sent)
    words = refused.content.decode()
    assert (refused.status_code, refused["Retry-After"]) == (503, "60")
    assert "<q>&lt;yes &amp; no&gt;</q>" in words
    assert f'name="assignment" value="{slip.pk}"' in words
    assert 'name="response" value="&lt;yes &amp; no&gt;"' in words
    assert not Answer.objects.exists()
    assert client.post(address, sent).status_code == 200
    assert Answer.objects.get().response == "<yes & no>"


@pytest.mark.parametrize(
    ("language", "said"),
    [("de", "kann gerade nicht gezeigt"), ("ar", "لا يمكن عرض")],
)
def test_a_page_that_cannot_be_shown_says_so_and_tries_again(
    client, slip, monkeypatch, language, said
):
    monkeypatch.setattr(presence, "show", full)
    monkeypatch.setattr(presence, "note", full)
    page = client.get(path(slip), headers={"accept-language": language})
    assert (page.status_code, page["Refresh"]) == (503, "60")
    assert said in page.content.decode()
    assert "<form" not in page.content.decode()
