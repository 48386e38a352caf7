"""Workers without a counted answer: not tested, in every file and reply, for every ending."""

import io
import json

import openpyxl
import pytest
from django.test import Client

from packages.topk.tests.parameters import mostly_slow
from selection import engine, exports, reports
from selection.exports import FORMATS
from selection.models import Delivery, Run, Webhook
from selection.runs import lifecycle, manual_verdicts
from selection.runs.roster import membership
from tests.pages import admin_url, text_of
from tests.worlds import answer_all, crowd, make_run
from topk.verify import verify_dump

pytestmark = pytest.mark.django_db

NO_SHOWS = ("w4", "w5")
WHY = "mean 0.706, not among the best 2"
EVERYBODY = {"all-csv", "json", "xlsx", "report"}


def end_run(ending: str) -> Run:
    """Return a run with stored verdicts of no-shows: one was accepted, one rejected."""
    run = make_run(slots=60, slots_per_worker=10, price="0.05", currency="$")
    engine.advance(run.pk)
    respond = crowd(3, good=2, high=1.0, low=0.2)
    answer_all(
        run,
        lambda assignment: (
            None if assignment.candidate.worker.key in NO_SHOWS else respond(assignment)
        ),
    )
    engine.advance(run.pk)
    lifecycle.stop_run(run)
    stored = {"decided_why": WHY, "decided_in": 1}
    run.candidates.filter(worker__key="w4").update(verdict=1, **stored)
    run.candidates.filter(worker__key="w5").update(verdict=-1, **stored)
    Run.objects.filter(pk=run.pk).update(ending=ending)
    return Run.objects.get(pk=run.pk)


ENDINGS = pytest.mark.parametrize(
    "ending",
    mostly_slow(["guarantee", "budget", "questions", "stopped"], ("guarantee", "stopped")),
)


def export_text(run: Run, name: str) -> str:
    content = b"".join(exports.make_file(run, name).pieces)
    if name != "xlsx":
        return content.decode()
    sheets = openpyxl.load_workbook(io.BytesIO(content)).worksheets
    return "\n".join(
        ",".join(str(cell) for cell in row) for sheet in sheets for row in sheet.values
    )


@ENDINGS
def test_formats_omit_no_shows_or_call_them_not_tested(ending):
    run = end_run(ending)
    for name in FORMATS:
        if name == "dump":
            continue
        content = export_text(run, name)
        assert "0.706" not in content, name
        assert (NO_SHOWS[0] in content) == (name in EVERYBODY), name
    for name in ("all-csv", "xlsx"):
        rows = [line for line in export_text(run, name).splitlines() if line.startswith(NO_SHOWS)]
        assert len(rows) == 2
        assert all("not tested" in row and "rejected" not in row for row in rows)
        assert not any("accepted" in row or "yes" in row for row in rows)
    rows = [
        row for row in json.loads(export_text(run, "json"))["workers"] if row["worker"] in NO_SHOWS
    ]
    assert {(row["verdict"], row["selected"], row["why"], row["mean"]) for row in rows} == {
        ("not tested", False, "", None)
    }


@ENDINGS
def test_dump_selects_no_no_show_and_is_verified(ending):
    run = end_run(ending)
    document = reports.dump_run(run, anonymous=True)
    arms = set(run.candidates.filter(worker__key__in=NO_SHOWS).values_list("arm", flat=True))
    assert not arms & set(document["result"]["selection"])


@ENDINGS
def test_api_calls_no_shows_not_tested(ending, token):
    run, client = end_run(ending), Client(headers={"authorization": f"Bearer {token}"})

    def get(path: str):
        reply = client.get(f"/api/{path}")
        assert reply.status_code == 200, path
        return reply.json()

    lines = [row for row in get(f"runs/{run.pk}/standings") if row["worker"] in NO_SHOWS]
    assert {row["verdict"] for row in lines} == {"not tested"}
    assert not any(row["selected"] or row["by_algorithm"] or row["why"] for row in lines)
    assert {(row["lower"], row["upper"]) for row in lines} == {(0, 1)}
    assert len(get(f"runs/{run.pk}/standings?verdict=not tested")) == 2
    chosen = {row["worker"] for row in get(f"runs/{run.pk}/selection")["workers"]}
    assert not chosen & set(NO_SHOWS)
    progress = get(f"runs/{run.pk}")["progress"]
    assert progress["not_tested"] == 2
    counts = ("accepted", "rejected", "undecided", "not_tested")
    assert sum(progress[name] for name in counts) == 6
    for key in NO_SHOWS:
        data = json.dumps(get(f"workers/{key}/data"))
        assert "not tested" in data
        assert "0.706" not in data


def test_pages_call_no_shows_not_tested(requester):
    run = end_run("guarantee")
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "not tested 2" in text
    assert "0.706" not in text
    candidate = run.candidates.get(worker__key="w5")
    text = text_of(requester.get(admin_url("run_worker", run.pk, candidate.pk)))
    assert "– not tested" in text
    assert "No answer was counted: not tested" in text
    assert "0 / 0 / 4 / 2" in text_of(requester.get(admin_url("run_changelist")))
    settled = " ".join(reports.explain_candidate(candidate).settled)
    assert (
        settled == "Not tested: no answer was counted. The worker is neither accepted nor rejected."
    )


def test_run_without_answers_has_an_empty_selection():
    run = make_run(price="0.05", currency="$")
    engine.advance(run.pk)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    assert not any(line.selected for line in reports.worker_standings(run))
    assert reports.guarantee_of_run(run).text.startswith("No answer was counted")
    for name in set(FORMATS) - EVERYBODY - {"dump"}:
        assert "w0" not in export_text(run, name), name
    assert reports.dump_run(run)["result"]["selection"] == []
    assert verify_dump(reports.dump_run(run)).findings == ()


def test_roster_ending_selects_tested_workers_only():
    run = make_run(k=3)
    hook = Webhook.objects.create(
        team=run.team,
        url="https://example.org/",
        events=[Webhook.Event.ACCEPTED, Webhook.Event.REJECTED],
    )
    engine.advance(run.pk)
    respond = crowd(3, good=2)
    answer_all(
        run,
        lambda assignment: respond(assignment) if assignment.candidate.worker.key == "w0" else None,
    )
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w3", "w4", "w5"])
    engine.advance(run.pk)
    run.refresh_from_db()
    assert run.ending == Run.Ending.ROSTER
    assert [line.worker for line in reports.worker_standings(run) if line.selected] == ["w0"]
    assert "3 workers, 1 of them tested" in reports.guarantee_of_run(run).text
    step = run.history.order_by("number").last()
    assert (step.accepted, step.rejected) == (1, 0)
    bodies = [delivery.body for delivery in Delivery.objects.filter(webhook=hook)]
    assert len(bodies) == 1
    assert "w0" in bodies[0]


def test_platforms_get_verdicts_by_hand():
    run = end_run("stopped")
    manual_verdicts.override_verdict(run.candidates.get(worker__key="w5"), -1, "ada", "unreachable")
    assert "w5" in export_text(run, "mturk-revoke")
    assert "w4" not in export_text(run, "mturk-revoke")
