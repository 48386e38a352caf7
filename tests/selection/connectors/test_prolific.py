"""Prolific against a server built from its reference: study, groups and submissions."""

import json
from datetime import timedelta

import pytest

from selection import connectors, db_clock, engine
from selection.connectors import intake
from selection.connectors.connector import Incoming
from selection.connectors.faults import NotAuthentic
from selection.connectors.platforms import prolific
from selection.connectors.secret_store import read_secrets
from selection.errors import Conflict, Refused
from selection.models import Connection, ConnectorCall, Run, RunConnection, WatchedWorker
from selection.runs import manual_verdicts, worker_texts
from selection.watches import alarms, begin
from tests.prolific_stub import TOKEN, WORKSPACE, sign
from tests.prolific_world import (
    DUE,
    HOOK,
    SETTINGS,
    URL,
    WORKERS,
    answered,
    exchange,
    judge,
    members,
)
from tests.worlds import answer_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(prolific_run: Run) -> Run:
    return prolific_run


@pytest.fixture
def link(prolific_link: RunConnection) -> RunConnection:
    return prolific_link


# -- the account


def test_a_wrong_token_and_a_wrong_workspace_are_told(there):
    given = {"team": 1, "kind": "prolific", "name": "Lab", "address": there.url}
    with pytest.raises(Refused, match="Prolific refuses the API token"):
        connectors.create_connection(
            **given, secrets={"token": "wrong-token"}, settings={"workspace": WORKSPACE}
        )
    with pytest.raises(Refused, match="There is no workspace “x”; there are: 644aaabf"):
        connectors.create_connection(**given, secrets={"token": TOKEN}, settings={"workspace": "x"})
    assert not Connection.objects.exists()


@pytest.mark.parametrize("name", ["places", "reward", "minutes"])
def test_a_study_needs_places_a_reward_and_a_time(run, lab, name):
    with pytest.raises(Refused, match="at least 1"):
        connectors.connect_run(run, lab, SETTINGS | {name: 0})


# -- the study


def test_a_draft_study_has_the_run_s_link_codes_places_and_reward(study, there, run):
    (made,) = there.studies.values()
    assert made["external_study_url"] == URL
    assert made["prolific_id_option"] == "url_parameters"
    assert (made["total_available_places"], made["reward"]) == (6, 150)
    codes = [one["code"] for one in made["completion_codes"]]
    assert codes == [worker_texts.completion_code(run, name) for name in worker_texts.OUTCOMES]
    block = next(one for one in there.groups.values() if one["name"].endswith("rejected"))
    (only,) = made["filters"]
    assert only == {"filter_id": "participant_group_blocklist", "selected_values": [block["id"]]}
    assert study.memory["study"] == made["id"]
    with pytest.raises(Conflict, match="exists already"):
        prolific.request_study(study, URL)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["lost", 429, 500, "500 after"])
@pytest.mark.parametrize("at", [0, 1])
def test_study_and_its_group_are_created_once_despite_faults(link, there, fault, at):
    there.faults["POST"] = [None] * at + [fault]
    prolific.request_study(link, URL)
    for _ in range(4):
        exchange(link)
    assert len(there.studies) == 1
    assert len([one for one in there.groups.values() if one["name"].endswith("rejected")]) == 1
    assert link.memory["study"] in there.studies


# -- groups


def test_groups_follow_new_manual_and_withdrawn_verdicts(study, there, run):
    judge(run, WORKERS[:2], WORKERS[2:4])
    exchange(study)
    assert members(there, "accepted") == set(WORKERS[:2])
    assert members(there, "rejected") == set(WORKERS[2:4])
    candidate = run.candidates.get(worker__key=WORKERS[4])
    manual_verdicts.override_verdict(candidate, 1, why="An interview.")
    manual_verdicts.override_verdict(run.candidates.get(worker__key=WORKERS[0]), -1, why="Rude.")
    exchange(study)
    assert members(there, "accepted") == {WORKERS[1], WORKERS[4]}
    assert members(there, "rejected") == {WORKERS[0], *WORKERS[2:4]}


