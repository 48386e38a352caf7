"""Replacement of links that fell into the wrong hands: the old ones stop working."""

from django.db import transaction
from django.db.models import F, QuerySet

from selection import audit
from selection.errors import Conflict
from selection.history import events
from selection.models import Candidate, Run, Watch, WatchedWorker, Worker


def preview_rotation(run: Run, worker: Worker | None = None) -> str:
    """Describe the effect, for one worker or for all. Raises Conflict for a run that has ended."""
    if run.status == Run.Status.ENDED:
        raise Conflict(f"The run “{run}” has ended: its links lead to no questions any more.")
    if worker is not None:
        return (
            f"The link of “{worker}” stops working at once, and a new one takes its place: send "
            "it to them. Answers stay as they are."
        )
    return (
        "Every worker's link and the link to join by stop working at once, and new ones take "
        "their place: send them out anew. Answers stay as they are."
    )


@transaction.atomic
def rotate_worker_link(candidate: Candidate, who: str = "", why: str = "") -> None:
    run = _lock_run(candidate.run_id)
    _replace_links(run.candidates.filter(worker=candidate.worker_id))
    events.write_event(run, "link", f"The link of {candidate.worker} was replaced.", who, why)
    candidate.refresh_from_db(fields=["link_version"])


@transaction.atomic
def rotate_all_links(run: Run, who: str = "", why: str = "") -> None:
    locked = _lock_run(run.pk)
    _replace_links(locked.candidates.all())
    Run.objects.filter(pk=run.pk).update(link_version=F("link_version") + 1)
    events.write_event(
        locked, "link", "All links were replaced, also the one to join by.", who, why
    )
    run.refresh_from_db(fields=["link_version"])


@transaction.atomic
def rotate_gold_link(row: WatchedWorker, who: str = "", why: str = "") -> None:
    Watch.objects.lock(row.watch_id)
    _replace_links(WatchedWorker.objects.filter(pk=row.pk))
    after = {"watch": str(row.watch)}
    audit.record_entry("gold link replaced", row.worker, who=who, after=after, why=why)


@transaction.atomic
def rotate_all_gold_links(watch: Watch, who: str = "", why: str = "") -> int:
    """Replace the links of all workers, also of those that left; return their number."""
    Watch.objects.lock(watch.pk)
    count = _replace_links(watch.workers.all())
    after = {"workers": count}
    audit.record_entry("gold links replaced", watch, who=who, after=after, why=why)
    return count


def _replace_links(rows: QuerySet[Candidate] | QuerySet[WatchedWorker]) -> int:
    return rows.update(link_version=F("link_version") + 1)


def _lock_run(pk: int) -> Run:
    run = Run.objects.lock(pk)
    preview_rotation(run)
    return run
