"""Throughput of a pool in earlier runs."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from selection import engine, reports
from selection.models import SAMPLE_RUN, Answer
from tests.worlds import answer_all, crowd, make_run

pytestmark = pytest.mark.django_db


def run_answered_within(minutes: float, **fields: object):
    """Return a run with its first open questions answered evenly over this time."""
    run = make_run(slots=30, slots_per_worker=5, **fields)
    engine.advance(run.pk)
    answer_all(run, crowd(1, 2))
    start = timezone.now()
    count = run.answers.count()
    for number, pk in enumerate(run.answers.values_list("pk", flat=True)):
        Answer.objects.filter(pk=pk).update(
            at=start + timedelta(minutes=minutes * number / (count - 1))
        )
    return run


def test_throughput_of_the_latest_run():
    run = run_answered_within(60)
    throughput = reports.pool_throughput(run.pool)
    assert throughput.run == run
    assert throughput.an_hour == pytest.approx(run.answers.count() - 1)
    faster = run_answered_within(30, pool=run.pool)
    assert reports.pool_throughput(run.pool).run == faster
    assert reports.pool_throughput(run.pool).an_hour == pytest.approx(
        2 * (faster.answers.count() - 1)
    )


def test_no_throughput_from_too_few_or_simultaneous_answers():
    run = make_run()
    assert reports.pool_throughput(run.pool) is None
    run = run_answered_within(60)
    run.answers.update(at=timezone.now())
    assert reports.pool_throughput(run.pool) is None
    run.answers.update(at=F("at") + timedelta(0), expired=True)
    assert reports.pool_throughput(run.pool) is None


def test_sample_run_and_too_fast_answers_are_ignored():
    run = run_answered_within(60)
    sample = run_answered_within(30, pool=run.pool, name=SAMPLE_RUN)
    assert reports.pool_throughput(run.pool).run == run
    played = run_answered_within(0.05, pool=sample.pool)  # 30 answers in three seconds
    assert reports.pool_throughput(played.pool).run == run