def test_paused_workers_leave_the_group_and_return_years_after_the_run(study, there, run):
    judge(run, WORKERS[:3], [])
    exchange(study)
    watch = begin.create_watch(
        run.pool, [run.question_set], dict.fromkeys(WORKERS[:3]), run, name="after", level=0.8
    )
    ended = db_clock.database_now() - timedelta(days=800)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.ENDED, ended=ended)

    def act(action: str, why: str = "", worker: str = WORKERS[0]) -> set[str]:
        alarms.ACTIONS[action](alarms.find_watched(watch, worker), "ada", why)
        exchange(study)
        return members(there, "accepted")

    assert act("pause") == set(WORKERS[1:3])
    assert act("resume") == set(WORKERS[:3])
    assert act("pause") == set(WORKERS[1:3])
    assert act("requalify") == set(WORKERS[1:3])
    assert act("pause") == set(WORKERS[1:3])
    assert act("resume") == set(WORKERS[1:3])  # the test goes on
    assert members(there, "rejected") == set()
    WatchedWorker.objects.filter(worker__key=WORKERS[1]).update(alarmed=ended, state="paused")
    exchange(study)
    assert members(there, "accepted") == {WORKERS[2]}
    assert act("dismiss", "new task", WORKERS[1]) == set(WORKERS[1:3])


def test_a_verdict_of_the_engine_reaches_the_group_at_the_next_exchange(study, there, run):
    good = set(WORKERS[:2])
    for _ in range(60):
        answer_all(run, lambda one: "yes" if one.candidate.worker.key in good else "no")
        if engine.advance(run.pk) is None:
            break
        exchange(study)
    run.refresh_from_db()
    exchange(study)
    assert run.status == Run.Status.ENDED
    assert members(there, "accepted") == good


