"""The participant group of accepted workers, and that of rejected ones as a block list."""

import hashlib
from collections.abc import Iterable

from selection.grading.keys import PROLIFIC_ID
from selection.models import Candidate, RunConnection, WatchedWorker
from topk import Verdict

from .session import Session

TITLES = {"accept": "accepted", "block": "rejected"}
AT_ONCE = 500  # participants in a call


def find_wanted_members(link: RunConnection, group: str) -> set[str]:
    """Find the participants that belong into a group.

    A verdict by hand replaces the algorithm's. A worker accepted in any skill is not blocked. A
    watch of the run keeps its paused and tested workers out of the accepted.
    """
    rows = link.run.candidates.filter(worker__endpoint=None, pulls__gt=0) | (
        link.run.candidates.filter(worker__endpoint=None, by_hand__isnull=False)
    )
    accepted, rejected = set(), set()
    for key, verdict, by_hand in rows.values_list("worker__key", "verdict", "by_hand"):
        current = verdict if by_hand is None else by_hand
        if current == Verdict.ACCEPTED.value:
            accepted.add(key)
        elif current == Verdict.REJECTED.value:
            rejected.add(key)
    paused = WatchedWorker.objects.out_of_work(link.run_id).values_list("worker__key", flat=True)
    members = accepted - set(paused) if group == "accept" else rejected - accepted
    return {key for key in members if PROLIFIC_ID.fullmatch(key)}


def kept_groups(link: RunConnection) -> list[str]:
    return ["accept", "block"] if link.settings.get("block") else ["accept"]


def stale_digest(link: RunConnection) -> str:
    """Compute a digest of the wanted members; empty if the groups have them already."""
    digest = _digest(link)
    return "" if link.memory.get("members") == digest else digest


def _digest(link: RunConnection) -> str:
    parts = [[group, *sorted(find_wanted_members(link, group))] for group in kept_groups(link)]
    if not any(len(part) > 1 for part in parts) and "members" not in link.memory:
        return ""  # no group is needed yet
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def update_groups(session: Session) -> str:
    """Give the groups their members; return a sentence.

    It reads the members first, so a repeated call changes nothing. Only workers of this run are
    removed.
    """
    digest, changed = _digest(session.link), 0
    for group in kept_groups(session.link):
        members = find_wanted_members(session.link, group)
        path = f"participant-groups/{find_group(session, group)}/participants/"
        there = {one["participant_id"] for one in session.list(path)}
        changed += _send(session, "POST", path, members - there)
        changed += _send(session, "DELETE", path, _ours(session.link, there - members))
    session.note(members=digest)
    return f"{changed:,} changes in the participant groups."


def find_group(session: Session, group: str) -> str:
    """Find the id of the run's group, which is made if it does not exist."""
    groups = session.memory.get("groups", {})
    if group not in groups:
        workspace = session.link.connection.settings["workspace"]
        name = f"Run {session.link.run_id} “{session.link.run}”, {TITLES[group]}"[:100]
        rows = session.list("participant-groups/", workspace_id=workspace)
        ids = [one["id"] for one in rows if one["name"] == name]
        body = {"workspace_id": workspace, "name": name}
        group_id = ids[0] if ids else session.write("POST", "participant-groups/", body)["id"]
        groups = {**groups, group: group_id}
        session.note(groups=groups)
    number: str = groups[group]
    return number


def _ours(link: RunConnection, members: Iterable[str]) -> set[str]:
    rows = Candidate.objects.filter(run=link.run_id, worker__key__in=list(members))
    return set(rows.values_list("worker__key", flat=True))


def _send(session: Session, method: str, path: str, members: set[str]) -> int:
    ordered = sorted(members)
    for start in range(0, len(ordered), AT_ONCE):
        session.write(method, path, {"participant_ids": ordered[start : start + AT_ONCE]})
    return len(ordered)
