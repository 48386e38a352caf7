"""Personal links: a visitor with the link answers as this worker, in this run.

A link has a number: 0 for the first, one more for each replacement. Only the latest one is valid
(link_rotation).
"""

from typing import NamedTuple

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

from selection.models import Candidate, Run, WatchedWorker
from selection.runs.roster import join_platforms

# A full stop, because mail and chat programs may cut links at colons and commas.
_signer = Signer(salt="selection.work", sep=".")
_joining = Signer(salt="selection.join", sep=".")
_gold = Signer(salt="selection.gold", sep=".")


class Token(NamedTuple):
    """The signed content of a link: the id of its object, and its number."""

    pk: int
    number: int


def worker_token(candidate_id: int, number: int = 0) -> str:
    return _signer.sign(_signed_name(candidate_id, number))


def read_worker_token(token: str) -> Token | None:
    """Read the candidate's id and the link's number, without checking that it is the latest."""
    return _read_token(_signer, token)


def candidate_id(token: str) -> int | None:
    identity = read_worker_token(token)
    if (
        identity is None
        or not Candidate.objects.filter(pk=identity[0], link_version=identity[1]).exists()
    ):
        return None
    return identity[0]


def worker_url(candidate_id: int, number: int = 0) -> str:
    """Build the link to send to the worker; number is the candidate's ``links``."""
    return str(settings.PUBLIC_URL) + reverse("work", args=[worker_token(candidate_id, number)])


def find_run(token: str) -> Run | None:
    identity = read_run_token(token)
    return identity and Run.objects.filter(pk=identity[0], link_version=identity[1]).first()


def read_run_token(token: str) -> Token | None:
    return _read_token(_joining, token)


def join_address(run: Run) -> str:
    return str(settings.PUBLIC_URL) + reverse("join", args=[join_token(run)])


def entry_address(run: Run) -> str:
    query = join_platforms.entry_query(run)
    return f"{join_address(run)}?{query}" if query else join_address(run)


def prolific_address(run: Run) -> str:
    return f"{join_address(run)}?{join_platforms.prolific_query(run)}"


def mturk_address(run: Run) -> str:
    return str(settings.PUBLIC_URL) + reverse("mturk", args=[join_token(run)])


def join_token(run: Run) -> str:
    return _joining.sign(_signed_name(run.pk, run.link_version))


# -- gold questions of a watch


def gold_address(watched_id: int, number: int = 0) -> str:
    """Build the link by which a watched worker answers gold questions."""
    token = _gold.sign(_signed_name(watched_id, number))
    return str(settings.PUBLIC_URL) + reverse("gold", args=[token])


def read_gold_token(token: str) -> int | None:
    content = _read_token(_gold, token)
    return content and content.pk


def find_watched(token: str) -> WatchedWorker | None:
    """Find the worker of a gold link, also of one that was replaced."""
    pk = read_gold_token(token) or 0
    return WatchedWorker.objects.select_related("watch", "worker").filter(pk=pk).first()


def is_latest_gold(token: str, row: WatchedWorker) -> bool:
    content = _read_token(_gold, token)
    return content is not None and content.number == row.link_version


def _signed_name(pk: int, number: int) -> str:
    return f"{pk}-{number}"


def _read_token(signer: Signer, token: str) -> Token | None:
    try:
        pk, number = signer.unsign(token).split("-")
        return Token(int(pk), int(number))
    except (BadSignature, ValueError):
        return None
