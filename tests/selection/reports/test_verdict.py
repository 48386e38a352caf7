"""Verdict on the guarantee of a run that has ended, the same on every surface."""

import json

import pytest
from django.test import Client

from selection import engine, reports
from selection.models import Run
from selection.runs import lifecycle, manual_verdicts
from selection.runs.roster import membership
from tests.pages import admin_url, json_of, text_of
from tests.selection.runs.test_cautious import answer_smoothly
from tests.worlds import answer_all, kept_run, make_run, play
from topk.verify import verify_dump

from .test_collusion import around_20, play_slowly, respond_by_copying
from .test_model_fit import odd_run

pytestmark = pytest.mark.django_db

WEAKENED = "The guarantee is weakened."


RULE_MET = "The run ended because its rule to stop was met."
STOPPED = "The run ended because it was stopped by hand."


def check_weakened(run: Run, sentence: str) -> None:
    guaranteed = reports.guarantee_of_run(run)
    assert guaranteed.verdict == "weakened"
    assert guaranteed.text.startswith(WEAKENED)
    assert sentence in guaranteed.text
    assert verify_dump(json.loads(json.dumps(reports.dump_run(run)))).same


def check_one_verdict(
    requester: Client, token: str, run: Run, sentence: str, ended: str = RULE_MET
) -> None:
    """Check that every surface states ``sentence`` in its verdict, and no other verdict."""
    check_weakened(run, sentence)
    guaranteed = reports.guarantee_of_run(run)
    response = requester.get(admin_url("run_page", run.pk))
    page = text_of(response)
    assert guaranteed.text in page
    assert page.count(sentence) == 1
    assert ended in page
    assert "cs-note good" not in response.content.decode()
    assert text_of(requester.get(admin_url("run_report", run.pk))).count(WEAKENED) >= 1
    document = json_of(requester.get(admin_url("run_export", run.pk, "json")))
    assert document["guarantee"] == guaranteed.text
    assert (document["certified"], document["verdict"]) == (False, "weakened")
    shown = Client(headers={"authorization": f"Bearer {token}"}).get(f"/api/runs/{run.pk}").json()
    assert (shown["guarantee"], shown["verdict"]) == (guaranteed.text, "weakened")
    assert reports.dump_run(run)["result"]["guarantee"] == guaranteed.text


def test_a_hidden_gap_is_in_the_verdict_with_its_figure():
    options = {"n": 20, "k": 4, "algorithm": "credible", "epsilon": 0.1, "delta": 0.1}
    run = play(make_run(**options, slots=60, slots_per_worker=10), answer_smoothly)
    assert run.ended_by_guarantee
    assert "%, not 10 %" in reports.guarantee_of_run(run).text
    check_weakened(run, "stand apart by a gap")


def test_withdrawals_after_answers_weaken_a_guarantee_that_assumes_other_reasons():
    run = make_run(n=20, k=4, algorithm="credible", epsilon=0.15, delta=0.1, slots=60)
    engine.advance(run.pk)
    answer_all(run, answer_smoothly)
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w19"])
    run = play(run, answer_smoothly)
    assert run.ended_by_guarantee
    check_weakened(run, "1 worker left or was withdrawn after answers")


def test_signs_of_sharing_are_in_the_verdict(requester, token):
    run = play_slowly(respond_by_copying, seconds=around_20)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    assert reports.find_signs(run).found
    check_one_verdict(requester, token, run, "workers share answers, and the guarantee", STOPPED)


def test_a_verdict_by_hand_is_in_the_verdict(requester, token):
    run = kept_run()
    assert reports.guarantee_of_run(run).verdict == "kept"
    manual_verdicts.override_verdict(run.candidates.get(arm=5), 1, "ada", "I know their work")
    check_one_verdict(requester, token, run, "1 accepted by hand")


def test_a_crowd_that_does_not_fit_is_in_the_verdict():
    run = odd_run()
    lifecycle.stop_run(run)
    run.refresh_from_db()
    check_weakened(run, "do not look like one population")


def test_verdict_without_a_doubt_is_green(requester):
    run = kept_run()
    guaranteed = reports.guarantee_of_run(run)
    assert guaranteed.verdict == "kept"
    response = requester.get(admin_url("run_page", run.pk))
    assert "cs-note good" in response.content.decode()
    assert guaranteed.text in text_of(response)
    assert reports.export_run(run)["certified"]
