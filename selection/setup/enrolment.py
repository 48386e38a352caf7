"""Workers who arrive: by the join link, by a platform's entry, by the API."""

import re
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from selection.errors import Conflict, NotFound, Refused
from selection.limits import LONGEST_KEY
from selection.models import Candidate, Run, Worker

from . import joining

_TASK = re.compile(r"[\w-]{1,100}", re.ASCII)


@dataclass(frozen=True)
class From:
    """Where a worker comes from: a Candidate.Platform, and what they do there; see Candidate."""

    platform: str = ""
    task: str = ""

    def note(self, candidate: Candidate) -> None:
        task = self.task if _TASK.fullmatch(self.task) else ""
        if self.platform and (candidate.platform, candidate.task) != (self.platform, task):
            candidate.platform, candidate.task = self.platform, task
            candidate.save(update_fields=["platform", "task"])


NOWHERE = From()


@transaction.atomic
def arrive(
    run: Run,
    key: str,
    name: str = "",
    attributes: dict[str, Any] | None = None,
    source: From = NOWHERE,
) -> tuple[Candidate, bool]:
    """The candidate of the worker of this id, and whether they have joined by this call.

    Who is not in the pool yet is put there. Raises Refused for what is no id, Conflict for somebody
    new where the roster is closed.
    """
    key, name = key.strip(), name.strip()
    if not key or "\0" in key + name or len(key) > LONGEST_KEY or len(name) > LONGEST_KEY:
        raise Refused(
            f"A worker's id has 1 to {LONGEST_KEY} characters, and a name at most as many."
        )
    locked = Run.objects.locked(run.pk)
    if locked is None:
        raise NotFound("This run does not exist any more.")
    there = locked.candidates.filter(worker__key=key, skill=0).first()
    if there is not None:
        source.note(there)
        return there, False
    refuse_closed(locked)
    known = {"name": name, "attributes": attributes or {}}
    worker, _ = Worker.objects.get_or_create(pool_id=locked.pool_id, key=key, defaults=known)
    candidate = joining.join(locked, worker)
    source.note(candidate)
    return candidate, True


def refuse_closed(run: Run) -> None:
    """Raise Conflict where nobody can join."""
    if run.status == Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” has not begun; nobody can join it yet.")
    if run.status == Run.Status.ENDED or not run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is closed; nobody can join it now.")