def test_participants_added_by_hand_stay_in_the_group(study, there, run):
    judge(run, WORKERS[:1], [])
    exchange(study)
    (group,) = [one for one in there.groups.values() if one["name"].endswith("accepted")]
    group["members"].append("f" * 24)
    judge(run, WORKERS[1:2], WORKERS[:1])
    exchange(study)
    assert members(there, "accepted") == {WORKERS[1], "f" * 24}


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["lost", 429, 500, "500 after"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_groups_are_correct_after_faults(study, there, run, method, fault):
    judge(run, WORKERS[:2], WORKERS[2:3])
    exchange(study)
    judge(run, WORKERS[1:3], WORKERS[:1])
    there.faults[method] = [fault, fault]
    for _ in range(4):
        exchange(study)
    assert members(there, "accepted") == set(WORKERS[1:3])
    assert members(there, "rejected") == {WORKERS[0]}
    assert not ConnectorCall.objects.pending().exists()
    assert len(there.groups) == 2


def test_ids_of_other_platforms_are_not_sent(study, there, run):
    run.pool.workers.filter(key=WORKERS[0]).update(key="anna")
    judge(run, ["anna", WORKERS[1]], [])
    exchange(study)
    assert members(there, "accepted") == {WORKERS[1]}


# -- submissions


def gone(run: Run, worker: str) -> str:
    return run.candidates.get(worker__key=worker).gone


def test_returned_and_timed_out_submissions_count_as_left(study, there, run):
    there.submit(WORKERS[0], "RETURNED")
    there.submit(WORKERS[1], "TIMED-OUT")
    for worker in WORKERS[2:]:
        there.submit(worker, "ACTIVE")
    exchange(study)
    assert [gone(run, worker) for worker in WORKERS[:3]] == ["left", "left", ""]


def test_a_message_is_believed_with_its_signature_only(study, there, run, lab):
    event = {"event_type": "submission.status.change", "resource_id": "s1"}
    body = json.dumps(event | {"participant_id": WORKERS[1], "status": "RETURNED"}).encode()
    at = int(db_clock.database_now().timestamp())

    def message(signature: str, sent: int = at) -> Incoming:
        headers = {
            "x-prolific-request-timestamp": str(sent),
            "x-prolific-request-signature": signature,
        }
        return Incoming(headers, body)

    old = at - 3600
    for bad in (message(sign("other", at, body)), message(""), message(sign(HOOK, old, body), old)):
        with pytest.raises(NotAuthentic):
            prolific.CONNECTOR.authenticate(lab, bad)
    good = message(sign(HOOK, at, body))
    prolific.CONNECTOR.authenticate(lab, good)
    intake.receive_message(lab, good)
    assert gone(run, WORKERS[1]) == "left"
    assert gone(run, WORKERS[0]) == ""
    body = b"[]"
    with pytest.raises(Refused, match="is not an event"):
        intake.receive_message(lab, message(sign(HOOK, at, body)))


def test_an_unsigned_account_takes_no_message(there):
    plain = connectors.create_connection(
        1, "prolific", "Plain", {"token": TOKEN}, there.url, {"workspace": WORKSPACE}
    )
    empty = Incoming({}, b"{}")
    with pytest.raises(NotAuthentic):
        prolific.CONNECTOR.authenticate(plain, empty)


@pytest.mark.slow
@pytest.mark.parametrize("there_already", [[], ["their-secret"]])
@pytest.mark.parametrize("fault", [None, "lost", 429, 500])
def test_messages_are_subscribed_once_with_the_workspace_s_secret(
    study, there, fault, there_already
):
    connectors.save_connection(
        study.connection,
        name="Lab",
        address=there.url,
        secrets={"hook_secret": ""},
        settings={"workspace": WORKSPACE},
    )
    there.secrets = there_already
    there.faults["POST"] = [fault]
    at = "https://crowd.example.org/connectors/1/messages/"
    prolific.request_messages(study, at)
    for _ in range(3):
        exchange(study)
    prolific.request_messages(study, at)
    exchange(study)
    assert [one["target_url"] for one in there.hooks.values() if one["is_enabled"]] == [at]
    assert there_already in ([], there.secrets)
    stored = read_secrets(Connection.objects.get())
    assert stored == {"token": TOKEN, "hook_secret": there.secrets[0]}
    with pytest.raises(Refused, match="https addresses only"):
        prolific.request_messages(study, "http://127.0.0.1/")


def test_submissions_with_the_code_are_approved_and_never_rejected(study, there, run):
    answered(run)
    done = worker_texts.completion_code(run, "done")
    other = worker_texts.completion_code(run, "nothing")
    right = there.submit(WORKERS[0], "AWAITING REVIEW", done)
    wrong = there.submit(WORKERS[1], "AWAITING REVIEW", other)
    absent = there.submit(WORKERS[2], "AWAITING REVIEW", "")
    exchange(study)
    exchange(study)
    exchange(study)
    status = {number: one["status"] for number, one in there.submissions.items()}
    assert status == {right: "APPROVED", wrong: "AWAITING REVIEW", absent: "AWAITING REVIEW"}
    assert there.writes().count(("POST", f"submissions/{right}/transition/")) == 1
    assert "REJECT" not in json.dumps(there.calls)


def test_a_worker_without_an_answer_is_left_for_review(study, there, run):
    done = worker_texts.completion_code(run, "done")
    number = there.submit(WORKERS[0], "AWAITING REVIEW", done)
    exchange(study)
    exchange(study)
    assert there.submissions[number]["status"] == "AWAITING REVIEW"


def test_an_approval_that_waits_is_not_made_after_it_was_switched_off(study, there, run):
    answered(run)
    number = there.submit(WORKERS[0], "AWAITING REVIEW", worker_texts.completion_code(run, "done"))
    exchange(study)
    there.faults["GET"] = ["500"]
    exchange(study)
    assert study.calls.pending().filter(kind="approve").exists()
    connectors.connect_run(run, study.connection, SETTINGS | {"approve": False})
    exchange(study)
    assert there.submissions[number]["status"] == "AWAITING REVIEW"
    assert not study.calls.pending().exists()


def test_a_refused_approval_does_not_stop_the_others(study, there, run):
    answered(run)
    done = worker_texts.completion_code(run, "done")
    numbers = [there.submit(worker, "AWAITING REVIEW", done) for worker in WORKERS[:2]]
    exchange(study)
    there.faults["POST"] = [400]
    exchange(study)
    assert [there.submissions[number]["status"] for number in numbers] == [
        "AWAITING REVIEW",
        "APPROVED",
    ]


def test_a_submission_to_another_study_is_not_approved(study, there, run):
    """A worker wrote its number into the link, and a message about it came."""
    answered(run)
    done = worker_texts.completion_code(run, "done")
    mine = there.submit(WORKERS[0], "AWAITING REVIEW", done)
    exchange(study)
    other = there.new_id()
    there.submissions[other] = there.submissions[mine] | {"id": other, "study_id": "other"}
    study.workers.update(outside_id=other)
    for _ in range(3):
        exchange(study)
    assert there.submissions[other]["status"] == "AWAITING REVIEW"
    assert there.submissions[mine]["status"] == "APPROVED"


def test_a_submission_that_is_gone_is_asked_about_once(study, there, run):
    answered(run)
    there.submit(WORKERS[0], "AWAITING REVIEW", worker_texts.completion_code(run, "done"))
    exchange(study)
    there.submissions.clear()
    for _ in range(3):
        exchange(study)
    assert ConnectorCall.objects.filter(kind="approve").count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["lost", 429, 500, "500 after"])
