"""Workers that arrive: by the join link, by a platform's entry, by the API."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from django.db import transaction

from selection.errors import Conflict, Refused
from selection.grading.keys import NOT_PROLIFIC, PROLIFIC_ID
from selection.limits import LONGEST_KEY
from selection.models import (
    Candidate,
    Platform,
    Run,
    Worker,
    find_invisible,
    plain_key,
    read_attributes,
)

from . import roster_opening

_TASK = re.compile(r"[\w-]{1,100}", re.ASCII)
# Placeholders that the platform should have replaced by the id, such as {{%PROLIFIC_PID%}},
# ${workerId} or [worker_value]. Everyone arriving with one would be the same worker.
_PLACEHOLDER = re.compile(
    r"\$?\{.*\}|\[[^\[\]]*\]|<[^<>]*>|%+\w+%+"
    r"|PROLIFIC_PID|(?i:worker_?id)|undefined|null|None|NaN",
    re.DOTALL,
)
_UNREADABLE = re.compile("[\0\ufffd]")  # ids not sent in UTF-8 would be one worker too


@dataclass(frozen=True)
class EnrolmentSource:
    """The Candidate.Platform a worker comes from, and their task there; see Candidate."""

    platform: str = ""
    task: str = ""

    def note(self, candidate: Candidate) -> None:
        task = self.task if _TASK.fullmatch(self.task) else ""
        if self.platform and (candidate.platform, candidate.task) != (self.platform, task):
            candidate.platform, candidate.task = self.platform, task
            candidate.save(update_fields=["platform", "task"])


NO_SOURCE = EnrolmentSource()


@transaction.atomic
def enrol_worker(
    run: Run,
    key: str,
    name: str = "",
    attributes: dict[str, Any] | None = None,
    source: EnrolmentSource = NO_SOURCE,
) -> tuple[Candidate, bool]:
    """Find the worker's candidate or add one; True if they joined by this call.

    A worker who is not in the pool yet is added to it. Raises Refused for an invalid id, Conflict
    for a new worker if the roster is closed.
    """
    key, name = key.strip(), name.strip()
    if not is_id(key) or "\0" in name or len(name) > LONGEST_KEY:
        raise Refused(
            f"A worker's id has 1 to {LONGEST_KEY} readable characters, a name at most "
            f"{LONGEST_KEY}."
        )
    locked = Run.objects.lock(run.pk)
    existing = locked.candidates.filter(worker__key=key, skill=0).first()
    if existing is not None:
        source.note(existing)
        return existing, False
    if Platform.PROLIFIC in (source.platform, locked.platform) and not PROLIFIC_ID.fullmatch(key):
        raise Refused(NOT_PROLIFIC.format(key[:30]))
    refuse_closed(locked)
    defaults = {"name": name, "attributes": read_attributes(attributes or {})}
    pool = {"pool_id": locked.pool_id}
    if code := find_invisible(key):
        raise Refused(f"The worker's id contains an invisible character ({code}).")
    worker, _ = Worker.objects.get_or_create(**pool, key=plain_key(key), defaults=defaults)
    candidate = roster_opening.join_roster(locked, worker)
    source.note(candidate)
    return candidate, True


def is_id(key: str) -> bool:
    usable = 0 < len(key) <= LONGEST_KEY and not is_placeholder(key)
    return usable and not _UNREADABLE.search(key)


def is_placeholder(key: str) -> bool:
    """Recognise also a URL-encoded placeholder."""
    return _PLACEHOLDER.fullmatch(unquote(key)) is not None


def refuse_closed(run: Run) -> None:
    """Raise Conflict if the run's roster is closed."""
    if run.status == Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” has not started; workers cannot join yet.")
    if run.status == Run.Status.ENDED or not run.enrolling:
        raise Conflict(f"The roster of the run “{run}” is closed; workers cannot join now.")
