"""A worker's personal link: whoever holds it answers as that worker, in that run."""

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

# A full stop, because colons and commas at times end a link in mails and chats.
_signer = Signer(salt="selection.work", sep=".")


_joining = Signer(salt="selection.join", sep=".")


def token(candidate_id: int) -> str:
    return _signer.sign(str(candidate_id))


def candidate_id(token: str) -> int | None:
    """Whose token this is; None for one that was not made here."""
    try:
        return int(_signer.unsign(token))
    except (BadSignature, ValueError):
        return None


def address(candidate_id: int) -> str:
    """The link to send to the worker."""
    return str(settings.PUBLIC_URL) + reverse("work", args=[token(candidate_id)])


def run_id(token: str) -> int | None:
    """Whose roster this token of a join link opens; None for one that was not made here."""
    try:
        return int(_joining.unsign(token))
    except (BadSignature, ValueError):
        return None


def join_address(run_id: int) -> str:
    """The one link for all who may join a run."""
    return str(settings.PUBLIC_URL) + reverse("join", args=[_joining.sign(str(run_id))])