def test_an_approval_is_made_once_after_faults(study, there, run, fault):
    answered(run)
    done = worker_texts.completion_code(run, "done")
    numbers = [there.submit(worker, "AWAITING REVIEW", done) for worker in WORKERS[:2]]
    exchange(study)
    there.faults["POST"] = [fault]
    for _ in range(4):
        exchange(study)
    assert {there.submissions[number]["status"] for number in numbers} == {"APPROVED"}
    assert not ConnectorCall.objects.pending().exists()
    assert not ConnectorCall.objects.filter(due=None, delivered=None).exists()


# -- the dry run


def test_dry_run_lists_the_calls_and_makes_only_reading_ones(link, there, run):
    answered(run)
    judge(run, WORKERS[:1], WORKERS[1:2])
    planned = prolific.dry_run(link, URL, {})
    writes = [(one.method, one.path) for one in planned if one.method != "GET"]
    assert writes == [
        ("POST", "participant-groups/"),
        ("POST", "studies/"),
        ("POST", "participant-groups/"),
        ("POST", "participant-groups/(new)/participants/"),
        ("POST", "participant-groups/(new)/participants/"),
    ]
    (study,) = [one.body for one in planned if one.path == "studies/" and one.body]
    assert study["external_study_url"] == URL
    assert there.writes() == []
    link.refresh_from_db()
    assert link.memory == {}
    before = len(there.calls)
    prolific.request_study(link, URL)
    exchange(link)
    made = [call for call in there.writes() if call[0] == "POST"]
    assert len(made) == len(writes)
    assert len(there.calls) > before


def test_a_dry_run_lists_approvals_and_bonuses(payable, there, run):
    answered(run)
    done = worker_texts.completion_code(run, "done")
    there.submit(WORKERS[3], "AWAITING REVIEW", done)
    RunConnection.objects.update(polled=None)
    list(prolific.CONNECTOR.poll(payable))
    before = there.writes()
    planned = prolific.dry_run(payable, URL, DUE)
    assert there.writes() == before
    writes = [(one.method, one.path) for one in planned if one.method != "GET"]
    assert [path.rpartition("/")[0].rpartition("/")[2] for _, path in writes] == [
        "transition",
        "bonus-payments",
        "pay",
    ]
    assert planned[-2].body["csv_bonuses"] == f"{WORKERS[0]},1.50\n{WORKERS[1]},0.75\n"
    assert not there.bulks
