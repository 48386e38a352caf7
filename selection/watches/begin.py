"""Watches begin, change, end and go on; workers come and leave."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce, Greatest

from selection import audit, db_clock
from selection.errors import Conflict, Refused
from selection.models import (
    GoldAnswer,
    Pool,
    QuestionSet,
    Run,
    Watch,
    WatchedWorker,
    Worker,
    plain_key,
)
from selection.models.watches import HIGHEST_LEVEL, LEVEL_RANGE, LOWEST_LEVEL
from selection.runs import deletion
from selection.texts import counted
from selection.viewer_locale import format_figure

from . import alarms, meetings
from .steps import recount_watch, request_watch

# The level of each worker, by id; None: the watch's own.
Levels = Mapping[str, float | None]
# Changes of these begin anew: evidence of another hypothesis cannot go on.
HYPOTHESIS = ("level", "rule", "once_in", "delta")
CHUNK = 2000
State, RETESTED = WatchedWorker.State, WatchedWorker.RETESTED


def round_level(share: float) -> float:
    """Compute the level in whole percents, rounded down: each one is calibrated once."""
    return min(HIGHEST_LEVEL, max(LOWEST_LEVEL, math.floor(100 * share + 1e-6) / 100))


def choose_levels(shown: Mapping[str, float], level: float | None) -> Levels:
    """Compute the levels of selected workers: one for all, or their own in the run."""
    return shown if level is None else dict.fromkeys(shown)


@transaction.atomic
def create_watch(
    pool: Pool,
    question_sets: Collection[QuestionSet],
    levels: Levels,
    run: Run | None = None,
    **settings: Any,
) -> Watch:
    """Begin a watch of these workers of the pool. Raises Refused.

    settings  name, and those of ``models.watches.SETTINGS``
    """
    watch = Watch(team_id=pool.team_id, pool=pool, run=run, **settings)
    _validate(watch, question_sets)
    if not levels:
        raise Refused("Choose at least one worker to watch.")
    watch.save()
    watch.question_sets.set(question_sets)
    add_workers(watch, levels)
    return watch


def _validate(watch: Watch, question_sets: Collection[QuestionSet]) -> None:
    deletion.validate_item(watch)
    if not question_sets:
        raise Refused("Choose at least one question set: the watch needs gold questions.")
    if any(one.team_id != watch.team_id for one in question_sets):
        raise Refused("The question sets must belong to the team of the pool.")
    if watch.with_practice:
        alarms.refuse_no_practice(question_sets)


@transaction.atomic
def change_watch(
    watch: Watch, question_sets: Collection[QuestionSet] | None = None, **settings: Any
) -> None:
    """Change settings. Another level or rule begins anew: earlier answers are not counted again."""
    Watch.objects.lock(watch.pk)
    old = {name: getattr(watch, name) for name in HYPOTHESIS}
    tolerance = watch.tolerance
    tested = watch.workers.filter(Q(state__in=RETESTED) | Q(before__in=RETESTED))
    for name, value in settings.items():
        setattr(watch, name, value)
    sets = list(watch.question_sets.all()) if question_sets is None else list(question_sets)
    _validate(watch, sets)
    watch.save()
    watch.question_sets.set(sets)
    _count_met_before(watch)
    changed = {name for name, value in old.items() if getattr(watch, name) != value}
    if "level" in changed and watch.level is not None:
        watch.workers.update(level=round_level(watch.level))
    if changed:
        idle = (*WatchedWorker.OUT_OF_WORK, State.LEFT)
        begin_anew(watch.workers.exclude(state__in=idle), state=State.FINE)
        begin_anew(watch.workers.filter(state__in=idle))
        request_watch(watch.pk)
    elif watch.tolerance != tolerance:  # a border that is moved while one sees the answers
        begin_anew(tested)
    if not watch.with_practice:
        for row in watch.workers.filter(state=State.PRACTICE).select_related("worker", "watch"):
            alarms.end_practice(row)


def begin_anew(rows: QuerySet[WatchedWorker], **columns: Any) -> None:
    """Begin anew with these workers: only questions asked from now on are counted."""
    now = db_clock.database_now()
    rows.update(
        since=Greatest(Coalesce(F("last_asked"), now), now),
        threshold=None,
        memory=b"",
        evidence=0,
        answers=0,
        right=0,
        alarmed=None,
        alarmed_after=None,
        **columns,
    )


@transaction.atomic
def stop_watch(watch: Watch) -> None:
    """End the watch; it takes no answers until ``resume_watch``."""
    watch.stopped = watch.stopped or db_clock.database_now()
    watch.save(update_fields=["stopped"])


@transaction.atomic
def resume_watch(watch: Watch) -> None:
    """Take answers again; the time to answer did not run meanwhile."""
    Watch.objects.lock(watch.pk)
    if watch.stopped:
        open_rows = GoldAnswer.objects.filter(watched__watch=watch, due__gt=watch.stopped)
        open_rows.update(due=F("due") + (db_clock.database_now() - watch.stopped))
    watch.stopped = None
    watch.save(update_fields=["stopped"])


# By the name of a button or of the API.
MOVES: dict[str, Callable[[Watch], None]] = {
    "stop": stop_watch,
    "resume": resume_watch,
    "recount": recount_watch,
}


def refuse_stopped(watch: Watch) -> None:
    if watch.stopped:
        raise Conflict(f"“{watch}” is stopped: resume it before it takes answers or workers.")


# -- workers


@transaction.atomic
def add_workers(watch: Watch, levels: Levels) -> int:
    """Watch these workers of the pool; return the number of new ones.

    Workers that left come back with their evidence, to a pause or a test if they left one. Raises
    Refused for a worker that is not in the pool, and for a missing or impossible level.
    """
    refuse_stopped(watch)
    Watch.objects.lock(watch.pk)
    workers = _find_workers(watch.pool, levels)
    watched = {row.worker_id: row for row in watch.workers.all()}
    back = [watched[worker.pk].pk for worker, _ in workers if worker.pk in watched]
    returning = watch.workers.filter(pk__in=back, state=State.LEFT)
    returning.filter(before="").update(state=State.FINE, recount=True)
    returning.update(state=F("before"), before="", recount=True)
    new = [(worker, level) for worker, level in workers if worker.pk not in watched]
    WatchedWorker.objects.bulk_create(
        [
            WatchedWorker(
                watch=watch, worker=worker, level=_level_for(watch, worker, level), peers=len(new)
            )
            for worker, level in new
        ],
        CHUNK,
    )
    _count_met_before(watch)
    audit.record_entry("watched", watch, after={"workers": len(new), "back": len(back)})
    request_watch(watch.pk)
    return len(new)


def _find_workers(pool: Pool, levels: Levels) -> Sequence[tuple[Worker, float | None]]:
    by_key = {plain_key(key): level for key, level in levels.items()}
    rows: Iterable[Worker] = pool.workers.all().only("pk", "key", "pool")
    matches = [(row, by_key[row.key]) for row in rows if row.key in by_key]
    if len(matches) < len(by_key):
        missing = by_key.keys() - {row.key for row, _ in matches}
        others = f" (and {counted(len(missing) - 1, 'other')})" if len(missing) > 1 else ""
        raise Refused(f"There is no worker “{min(missing)}” in the pool “{pool}”{others}.")
    return matches


def _count_met_before(watch: Watch) -> None:
    """Store the number of questions that each worker met elsewhere."""
    rows = iter(watch.workers.select_related("worker"))
    while part := list(islice(rows, CHUNK)):
        met = meetings.find_met(watch, [row.worker.key for row in part])
        for row in part:
            row.met_before = max(0, len(met.get(plain_key(row.worker.key), ())) - row.met)
        WatchedWorker.objects.bulk_update(part, ["met_before"])


def _level_for(watch: Watch, worker: Worker, own: float | None) -> float:
    level = watch.level if own is None else own
    if level is None:
        raise Refused(f"Give the watch a level, or “{worker}” one of their own.")
    if not LOWEST_LEVEL <= level <= HIGHEST_LEVEL:
        raise Refused(f"“{worker}” cannot be held to {format_figure(level)}. {LEVEL_RANGE}")
    return round_level(level)


@transaction.atomic
def remove_workers(watch: Watch, keys: Collection[str]) -> int:
    """Watch these workers no more; their answers stay. Return their number."""
    Watch.objects.lock(watch.pk)
    plain = {plain_key(key) for key in keys}
    rows = watch.workers.exclude(state=State.LEFT).values_list("pk", "worker__key")
    leaving = [pk for pk, key in rows if key in plain]
    if len(leaving) < len(plain):
        raise Refused("Some of these workers are not watched here.")
    GoldAnswer.objects.filter(watched__in=leaving).unanswered().delete()  # they say nothing
    watch.workers.filter(pk__in=leaving, gold_answers=None).delete()
    out = watch.workers.filter(pk__in=leaving, state__in=WatchedWorker.OUT_OF_WORK, before="")
    out.update(before=F("state"))
    watch.workers.filter(pk__in=leaving).update(state=State.LEFT)
    audit.record_entry("watched", watch, after={"workers that left": len(leaving)})
    return len(leaving)
