"""The sample watch of ``make run``."""

import pytest

from selection.imports import catalog
from selection.models import Watch
from selection.simulation import sample_watch
from selection.simulation.sample_run import sample_questions, sample_workers
from tests.worlds import make_pool, make_questions

pytestmark = pytest.mark.django_db


def test_sample_watch_has_one_alarm_and_is_made_once():
    pool, questions = make_pool(0), make_questions(0)
    catalog.take_workers(pool, sample_workers())
    catalog.take_questions(questions, sample_questions()[-200:])
    for _ in range(2):
        sample_watch.prepare_sample_watch(pool, questions)
    states = Watch.objects.get().workers.order_by("worker").values_list("worker__key", "state")
    assert [key for key, state in states if state == "alarm"] == ["w3"]
    assert {state for _, state in states} == {"fine", "alarm"}
