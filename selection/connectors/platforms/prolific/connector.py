"""Prolific as a connector."""

import base64
import hashlib
import hmac
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db import transaction

from selection import db_clock
from selection.connectors.call_queue import queue_call
from selection.connectors.connector import (
    Connector,
    Incoming,
    News,
    OutsideSubmission,
    Secret,
    Setting,
)
from selection.connectors.faults import Fault, NotAuthentic
from selection.connectors.secret_store import hide_secrets, read_secrets
from selection.errors import Conflict, Refused
from selection.models import Connection, ConnectorCall, Run, RunConnection
from selection.outside_text import parse_json

from . import bonuses, groups, hooks, session, study, submissions
from .session import PlannedCall, Session

OLDEST_MESSAGE = 300  # seconds


class Prolific(Connector):
    """Participants of Prolific: a draft study, groups, submissions, approvals and bonuses."""

    name, label = "prolific", "Prolific"
    about = (
        "CrowdSelect creates a draft study, keeps a participant group of the accepted workers, "
        "follows submissions, approves those with the code, and pays bonuses that you confirm."
    )
    address = "https://api.prolific.com/api/v1"
    secrets = (
        Secret("token", "API token", "Prolific shows it under Settings, API tokens."),
        Secret(
            "hook_secret",
            "webhook secret",
            "The secret of your workspace’s hooks, if Prolific is to send messages here.",
            required=False,
        ),
    )
    settings = (Setting("workspace", "Workspace id", required=True),)
    run_settings = (
        Setting("places", "Places", 0, "Number of participants.", kind="number"),
        Setting("reward", "Reward", 0, "For a submission, in pence or cents.", kind="number"),
        Setting("minutes", "Estimated time (minutes)", 10, kind="number"),
        Setting("title", "Title", help="Shown to participants. Leave blank for the run’s name."),
        Setting("description", "Description", help="Shown to participants."),
        Setting("project", "Project id", help="Leave blank for the account’s own."),
        Setting("approve", "Approve submissions with the completion code", True, kind="yes"),
        Setting("block", "Block rejected workers from the study", False, kind="yes"),
    )
    actions = {
        "study": "Create a draft study",
        "groups": "Update participant groups",
        "approve": "Approve submissions",
        "bonuses": "Pay bonuses",
        "hooks": "Subscribe to messages",
    }
    outlasts_run = True

    def check(self, connection: Connection) -> str:
        account = session.call(connection, "GET", "users/me/")
        choice = connection.settings["workspace"]
        rows = session.call(connection, "GET", "workspaces/")["results"]
        workspace = next((one for one in rows if one["id"] == choice), None)
        if workspace is None:
            options = ", ".join(f"{one['id']} ({one['title']})" for one in rows[:5]) or "none"
            raise Refused(f"There is no workspace “{choice}”; there are: {options}.")
        return f"Account {account.get('email') or account['id']}, workspace “{workspace['title']}”."

    def prepare(self, link: RunConnection) -> None:
        study.check_settings(link)

    def plan(self, link: RunConnection) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if digest := groups.stale_digest(link):
            yield "groups", {"members": digest}
        if numbers := submissions.approvable(link):
            yield "approve", {"submissions": numbers}

    def perform(self, link: RunConnection, kind: str, data: Mapping[str, Any], again: bool) -> str:
        return _perform(Session(link), kind, data)

    def poll(self, link: RunConnection) -> Iterable[News]:
        ours = Session(link)
        if "study" not in link.memory:
            return
        rows = submissions.read_submissions(ours)
        yield from submissions.take_states(link, rows)
        bonuses.verify_uncertain(ours, rows)

    # -- messages

    def authenticate(self, connection: Connection, message: Incoming) -> None:
        """Check the signature of the time and the body, see *Webhooks: verifying*."""
        secret = read_secrets(connection).get("hook_secret", "")
        sent = message.headers.get("x-prolific-request-timestamp", "")
        signature = message.headers.get("x-prolific-request-signature", "")
        if not secret or not sent.isdecimal() or len(sent) > 12:
            raise NotAuthentic
        if abs(db_clock.database_now().timestamp() - int(sent)) > OLDEST_MESSAGE:
            raise NotAuthentic
        digest = hmac.new(secret.encode(), sent.encode() + message.body, hashlib.sha256).digest()
        if not hmac.compare_digest(base64.b64encode(digest), signature.encode()):
            raise NotAuthentic

    def receive(self, connection: Connection, message: Incoming) -> Iterable[News]:
        try:
            event = parse_json(message.body)
            if event["event_type"] != "submission.status.change":
                return []
            number, worker = str(event["resource_id"]), str(event["participant_id"])
            status = str(event["status"])
        except (ValueError, KeyError, TypeError):
            raise Refused("The message is not an event of Prolific’s hooks.") from None
        rows = connection.runs.filter(on=True).select_related("run", "connection")
        ours = rows.filter(run__candidates__task=number) | rows.filter(workers__outside_id=number)
        return [OutsideSubmission(link, worker, status, number) for link in ours.distinct()]


