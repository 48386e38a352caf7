"""Order of messages about jobs, in the Redis that Celery's workers read."""

import pytest
from celery import current_app

from selection import reports
from selection.outbox import celery_messages

pytestmark = pytest.mark.django_db


def test_awaited_jobs_come_before_background_jobs():
    before = reports.system_load().queued["forecasts"]
    order = (celery_messages.BACKGROUND, celery_messages.AWAITED)
    task = "selection.tasks.work_on_long_job"
    for priority in order:
        celery_messages.send_message(task, [priority, 0], expires=60, priority=priority)
    assert reports.system_load().queued["forecasts"] == before + 2
    with current_app.connection_for_read() as connection:
        queue = connection.SimpleQueue("forecasts")
        received = [queue.get(timeout=10) for _ in range(before + 2)]
        for message in received:
            message.ack()
        queue.close()
    first = [message.payload[0][0] for message in received][-2:]
    assert first == sorted(order)
