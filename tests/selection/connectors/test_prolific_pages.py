"""Prolific by the API and on the run's page: study, dry run, bonuses."""

from decimal import Decimal

import pytest
from django.core.cache import cache

from selection.models import ApiToken, ConnectorCall, Run, RunConnection
from selection.outbox import celery_messages
from selection.runs import worker_texts
from selection.runs.worker_texts import PageFacts
from tests.jobs import finish_job, follow_page
from tests.pages import admin_url, text_of
from tests.prolific_stub import ProlificStub
from tests.prolific_world import SETTINGS, WORKERS, answered, exchange, members
from tests.selection.api.conftest import Program
from tests.worlds import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager() -> Program:
    return Program(ApiToken.issue("manager"))


def pay(run: Run, amount: str = "0.50") -> None:
    Run.objects.filter(pk=run.pk).update(currency="GBP")
    worker_texts.change_facts(run, PageFacts(Decimal(amount)))


def complete(there: ProlificStub, run: Run) -> list[str]:
    """Let two participants answer, and their submissions await a review."""
    answered(run)
    code = worker_texts.completion_code(run, "done")
    return [there.submit(worker, "AWAITING REVIEW", code) for worker in WORKERS[:2]]


def test_a_run_is_connected_and_its_study_made_by_the_api(manager, prolific_run, lab, there):
    at = f"runs/{prolific_run.pk}"
    refused = manager.get(f"{at}/prolific")
    assert (refused.status_code, "connect it first" in refused.json()["error"]) == (409, True)
    body = {"connection": lab.pk, "settings": SETTINGS}
    assert finish_job(manager.post(f"{at}/connections", body)).result["connection"] == lab.pk
    planned = finish_job(manager.get(f"{at}/prolific/dry-run")).result
    assert {"method": "GET", "path": "studies/", "body": None} in planned
    assert [one["path"] for one in planned if one["method"] == "POST"][:2] == [
        "participant-groups/",
        "studies/",
    ]
    assert there.writes() == []
    assert manager.post(f"{at}/prolific/study").status_code == 202
    again = manager.post(f"{at}/prolific/study")
    assert (again.status_code, again.json()["error"]) == (409, "The study is being created.")
    exchange(RunConnection.objects.get())
    (study,) = there.studies.values()
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID=" in study["external_study_url"]
    assert "/join/" in study["external_study_url"]
    shown = manager.get(f"{at}/prolific").json()
    assert (shown["study"], set(shown["groups"])) == (study["id"], {"block"})


def test_bonuses_are_confirmed_by_the_api(manager, prolific_run, study, there):
    pay(prolific_run)
    complete(there, prolific_run)
    exchange(study)
    at = f"runs/{prolific_run.pk}/prolific"
    due = manager.get(f"{at}/bonuses").json()
    assert (due["state"], set(due["bonuses"])) == ("", set(WORKERS[:2]))
    wrong = manager.post(f"{at}/bonuses", {"total": due["total"] + 1})
    assert (wrong.status_code, "confirm the new amount" in wrong.json()["error"]) == (409, True)
    confirmed = manager.post(f"{at}/bonuses", {"total": due["total"]})
    assert (confirmed.status_code, confirmed.json()["state"]) == (202, "confirmed")
    there.faults["POST"] = [None, 500]  # the set-up, the payment
    for _ in range(3):
        exchange(study)
    (batch,) = manager.get(at).json()["batches"]
    assert batch["state"] == "uncertain"
    assert manager.post(f"{at}/bonuses/{batch['key']}", {"paid": False}).status_code == 204
    assert manager.post(f"{at}/bonuses/{batch['key']}", {"paid": False}).status_code == 409
    assert manager.post(f"{at}/bonuses/none", {"paid": True}).status_code == 404
    assert manager.get(at).json()["submissions"] == {"APPROVED": 2}


def test_amounts_in_another_currency_are_refused_in_a_sentence(manager, prolific_run, study):
    pay(prolific_run)
    Run.objects.update(currency="CHF")
    refused = manager.get(f"runs/{prolific_run.pk}/prolific/bonuses")
    assert refused.status_code == 422
    assert "Prolific pays in pounds or US dollars" in refused.json()["error"]


def test_the_page_leads_from_the_draft_study_to_the_bonuses(
    requester, prolific_run, prolific_link, there
):
    pay(prolific_run)
    url = admin_url("run_prolific", prolific_run.pk)
    assert "The run has no study yet" in text_of(requester.get(url))
    planned = text_of(follow_page(requester, requester.post(url, {"do": "plan"})))
    assert "POST /studies/" in planned
    assert there.writes() == []
    assert "is being created" in text_of(requester.post(url, {"do": "study"}, follow=True))
    exchange(prolific_link)
    complete(there, prolific_run)
    exchange(prolific_link)
    exchange(prolific_link)
    shown = requester.get(url)
    assert "2 approved" in text_of(shown)
    total = shown.context["proposal"].total
    assert f"Confirm payment of {total} to 2 workers" in text_of(shown)
    wrong = text_of(requester.post(url, {"do": "pay", "total": "x"}, follow=True))
    assert "confirm the new amount" in wrong
    done = text_of(requester.post(url, {"do": "pay", "total": str(total)}, follow=True))
    assert f"Bonuses of {total} are being paid." in done
    there.faults["POST"] = [None, 500]
    exchange(prolific_link)
    uncertain = requester.get(url)
    assert "CrowdSelect never repeats a payment" in text_of(uncertain)
    (batch,) = uncertain.context["batches"]
    settled = requester.post(url, {"do": "paid", "batch": batch.key}, follow=True)
    assert "The result of the payment is saved." in text_of(settled)
    assert "never repeats" not in text_of(settled)
    assert requester.post(url, {"do": "nothing"}).status_code == 404
    button = f'href="{url}"'
    assert button in requester.get(admin_url("run_page", prolific_run.pk)).content.decode()


def test_a_run_without_prolific_says_so(requester):
    run = make_run()
    page = requester.get(admin_url("run_prolific", run.pk))
    assert "This run has no connection to Prolific" in text_of(page)
    posted = requester.post(admin_url("run_prolific", run.pk), {"do": "study"}, follow=True)
    assert "This run has no connection to Prolific" in text_of(posted)
    assert not ConnectorCall.objects.exists()


@pytest.mark.parametrize("way", ["api", "page"])
def test_a_verdict_by_hand_reaches_the_group_at_the_next_exchange_which_it_requests(
    manager,
    requester,
    prolific_run,
    study,
    there,
    monkeypatch,
    django_capture_on_commit_callbacks,
    way,
):
    sent: list[object] = []
    monkeypatch.setattr(
        celery_messages.current_app,
        "send_task",
        lambda task, ids, **options: sent.append((task, *ids)),
    )
    cache.clear()
    candidate = prolific_run.candidates.get(worker__key=WORKERS[0])
    with django_capture_on_commit_callbacks(execute=True):
        if way == "api":
            at = f"runs/{prolific_run.pk}/workers/{WORKERS[0]}/verdict"
            manager.post(at, {"verdict": "accepted", "reason": "An interview."})
        else:
            url = admin_url("run_worker_change", prolific_run.pk, candidate.pk)
            requester.post(url, {"do": "accept", "why": "An interview."})
    assert ("selection.tasks.exchange", study.connection_id) in sent
    exchange(study)
    assert members(there, "accepted") == {WORKERS[0]}
