"""Weakenings of a guarantee: on the first screen, in the API and in files, with remedies."""

import pytest
from django.test import Client

from selection import engine, privacy, reports
from selection.errors import Refused
from selection.models import Worker
from selection.questions import corrections
from selection.reports import weakenings
from selection.runs import changes, lifecycle, manual_verdicts
from selection.runs.roster import membership
from tests.pages import admin_url, json_of, text_of
from tests.selection.runs.test_guarantee_after_changes import RESPOND, make_answered_run
from tests.worlds import answer_all, crowd, make_run, play

pytestmark = pytest.mark.django_db


def erase(run, key):
    rows = list(privacy.same_person(key, run.team))
    return privacy.erase_worker(rows, "ada").pseudonym


def codes_of(run):
    return [each.code for each in reports.guarantee_of_run(run).weakenings]


def test_page_warns_before_an_erasure_ends_a_guarantee(requester):
    run = make_answered_run()
    worker = Worker.objects.get(key="w0", pool=run.pool)
    page = text_of(requester.get(admin_url("worker_erase", worker.pk)))
    assert "It then has no guarantee" in page
    assert "returns when" not in page
    assert "guarantees do not change" not in page
    text = text_of(requester.post(admin_url("worker_erase", worker.pk), {}, follow=True))
    assert f"Withdrawn from {run.name}." in text


def test_erasure_is_on_the_first_screen_with_a_remedy(requester):
    run = make_answered_run()
    pseudonym = erase(run, "w0")
    membership.withdraw_workers(run, ["w1"])
    assert codes_of(run) == ["roster", "erased"]
    response = requester.get(admin_url("run_page", run.pk))
    markup = response.content.decode()
    first = markup[: markup.index("cs-counts")]
    assert "Guaranteed now:" in first
    assert "1 worker left or was withdrawn during the test" in first
    assert "1 worker was erased during the test" in first
    assert admin_url("run_copy", run.pk) in first
    assert admin_url("run_do_change", run.pk) in first
    change = admin_url("run_do_change", run.pk)
    assert "Take back the workers who left" in text_of(requester.get(change))
    requester.post(change, {"do": "take-back"})
    assert codes_of(run) == ["erased"]
    assert run.candidates.get(worker__key=pseudonym).gone


def test_erased_worker_is_not_taken_back():
    run = make_answered_run()
    pseudonym = erase(run, "w0")
    with pytest.raises(Refused, match="was erased"):
        membership.take_back(run, [pseudonym])


def test_weakening_is_the_same_in_the_api_and_the_files(requester, token):
    run = make_answered_run()
    membership.withdraw_workers(run, ["w0"])
    guaranteed = reports.guarantee_of_run(run)
    rows = [each.build_row() for each in guaranteed.weakenings]
    assert rows[0]["code"] == "roster"
    assert "“w0”" in rows[0]["sentence"]
    assert guaranteed.text.startswith("No guarantee after these changes of the roster")
    assert "1 worker left or was withdrawn after answers had counted (“w0”)" in guaranteed.text
    shown = Client(headers={"authorization": f"Bearer {token}"}).get(f"/api/runs/{run.pk}").json()
    document = json_of(requester.get(admin_url("run_export", run.pk, "json")))
    for reply in (shown, document):
        assert (reply["guarantee"], reply["weakenings"]) == (guaranteed.text, rows)


def test_ended_run_offers_a_copy_instead_of_taking_back():
    run = make_answered_run()
    membership.withdraw_workers(run, ["w0"])
    run = play(run, RESPOND)
    (found,) = reports.guarantee_of_run(run).weakenings
    assert found.remedy.page == "copy"


def test_changes_that_add_an_assumption_leave_the_verdict_green():
    run = make_run(questions=3000)
    changes.apply_changes(run, {"minutes": 30})
    engine.advance(run.pk)
    answer_all(run, crowd(1, 2))
    corrections.retire_question(run.question_set.questions.last(), "a misprint", "ada")
    run = play(run, crowd(1, 2))
    guaranteed = reports.guarantee_of_run(run)
    assert guaranteed.verdict == "kept"
    assert guaranteed.reasons == ()
    assert {each.code for each in guaranteed.weakenings} >= {"minutes"}


def test_verdict_by_hand_names_its_remedy():
    run = make_run()
    lifecycle.stop_run(play(run, crowd(1, 2), most=3))
    manual_verdicts.override_verdict(run.candidates.get(arm=5), 1, "ada", "I know their work")
    assert "by-hand" in codes_of(run)


def test_weakening_codes_have_a_remedy_or_say_nothing_to_do():
    assert set(weakenings.DOUBTS) | set(weakenings.ADDED) <= set(weakenings.REMEDIES)
    for remedy in weakenings.REMEDIES.values():
        assert remedy.label or remedy.words.startswith("Nothing to do")
