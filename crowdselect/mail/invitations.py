"""Invitations with the personal link, and one reminder for workers who have not started."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from selection import db_clock
from selection.errors import Conflict, Refused
from selection.history import events
from selection.models import Candidate, Run
from selection.texts import count_noun

from . import delivery, opt_outs, texts
from .models import Mail, OptOut, has_server, recipient_digest
from .server import require_server

State, Kind = Mail.State, Mail.Kind


@dataclass(frozen=True)
class InvitationPlan:
    """The workers that would be invited now, as candidates, and the numbers of the others."""

    candidates: list[int]
    invited: int = 0
    without_address: int = 0
    unsubscribed: int = 0
    failed: int = 0

    @property
    def messages(self) -> int:
        return len(self.candidates)


def plan_invitations(run: Run) -> InvitationPlan:
    """Plan invitations. An address that failed in any run of the team is left out."""
    team, opted = run.team_id, set(_digests(OptOut.objects.filter(team=run.team_id)))
    refused = set(_digests(Mail.objects.filter(run__team=team, state=State.REFUSED)))
    invitations = Mail.objects.filter(kind=Kind.INVITATION).exclude(state=State.SKIPPED)
    invitation = invitations.filter(candidate=OuterRef("pk"))
    rows = run.candidates.filter(skill=0, gone="").annotate(invited=Exists(invitation))
    columns = ("pk", "invited", "worker__key", "worker__mail_address")
    groups: dict[str, list[int]] = {}
    for pk, invited, key, address in rows.order_by("pk").values_list(*columns):
        digests = opt_outs.recipient_digests(team, key, address)
        fate = "candidates"
        if invited:
            fate = "invited"
        elif not address:
            fate = "without_address"
        elif digests & opted:
            fate = "unsubscribed"
        elif digests & refused:
            fate = "failed"
        groups.setdefault(fate, []).append(pk)
    candidates = groups.pop("candidates", [])
    return InvitationPlan(candidates, **{fate: len(pks) for fate, pks in groups.items()})


def _digests(rows: QuerySet[OptOut] | QuerySet[Mail]) -> Iterable[str]:
    return rows.values_list("digest", flat=True)


def refuse_invitations(run: Run) -> None:
    """Raise Refused or Conflict if nobody can be invited to this run now."""
    require_server()
    if run.recorded_only:
        raise Conflict("This run uses imported answers only: workers have no links.")
    if run.status == Run.Status.DRAFT:
        raise Conflict("This run has not started: its workers have no links yet.")
    if run.status == Run.Status.ENDED:
        raise Conflict("This run has ended: its links no longer work.")


@transaction.atomic
def send_invitations(run: Run, who: str = "", why: str = "") -> InvitationPlan:
    """Write an invitation to each worker who has none; return the plan that was carried out.

    Raises Refused or Conflict.
    """
    locked = Run.objects.lock(run.pk)
    refuse_invitations(locked)
    plan = plan_invitations(locked)
    if not plan.messages:
        raise Refused(
            "There are no workers to invite: all are invited, unsubscribed or unreachable."
        )
    _forget_skipped(locked, set(plan.candidates))
    _write_mails(locked, Kind.INVITATION, plan.candidates)
    what = f"Invitations to {count_noun(plan.messages, 'worker')} were queued."
    events.write_event(locked, "mail", what, who, why)
    return plan


def _forget_skipped(run: Run, candidates: set[int]) -> None:
    """Delete the invitations that these candidates did not get, in favour of new ones."""
    skipped = Mail.objects.filter(run=run, kind=Kind.INVITATION, state=State.SKIPPED)
    rows = skipped.values_list("pk", "candidate")
    skipped.filter(pk__in=[pk for pk, candidate in rows if candidate in candidates]).delete()


@transaction.atomic
def cancel_waiting(run: Run, who: str = "", why: str = "") -> int:
    """Take the invitations and reminders that wait out of the outbox; return their number.

    Cancelled workers may be invited later; a cancelled reminder is not written again.
    """
    locked = Run.objects.lock(run.pk)
    waiting = Mail.objects.filter(run=locked, state=State.WAITING)
    count, _by_model = waiting.filter(kind=Kind.INVITATION).delete()
    reminders = waiting.filter(kind=Kind.REMINDER)
    count += reminders.update(state=State.SKIPPED, due=None, said="cancelled")
    if count:
        what = f"Cancelled: {count_noun(count, 'message')} to workers."
        events.write_event(locked, "mail", what, who, why)
    return count


def retryable(run: Run) -> QuerySet[Mail]:
    """List the messages to workers that failed, or may have arrived.

    A failed address is tried again only once it has been changed.
    """
    mails = Mail.objects.filter(run=run).undelivered()
    moved = Q(state=State.REFUSED, pk__in=_moved(mails))
    return mails.filter(Q(state=State.FAILED) | mails.interrupted() | moved)


def _moved(mails: QuerySet[Mail]) -> list[int]:
    """Find the ids of messages whose failed address has been changed since."""
    refused = mails.filter(state=State.REFUSED)
    columns = ("pk", "digest", "run__team", "candidate__worker__mail_address")
    return [
        pk
        for pk, digest, team, address in refused.values_list(*columns)
        if address and recipient_digest(team, address) != digest
    ]


@transaction.atomic
def retry_failed(run: Run, who: str = "", why: str = "") -> int:
    """Send the ``retryable`` messages again; return their number. Raises Refused or Conflict."""
    locked = Run.objects.lock(run.pk)
    refuse_invitations(locked)
    fresh = {"state": State.WAITING, "due": db_clock.database_now(), "tries": 0, "said": ""}
    count = retryable(locked).update(**fresh)
    if count:
        delivery.request_delivery()
        what = f"Sent again: {count_noun(count, 'message')} that had failed."
        events.write_event(locked, "mail", what, who, why)
    return count


def write_reminders() -> None:
    """Write the reminders that are due, one per worker at most."""
    if not has_server():
        return
    invited = Mail.objects.filter(kind=Kind.INVITATION, state=State.SENT)
    runs = Run.objects.running().filter(recorded_only=False)
    for run in runs.filter(Exists(invited.filter(run=OuterRef("pk")))):
        hours = texts.read_settings(run).remind_hours
        if hours:
            early = invited.filter(sent__lte=db_clock.database_now() - timedelta(hours=hours))
            reminded = Mail.objects.filter(kind=Kind.REMINDER, candidate=OuterRef("pk"))
            rows = run.candidates.filter(skill=0, gone="", seen=None, pulls=0)
            rows = rows.filter(Exists(early.filter(candidate=OuterRef("pk"))), ~Exists(reminded))
            _write_mails(run, Kind.REMINDER, list(rows.values_list("pk", flat=True)))


def _write_mails(run: Run, kind: str, candidates: list[int]) -> None:
    now = db_clock.database_now()
    delivery.write_mails(
        [
            Mail(run=run, kind=kind, candidate_id=pk, name=f"{kind} {pk}", made=now, due=now)
            for pk in candidates
        ]
    )


# -- reads


def count_states(run: Run) -> dict[str, dict[str, int]]:
    rows = Mail.objects.filter(run=run).exclude(candidate=None).order_by()
    counts: dict[str, dict[str, int]] = {kind: {} for kind in texts.KINDS}
    for kind, state, count in rows.values_list("kind", "state").annotate(count=Count("pk")):
        counts[kind][state] = count
    return counts


def invited_keys(run: Run, among: Iterable[str] | None = None) -> set[str]:
    """List the ids of the workers, of all or among these, that an invitation was sent to."""
    mails = Mail.objects.filter(run=run, kind=Kind.INVITATION, state=State.SENT)
    rows = mails if among is None else mails.filter(candidate__worker__key__in=list(among))
    return set(rows.values_list("candidate__worker__key", flat=True))


def failed_mails(run: Run) -> QuerySet[Mail]:
    """List the messages to workers that failed for good, or may have arrived."""
    return Mail.objects.filter(run=run).undelivered().select_related("candidate__worker")


def mails_to(candidate: Candidate) -> QuerySet[Mail]:
    same = {"candidate__worker": candidate.worker_id, "run": candidate.run_id}
    return Mail.objects.filter(**same)
