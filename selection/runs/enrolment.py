"""Workers who arrive: by the join link, by a platform's entry, by the API."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from django.db import transaction

from selection.errors import Conflict, NotFound, Refused
from selection.limits import LONGEST_KEY
from selection.models import (
    Candidate,
    Run,
    Worker,
    find_invisible,
    map_to_stored,
    read_attributes,
    stored_spellings,
)

from . import roster_opening

_TASK = re.compile(r"[\w-]{1,100}", re.ASCII)
# {{%PROLIFIC_PID%}}, ${workerId}, [worker_value]: a platform was to put the id in its place, or a
# program had none. All who come by it would be one worker.
_PLACE = re.compile(
    r"\$?\{.*\}|\[[^\[\]]*\]|<[^<>]*>|%+\w+%+"
    r"|PROLIFIC_PID|(?i:worker_?id)|undefined|null|None|NaN",
    re.DOTALL,
)
_UNREADABLE = re.compile("[\0\ufffd]")  # ids that were not sent in UTF-8 would be one as well


@dataclass(frozen=True)
class EnrolmentSource:
    """Where a worker comes from: a Candidate.Platform, and what they do there; see Candidate."""

    platform: str = ""
    task: str = ""

    def note(self, candidate: Candidate) -> None:
        task = self.task if _TASK.fullmatch(self.task) else ""
        if self.platform and (candidate.platform, candidate.task) != (self.platform, task):
            candidate.platform, candidate.task = self.platform, task
            candidate.save(update_fields=["platform", "task"])


NOWHERE = EnrolmentSource()


@transaction.atomic
def enrol_worker(
    run: Run,
    key: str,
    name: str = "",
    attributes: dict[str, Any] | None = None,
    source: EnrolmentSource = NOWHERE,
) -> tuple[Candidate, bool]:
    """The candidate of the worker of this id, and whether they have joined by this call.

    Who is not in the pool yet is put there. Raises Refused for what is no id, Conflict for somebody
    new where the roster is closed.
    """
    key, name = key.strip(), name.strip()
    if not is_id(key) or "\0" in name or len(name) > LONGEST_KEY:
        raise Refused(
            f"A worker's id has 1 to {LONGEST_KEY} readable characters, and a name at most as many."
        )
    locked = Run.objects.locked(run.pk)
    if locked is None:
        raise NotFound("This run does not exist any more.")
    there = locked.candidates.filter(worker__key__in=stored_spellings([key]), skill=0).first()
    if there is not None:
        source.note(there)
        return there, False
    refuse_closed(locked)
    known = {"name": name, "attributes": read_attributes(attributes or {})}
    mine = {"pool_id": locked.pool_id}
    own = map_to_stored([key], Worker.objects.filter(**mine))[key]
    if (code := find_invisible(own)) and not Worker.objects.filter(**mine, key=own).exists():
        raise Refused(f"There is a character in the worker's id that nobody sees ({code}).")
    worker, _ = Worker.objects.get_or_create(**mine, key=own, defaults=known)
    candidate = roster_opening.join_roster(locked, worker)
    source.note(candidate)
    return candidate, True


def is_id(key: str) -> bool:
    """Whether somebody can be known by this."""
    told = 0 < len(key) <= LONGEST_KEY and not is_placeholder(key)
    return told and not _UNREADABLE.search(key)


def is_placeholder(key: str) -> bool:
    """Also where it was written as addresses are, twice."""
    return _PLACE.fullmatch(unquote(key)) is not None


def refuse_closed(run: Run) -> None:
    """Raise Conflict where nobody can join."""
    if run.status == Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” has not begun; nobody can join it yet.")
    if run.status == Run.Status.ENDED or not run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is closed; nobody can join it now.")
