"""How fast a pool answered before."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from selection import engine, reports
from selection.models import SAMPLE_RUN, Answer
from tests.worlds import answer_all, crowd, make_run

pytestmark = pytest.mark.django_db


def answered(minutes: float, **fields: object):
    """A run in which all that was out first was answered, evenly over so many minutes."""
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


def test_it_is_that_of_the_latest_run_from_the_first_answer_to_the_last():
    run = answered(60)
    seen = reports.pool_throughput(run.pool)
    assert seen.run == run
    assert seen.an_hour == pytest.approx(run.answers.count() - 1)
    faster = answered(30, pool=run.pool)
    assert reports.pool_throughput(run.pool).run == faster
    assert reports.pool_throughput(run.pool).an_hour == pytest.approx(
        2 * (faster.answers.count() - 1)
    )


def test_there_is_none_without_answers_enough_or_all_at_one_moment():
    run = make_run()
    assert reports.pool_throughput(run.pool) is None
    run = answered(60)
    run.answers.update(at=timezone.now())
    assert reports.pool_throughput(run.pool) is None
    run.answers.update(at=F("at") + timedelta(0), expired=True)
    assert reports.pool_throughput(run.pool) is None


def test_the_sample_run_and_answers_that_nobody_gives_so_fast_say_nothing_of_people():
    real = answered(60)
    sample = answered(30, pool=real.pool, name=SAMPLE_RUN)
    assert reports.pool_throughput(real.pool).run == real
    played = answered(0.05, pool=sample.pool)  # 30 answers in three seconds
    assert reports.pool_throughput(played.pool).run == real
