"""A worker's personal link: whoever holds it answers as that worker, in that run.

A link carries its number: 0 for the first, one more for each that was put in its place. Only the
last one made opens anything (setup.relinking).
"""

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

from selection.models import Candidate, Run

# A full stop, because colons and commas at times end a link in mails and chats.
_signer = Signer(salt="selection.work", sep=".")


_joining = Signer(salt="selection.join", sep=".")


def worker_token(candidate_id: int, number: int = 0) -> str:
    return _signer.sign(_signed_name(candidate_id, number))


def read_worker_token(token: str) -> tuple[int, int] | None:
    """The candidate's id and the link's number; whether that is the last one is not looked at."""
    return _read_token(_signer, token)


def candidate_id(token: str) -> int | None:
    """Whose token this is; None for one that was not made here, or was replaced."""
    own = read_worker_token(token)
    if own is None or not Candidate.objects.filter(pk=own[0], links=own[1]).exists():
        return None
    return own[0]


def worker_url(candidate_id: int, number: int = 0) -> str:
    """The link to send to the worker; number is the candidate's ``links``."""
    return str(settings.PUBLIC_URL) + reverse("work", args=[worker_token(candidate_id, number)])


def run_id(token: str) -> int | None:
    """Whose roster this token of a join link opens; None for one not made here, or replaced."""
    own = read_run_token(token)
    if own is None or not Run.objects.filter(pk=own[0], links=own[1]).exists():
        return None
    return own[0]


def read_run_token(token: str) -> tuple[int, int] | None:
    """As ``named``, of a join link."""
    return _read_token(_joining, token)


def join_address(run: Run) -> str:
    """The one link for all who may join a run."""
    return str(settings.PUBLIC_URL) + reverse("join", args=[join_token(run)])


def mturk_address(run: Run) -> str:
    """The same for Amazon Mechanical Turk: what the ExternalQuestion of a HIT shows."""
    return str(settings.PUBLIC_URL) + reverse("mturk", args=[join_token(run)])


def join_token(run: Run) -> str:
    return _joining.sign(_signed_name(run.pk, run.links))


def _signed_name(pk: int, number: int) -> str:
    """The first link is named as it always was: those that are out go on working."""
    return f"{pk}-{number}" if number else str(pk)


def _read_token(signer: Signer, token: str) -> tuple[int, int] | None:
    try:
        pk, _, number = signer.unsign(token).partition("-")
        return int(pk), int(number or 0)
    except (BadSignature, ValueError):
        return None
