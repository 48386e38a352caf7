"""A selected worker is replaced after the end: by the algorithm, by hand, or by a new draft."""

import json

import pytest
from django.test import Client

from selection import reports
from selection.errors import Conflict, Refused
from selection.forecast.running_forecast import make_forecast
from selection.models import AuditEntry, Run
from selection.runs import lifecycle, replacement
from tests.pages import admin_url, text_of
from tests.worlds import crowd, make_run, play
from topk.verify import verify_dump

pytestmark = pytest.mark.django_db


def ended_run(algorithm: str = "universal", **settings: object) -> Run:
    run = play(make_run(algorithm=algorithm, **settings), crowd(1, good=3))
    assert run.status == Run.Status.ENDED
    return run


def selected(run: Run) -> set[str]:
    return {line.worker for line in reports.worker_standings(run) if line.selected}


def replace(run: Run, worker: str) -> reports.Replacement:
    offer = reports.preview_replacement(run, [worker], make_forecast)
    assert worker in selected(run)  # a preview changes nothing
    replacement.replace_workers(run, [worker], offer.next_best, "ada", "left us")
    return offer


def test_next_best_takes_the_place_and_the_guarantee_is_said_anew():
    run = ended_run()
    leaver = min(selected(run))
    before = selected(run)
    offer = replace(run, leaver)
    run = Run.objects.get(pk=run.pk)
    assert len(selected(run)) == run.k
    assert selected(run) - before == set(offer.next_best)
    assert leaver not in selected(run)
    status = reports.guarantee_of_run(run)
    first = [text.split(" Selected workers were")[0] for text in (status.text, offer.guarantee)]
    assert first[0] == first[1]  # after it comes the time
    assert [each.code for each in status.weakenings] == ["replace"]
    assert "Selected workers were replaced after the end" in status.text
    document = json.loads("".join(reports.dump_text(run)))
    assert verify_dump(document).findings == ()
    exported = reports.export_run(run)["workers"]
    assert {row["worker"] for row in exported} == selected(run)
    entry = run.events.get(kind=Run.REPLACED)
    assert (entry.who, entry.why) == ("ada", "left us")


def test_run_without_its_guarantee_goes_on_until_it_holds_again():
    run = ended_run(epsilon=0.12)
    offer = replace(run, min(selected(run)))
    run = Run.objects.get(pk=run.pk)
    assert not offer.keeps_guarantee
    assert offer.goes_on
    assert offer.answers is None or offer.answers[0] <= offer.answers[1]
    lifecycle.reopen_run(run, "ada")
    run = play(Run.objects.get(pk=run.pk), crowd(1, good=3))
    assert run.ended_by_guarantee
    assert len(selected(run)) == run.k


def test_algorithm_in_rounds_keeps_its_verdicts_and_places_are_filled_by_hand():
    run = ended_run("halving", budget=300)
    leaver = min(selected(run))
    offer = replace(run, leaver)
    assert offer.by_hand
    assert not offer.goes_on
    assert not offer.keeps_guarantee
    assert "No guarantee" in offer.guarantee
    assert len(offer.next_best) == 1
    rows = {row.worker.key: row.by_hand for row in run.candidates.select_related("worker")}
    assert rows[leaver] == -1
    assert rows[offer.next_best[0]] == 1


def test_draft_tests_the_others_for_the_empty_places():
    run = ended_run()
    leaver = min(selected(run))
    offer = reports.preview_replacement(run, [leaver])
    kept = selected(run) - {leaver}
    others = sorted({f"w{i}" for i in range(6)} - kept - {leaver})
    draft = replacement.draft_replacement(run, [leaver], offer.others, "ada")
    assert (draft.status, draft.k, sorted(draft.only)) == ("draft", 1, others)
    assert draft.name == f"{run.name}, replacement"


def test_impossible_replacements_are_refused_in_a_sentence():
    with pytest.raises(Conflict, match="has not ended"):
        replacement.replace_workers(make_run(), ["w0"], [])
    run = ended_run()
    unselected = min({f"w{i}" for i in range(6)} - selected(run))
    with pytest.raises(Refused, match="not among the selected"):
        reports.preview_replacement(run, [unselected])
    with pytest.raises(Refused, match="Choose at least one"):
        reports.preview_replacement(run, [])


def test_page_and_api_replace_a_worker(requester, token):
    run = ended_run()
    leaver, page = min(selected(run)), admin_url("run_replace", run.pk)
    assert page in requester.get(admin_url("run_page", run.pk)).content.decode()
    shown = requester.post(page, {"workers": [leaver]})
    offer = reports.preview_replacement(run, [leaver])
    assert f"Next best: {offer.next_best[0]}" in text_of(shown)
    assert leaver in selected(run)
    api = Client(headers={"authorization": f"Bearer {token}"})
    body = {"workers": [leaver], "preview": True}
    sent = api.post(f"/api/runs/{run.pk}/replace", body, content_type="application/json")
    assert sent.status_code == 200, sent.content
    assert sent.json()["next_best"] == offer.next_best
    assert leaver in selected(run)
    requester.post(page, {"workers": [leaver], "why": "left", "confirm": "1"})
    assert offer.next_best[0] in selected(Run.objects.get(pk=run.pk))
    assert AuditEntry.objects.filter(kind=Run.REPLACED, who="requester").exists()
    other = min(selected(Run.objects.get(pk=run.pk)))
    requester.post(page, {"workers": [other], "draft": "1"})
    assert Run.objects.filter(name=f"{run.name}, replacement", status="draft").exists()
    body = {"workers": [other], "reason": "by the API"}
    sent = api.post(f"/api/runs/{run.pk}/replace", body, content_type="application/json")
    assert sent.status_code == 200, sent.content
    assert other not in selected(Run.objects.get(pk=run.pk))
