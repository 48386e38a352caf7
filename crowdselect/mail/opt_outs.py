"""Opt-outs: a worker who unsubscribed gets no message of the team again, at any address."""

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.urls import reverse

from selection.models import Worker

from .models import OptOut, recipient_digest, worker_digest

_signer = Signer(salt="selection.unsubscribe", sep=".")


def recipient_digests(team_id: int | None, key: str, address: str) -> set[str]:
    """Hash a worker's id and, if there is one, their address."""
    digests = {worker_digest(team_id, key)}
    return digests | {recipient_digest(team_id, address)} if address else digests


def is_opted_out(worker: Worker) -> bool:
    return OptOut.objects.filter(team=worker.pool.team_id, digest__in=_digests_of(worker)).exists()


def opt_out(worker: Worker) -> None:
    """Send this worker no message any more."""
    team_id = worker.pool.team_id
    assert team_id is not None  # every pool has a team
    rows = [OptOut(team_id=team_id, digest=digest) for digest in _digests_of(worker)]
    OptOut.objects.bulk_create(rows, ignore_conflicts=True)


def opt_in(worker: Worker) -> None:
    """Undo ``opt_out``."""
    OptOut.objects.filter(team=worker.pool.team_id, digest__in=_digests_of(worker)).delete()


def _digests_of(worker: Worker) -> set[str]:
    return recipient_digests(worker.pool.team_id, worker.key, worker.mail_address)


def unsubscribe_url(worker_id: int) -> str:
    """Build the worker's link to unsubscribe, which needs no login."""
    return str(settings.PUBLIC_URL) + reverse("unsubscribe", args=[_signer.sign(str(worker_id))])


def worker_of(token: str) -> Worker | None:
    """Find the worker of a link to unsubscribe; None for a forged link or an erased worker."""
    try:
        number = int(_signer.unsign(token))
    except (BadSignature, ValueError):
        return None
    return Worker.objects.select_related("pool").filter(pk=number).first()