CONNECTOR = Prolific()


def find_link(run: Run) -> RunConnection:
    rows = run.connections.filter(on=True, connection__kind=Prolific.name)
    link = rows.select_related("run", "connection").first()
    if link is None:
        raise Conflict("This run has no connection to Prolific: connect it first.")
    return link


def count_submissions(link: RunConnection) -> dict[str, int]:
    """Count submissions by state, as of the last poll."""
    states = (one.notes.get("status", "") for one in link.workers.all())
    return dict(Counter(state for state in states if state))


def _perform(ours: Session, kind: str, data: Mapping[str, Any]) -> str:
    if kind == "study":
        return study.create_study(ours, data["url"])
    if kind == "groups":
        return groups.update_groups(ours)
    if kind == "approve":
        if not (ours.link.on and ours.link.settings.get("approve")):
            return "Approvals were switched off."
        return submissions.approve(ours, list(data["submissions"]))
    if kind == "hooks":
        return hooks.subscribe(ours, data["url"])
    if kind == "bonuses":
        return bonuses.pay_batch(ours, data["batch"])
    raise Refused(f"Prolific has no action “{kind}”.")


@transaction.atomic
def request_study(link: RunConnection, url: str) -> ConnectorCall:
    """Queue the creation of the draft study, whose participants follow this link.

    Raises Conflict if it exists or is on its way.
    """
    locked = RunConnection.objects.select_for_update().get(pk=link.pk)
    if locked.memory.get("study"):
        raise Conflict(f"The study {locked.memory['study']} exists already.")
    if locked.calls.pending().filter(kind="study").exists():
        raise Conflict("The study is being created.")
    return queue_call(locked.connection, "study", {"url": url}, locked)


def request_messages(link: RunConnection, url: str) -> ConnectorCall:
    """Queue the subscription to messages at this address. Raises Refused unless it is https."""
    if not url.startswith("https://"):
        raise Refused("Prolific sends messages to https addresses only: set PUBLIC_URL to one.")
    return queue_call(link.connection, "hooks", {"url": url}, link)


def dry_run(link: RunConnection, url: str, due: Mapping[str, Any]) -> list[PlannedCall]:
    """Plan every call that would be made now, in order; only those that read are made.

    due  the whole amount of each worker, as for bonuses

    Raises Refused if Prolific cannot be read.
    """
    try:
        return _plan_all(link, url, due)
    except Fault as fault:
        raise Refused(hide_secrets(link.connection, str(fault))) from None


def _plan_all(link: RunConnection, url: str, due: Mapping[str, Any]) -> list[PlannedCall]:
    planned: list[PlannedCall] = []
    fresh = RunConnection.objects.select_related("run", "connection").get(pk=link.pk)
    ours = Session(fresh, planned)
    if not fresh.memory.get("study"):
        study.create_study(ours, url)
    for kind, data in CONNECTOR.plan(fresh):
        _perform(ours, kind, data)
    submissions.read_submissions(ours)
    if rows := bonuses.propose_bonuses(fresh, due).rows:
        bonuses.plan_payment(ours, rows)
    return planned
