"""``manage.py run``: create a run, start and end it, and print its state."""

import json
from typing import Any

from django.core.management import BaseCommand, CommandParser
from django.db import transaction

from selection import actor, audit, reports
from selection.api.run.lifecycle import describe_run
from selection.api.run.schemas import RunOut
from selection.management import run_arguments
from selection.management.lookups import DASH, TEAM, report_refusals, run_of
from selection.models import Run
from selection.runs import changes, lifecycle, money, void_budget
from selection.runs.settings import algorithm_choices
from selection.texts import counted

HELP = {
    "start": "let a draft begin: questions go out",
    "pause": "hand nothing out and count nothing, until it is resumed",
    "resume": "go on after a pause",
    "stop": "end it, with the guarantee reached by now",
    "reopen": "go on after its end, if corrected gold cost its guarantee",
    "conclude": "put it aside: nothing about it is left to be decided",
    "take-up": "undo conclude",
    "change": "give one that has begun other settings, and say what that does",
    "status": "how it stands",
}


class Command(BaseCommand):
    help = "Make a run, let it begin and end, and see how it stands."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
        about = f"Make a draft. {DASH}"
        run_arguments.add_arguments(
            actions.add_parser("create", help="make a draft", description=about)
        )
        for action, help in HELP.items():
            each = actions.add_parser(action, help=help, description=f"{help.capitalize()}.")
            each.add_argument("run", metavar="RUN", help=f"its name or number. {DASH}")
            if action == "status":
                each.add_argument("--json", action="store_true", help="as the API has it")
            else:
                each.add_argument("--why", default="", help="the reason, kept in the run's history")
            if action == "change":
                run_arguments.add_changes(each)
        for each in actions.choices.values():
            each.add_argument("--team", default="", help=TEAM)

    def handle(self, *args: Any, **options: Any) -> None:
        action, who = options["what"], f"command {actor.machine_user()}"
        with report_refusals():
            run = None if action == "create" else run_of(options["run"], options["team"])
            if run and action == "status":
                self.stdout.write(_format_json(run) if options["json"] else _describe_state(run))
                return
            with transaction.atomic(), actor.acting_as_part(who):  # all of it or nothing
                run = self._change_run(run, options, who) if run else _create_run(options, who)
            run = Run.objects.get(pk=run.pk)
            self.stdout.write(f"Run {run.pk}, “{run}”: {run.state}.")

    def _change_run(self, run: Run, options: dict[str, Any], who: str) -> Run:
        if options["what"] in lifecycle.MOVES:
            lifecycle.MOVES[options["what"]](run, who, options["why"])
        else:
            settings = run_arguments.changed_settings(run, options)
            effects = changes.apply_changes(run, settings, who, options["why"])
            nothing = ["Nothing changes: it is like this already."]
            self.stdout.write("\n".join(list(effects.values()) or nothing))
        return run


def _create_run(options: dict[str, Any], who: str) -> Run:
    run = run_arguments.create_draft(options)
    description = {"said": algorithm_choices.describe_options(run)}
    audit.record_entry("added", run, who=who, after=description)
    if options["start"]:
        lifecycle.start_run(run, who)
    return run


def _describe_state(run: Run) -> str:
    promised = reports.promise_status(run)
    lines = [f"{run}: {run.state}" + (f", because {run.why_ended}" if run.ending else "")]
    if run.status != Run.Status.DRAFT:
        lines += _count_lines(run, reports.read_progress(run))
    weakened = promised.verdict == reports.WEAKENED
    lines += [f"{promised.so_far} {promised.meaning}".strip() or promised.sentence]
    lines += filter(None, (promised.over, "" if weakened else promised.by_hand))
    lacks = void_budget.void_budget_of(run)
    lines += [lacks.words] if lacks else []
    fit = None if weakened else reports.model_fit(run)  # the sentence includes it
    return "\n".join([*lines, *(need.words for need in reports.list_alerts(run, fit))])


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
    document = RunOut.model_validate(describe_run(run)).model_dump(mode="json")
    absent = {"progress": None} if run.status == Run.Status.DRAFT else {}
    return json.dumps({"run": run.name} | document | absent, indent=2, ensure_ascii=False)
