"""E-mail to a run's workers: texts, invitations and their outcomes."""

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Field, Schema, Status

from selection.api.base import api, find_object, requester_name
from selection.api.fields import WHOLE, Id, Part, Reason, Yes
from selection.models import Run

from . import invitations, texts
from .invitations import InvitationPlan
from .models import MOST_REMIND_HOURS
from .texts import LONGEST_BODY, LONGEST_SUBJECT, Text

MOST_FAILURES = 1000


class TextPart(Schema):
    subject: str = Field("", max_length=LONGEST_SUBJECT, examples=["Questions for you"])
    body: str = Field(
        "",
        max_length=LONGEST_BODY,
        description="With {link} for the personal link; {name} for the worker's name. Empty: the "
        "default text.",
        examples=["Please answer some questions: {link}"],
    )


class MailIn(Part):
    remind_hours: Annotated[int, Field(ge=0, le=MOST_REMIND_HOURS), WHOLE] | None = Field(
        None,
        description="Hours from the invitation to the only reminder. 0: no reminder; null: no "
        "change.",
    )
    language: str = Field(
        "", description="Of workers whose attributes name none (en, de, ar). Empty: no change."
    )
    texts: dict[str, dict[str, TextPart]] = Field(
        {},
        description="By language (en, de, ar) and kind (invitation, reminder); other texts stay.",
        examples=[{"en": {"invitation": {"subject": "Hello", "body": "Here: {link}"}}}],
    )


class FailureOut(Schema):
    worker: str = Field(examples=["A1B2C3"])
    kind: str = Field(examples=["invitation"])
    outcome: str = Field(examples=["address failed: 550 5.1.1 user unknown"])


class MailOut(Schema):
    remind_hours: int = Field(examples=[48])
    language: str = Field(examples=["en"])
    texts: dict[str, dict[str, TextPart]]
    counts: dict[str, dict[str, int]] = Field(
        description="Number of messages by kind and state: waiting, sending, sent, refused (the "
        "address failed), failed, skipped.",
        examples=[{"invitation": {"sent": 24}, "reminder": {}}],
    )
    failures: list[FailureOut] = Field(description="The latest 1,000.")


class InviteIn(Part):
    preview: Yes = Field(False, description="Only return the numbers; send nothing.")
    retry: Yes = Field(False, description="Send the failed messages again, and no new ones.")
    reason: Reason = ""


class InvitedOut(Schema):
    """Numbers of workers: ``messages`` are sent now, the others not."""

    messages: int = Field(examples=[24])
    invited: int = Field(description="Invited before.")
    without_address: int
    unsubscribed: int
    failed: int = Field(description="The address failed before.")


class CancelledOut(Schema):
    cancelled: int


@api.get("/runs/{run_id}/mail", response=MailOut, summary="Show e-mail texts")
def show_mail(request: HttpRequest, run_id: Id) -> dict[str, Any]:
    """Return the texts of the e-mails to workers, and the numbers of messages by outcome."""
    run = find_object(request, Run, run_id)
    chosen = texts.read_settings(run)
    by_kind = {
        language: {kind: text._asdict() for kind, text in kinds.items()}
        for language, kinds in texts.effective_texts(chosen).items()
    }
    failures = [
        {"worker": mail.candidate.worker.key, "kind": mail.kind, "outcome": mail.outcome}
        for mail in invitations.failed_mails(run).order_by("-pk")[:MOST_FAILURES]
        if mail.candidate
    ]
    counts = {"counts": invitations.count_states(run), "failures": failures}
    return {
        "remind_hours": chosen.remind_hours,
        "language": chosen.language or texts.DEFAULT_LANGUAGE,
        "texts": by_kind,
        **counts,
    }


@api.put("/runs/{run_id}/mail", response=MailOut, summary="Change e-mail texts")
def change_mail(request: HttpRequest, run_id: Id, payload: MailIn) -> dict[str, Any]:
    """Change the texts of the e-mails to workers, and the time of the reminder."""
    run = find_object(request, Run, run_id)
    replacements = {
        language: {kind: Text(part.subject, part.body) for kind, part in kinds.items()}
        for language, kinds in payload.texts.items()
    }
    who, hours = requester_name(request), payload.remind_hours
    texts.change_settings(run, hours, replacements, who, payload.language)
    return show_mail(request, run_id)


@api.post("/runs/{run_id}/invitations", response={200: InvitedOut, 202: InvitedOut})
def invite_workers(request: HttpRequest, run_id: Id, payload: InviteIn) -> Status[Any]:
    """Send an e-mail with the personal link to each worker who has an address and no invitation.

    They leave one after the other; ``GET …/mail`` has the outcomes.
    """
    run = find_object(request, Run, run_id)
    if payload.preview:
        return Status(200, _plan_payload(invitations.plan_invitations(run)))
    who = requester_name(request)
    if payload.retry:
        count = invitations.retry_failed(run, who, payload.reason)
        return Status(202, _plan_payload(invitations.plan_invitations(run), count))
    return Status(202, _plan_payload(invitations.send_invitations(run, who, payload.reason)))


def _plan_payload(plan: InvitationPlan, messages: int | None = None) -> dict[str, int]:
    names = ("invited", "without_address", "unsubscribed", "failed")
    counts = {name: getattr(plan, name) for name in names}
    return {"messages": plan.messages if messages is None else messages, **counts}


@api.delete("/runs/{run_id}/invitations", response=CancelledOut)
def cancel_invitations(request: HttpRequest, run_id: Id) -> dict[str, int]:
    """Take the invitations and reminders that still wait out of the outbox."""
    run = find_object(request, Run, run_id)
    return {"cancelled": invitations.cancel_waiting(run, requester_name(request))}
