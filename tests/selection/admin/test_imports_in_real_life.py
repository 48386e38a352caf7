"""Import previews: returned places, ground truth, and recorded answers only."""

import json

import pytest

from selection import engine
from selection.models import Run
from tests.pages import admin_url, text_of
from tests.worlds import make_pool, make_run, open_of

pytestmark = pytest.mark.django_db


def preview_of(requester, target: str, pk: int, text: str):
    return requester.post(admin_url(f"{target}_import", pk), {"pasted": text}, follow=True)


def test_returned_and_timed_out_workers_are_named(requester):
    pool = make_pool(1)
    first, second, third = (f"5f2a0c1e9b3d4a001234567{number}" for number in range(3))
    text = (
        "Submission id,Participant id,Status,Started at\n"
        f"s1,{first},APPROVED,2026\ns2,{second},RETURNED,2026\ns3,{third},TIMED-OUT,2026\n"
    )
    page_text = text_of(preview_of(requester, "pool", pool.pk, text))
    words = "2 of these workers returned the submission or timed out on the platform: "
    assert f"{words}{second} , {third} ." in page_text
    assert "These workers are imported too." in page_text


def annotation(author: str, truth: bool) -> dict:
    value = {"choices": ["yes"]}
    result = [{"value": value, "from_name": "bird", "to_name": "image", "type": "choices"}]
    return {"completed_by": author, "ground_truth": truth, "result": result}


def test_the_author_of_ground_truth_is_no_worker(requester):
    annotations = [annotation("expert@x.org", True), annotation("ada@x.org", False)]
    text = json.dumps([{"id": 1, "data": {"text": "A bird?"}, "annotations": annotations}])
    pool = make_pool(0)
    page = preview_of(requester, "pool", pool.pk, text)
    requester.post(page.redirect_chain[-1][0], {})
    assert list(pool.workers.values_list("key", flat=True)) == ["ada@x.org"]


def test_click_imports_answers_and_stops_dealing(requester):
    run = make_run(n=4, k=1)
    engine.advance(run.pk)
    text = "worker,question,response\n" + "".join(f"w0,q{i},yes\n" for i in range(40))
    page = preview_of(requester, "run", run.pk, text)
    assert "Recorded answers only" in text_of(page)
    requester.post(page.redirect_chain[-1][0], {"recorded_only": "1"})
    engine.advance(run.pk)
    run.refresh_from_db()
    assert run.recorded_only
    assert run.has_recorded
    assert not open_of(run)
    assert run.events.get(kind="recorded only").who == "requester"


def test_a_run_of_recorded_answers_gets_no_offer(requester):
    run = make_run(n=4, k=1, recorded_only=True)
    page = preview_of(requester, "run", run.pk, "worker,question,response\nw0,q1,yes\n")
    assert "Recorded answers only" not in text_of(page)
    assert Run.objects.get(pk=run.pk).recorded_only
