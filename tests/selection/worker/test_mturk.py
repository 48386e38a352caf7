"""Amazon Mechanical Turk's ExternalQuestion: preview, arrival, questions, handing in."""

import re

import pytest
from django.test import Client

from selection import engine, exports
from selection.models import Answer, Run, Worker
from selection.runs import lifecycle
from selection.runs.roster import roster_opening
from selection.worker import links
from tests.worlds import answer_all, make_run, open_of

pytestmark = pytest.mark.django_db
SANDBOX = "https://workersandbox.mturk.com"


@pytest.fixture
def run() -> Run:
    made = make_run(n=0, enrolling=True)
    made.question_set.instructions = "Look at the birds."
    made.question_set.save()
    return made


def link(run: Run) -> str:
    return links.mturk_address(run).removeprefix("http://127.0.0.1:8000")


def accepted(worker: str = "A1B2", **changes: str) -> dict[str, str]:
    return {
        "assignmentId": "3ABC",
        "hitId": "3HIT",
        "workerId": worker,
        "turkSubmitTo": SANDBOX,
    } | changes


def text(response) -> str:
    return response.content.decode()


def test_preview_shows_the_instructions_and_joins_no_worker(client, run):
    preview = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "3HIT"}
    page = client.get(link(run), preview)
    assert "Accept the task to begin" in text(page)
    assert "Look at the birds." in text(page)
    assert not Worker.objects.exists()


def test_accepting_worker_joins_answers_in_the_frame_and_submits(run):
    strict = Client(enforce_csrf_checks=True)
    arrival = strict.get(link(run), accepted())
    own = arrival.url
    assert own.startswith("/mturk/at/")
    assert run.candidates.get().worker.key == "A1B2"
    assert "externalSubmit" not in text(strict.get(own))  # nothing is done yet
    waiting = text(strict.get(f"{own}?go=20"))
    assert f'action="{SANDBOX}/mturk/externalSubmit"' in waiting
    assert 'name="assignmentId" value="3ABC"' in waiting
    assert 'value="wait"' in waiting
    engine.advance(run.pk)
    asked = text(strict.post(own, {"start": "yes"}, follow=True))
    assert "Look at the birds." in asked
    assert "externalSubmit" not in asked
    slip = open_of(run)[0]
    reply = strict.post(own, {"assignment": slip.pk, "response": "yes"}, follow=True)
    assert reply.status_code == 200
    assert Answer.objects.get().response == "yes"
    assert all(at.startswith("/mturk/at/") for at, _ in reply.redirect_chain)
    strict.post(own, {"leave": "yes"})
    assert 'name="outcome" value="gone"' in text(strict.get(own))


def test_coming_back_leads_to_the_same_worker_with_the_new_task(client, run):
    client.get(link(run), accepted())
    again = client.get(link(run), accepted(assignmentId="3DEF")).url
    assert run.candidates.count() == 1
    assert 'value="3DEF"' in text(client.get(f"{again}?go=20"))


def test_participant_of_an_ended_run_can_still_submit(client, run):
    own = client.get(link(run), accepted()).url
    lifecycle.stop_run(run)
    assert "externalSubmit" in text(client.get(own))
    assert client.get(link(run), accepted()).url.startswith("/mturk/at/")
    late = client.get(link(run), accepted("LATE"))
    assert late.status_code == 410
    assert "externalSubmit" not in text(late)


@pytest.mark.parametrize(
    "changes",
    [
        {"turkSubmitTo": "https://evil.example"},
        {"turkSubmitTo": "https://www.mturk.com.evil.example"},
        {"turkSubmitTo": "https://www.mturk.com@evil.example"},
        {"turkSubmitTo": "http://www.mturk.com"},
        {"turkSubmitTo": "javascript:alert(1)//www.mturk.com"},
        {"turkSubmitTo": "https://[www.mturk.com"},
        {"turkSubmitTo": ""},
        {"assignmentId": '"><b>'},
        {"assignmentId": ""},
    ],
)
def test_malformed_platform_parameters_are_refused_and_join_no_worker(client, run, changes):
    page = client.get(link(run), accepted(**changes))
    assert page.status_code == 400
    assert "evil" not in text(page)
    assert not run.candidates.exists()


@pytest.mark.parametrize("key", [" ", "${workerId}", "A1\u202eB2", "A1\u200b"])
def test_unreadable_worker_id_is_explained_and_joins_no_worker(client, run, key):
    page = client.get(link(run), accepted(key))
    assert page.status_code == 422
    assert "does not contain a readable worker id" in text(page)
    assert "characters" not in text(page)
    assert not Worker.objects.exists()


@pytest.mark.parametrize("origin", ["https://www.mturk.com", SANDBOX])
def test_submission_goes_to_the_origin_of_the_task(client, run, origin):
    own = client.get(link(run), accepted(turkSubmitTo=f"{origin}/")).url
    assert f'action="{origin}/mturk/externalSubmit"' in text(client.get(f"{own}?go=20"))


def test_only_mturk_addresses_may_be_framed_and_only_by_the_platform(client, run):
    own = client.get(link(run), accepted()).url
    for address in (link(run), own):
        headers = client.get(address, accepted()).headers
        policy = headers["Content-Security-Policy"]
        frames = re.search(r"frame-ancestors ([^;]*)", policy)[1].split()
        assert SANDBOX in frames
        assert all(re.fullmatch(r"https://[a-z]+\.mturk\.com", one) for one in frames)
        assert "X-Frame-Options" not in headers
        forms = re.search(r"form-action ([^;]*)", policy)[1].split()
        assert set(forms) - {"'self'"} <= {*frames, "https://www.mturk.com"}
        assert "script-src 'none'" in policy
        assert headers["Referrer-Policy"] == "no-referrer"
    worker = run.candidates.get()
    plain = client.get(f"/work/{links.worker_token(worker.pk)}/").headers
    assert plain["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in plain["Content-Security-Policy"]


def test_forged_visit_or_replaced_link_leads_nowhere(client, run):
    own = client.get(link(run), accepted()).url
    assert client.get(own[:-2] + "x/").status_code == 404
    assert client.get("/mturk/nonsense/").status_code == 404
    run.candidates.update(link_version=1)
    assert client.get(own).status_code == 404


def test_a_closed_roster_says_so_in_the_frame(client, run):
    for key in ("A", "B", "C"):
        client.get(link(run), accepted(key))
    roster_opening.close_roster(run)
    page = client.get(link(run), accepted("LATE"))
    assert page.status_code == 409
    assert not Worker.objects.filter(key="LATE").exists()


def test_a_bonus_is_paid_for_the_task_that_was_accepted_last(client, run):
    Run.objects.update(price=2, name="Birds", currency="$")
    run.refresh_from_db()
    client.get(link(run), accepted(assignmentId="3FIRST"))
    client.get(link(run), accepted(assignmentId="3LAST"))
    client.get(links.join_address(run).removeprefix("http://127.0.0.1:8000"), {"worker": "other"})
    engine.advance(run.pk)
    answer_all(run, lambda slip: "yes")
    given = Answer.objects.filter(assignment__candidate__worker__key="A1B2").count()
    assert given > 0
    context = exports.context.ExportContext(run)
    rows = b"".join(exports.payment.mturk_bonus(context)).decode("utf-8-sig").splitlines()
    assert rows == [
        "WorkerId,AssignmentId,BonusAmount,Reason",
        f"A1B2,3LAST,{2 * given}.00,Birds",
    ]
    listed = b"".join(exports.csv_file(exports.payment.payment_table(context))).decode()
    assert ",mturk,3LAST" in listed
