"""Queues in the database."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from selection.models import Delivery, Webhook
from selection.outbox import queues

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture
def row():
    now = timezone.now()
    hook = Webhook.objects.create(url="https://example.org/hook", events=["run.ended"])
    return Delivery.objects.create(webhook=hook, kind="run.ended", body="{}", made=now, due=now)


def test_lease_compares_the_row_that_it_updates(row):
    """PostgreSQL reads this row anew after waiting for another process, but no subquery."""
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert queues.lease_row(row, Delivery.objects.ready(), MINUTE)
    update = next(one["sql"] for one in queries if one["sql"].startswith("UPDATE"))
    condition = update.partition(" WHERE ")[2].partition(" IN (SELECT ")[0]
    assert '."due" = ' in condition


def test_row_is_leased_by_one_process(row):
    assert queues.lease_row(row, Delivery.objects.ready(), MINUTE)
    assert not queues.lease_row(row, Delivery.objects.ready(), MINUTE)
    assert not Delivery.objects.ready().exists()


@pytest.mark.parametrize(
    ("outcomes", "requests"),
    [([True, False, False, True], 0), ([False] * 3, 0)],
)
def test_failures_in_a_row_end_the_work(outcomes, requests):
    left, asked = list(outcomes), []
    queues.work_through(
        lambda: Delivery() if left else None, lambda row: left.pop(0), lambda: asked.append(1), 2
    )
    assert (len(left), len(asked)) == (1, requests)
