"""Pages of webhooks: create, test, replay, and a secret that is shown once."""

import re

import pytest
from standardwebhooks import Webhook as Verifier

from selection import webhooks
from selection.models import Delivery, Webhook
from tests.pages import admin_url, text_of

from .receiver import receiver

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def inside(settings):
    settings.WEBHOOKS_INSIDE = True


def make(requester, url: str, **fields: object):
    given = {"url": url, "events": ["run.ended"], "enabled": "on"} | fields
    return requester.post(admin_url("webhook_add"), given, follow=True)


def do(requester, hook, **fields: object):
    address = admin_url("webhook_deliveries", hook.pk)
    return requester.post(address, fields, follow=True)


def test_a_webhook_is_made_tried_and_sent_to_again(requester):
    with receiver() as there:
        shown = make(requester, there.url).content.decode()
        hook = Webhook.objects.get()
        assert re.search(r"whsec_[\w+/=]{44}", shown)[0] == hook.secret
        assert "is queued" in text_of(do(requester, hook, do="test"))
        webhooks.send_due(hook.pk)
        page = text_of(do(requester, hook, do="replay", delivery=Delivery.objects.get().pk))
        assert "200" in page
        assert "thank you" in page
        assert hook.secret not in page
        webhooks.send_due(hook.pk)
        for headers, body in there.got:
            assert Verifier(hook.secret).verify(body, headers)["type"] == "webhook.test"
        assert len(there.got) == 2


def test_a_new_secret_is_shown_once(requester):
    make(requester, "https://example.org/")
    hook = Webhook.objects.get()
    before = hook.secret
    shown = do(requester, hook, do="renew").content.decode()
    hook.refresh_from_db()
    assert hook.secret in shown
    assert before not in shown


def test_impossible_webhook_is_refused_at_its_field(requester, settings):
    settings.WEBHOOKS_INSIDE = False
    page = text_of(make(requester, "http://example.org/", events=[]))
    assert "must begin with https://" in page
    assert "Choose one event at least" in page
    assert not Webhook.objects.exists()


def test_disabled_webhook_gives_its_reason_and_is_enabled_in_its_form(requester):
    make(requester, "https://example.org/")
    Webhook.objects.update(enabled=False, note="Turned off: nothing arrived.")
    hook = Webhook.objects.get()
    page = requester.get(admin_url("webhook_deliveries", hook.pk))
    assert "Turned off: nothing arrived." in text_of(page)
    assert "No message in the last 30 days" in text_of(page)
    again = {"url": hook.url, "events": hook.events, "enabled": "on"}
    requester.post(admin_url("webhook_change", hook.pk), again)
    hook.refresh_from_db()
    assert (hook.enabled, hook.note) == (True, "")


def test_nonsense_is_not_found(requester):
    make(requester, "https://example.org/")
    hook = Webhook.objects.get()
    assert do(requester, hook, do="fly").status_code == 404
    assert do(requester, hook, do="replay", delivery="²").status_code == 404
    assert (
        requester.get(admin_url("webhook_deliveries", hook.pk) + "?page=x&kind=y").status_code
        == 200
    )
