"""``manage.py run``: create a run, start and end it, and print its state."""

import getpass
import json
from collections.abc import Callable
from typing import Any

from django.core.management import BaseCommand, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction

from selection import audit, reports
from selection.management import run_arguments
from selection.management.lookups import DASH, report_refusals, run_of
from selection.models import Run
from selection.runs import changes, lifecycle, money, void_budget
from selection.runs.settings import algorithm_choices
from selection.texts import counted

MOVES: dict[str, tuple[Callable[[Run, str, str], None], str]] = {
    "start": (lifecycle.start_run, "let a draft begin: questions go out"),
    "pause": (lifecycle.pause_run, "hand nothing out and count nothing, until it is resumed"),
    "resume": (lifecycle.resume_run, "go on after a pause"),
    "stop": (lifecycle.stop_run, "end it, with the guarantee reached by now"),
    "reopen": (lifecycle.reopen_run, "go on after its end, if corrected gold cost its guarantee"),
    "conclude": (lifecycle.conclude_run, "put it aside: nothing about it is left to be decided"),
    "take-up": (lifecycle.take_up, "undo conclude"),
}


class Command(BaseCommand):
    help = "Make a run, let it begin and end, and see how it stands."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
        create = actions.add_parser(
            "create", help="make a draft", description=f"Make a draft. {DASH}"
        )
        run_arguments.add_arguments(create)
        _add_team(create)
        for move, (_, help) in MOVES.items():
            move_parser = actions.add_parser(move, help=help, description=f"{help.capitalize()}.")
            _add_run(move_parser)
            _add_why(move_parser)
        change = actions.add_parser(
            "change",
            help="give one that has begun other settings",
            description="Give a run that has begun other settings, and say what that does.",
        )
        run_arguments.add_changes(change)
        _add_run(change)
        _add_why(change)
        status = actions.add_parser("status", help="how it stands", description="How a run stands.")
        _add_run(status)
        status.add_argument("--json", action="store_true", help="for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        action = options["what"]
        with report_refusals():
            if action == "create":
                self._create_run(options)
                return
            run = run_of(options["run"], options["team"])
            if action == "status":
                self.stdout.write(
                    _format_json(run) if options["json"] else "\n".join(_state_lines(run))
                )
                return
            if action == "change":
                self.stdout.write("\n".join(_change_settings(run, options)))
            else:
                move_run(run, action, options["why"])
            self._print_state(Run.objects.get(pk=run.pk))

    def _create_run(self, options: dict[str, Any]) -> None:
        """Create all of it or nothing: a run that was to start and cannot is not created."""
        with transaction.atomic():
            run = run_arguments.create_draft(options)
            audit.record_entry(
                "added",
                run,
                who=_machine_user(),
                after={"said": algorithm_choices.describe_options(run)},
            )
            if options["start"]:
                move_run(run, "start")
        self._print_state(Run.objects.get(pk=run.pk))

    def _print_state(self, run: Run) -> None:
        self.stdout.write(f"Run {run.pk}, “{run}”: {run.state}.")


def move_run(run: Run, action: str, why: str = "") -> None:
    """Change the run's state, with an audit entry: there is no request to record it."""
    with transaction.atomic():
        MOVES[action][0](run, _machine_user(), why)
        audit.record_entry(action, run, who=_machine_user(), why=why[:300])


def _change_settings(run: Run, options: dict[str, Any]) -> list[str]:
    settings, why = run_arguments.changed_settings(run, options), options["why"]
    with transaction.atomic():
        effects = changes.apply_changes(run, settings, _machine_user(), why)
        for name, effect in effects.items():
            audit.record_entry(
                name, run, who=_machine_user(), why=why[:300], after={"said": effect}
            )
    return list(effects.values()) or ["Nothing changes: it is like this already."]


def _machine_user() -> str:
    """Return the login on this machine, which need not be a user of the app."""
    try:
        return f"command {getpass.getuser()}"
    except (KeyError, OSError):  # a container may have no name for its user
        return "command"


def _add_run(parser: CommandParser) -> None:
    parser.add_argument("run", metavar="RUN", help=f"its name or number. {DASH}")
    _add_team(parser)


def _add_team(parser: CommandParser) -> None:
    parser.add_argument("--team", default="", help="whose it is, where several have the name")


def _add_why(parser: CommandParser) -> None:
    parser.add_argument("--why", default="", help="the reason, kept in the run's history")


# -- the state


def _state_lines(run: Run) -> list[str]:
    promised = reports.promise_status(run)
    lines = [f"{run}: {run.state}" + (f", because {run.why_ended}" if run.ending else "")]
    if run.status != Run.Status.DRAFT:
        lines += _count_lines(run, reports.read_progress(run))
    sentence = f"{promised.so_far} {promised.meaning}".strip()
    weakened = promised.verdict == reports.WEAKENED
    by_hand = "" if weakened else promised.by_hand
    lines += [sentence or promised.sentence, *filter(None, (promised.over, by_hand))]
    lacks = void_budget.void_budget_of(run)
    lines += [lacks.words] if lacks else []
    fit = None if weakened else reports.model_fit(run)  # the sentence includes it
    return lines + [need.words for need in reports.list_alerts(run, fit)]


def _count_lines(run: Run, now: reports.Progress) -> list[str]:
    cost = money.format_cost(run, now.spent)
    limit = "" if run.budget is None else f" of {run.budget:,}"
    handed = f"{now.spent:,}{limit} handed out" + (f", {cost} if all are answered" if cost else "")
    to_come = reports.summarise_forecast(run, getattr(run, "outlook", None), now.counted)
    return [
        f"{now.accepted:,} accepted, {now.rejected:,} rejected, {now.undecided:,} undecided, "
        f"{now.not_tested:,} not tested",
        f"{counted(now.counted, 'answer')} counted, {now.out:,} out; {handed}",
        *([f"Estimated remaining: {to_come}"] if run.status != Run.Status.ENDED else []),
    ]


def _format_json(run: Run) -> str:
    promised = reports.promise_status(run)
    document = {
        "id": run.pk,
        "run": run.name,
        "status": run.status,
        "state": run.state,
        "ending": run.ending,
        "progress": None if run.status == Run.Status.DRAFT else vars(reports.read_progress(run)),
        "promise": promised.sentence,
        "verdict": promised.verdict,
        "epsilon_reached": promised.epsilon,
        "needs": [vars(need) for need in reports.list_alerts(run, reports.model_fit(run))],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, cls=DjangoJSONEncoder)
