"""Delivery: signed, at least once, with retries and a last try."""

import json
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone
from standardwebhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from selection import webhooks
from selection.errors import Conflict, Refused
from selection.models import Delivery, Webhook
from selection.outbox import queues
from selection.runs import lifecycle
from selection.webhooks import delivery, registration
from tests.worlds import make_run

from .receiver import receiver

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def inside(settings):
    settings.WEBHOOKS_INSIDE = True


@pytest.fixture
def there():
    with receiver() as server:
        yield server


@pytest.fixture
def hook(there):
    return registration.create_webhook(None, there.url, ["run.ended"])


def end_a_run() -> Delivery:
    lifecycle.stop_run(make_run())
    return Delivery.objects.latest("id")


def again_due() -> None:
    Delivery.objects.exclude(due=None).update(due=timezone.now())


def test_a_message_arrives_signed_and_its_log_says_so(there, hook):
    end_a_run()
    webhooks.send_due(hook.pk)
    ((headers, body),) = there.got
    heard = Verifier(hook.secret).verify(body, headers)
    assert heard["type"] == "run.ended"
    row = Delivery.objects.get()
    assert (row.state, row.tries, row.code, row.said) == ("delivered", 1, 200, "thank you")
    assert headers["webhook-id"] == row.message_id
    assert json.loads(row.body) == heard


def test_wrong_secret_or_changed_body_fails_verification(there, hook):
    end_a_run()
    webhooks.send_due(hook.pk)
    ((headers, body),) = there.got
    for secret, said in ((registration.renew_secret(hook), body), (hook.secret, body + b" ")):
        with pytest.raises(WebhookVerificationError):
            Verifier(secret).verify(said, headers)


def test_delivered_message_is_not_sent_again(there, hook):
    end_a_run()
    for _ in range(3):
        webhooks.send_due(hook.pk)
    assert len(there.got) == 1


def test_failed_message_is_sent_again_later_under_the_same_id(there, hook):
    there.code, there.says = 503, b"later"
    row = end_a_run()
    webhooks.send_due(hook.pk)
    webhooks.send_due(hook.pk)  # not due yet
    row.refresh_from_db()
    assert (row.state, row.tries, row.code, row.said) == ("retrying", 1, 503, "later")
    wait = row.due - row.tried
    assert timedelta(seconds=4) <= wait <= timedelta(seconds=6)
    there.code = 200
    again_due()
    webhooks.send_due(hook.pk)
    assert len({headers["webhook-id"] for headers, _ in there.got}) == 1
    assert len(there.got) == 2


def test_last_failed_try_turns_the_webhook_off_with_a_note(there, hook):
    there.code = 500
    row = end_a_run()
    for _ in range(20):
        again_due()
        webhooks.send_due(hook.pk)
    row.refresh_from_db()
    hook.refresh_from_db()
    assert (row.state, row.tries) == ("failed", queues.MOST_TRIES)
    assert len(there.got) == queues.MOST_TRIES
    assert not hook.enabled
    assert hook.note.startswith("Turned off: nothing arrived in 8 tries")
    end_a_run()
    assert Delivery.objects.count() == 1


def test_single_rejected_message_turns_no_webhook_off_while_others_arrive(there, hook):
    there.code = 500
    row = end_a_run()
    for _ in range(queues.MOST_TRIES):
        again_due()
        webhooks.send_due(hook.pk)
        there.code = 200
        Delivery.objects.filter(pk=row.pk).update(due=None)
        end_a_run()
        webhooks.send_due(hook.pk)
        there.code = 500
        Delivery.objects.filter(pk=row.pk).update(due=timezone.now())
    hook.refresh_from_db()
    row.refresh_from_db()
    assert hook.enabled
    assert row.tries == queues.MOST_TRIES


def test_an_answer_of_410_turns_it_off_at_once(there, hook):
    there.code = 410
    end_a_run()
    webhooks.send_due(hook.pk)
    hook.refresh_from_db()
    assert (hook.enabled, "410" in hook.note) == (False, True)


def test_a_receiver_that_is_down_is_not_asked_for_everything_at_once(there, hook):
    there.code = 500
    for _ in range(6):
        end_a_run()
    webhooks.send_due(hook.pk)
    assert len(there.got) == delivery.FAILURES


def test_leased_message_is_not_sent_by_a_second_process(there, hook, monkeypatch):
    end_a_run()
    ready = Delivery.objects.ready().get()
    Delivery.objects.filter(pk=ready.pk).update(due=ready.due + delivery.LEASE)
    webhooks.send_due(hook.pk)
    assert not there.got


def test_message_of_a_killed_worker_is_sent_once_its_lease_expires(there, hook):
    end_a_run()
    assert delivery._lease_next(hook.pk)  # and then it is killed
    webhooks.send_due(hook.pk)
    assert not there.got
    again_due()  # after its lease has expired
    webhooks.send_due(hook.pk)
    assert len(there.got) == 1


def test_messages_wait_while_the_webhook_is_off(there, hook):
    end_a_run()
    registration.change_webhook(hook, enabled=False)
    webhooks.send_due(hook.pk)
    assert not there.got
    with pytest.raises(Conflict, match="off"):
        registration.replay_delivery(Delivery.objects.select_related("webhook").get())
    registration.change_webhook(hook, enabled=True)
    webhooks.send_due(hook.pk)
    assert len(there.got) == 1


def test_a_test_goes_out_once_also_while_it_is_off(there, hook):
    registration.change_webhook(hook, enabled=False)
    there.code = 500
    row = registration.send_test(hook)
    for _ in range(2):
        webhooks.send_due(hook.pk)
    row.refresh_from_db()
    assert (row.kind, row.state, row.code) == (Webhook.TEST, "failed", 500)
    assert len(there.got) == 1


def test_delivered_message_can_be_sent_again_under_its_id(there, hook):
    row = end_a_run()
    webhooks.send_due(hook.pk)
    registration.replay_delivery(Delivery.objects.select_related("webhook").get())
    webhooks.send_due(hook.pk)
    assert [headers["webhook-id"] for headers, _ in there.got] == [row.message_id] * 2


def test_sweep_requests_waiting_messages_and_deletes_old_ones(hook, monkeypatch):
    end_a_run()
    old = Delivery.objects.create(
        webhook=hook, kind="run.ended", body="{}", made=timezone.now() - timedelta(days=31)
    )
    cache.clear()  # the first message to Celery was lost
    asked: list[int] = []
    monkeypatch.setattr(webhooks.messages, "request_delivery", asked.append)
    webhooks.sweep_deliveries()
    assert asked == [hook.pk]
    assert not Delivery.objects.filter(pk=old.pk).exists()


def test_a_team_has_a_bounded_number_of_webhooks(hook, monkeypatch):
    monkeypatch.setattr(registration, "MOST_WEBHOOKS", 1)
    with pytest.raises(Refused, match="at most 1"):
        registration.create_webhook(None, hook.url, ["run.ended"])


@pytest.mark.parametrize(("events", "word"), [([], "one event"), (["run.begun"], "run.begun")])
def test_unknown_events_are_refused(there, events, word):
    with pytest.raises(Refused, match=word):
        registration.create_webhook(None, there.url, events)


def test_the_database_alone_does_not_tell_the_secret(hook, settings):
    before = hook.secret
    settings.SECRET_KEY = "another"
    assert hook.secret != before
