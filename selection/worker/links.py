"""Personal links: a visitor with the link answers as this worker, in this run.

A link has a number: 0 for the first, one more for each replacement. Only the latest one is valid
(runs.link_rotation).
"""

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

from selection.models import Candidate, Run

# A full stop, because mail and chat programs may cut links at colons and commas.
_signer = Signer(salt="selection.work", sep=".")
_joining = Signer(salt="selection.join", sep=".")


def worker_token(candidate_id: int, number: int = 0) -> str:
    return _signer.sign(_signed_name(candidate_id, number))


def read_worker_token(token: str) -> tuple[int, int] | None:
    """Return the candidate's id and the link's number, without checking that it is the latest."""
    return _read_token(_signer, token)


def candidate_id(token: str) -> int | None:
    """Return the candidate's id; None for a forged or replaced token."""
    identity = read_worker_token(token)
    if (
        identity is None
        or not Candidate.objects.filter(pk=identity[0], link_version=identity[1]).exists()
    ):
        return None
    return identity[0]


def worker_url(candidate_id: int, number: int = 0) -> str:
    """Return the link to send to the worker; number is the candidate's ``links``."""
    return str(settings.PUBLIC_URL) + reverse("work", args=[worker_token(candidate_id, number)])


def find_run(token: str) -> Run | None:
    """Return the run that a join token opens; None for a forged or replaced one."""
    identity = read_run_token(token)
    return identity and Run.objects.filter(pk=identity[0], link_version=identity[1]).first()


def read_run_token(token: str) -> tuple[int, int] | None:
    """Return the run's id and the join link's number, like ``read_worker_token``."""
    return _read_token(_joining, token)


def join_address(run: Run) -> str:
    """Return the run's join link, shared by all its workers."""
    return str(settings.PUBLIC_URL) + reverse("join", args=[join_token(run)])


def mturk_address(run: Run) -> str:
    """Return the run's join link for the ExternalQuestion of a HIT on Amazon Mechanical Turk."""
    return str(settings.PUBLIC_URL) + reverse("mturk", args=[join_token(run)])


def join_token(run: Run) -> str:
    return _joining.sign(_signed_name(run.pk, run.link_version))


def _signed_name(pk: int, number: int) -> str:
    """Return the signed part; the first link has no number, so that links of old versions work."""
    return f"{pk}-{number}" if number else str(pk)


def _read_token(signer: Signer, token: str) -> tuple[int, int] | None:
    try:
        pk, _, number = signer.unsign(token).partition("-")
        return int(pk), int(number or 0)
    except (BadSignature, ValueError):
        return None
