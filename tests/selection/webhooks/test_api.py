"""Webhooks by the API, from creation to replay."""

import pytest
from django.test import Client
from standardwebhooks import Webhook as Verifier

from selection import webhooks
from selection.models import ApiToken, AuditEntry, Delivery, Webhook
from selection.runs import lifecycle
from tests.worlds import make_run

from .receiver import receiver

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(token, settings):
    settings.WEBHOOKS_INSIDE = True
    return Client(headers={"authorization": f"Bearer {token}"})


def send(api, method, path, body=None):
    return getattr(api, method)(f"/api/{path}", body or {}, content_type="application/json")


def test_the_whole_life_of_a_webhook(api):
    with receiver() as there:
        made = send(api, "post", "webhooks", {"url": there.url, "events": ["run.ended"]})
        assert made.status_code == 201
        pk, secret = made.json()["id"], made.json()["secret"]
        assert secret not in api.get(f"/api/webhooks/{pk}").content.decode()
        lifecycle.stop_run(make_run())
        assert send(api, "post", f"webhooks/{pk}/test").status_code == 202
        webhooks.send_due(pk)
        kinds = [Verifier(secret).verify(body, headers)["type"] for headers, body in there.got]
        assert kinds == ["run.ended", "webhook.test"]
        sent = api.get(f"/api/webhooks/{pk}/deliveries").json()
        assert [(row["kind"], row["state"], row["status_code"]) for row in sent] == [
            ("webhook.test", "delivered", 200),
            ("run.ended", "delivered", 200),
        ]
        older = api.get(f"/api/webhooks/{pk}/deliveries?before_id={sent[0]['id']}").json()
        assert [row["id"] for row in older] == [sent[1]["id"]]
        again = send(api, "post", f"deliveries/{sent[1]['id']}/replay")
        assert (again.status_code, again.json()["state"]) == (202, "waiting")
        renewed = send(api, "post", f"webhooks/{pk}/secret").json()["secret"]
        webhooks.send_due(pk)
        headers, body = there.got[-1]
        assert Verifier(renewed).verify(body, headers)["type"] == "run.ended"
    changed = send(
        api, "patch", f"webhooks/{pk}", {"enabled": False, "events": ["worker.accepted"]}
    )
    assert (changed.json()["enabled"], changed.json()["events"]) == (False, ["worker.accepted"])
    assert [one["id"] for one in api.get("/api/webhooks").json()] == [pk]
    assert api.delete(f"/api/webhooks/{pk}").status_code == 204
    assert not Delivery.objects.exists()


def test_impossible_webhook_is_refused_in_a_sentence(api, settings):
    settings.WEBHOOKS_INSIDE = False
    for body, word in (
        ({"url": "http://example.org", "events": ["run.ended"]}, "https"),
        ({"url": "https://127.0.0.1", "events": ["run.ended"]}, "network"),
        ({"url": "https://example.org", "events": ["run.began"]}, "events"),
        ({"url": "https://example.org", "events": []}, "events"),
    ):
        refused = send(api, "post", "webhooks", body)
        assert refused.status_code == 422
        assert word in refused.json()["error"]
    assert not Webhook.objects.exists()


def test_a_token_that_only_reads_learns_no_address(api):
    reading = Client(headers={"authorization": f"Bearer {ApiToken.issue('r', scope='read')}"})
    assert reading.get("/api/webhooks").status_code == 403


def test_audit_log_names_the_webhook_and_hides_its_salt(api):
    made = send(api, "post", "webhooks", {"url": "https://example.org", "events": ["run.ended"]})
    hook = Webhook.objects.get(pk=made.json()["id"])
    entry = AuditEntry.objects.get(model="webhook")
    assert (entry.kind, entry.after["url"], entry.after["salt"]) == ("added", hook.url, "hidden")
    assert hook.salt not in str(entry.after)
