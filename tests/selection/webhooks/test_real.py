"""A real Celery worker and a real receiver, which is up, down, and up again."""

import pytest
from celery import current_app
from django.utils import timezone
from standardwebhooks import Webhook as Verifier

from selection.models import Delivery
from selection.runs import lifecycle
from selection.webhooks import registration
from tests.processes import celery_worker, wait_until
from tests.worlds import make_run

from .receiver import receiver

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.slow
def test_outage_of_the_receiver_loses_no_message(settings, monkeypatch):
    settings.WEBHOOKS_INSIDE = True
    monkeypatch.setenv("WEBHOOKS_INSIDE", "yes")
    with celery_worker():
        with receiver() as there:
            port, hook = (
                there.server_port,
                registration.create_webhook(None, there.url, ["run.ended"]),
            )
            lifecycle.stop_run(make_run())
            wait_until(lambda: there.got, "the first message")
        lifecycle.stop_run(make_run())
        failed = Delivery.objects.filter(tries=1, code=None).exclude(said="")
        wait_until(failed.exists, "the second to fail")
        with receiver(port) as again:
            Delivery.objects.exclude(due=None).update(due=timezone.now())
            current_app.send_task("selection.tasks.sweep")
            wait_until(lambda: again.got, "the second message")
            ((headers, body),) = again.got
    assert Verifier(hook.secret).verify(body, headers)["data"]["ending"] == "stopped"
    arrived = Delivery.objects.exclude(delivered=None)
    wait_until(lambda: arrived.count() == 2, "the log")
    assert [row.tries for row in arrived.order_by("id")] == [1, 2]
