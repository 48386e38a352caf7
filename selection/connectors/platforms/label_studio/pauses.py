"""Pauses of members in the production project, to follow those of the watch."""

from selection.connectors import gold_plan, health
from selection.connectors.faults import Rejected
from selection.models import WatchConnection, WatchedMember

from .client import Client, NoPauses

Pause = WatchedMember.Pause
WHY = "Your work in this project is paused. Please ask the people who run it."


def keep_pauses(link: WatchConnection, client: Client) -> None:
    """Pause the members of paused workers, and end our other pauses.

    Each call looks first: a repeated one changes nothing, and a pause by hand is left alone.
    """
    for member in gold_plan.stale_members(link):
        if not member.pause:
            member.pause = _pause(link, member, client)
        else:
            _end_pauses(link, member, client)
            member.pause = Pause.NONE
        member.save(update_fields=["pause"])


def _pause(link: WatchConnection, member: WatchedMember, client: Client) -> Pause:
    try:
        if not _own_pauses(link, member, client):
            why = f"{WHY} {_mark(link)}"
            client.pause_member(member.place, member.outside_id, why)
    except Rejected as fault:
        if not isinstance(fault, NoPauses):
            health.note_problem(link, str(fault))
        return Pause.REFUSED
    return Pause.PAUSED


def _end_pauses(link: WatchConnection, member: WatchedMember, client: Client) -> None:
    if member.pause != Pause.PAUSED:
        return
    try:
        for pause in _own_pauses(link, member, client):
            client.end_pause(member.place, member.outside_id, pause)
    except Rejected:
        health.note_problem(
            link,
            f"The pause of member {member.outside_id} in project {member.place} could not be "
            "ended: end it in Label Studio by hand.",
        )


def _own_pauses(link: WatchConnection, member: WatchedMember, client: Client) -> list[int]:
    rows = client.list_pauses(member.place, member.outside_id)
    ours = [one for one in rows if _mark(link) in str(one.get("verbose_reason"))]
    return [int(one["id"]) for one in ours if not one.get("deleted_at")]


def _mark(link: WatchConnection) -> str:
    return f"[cs-{link.connection.salt[:6]}-{link.watch_id}]"
