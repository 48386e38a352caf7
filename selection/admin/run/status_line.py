"""The one line that answers if a run goes well, and the alerts below it with their fixes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.urls import reverse

from selection.facts import Facts
from selection.models import Run
from selection.reports import Alert, Progress, Weakening, WorkerStanding
from selection.runs.roster import roster_opening
from selection.texts import count_noun

# Kinds of alerts that ask for nothing: they are notes, or the line itself says all.
NOTES = ("fit", "review")
CALM = (*NOTES, "waits", "paused")


@dataclass(frozen=True)
class Fix:
    """A link of an alert.

    page  of the run, "gold" or "system"; or a part of the run's own page, with #
    asks  "change" or "system" if only users who may change the run, or see the system, can use it
    url   empty until the run is known
    """

    label: str
    page: str
    asks: str = "change"
    url: str = ""


COPY = Fix("Copy with more questions…", "copy")
IMPORT = Fix("Import answers", "import")
INVITE = Fix("Bring your workers in", "#bring-in", "")
FIXES: dict[str, tuple[Fix, ...]] = {
    "gold": (Fix("Change the target…", "do_change"), COPY),
    "quiet": (INVITE,),
    "joins": (INVITE, Fix("Close the roster…", "do_change")),
    "broken": (Fix("Review the questions", "gold", ""),),
    "sharing": (Fix("See the signs", "#signs", ""),),
    "models": (Fix("View calls and money", "#models", ""),),
    "unreadable": (Fix("View replies by model", "#models", ""),),
    "tool": (Fix("See where people answer", "where", ""),),
    "risk": (Fix("Change the target or budget…", "do_change"), COPY),
}


@dataclass(frozen=True)
class StatusLine:
    """The line.

    tone  good, wait, act or still
    kind  of the alert that it states; empty if it states none
    """

    tone: str
    text: str
    kind: str = ""


def write_status(
    run: Run,
    progress: Progress,
    remaining: Facts | None,
    alerts: Sequence[Alert],
    lines: Sequence[WorkerStanding],
) -> StatusLine:
    urgent = next((alert for alert in alerts if _is_urgent(alert)), None)
    if run.status == Run.Status.PAUSED and (urgent is None or urgent.kind != "unreadable"):
        return StatusLine("still", "Paused", "paused")
    if urgent:
        return StatusLine("act", f"Action needed: {urgent.title}", urgent.kind)
    if run.enrolling:
        if not run.joined or roster_opening.too_few(run):
            return StatusLine("wait", "Waiting for workers to join")
        joined = count_noun(run.joined, "worker")
        return StatusLine("good", f"{joined} joined: close the roster when all are here")
    if any(alert.kind == "waits" for alert in alerts):
        workers = len({line.worker for line in lines if line.out})
        return StatusLine("wait", f"Waiting for {count_noun(workers, 'worker')}", "waits")
    if not progress.counted:
        return StatusLine("wait", "Waiting for the first answers")
    if remaining is None or not remaining.about:
        return StatusLine("good", "Running: no estimate yet")
    if remaining.risk:
        return StatusLine("act", "At risk: questions or budget may run out", "risk")
    return StatusLine("good", f"On track: {remaining.about}")


def _is_urgent(alert: Alert) -> bool:
    return alert.kind not in CALM or alert.is_outage


def show_alerts(
    run: Run, alerts: Sequence[Alert], status: StatusLine, remaining: Facts | None
) -> list[Facts]:
    """Keep the alerts that ask for an action, the one that the line states first."""
    cards = [
        Facts(
            title="" if alert.kind == status.kind else alert.title.capitalize(),
            words=alert.words,
            fixes=_add_urls(run, _fixes_of(run, alert)),
        )
        for alert in sorted(alerts, key=lambda alert: alert.kind != status.kind)
        if alert.kind not in NOTES
    ]
    if remaining and remaining.risk and all(alert.kind != "gold" for alert in alerts):
        title = "" if status.kind == "risk" else "At risk"
        cards.append(Facts(title=title, words=remaining.risk, fixes=_add_urls(run, FIXES["risk"])))
    return cards


def show_remedies(run: Run, weakenings: Sequence[Weakening]) -> list[Facts]:
    return [
        Facts(
            title=each.short[:1].upper() + each.short[1:],
            words=each.remedy.words,
            fixes=_add_urls(
                run, [Fix(each.remedy.label, each.remedy.page)] if each.remedy.label else []
            ),
        )
        for each in weakenings
    ]


def _fixes_of(run: Run, alert: Alert) -> tuple[Fix, ...]:
    if alert.kind == "stuck" and run.recorded_only:
        return (IMPORT,)
    if alert.kind == "stuck" or alert.is_outage:
        return (Fix("See the system’s state", "system", "system"),)
    return FIXES.get(alert.kind, ())


def _add_urls(run: Run, fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    return tuple(replace(fix, url=_url_of(run, fix.page)) for fix in fixes)


def _url_of(run: Run, page: str) -> str:
    if page.startswith("#"):
        return page
    if page == "system":
        return reverse("admin:selection_heartbeat_changelist")
    if page == "gold":
        gold = reverse("admin:selection_questionset_gold", args=[run.question_set_id])
        return f"{gold}?run={run.pk}"
    name, _, part = page.partition("#")
    return reverse(f"admin:selection_run_{name}", args=[run.pk]) + (f"#{part}" if part else "")
