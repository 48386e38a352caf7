"""Order of messages about jobs, in the Redis that Celery's workers read."""

from datetime import timedelta

import pytest
from celery import current_app

from selection import reports
from selection.models import ForecastPart
from selection.outbox import celery_messages

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


def test_awaited_jobs_come_before_those_that_nobody_waits_for():
    jobs, before = ForecastPart.objects.none(), reports.system_load().queued["forecasts"]
    order = (celery_messages.BACKGROUND, celery_messages.COMPLETING, celery_messages.AWAITED)
    task = "selection.tasks.forecast"
    for priority in order:
        celery_messages.hand_out(task, jobs, [[priority, 0]], MINUTE, priority)
    assert reports.system_load().queued["forecasts"] == before + 3
    with current_app.connection_for_read() as connection:
        queue = connection.SimpleQueue("forecasts")
        received = [queue.get(timeout=10) for _ in range(before + 3)]
        for message in received:
            message.ack()
        queue.close()
    first = [message.payload[0][0] for message in received][-3:]
    assert first == sorted(order)
