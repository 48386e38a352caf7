"""Temporary links of workers, for platforms of one's own: no parameter, no typed id.

A link names its worker, who joins by opening it. Their page opens until the end of the link.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from selection import db_clock
from selection.errors import Conflict, Refused
from selection.history import events
from selection.limits import MOST_TEMPORARY_LINKS
from selection.models import Candidate, Platform, Run, plain_key
from selection.runs.roster import enrolment
from selection.texts import counted
from selection.viewer_locale import format_moment

from . import join, links, views
from .attendance import open_to_people
from .busy_page import excuse_busy
from .languages import worker_language
from .links import TemporaryToken
from .rate_limit import limit_per_temporary_link

LONGEST = timedelta(days=366)


def make_temporary_links(
    run: Run, workers: Sequence[str], until: datetime, who: str = ""
) -> dict[str, str]:
    """Make a link for each of these workers, by id, and note it in the run's history.

    Raises Refused for an invalid id or time, Conflict if a worker is neither on the roster nor may
    join it.
    """
    keys = list(dict.fromkeys(key.strip() for key in workers if key.strip()))
    _check_request(run, keys, until)
    stored = {key: plain_key(key) for key in keys}
    rows = run.candidates.filter(skill=0, worker__key__in=stored.values())
    numbers = dict(rows.values_list("worker__key", "link_version"))
    new = [key for key in keys if stored[key] not in numbers]
    if new:
        _check_joining(run, new[0])
    end = int(until.timestamp())
    addresses = {
        key: links.temporary_address(
            TemporaryToken(run.pk, run.link_version, key, numbers.get(stored[key], 0), end)
        )
        for key in keys
    }
    sentence = (
        f"Temporary links for {counted(len(addresses), 'worker')} were made, until "
        f"{format_moment(until)}."
    )
    events.write_event(run, "link", sentence, who)
    return addresses


def _check_request(run: Run, keys: list[str], until: datetime) -> None:
    if not 1 <= len(keys) <= MOST_TEMPORARY_LINKS:
        raise Refused(f"Enter the ids of 1 to {MOST_TEMPORARY_LINKS:,} workers.")
    if bad := next((key for key in keys if not enrolment.is_id(key)), ""):
        raise Refused(f"“{bad[:50]}” is not a worker’s id: it has 1 to 200 readable characters.")
    if timezone.is_naive(until):  # the time zone would be a guess
        raise Refused("Say the time with its zone, as in 2030-12-31T18:00:00Z.")
    now = db_clock.database_now()
    if not now < until <= now + LONGEST:
        raise Refused(f"The links must expire in the future, within {LONGEST.days} days.")
    if run.status == Run.Status.ENDED:
        raise Conflict(f"The run “{run}” has ended: its links lead to no questions any more.")


def _check_joining(run: Run, key: str) -> None:
    if run.status == Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” has not started; start it, then make the links.")
    if not run.enrolling:
        raise Conflict(f"The worker “{key}” is not on the roster of “{run}”, which is closed.")


@never_cache
@require_safe
@worker_language
@limit_per_temporary_link
@open_to_people
@excuse_busy
def enter_by_temporary_link(request: HttpRequest, token: str) -> HttpResponse:
    """Let the worker join, or lead them back to their page; both until the end of the link."""
    content = links.read_temporary_token(token)
    run = content and Run.objects.filter(pk=content.run, link_version=content.run_number).first()
    if content is None or run is None:
        return views.render_lost(request)
    if links.is_over(content.until):
        return views.render_lost(request, expired=True)
    candidate = _find_or_enrol(run, content)
    if candidate is None:
        return join.render_closed(request, run)
    if candidate.link_version != content.number:
        return views.render_lost(request)
    own = links.worker_token(candidate.pk, candidate.link_version, content.until)
    return redirect("work", own)


def _find_or_enrol(run: Run, content: TemporaryToken) -> Candidate | None:
    """Find the worker's candidate; None if they have not joined, and nobody can."""
    try:
        candidate, new = enrolment.enrol_worker(run, content.worker)
    except (Conflict, Refused):
        return None
    if (
        new and run.platform == Platform.CUSTOM
    ):  # whoever came before keeps their platform and task, by which they are paid
        enrolment.EnrolmentSource(run.platform).note(candidate)
    return candidate
