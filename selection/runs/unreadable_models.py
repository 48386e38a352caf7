"""The decision on models with replies without an answer, after which the paused run goes on."""

from typing import Any

from django.db import transaction

from selection.errors import Conflict, Refused
from selection.history import events
from selection.model_workers import parsing as reading
from selection.model_workers import unreadable
from selection.models import Candidate, Endpoint, Job, Run
from selection.outbox import jobs
from selection.runs.roster import membership
from selection.texts import counted

from . import lifecycle

REREAD, WRONG, SET_ASIDE = "reread", "wrong", "set aside"
WAYS = {
    REREAD: "read the stored replies of all models again by another rule",
    WRONG: "count replies without an answer as wrong",
    SET_ASIDE: "set these models aside",
}


def settle(
    run: Run,
    way: str,
    parsing: str = Endpoint.Parsing.AUTO,
    pattern: str = "",
    who: str = "",
    why: str = "",
) -> str:
    """Decide, and let the run go on if it was paused for this; return what happened.

    way  one of WAYS; ``parsing`` and ``pattern`` are for REREAD

    Raises Conflict if there is nothing to decide, Refused for an unknown way.
    """
    if way not in WAYS:
        raise Refused(f"“{way}” is unknown; there are {', '.join(WAYS)}.")
    _refuse_draft(run)
    keys = unreadable.list_asking(run)
    if way == REREAD:
        note = unreadable.reread_replies(run, parsing, pattern, who, why)
    elif not keys:
        raise Conflict(f"No model of the run “{run}” waits for this decision.")
    else:
        decide = _count_as_wrong if way == WRONG else _set_aside
        note = decide(run, keys, who, why)
    run.refresh_from_db()
    if keys and run.status == Run.Status.PAUSED and not unreadable.list_asking(run):
        lifecycle.resume_run(run, who, why)
        run.refresh_from_db()
    return note


def request_reread(run: Run, rule: str, pattern: str, by: str, why: str = "") -> Job:
    """Hand out the reading of all stored replies by this rule: of 10,000 it takes ten seconds.

    Raises Conflict for a draft, Refused for an invalid rule.
    """
    _refuse_draft(run)
    reading.validate_pattern(rule, pattern)
    return jobs.request_job(run.team_id, REREAD, run, by, parsing=rule, pattern=pattern, why=why)


@jobs.perform(REREAD)
def _reread(job: Job) -> dict[str, Any]:
    run = jobs.find_row(Run.objects.all(), job.subject)
    return {"message": settle(run, REREAD, who=job.by, **job.wanted)}


def _refuse_draft(run: Run) -> None:
    if run.status == Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” has not begun: there are no replies.")


@transaction.atomic
def _count_as_wrong(run: Run, keys: list[str], who: str, why: str) -> str:
    rows = run.candidates.filter(unreadable=Candidate.Unreadable.ASKING)
    rows.update(unreadable=Candidate.Unreadable.WRONG)
    note = f"Replies without an answer count as wrong: {', '.join(keys)}."
    events.write_event(run, "unreadable", note, who, why)
    return note


def _set_aside(run: Run, keys: list[str], who: str, why: str) -> str:
    rest = run.candidates.filter(gone="", skill=0).count() - len(keys)
    if rest <= max(skill.k for skill in run.skills):
        raise Refused(
            f"Only {counted(rest, 'other worker')} would be left: there is nothing to choose from."
        )
    membership.withdraw_workers(run, keys, who, why or "Too many replies without an answer.")
    return f"Set aside: {', '.join(keys)}."
