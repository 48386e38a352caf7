"""A watch in words and numbers: the next action, and the end of its gold."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber

from selection import db_clock
from selection.facts import Facts
from selection.models import GoldAnswer, RunConnection, Watch, WatchedWorker
from selection.models.watches import SETTINGS
from selection.texts import count_noun, counted
from selection.viewer_locale import format_figure

State = WatchedWorker.State
ENOUGH = 3  # least number of workers with answers for a common fall
SOON_WEEKS = 4  # before the gold of a worker is used up
WEEK = timedelta(weeks=1)
# The first screen has these states, after alarms.
NOTES = {
    State.PAUSED: "paused: test, resume or replace them",
    State.FALLING: "falling",
    State.PRACTICE: "practising before a test, by their gold link",
    State.TESTING: "tested again",
}
IS_PRESENT = ~Q(workers__state=State.LEFT)
RECENT = 60  # gold answers of a worker's chart
# Of a file and the API: their names, and the attributes that they show.
WORKER_COLUMNS = {"worker": "worker.key"} | {
    name: name
    for name in (
        *("state", "level", "answers", "right", "evidence", "threshold", "alarmed"),
        *("alarmed_after", "dismissed", "why", "tried", "last_asked", "met", "met_before"),
    )
}
GOLD_COLUMNS = {
    "worker": "watched.worker.key",
    "question_set": "question.question_set.name",
    "question": "question.key",
    "asked": "asked",
    "received": "at",
    "due": "due",
    "response": "response",
    "right": "right",
    "counted": "counted",
}


def column_values(row: WatchedWorker | GoldAnswer, columns: dict[str, str]) -> dict[str, Any]:
    values = {name: attrgetter(path)(row) for name, path in columns.items()}
    return {name: round(v, 4) if isinstance(v, float) else v for name, v in values.items()}


def gold_answers(watch: Watch) -> QuerySet[GoldAnswer]:
    answers = GoldAnswer.objects.filter(watched__watch=watch)
    return answers.select_related("watched__worker", "question__question_set")


def watch_settings(watch: Watch) -> dict[str, Any]:
    """Describe the settings as the API and the file have them."""
    names = ["name", *SETTINGS, "created", "stopped"]
    sets = sorted(one.pk for one in watch.question_sets.all())
    facts = {"id": watch.pk, **{name: getattr(watch, name) for name in names}}
    facts |= {"run": watch.run_id, "pool": watch.pool_id, "question_sets": sets}
    return facts | {"state": watch.state, "false_alarms": describe_rule(watch)}


def describe_rule(watch: Watch) -> str:
    """Say how often an alarm is false, in one sentence."""
    if watch.rule == Watch.Rule.RATE:
        return (
            "A worker at the level has on average at most one false alarm in "
            f"{counted(watch.once_in, 'gold answer')}."
        )
    if watch.rule == Watch.Rule.SHARE:
        return (
            f"On average, a share of at most {format_figure(watch.delta, 3)} of the alarms is "
            "false: proved for workers that began together, until one is added or begins anew."
        )
    return (
        f"With a probability of {format_figure(1 - watch.delta, 3)}, workers that began together "
        "and keep the level are never reported."
    )


def describe_pause(watch: Watch) -> str:
    """Say where a pause takes effect."""
    effects = []
    links = RunConnection.objects.filter(run=watch.run_id, on=True, connection__kind="prolific")
    if watch.run_id and links.exists():
        effects.append(
            "A paused or tested worker leaves the Prolific group of the accepted workers within "
            "seconds, and comes back when they go on; your webhooks are told."
        )
    if watch.connections.filter(on=True).exists():
        effects.append("A pause pauses the member in Label Studio, if its edition allows that.")
    nowhere = "A pause marks the worker here and tells your webhooks; no platform is changed."
    return " ".join(effects) or nowhere


def with_counts(watches: QuerySet[Watch]) -> QuerySet[Watch]:
    """Annotate the numbers of present workers, and of those with an alarm, falling or paused.

    A worker who is paused by an alarm counts as both.
    """
    present = Count("workers", filter=IS_PRESENT)
    alarms = Count("workers", filter=IS_PRESENT & ~Q(workers__alarmed=None))
    falling, paused = (
        Count("workers", filter=Q(workers__state=state)) for state in (State.FALLING, State.PAUSED)
    )
    return watches.annotate(watched=present, alarms=alarms, falling=falling, paused=paused)


def summarise(watch: Watch) -> Facts:
    return summarise_watches([watch])[0][1]


def summarise_watches(watches: Sequence[Watch]) -> list[tuple[Watch, Facts]]:
    """Describe the first screen of each: the next action, a common fall, the end of the gold.

    tone  of the words: bad, warn or good
    """
    rows = WatchedWorker.objects.filter(watch__in=watches).order_by()
    is_fallen = Q(state=State.FALLING) | ~Q(alarmed=None)
    sums = rows.values("watch", "state").annotate(
        count=Count("pk"),
        answered=Count("pk", filter=Q(answers__gt=0)),
        fallen=Count("pk", filter=Q(answers__gt=0) & is_fallen),
        met=Sum("met"),
    )
    by_watch: dict[int, list[Any]] = {watch.pk: [] for watch in watches}
    for one in sums:
        by_watch[one["watch"]].append(one)
    golds = _forecast_golds(watches)
    return [(watch, _summarise(watch, by_watch[watch.pk], golds[watch.pk])) for watch in watches]


def _summarise(watch: Watch, sums: list[Any], gold: Facts) -> Facts:
    counts = {one["state"]: one["count"] for one in sums}
    present = [one for one in sums if one["state"] != State.LEFT]
    answered, fallen = (sum(one[name] for one in present) for name in ("answered", "fallen"))
    together = answered >= ENOUGH and 2 * fallen > answered
    tone, words = _describe_action(watch, counts, any(one["met"] for one in sums))
    return Facts(counts=counts, together=together, fallen=fallen, gold=gold, tone=tone, words=words)


def _describe_action(watch: Watch, counts: dict[str, int], answered: bool) -> tuple[str, str]:
    alarms, present = counts.get(State.ALARM, 0), sum(counts.values()) - counts.get(State.LEFT, 0)
    if watch.stopped:
        return "warn", "This watch is stopped: it takes no answers."
    if not present:
        return "warn", "This watch has no workers: add some."
    if alarms:
        return "bad", f"{count_noun(alarms, 'worker', 'have')} an alarm: pause or dismiss it."
    if not answered:
        return "warn", "There is no gold answer yet."
    notes = [
        f"{count_noun(counts[state], 'worker', 'are')} {words}."
        for state, words in NOTES.items()
        if counts.get(state)
    ]
    if counts.get(State.PAUSED):
        return "warn", " ".join(notes)
    return "good", " ".join(["There is nothing to do: no alarm is open.", *notes])


def _forecast_golds(watches: Sequence[Watch]) -> dict[int, Facts]:
    """Count each watch's gold questions, and the time until workers have met all of them.

    soon   number of workers with gold for at most ``SOON_WEEKS``
    weeks  until the first of them has met all; None without answers
    """
    in_use = Count("question_sets__questions", filter=Q(question_sets__questions__retired=None))
    questions = Watch.objects.filter(pk__in=[watch.pk for watch in watches]).order_by()
    sizes = dict(questions.annotate(questions=in_use).values_list("pk", "questions"))
    rows = WatchedWorker.objects.filter(watch__in=watches).order_by()
    met: dict[int, list[Any]] = {watch.pk: [] for watch in watches}
    active = rows.exclude(state__in=(State.LEFT, State.PAUSED))
    for pk, *facts in active.values_list("watch", "met", "met_before", "first_asked"):
        met[pk].append(tuple(facts))
    now = db_clock.database_now()
    return {one.pk: _forecast_gold(one, sizes[one.pk], met[one.pk], now) for one in watches}


def _forecast_gold(
    watch: Watch, questions: int, met: list[tuple[int, int, datetime | None]], now: datetime
) -> Facts:
    paced = watch.every if watch.pace == Watch.Pace.WEEK else 0
    weeks = []
    for count, before, first in met:
        weekly = max(paced, count / max(1.0, (now - (first or now)) / WEEK))
        left = max(0, questions - before - count)
        weeks += [left / weekly] if weekly else [] if left else [0.0]
    soon = sum(time <= SOON_WEEKS for time in weeks)
    least = min(weeks, default=None)
    return Facts(questions=questions, soon=soon, weeks=least, words=_describe_gold(soon, least))


def _describe_gold(soon: int, weeks: float | None) -> str:
    if not soon or weeks is None:
        return ""
    when = "now" if weeks < 1 else f"in {count_noun(round(weeks), 'week')}"
    return (
        f"The gold runs out: {count_noun(soon, 'worker')} will have met every gold question, the "
        f"first {when}. Add questions to the question sets."
    )


def recent_answers(rows: list[WatchedWorker]) -> dict[int, list[bool]]:
    """List each worker's latest grades, oldest first."""
    latest = [F("asked").desc(), F("pk").desc()]
    answers = GoldAnswer.objects.filter(watched__in=rows, question__retired=None, counted=True)
    ranked = answers.annotate(rank=Window(RowNumber(), partition_by="watched", order_by=latest))
    recent: dict[int, list[bool]] = {row.pk: [] for row in rows}
    latest_rows = ranked.filter(rank__lte=RECENT).order_by("asked", "pk")
    for watched, is_right in latest_rows.values_list("watched_id", "right"):
        recent[watched].append(is_right)
    return recent
