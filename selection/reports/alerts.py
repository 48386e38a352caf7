"""Alerts of a run: a few sentences on matters that need a person, the most urgent first."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Max, Q

from selection import connectors, db_clock
from selection.model_workers import spending, unreadable
from selection.models import Assignment, Candidate, Heartbeat, Run, exposure
from selection.questions import problem_reports
from selection.texts import count_noun, counted

from .blocking_workers import describe_waiting
from .collusion import CollusionSigns
from .durations import format_duration
from .model_fit import ModelFit
from .system import background_delay, redis_answers

# Time without an open assignment and without a step: the background work has failed.
STUCK = timedelta(minutes=10)
# Time without an answer or a visit.
QUIET = timedelta(hours=6)
# Time without a new worker while the roster is open; or time of a pause.
LONG = timedelta(hours=24)
# A worker is short of gold when at most this share of the questions is left, or a single one.
SHORT = 0.1
MOST_NAMED = 5
UNTIL = "Answers are kept, but no worker is judged and no question is assigned until it is back."
NO_REDIS = "Redis does not answer."
TITLES = {
    "stuck": "no progress",
    "waits": "waiting for answers",
    "gold": "running low on gold questions",
    "quiet": "no answers received",
    "joins": "no one has joined for a day",
    "paused": "paused for a long time",
    "broken": "workers report problems with questions",
    "models": "a model does not reply",
    "unreadable": "replies without an answer",
    "tool": "a connected tool needs attention",
    "fit": "doubt about the guarantee",
    "sharing": "workers may share answers",
    "review": "ready for review",
}


@dataclass(frozen=True)
class Alert:
    """A matter that needs a person.

    kind   stuck, waits, gold, quiet, joins, paused, broken, models, unreadable, tool, fit,
           sharing or review: for programs
    words  the matter, for people
    is_outage  True for a wait for Redis, not for workers
    """

    kind: str
    words: str
    is_outage: bool = False

    @property
    def title(self) -> str:
        return NO_REDIS.rstrip(".") if self.is_outage else TITLES[self.kind]


def list_alerts(
    run: Run,
    fit: ModelFit | None = None,
    signs: CollusionSigns | None = None,
    now: datetime | None = None,
) -> list[Alert]:
    """List alerts of the run; none for most runs.

    fit    adds the doubts of its algorithm
    signs  adds an alert if workers seem to share answers
    """
    now = now or db_clock.database_now()
    doubts = [Alert("fit", doubt) for doubt in (fit.warnings if fit else ())] + _collusion_alerts(
        signs
    )
    if run.state == "ready for review":
        message = f"The run ended because {run.why_ended}: review the selection."
        return [Alert("review", message), *doubts]
    if run.status == Run.Status.PAUSED:
        return [*_unreadable_alerts(run), *_paused_alerts(run, now), *_problem_report_alerts(run)]
    if run.status != Run.Status.RUNNING:
        return []
    alerts = (
        _open_roster_alerts(run, now)
        if run.enrolling
        else [*_stalled_alerts(run, now), *_gold_alerts(run)]
    )
    if not any(alert.kind == "stuck" for alert in alerts):
        alerts = [*_redis_alerts(), *alerts]  # without Redis the background work stops in time
    return [
        *alerts,
        *_model_alerts(run),
        *_unreadable_alerts(run),
        *_tool_alerts(run),
        *_problem_report_alerts(run),
        *doubts,
    ]


def _problem_report_alerts(run: Run) -> list[Alert]:
    """Alert if workers reported problems with questions that are still open."""
    rows = problem_reports.open_reports(run).order_by("assignment__question__key")
    questions = list(rows.values_list("assignment__question__key", flat=True).distinct())
    if not questions:
        return []
    keys = ", ".join(f"“{key}”" for key in questions[:MOST_NAMED])
    more = f" and {len(questions) - MOST_NAMED} more" if len(questions) > MOST_NAMED else ""
    subject = "this question" if len(questions) == 1 else "these questions"
    return [Alert("broken", f"Workers report a problem with {subject}: {keys}{more}.")]


def _model_alerts(run: Run) -> list[Alert]:
    """Alert if models of the run do not reply; the first one's problem is told."""
    failing = spending.failing_endpoints(run)
    if not failing:
        return []
    first, *more = failing
    others = {0: "", 1: ", nor does another"}.get(len(more), f", nor do {len(more)} others")
    why = first.problem.rstrip(".")
    message = f"“{first.worker}” does not reply{others}: {why}. Make a test call on their page."
    return [Alert("models", message)]


def _unreadable_alerts(run: Run) -> list[Alert]:
    """Alert if replies of models give no answer, with a setting that would help."""
    if not spending.has_models(run):
        return []
    rows = [row for row in unreadable.count_replies(run) if row.warned]
    asking = [row for row in rows if row.asking]
    if not rows:
        return []
    first = (asking or rows)[0]
    more = len(asking or rows) - 1
    others = f" The same holds for {count_noun(more, 'other model')}." if more else ""
    decide = " The run is paused until you decide under Calls and money." if asking else ""
    message = f"“{first.worker}” loses replies: {first.advice}.{others}{decide}"
    return [Alert("unreadable", message)]


