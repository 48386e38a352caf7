"""The least mean accuracy of the selected, on the page, in files and by the API."""

import pytest
from django.test import Client

from selection import engine, reports
from selection.admin.page import object_url
from selection.models import Run
from selection.runs import lifecycle
from tests import worlds
from tests.selection.api.conftest import Program

pytestmark = pytest.mark.django_db


def end_run(**fields) -> Run:
    run = worlds.make_run(**({"n": 6, "k": 2, "questions": 60, "slots": 60} | fields))
    for _ in range(4):
        engine.advance(run.pk)
        worlds.answer_all(run, worlds.crowd(2, 4, 1.0, 0.2))
    lifecycle.stop_run(run)
    run.refresh_from_db()
    return run


def test_page_files_and_api_say_the_same(requester: Client, token: str) -> None:
    run = end_run()
    claims = reports.claims_at_end(run, reports.worker_standings(run))
    assert 0.3 < claims.mean_at_least < 1
    sentence = claims.mean_guarantee
    assert sentence.startswith("With probability at least 90%, the 2 selected answer at least ")
    assert sentence.endswith(
        " right on average, if different workers answer independently of each other."
    )
    document = reports.export_run(run)
    assert document["mean_at_least"] == claims.mean_at_least
    assert document["mean_guarantee"] == sentence
    assert sentence in requester.get(object_url(run)).text
    reply = Program(token).get(f"runs/{run.pk}/selection").json()
    assert reply["mean_guarantee"] == sentence


def test_floor_of_one_worker_on_a_set_counts_what_is_known() -> None:
    run = end_run(k=1, algorithm="certified", options={"accuracy": "on this question set"})
    sentence = reports.claims_at_end(run, reports.worker_standings(run)).mean_guarantee
    assert "the selected one answers at least" in sentence
    assert sentence.endswith("% of this question set right.")


def test_nothing_is_stated_before_the_end_or_without_answers() -> None:
    run = worlds.make_run(n=6, k=2)
    assert reports.claims_at_end(run, reports.worker_standings(run)) == reports.EndClaims()
    lifecycle.stop_run(run)
    run.refresh_from_db()
    assert reports.export_run(run)["mean_at_least"] is None
