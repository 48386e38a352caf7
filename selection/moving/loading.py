"""A run from a dump, as it was where the dump was made: docs/moving.md."""

from datetime import datetime
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from django.utils import timezone

from selection import audit, reports
from selection.errors import Conflict, Refused
from selection.models import Event, Run, Skill, Step, Team
from selection.reports.dump import LIFE, RUN
from selection.setup import events, recount
from topk import THIS_SET
from topk.verify import DumpError, digest_of, read, written_by
from topk.verify.reading import SPOILT, said

from . import rows, surroundings
from .columns import of

# What a server says by itself; another version may do so in other words.
WORKED_OUT = ("result", "digest", "software")


class Loaded(NamedTuple):
    """fresh  False where it was there already, the same"""

    run: Run
    fresh: bool


def load(document: Any, team: Team) -> Loaded:
    """The run of this dump, in this team. What was running is paused, as of its last sign of life.

    All or nothing. Raises Refused for what is no whole dump, and Conflict where the team has
    something of the same name that differs.
    """
    _refuse(document)
    try:
        with transaction.atomic():
            return _load(document, team)
    except (*SPOILT, IntegrityError, DataError, ValidationError) as error:
        raise Refused(f"This dump cannot be taken: {_why(error)}.") from error


def _refuse(document: Any) -> None:
    try:
        read(document)
    except DumpError as error:
        raise Refused(str(error)) from error
    if document.get("digest") != digest_of(document):
        raise Refused("This dump was changed since it was written: its digest is another.")
    if document.get("anonymous"):
        raise Refused("This dump is anonymous: it has neither workers nor questions to load.")
    if missing := [name for name in LIFE if name not in document["run"]]:
        raise Refused(
            f"This dump was written by {written_by(document)} and lacks “{missing[0]}”; "
            "write it anew."
        )


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return " ".join(error.messages).rstrip(".")
    return said(error)


def _load(document: dict[str, Any], team: Team) -> Loaded:
    there = Run.objects.filter(team=team, name=document["run"]["name"]).first()
    if there:
        if there.status != Run.Status.DRAFT and not _differs(document, there):
            return Loaded(there, False)
        raise Conflict(f"There is a run “{there}” in the team “{team}” already, and it differs.")
    run = _run(document, team)
    rows.take(document, run, surroundings.workers(document, run.pool))
    if differs := _differs(document, run):
        raise Refused(
            f"This dump does not fit together: its {differs} would not be the same here. "
            f"{reports.origin(document)}"
        )
    for fault in recount.faults(run):
        if fault.law == "budget" and run.has_void:
            continue  # in earlier versions answers to retired questions cost nothing
        raise Refused(f"This dump's figures are not those of its answers: {fault.words}")
    audit.note("loaded", run, after={"digest": document["digest"]})
    if run.status == Run.Status.RUNNING:
        _pause(run, document)
    return Loaded(run, True)


def _run(document: dict[str, Any], team: Team) -> Run:
    """With its pool, its question sets, its steps and events, and without its workers."""
    said = document["run"]
    pool = surroundings.pool(said["pool"], team)
    sets = [surroundings.question_set(kind, team) for kind in document["kinds"]]
    own = document["kinds"][0]
    values = of(Run, said, (*RUN, *LIFE)) | {
        "k": own["k"],
        "deck_size": own["deck"],
        "options": _options(said["options"]),
        "memory": document["memory"],
        "proof": document["proof"],
    }
    run = Run(pool=pool, question_set=sets[0], **values)
    run.save(force_insert=True)
    Run.objects.filter(pk=run.pk).update(created=values["created"])  # saving says now
    kinds = list(zip(document["kinds"], sets, strict=True))
    for number, (kind, item) in enumerate(kinds[1:], 1):
        skill = Skill(run=run, number=number, question_set=item, k=kind["k"])
        skill.deck_size = kind["deck"]
        skill.save()
    rows.history(run, Step, document["steps"])
    rows.history(run, Event, document["events"])
    return Run.objects.get(pk=run.pk)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    """As stored: without the size of the question set, which the run knows by itself."""
    by_itself = {"questions"} if given.get("accuracy") == THIS_SET else set()
    return {name: value for name, value in given.items() if name not in by_itself}


def _differs(document: dict[str, Any], run: Run) -> str:
    """The first part of the dump that a dump of this run has otherwise; empty if none."""
    media = any("data" in one for kind in document["kinds"] for one in kind["media"])
    ours = reports.dump(run, media=media)
    parts = [name for name in document if name not in WORKED_OUT]
    return next((name for name in parts if _bare(document, name) != _bare(ours, name)), "")


def _bare(document: dict[str, Any], name: str) -> str:
    return digest_of({name: document.get(name)})


# -- nobody could answer while it was on its way


def _pause(run: Run, document: dict[str, Any]) -> None:
    run.status, run.paused = Run.Status.PAUSED, _last(document)
    run.save(update_fields=["status", "paused"])
    what = "Loaded from a dump, and paused: resuming gives the time since its last step back."
    events.write(run, "pause", what)


def _last(document: dict[str, Any]) -> datetime:
    """When anything happened last of what the dump tells."""
    columns = document["answer_columns"]
    places = [columns.index(name) for name in ("at", "shown")]
    told = [one["at"] for one in (*document["steps"], *document["events"])]
    told += [document["run"]["started"], *(row["seen"] for row in document["candidates"])]
    told += [
        answer[place]
        for row in document["candidates"]
        for answer in row["answers"]
        for place in places
    ]
    moments = [datetime.fromisoformat(one) for one in told if one]
    return min(max(moments), timezone.now())