def _tool_alerts(run: Run) -> list[Alert]:
    """Alert if a tool that the run is connected to does not work, with its remedy."""
    links = connectors.list_links(run)
    problems = [(link, link.connection.problem or link.problem) for link in links]
    return [
        Alert("tool", f"“{link.connection}”: {problem.rstrip('.')}. See Where people answer.")
        for link, problem in problems
        if problem
    ][:1]


def _collusion_alerts(signs: CollusionSigns | None) -> list[Alert]:
    pairs = signs.found if signs else ()
    if not pairs:
        return []
    message = (
        f"{count_noun(len(pairs), 'sign')} that workers share answers. Check before you rely on "
        "the selection."
    )
    return [Alert("sharing", message)]


def _paused_alerts(run: Run, now: datetime) -> list[Alert]:
    if run.paused is None or now - run.paused < LONG:
        return []
    span = format_duration(now - run.paused)
    return [Alert("paused", f"The run has been paused for {span}: no question is assigned.")]


def _open_roster_alerts(run: Run, now: datetime) -> list[Alert]:
    span = now - _last_seen(run)
    if span < LONG:
        return []
    size = run.candidates.filter(skill=0, gone="").count()
    message = (
        f"No one has joined for {format_duration(span)}. The open roster has "
        f"{count_noun(size, 'worker')}."
    )
    if size <= run.k:
        message += f" The run needs more than {run.k}."
    return [Alert("joins", message)]


def _stalled_alerts(run: Run, now: datetime) -> list[Alert]:
    """Alert if nothing moves, for want of imports, of assignments, or of workers."""
    if run.recorded_only:
        if run.has_recorded:
            return []
        return [Alert("stuck", "The run uses imported answers only, and none are imported yet.")]
    last = run.history.order_by("-number").values_list("at", flat=True).first()
    moved = now - max(filter(None, (last, run.absence_since, run.started)))
    if idle := _describe_background(run, now):
        return [Alert("stuck", idle)]
    if moved >= STUCK and not Assignment.objects.filter(candidate__run=run).open().exists():
        return [
            Alert(
                "stuck",
                f"No question is assigned, and nothing has changed for {format_duration(moved)}. "
                "Check that the background worker is running.",
            )
        ]
    if silent := _silent_alerts(run, now - _last_seen(run)):
        return silent
    waiting = describe_waiting(run, moved, now)
    return [Alert("waits", waiting)] if waiting else []


def _describe_background(run: Run, now: datetime) -> str:
    last_work = max(
        filter(None, (Heartbeat.objects.last_seen(Heartbeat.SWEEP), run.absence_since, run.started))
    )
    span = background_delay(last_work, now)
    if span is None:
        return ""
    cause = "Celery's worker or its clock (beat) is not running."
    if not redis_answers():
        cause = NO_REDIS
    return f"No background work for {format_duration(span)}: {cause} {UNTIL}"


def _redis_alerts() -> list[Alert]:
    """Alert for Redis. Webhooks do not send its kind, because it comes and goes."""
    return [] if redis_answers() else [Alert("waits", f"{NO_REDIS} {UNTIL}", is_outage=True)]


def _silent_alerts(run: Run, span: timedelta) -> list[Alert]:
    if span < QUIET:
        return []
    message = f"No answer or visit for {format_duration(span)}"
    active = run.candidates.filter(gone="")
    size = active.filter(skill=0).count()
    visitors = (
        active.filter(Q(seen__isnull=False) | Q(pulls__gt=0)).values("worker").distinct().count()
    )
    if visitors < size:
        have = "has" if size - visitors == 1 else "have"
        message += (
            f"; {size - visitors} of {count_noun(size, 'worker')} {have} not opened their link"
        )
    return [Alert("quiet", f"{message}.")]


def _last_seen(run: Run) -> datetime:
    """Find the time of the last visit, or the time at which the run began to wait for one."""
    visit = run.candidates.aggregate(last=Max("seen"))["last"]
    latest: datetime = max(filter(None, (visit, run.absence_since, run.started)))
    return latest


def _gold_alerts(run: Run) -> list[Alert]:
    """Alert if undecided workers have been asked nearly every question."""
    if run.fixed_budget or run.recorded_only:
        return []
    undecided = run.candidates.filter(gone="", verdict=Candidate.Verdicts.UNDECIDED)
    used_up = exposure.used_up([skill.question_set_id for skill in run.skills])
    short, closed = 0, exposure.closed_to(run) if used_up else None
    for skill in run.skills:
        in_skill = undecided.filter(skill=skill.number)
        reserve = max(1, int(SHORT * skill.deck_size))
        if closed is not None:
            rows = in_skill.values_list("arm", "asked", "skipped")
            most = skill.deck_size - reserve
            short += sum(asks + met + closed[arm] >= most for arm, asks, met in rows)
        else:
            short += in_skill.filter(asked__gte=skill.deck_size - reserve - F("skipped")).count()
    if not short:
        return []
    message = (
        f"{short} of the {counted(undecided.count(), 'undecided worker')} have almost no "
        "gold questions left: "
        "the run may end before it reaches its target."
    )
    return [Alert("gold", message)]
