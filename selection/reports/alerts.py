"""What a run needs a person to see to, and why: at most a few sentences, the most urgent first."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Max, Q

from selection import db_clock
from selection.models import Assignment, Candidate, Pulse, Run, exposure
from selection.questions import problem_reports

from .blocking_workers import describe_waiting
from .collusion import CollusionSigns
from .durations import count_noun, format_duration
from .model_fit import ModelFit
from .system import background_delay, redis_answers

# Nothing out and no step for so long: nobody can answer, and nothing hands out.
STUCK = timedelta(minutes=10)
# Nobody answered or came to their page for so long.
QUIET = timedelta(hours=6)
# The roster is open, and nobody came for so long; or the run is paused for so long.
LONG = timedelta(hours=24)
# A worker is short of gold when at most this share of the questions is left, or a single one.
SHORT = 0.1
MOST_NAMED = 5
UNTIL = (
    "Answers are taken and kept, but nobody is judged and no question goes out until it is back."
)


@dataclass(frozen=True)
class Alert:
    """kind   stuck, waits, gold, quiet, joins, paused, broken, fit, sharing or review: for programs
    words  what is the matter, for people
    """

    kind: str
    words: str


def list_alerts(
    run: Run,
    fit: ModelFit | None = None,
    signs: CollusionSigns | None = None,
    now: datetime | None = None,
) -> list[Alert]:
    """Empty for most runs.

    What the algorithm doubts is among it where its ``fit`` is given, and whether workers seem to
    share answers where ``signs`` are.
    """
    now = now or db_clock.database_now()
    doubts = [Alert("fit", words) for words in (fit.warnings if fit else ())] + _collusion_alerts(
        signs
    )
    if run.state == "ready for review":
        why = f"It has ended because {run.why_ended}: look at whom it selected."
        return [Alert("review", why), *doubts]
    if run.status == Run.Status.PAUSED:
        return [*_paused_alerts(run, now), *_problem_report_alerts(run)]
    if run.status != Run.Status.RUNNING:
        return []
    found = (
        _open_roster_alerts(run, now)
        if run.enrolling
        else [*_stalled_alerts(run, now), *_gold_alerts(run)]
    )
    if not any(need.kind == "stuck" for need in found):
        found = [
            *_redis_alerts(),
            *found,
        ]  # in time what works in the background stands still by it
    return [*found, *_problem_report_alerts(run), *doubts]


def _problem_report_alerts(run: Run) -> list[Alert]:
    """Workers say that questions are broken, and nobody has seen to it."""
    rows = problem_reports.open_reports(run).order_by("assignment__question__key")
    named = list(rows.values_list("assignment__question__key", flat=True).distinct())
    if not named:
        return []
    keys = ", ".join(f"“{key}”" for key in named[:MOST_NAMED])
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    what = "this question is" if len(named) == 1 else "these questions are"
    return [Alert("broken", f"Workers say that {what} broken: {keys}{more}.")]


def _collusion_alerts(signs: CollusionSigns | None) -> list[Alert]:
    found = signs.found if signs else ()
    if not found:
        return []
    about = "it says" if len(found) == 1 else "they say"
    words = (
        f"{count_noun(len(found), 'sign')} that workers share answers: see what {about} before you rely "
        "on the selection."
    )
    return [Alert("sharing", words)]


def _paused_alerts(run: Run, now: datetime) -> list[Alert]:
    if run.paused is None or now - run.paused < LONG:
        return []
    span = format_duration(now - run.paused)
    return [Alert("paused", f"It has been paused for {span}: nothing goes out until it goes on.")]


def _open_roster_alerts(run: Run, now: datetime) -> list[Alert]:
    """The roster is open and nobody comes."""
    span = now - _last_seen(run)
    if span < LONG:
        return []
    size = run.candidates.filter(skill=0, gone="").count()
    words = f"The roster is open with {count_noun(size, 'worker')}, and nobody came for {format_duration(span)}."
    if size <= run.k:
        words += f" More than {run.k} are needed before there is anything to choose."
    return [Alert("joins", words)]


def _stalled_alerts(run: Run, now: datetime) -> list[Alert]:
    """Nothing moves: for want of answers to import, of work given out, or of people."""
    if run.recorded_only:
        if run.has_recorded:
            return []
        return [Alert("stuck", "It uses only answers made elsewhere, and none are imported yet.")]
    last = run.history.order_by("-number").values_list("at", flat=True).first()
    moved = now - max(filter(None, (last, run.called, run.started)))
    if idle := _describe_background(run, now):
        return [Alert("stuck", idle)]
    if moved >= STUCK and not Assignment.objects.filter(candidate__run=run).open().exists():
        return [
            Alert(
                "stuck",
                f"No question is out, and nothing moved for {format_duration(moved)}: see whether the "
                "part that works in the background is up.",
            )
        ]
    if found := _silent_alerts(run, now - _last_seen(run)):
        return found
    held = describe_waiting(run, moved, now)
    return [Alert("waits", held)] if held else []


def _describe_background(run: Run, now: datetime) -> str:
    """What is the matter where nobody works in the background; empty if all is well."""
    begun = max(filter(None, (Pulse.objects.last_seen(Pulse.SWEEP), run.called, run.started)))
    span = background_delay(begun, now)
    if span is None:
        return ""
    why = "Celery's worker or its clock (beat) is not running"
    if not redis_answers():
        why = "Redis does not answer"
    return f"Nothing has worked in the background for {format_duration(span)}: {why}. {UNTIL}"


def _redis_alerts() -> list[Alert]:
    """It comes and goes, so programs are not told."""
    return [] if redis_answers() else [Alert("waits", f"Redis does not answer. {UNTIL}")]


def _silent_alerts(run: Run, span: timedelta) -> list[Alert]:
    if span < QUIET:
        return []
    words, here = (
        f"No answer and no visit for {format_duration(span)}",
        run.candidates.filter(gone=""),
    )
    size = here.filter(skill=0).count()
    came = here.filter(Q(seen__isnull=False) | Q(pulls__gt=0)).values("worker").distinct().count()
    if came < size:
        have = "has" if size - came == 1 else "have"
        words += f"; {size - came} of {count_noun(size, 'worker')} {have} not opened their link"
    return [Alert("quiet", f"{words}.")]


def _last_seen(run: Run) -> datetime:
    """When anybody was last there, or the run began to wait for them."""
    seen = run.candidates.aggregate(last=Max("seen"))["last"]
    found: datetime = max(filter(None, (seen, run.called, run.started)))
    return found


def _gold_alerts(run: Run) -> list[Alert]:
    """Workers who are still to be told apart have been asked nearly every question."""
    if run.fixed_budget or run.recorded_only:
        return []
    wanted = run.candidates.filter(gone="", verdict=Candidate.Verdicts.UNDECIDED)
    short, size, closed = 0, 0, exposure.closed_to(run)
    for skill in run.skills:
        own, left = wanted.filter(skill=skill.number), max(1, int(SHORT * skill.deck_size))
        size += own.count()
        if closed.any():
            rows = own.values_list("arm", "asked", "skipped")
            most = skill.deck_size - left
            short += sum(asked + met + closed[arm] >= most for arm, asked, met in rows)
        else:
            short += own.filter(asked__gte=skill.deck_size - left - F("skipped")).count()
    if not short:
        return []
    return [
        Alert(
            "gold",
            f"The gold questions are nearly used up for {short} of the {size} workers who are "
            "undecided: it may end before its promise holds.",
        )
    ]
