"""``manage.py evaluate``: the best K of many models, from two files to a selection."""

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandParser
from tqdm import tqdm

from selection import wakeups
from selection.errors import Refused
from selection.management import evaluation_check, evaluation_files, evaluation_start, evaluations
from selection.management import evaluation_result as result
from selection.management.lookups import report_refusals, run_of
from selection.model_workers import play, unreadable
from selection.models import Endpoint, Run
from selection.runs import lifecycle, unreadable_models
from selection.runs.roster import failing_models

NOT_READY, ENDED_EARLY, UNREADABLE, INTERRUPTED = 1, 3, 4, 130
EXIT_CODES = (
    "Exit codes: 0 the guarantee holds; 1 or 2 a failure, or a file or setting was refused; 3 the "
    "money or the questions ended first; 4 too many replies cannot be read; 130 interrupted. "
    "--check: 0 if each model gave an answer, else 1."
)


class Command(BaseCommand):
    help = (
        "Choose the best K of many models, prompts or judges by gold questions, with as few calls "
        "as possible. Ctrl-C pauses. The same command again goes on where it stopped, with a "
        f"higher --limit also after its end by money; no call is repeated. {EXIT_CODES}"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("models", nargs="?", type=Path, help="YAML file, see docs/model-workers.md")
        gold = "gold questions, in any format that is imported (default: “data” of the YAML file)"
        add("gold", nargs="?", type=Path, help=gold)
        example = f"write an example to begin with, and no more (default: {evaluation_start.FILE})"
        name = evaluation_start.FILE
        add("--init", nargs="?", type=Path, const=Path(name), metavar="FILE", help=example)
        check = "call each model once, and tell what the evaluation will cost; start nothing"
        add("--check", action="store_true", help=check)
        report = "write a report to read, print and keep: one HTML file"
        add("--report", type=Path, metavar="FILE", help=report)
        junit = "write the result as JUnit's XML, for continuous integration"
        add("--junit", type=Path, metavar="FILE", help=junit)
        columns = "unrecognised columns of the gold file, as in prompt=question,answer=target"
        add("--map", action="append", default=[], metavar="FIELD=COLUMN,…", help=columns)
        add("--leave-out", action="store_true", help="leave out gold questions with an error")
        add("--resume", metavar="RUN", help="go on with this run, by its name or number")
        add("--anew", action="store_true", help="a new run, although there is one of these files")
        drop = "leave this model out; with --resume withdraw it; may be given again"
        add("--drop", action="append", default=[], metavar="MODEL", help=drop)
        back = "ask a model again that was set aside or withdrawn; may be given again"
        add("--take-back", action="append", default=[], metavar="MODEL", help=back)
        lost = (
            "what to do if too many replies of a model have no answer: read all stored ones again "
            "by --parsing, count them as wrong, or set the model aside (default: pause)"
        )
        ways = [way.replace(" ", "-") for way in unreadable_models.WAYS]
        add("--unreadable", choices=ways, help=lost)
        add("--parsing", default="auto", choices=Endpoint.Parsing.values, help="for reread")
        add("--pattern", default="", help="for reread by a regular expression")
        add("--k", type=int, default=1, help="how many to select (default: 1)")
        add("--epsilon", type=float, default=0.05, help="how far off (default: 0.05)")
        add("--delta", type=float, default=0.05, help="how often (default: 0.05)")
        add("--algorithm", default="certified", metavar="NAME", help="default: certified")
        alike = "let the guarantee be about questions like these, not about this set"
        add("--any-questions", action="store_true", help=alike)
        add("--by-price", action="store_true", help="ask cheaper models more; for universal")
        add("--limit", metavar="MONEY", help="most money to spend on calls; also with --resume")
        add("--currency", default="$", help="of the prices in the YAML file (default: $)")
        add("--seed", type=int, help="fixes every random choice (default: drawn)")
        add("--team", default="", help="whose run it is (default: the first team's)")
        add("--json", action="store_true", help="print the result for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals(), wakeups.silenced():  # it takes the steps itself, without Redis
            if options["init"]:
                self.stdout.write("\n".join(evaluation_start.write_example(options["init"])))
            elif options["check"]:
                self._check(options)
            else:
                files = evaluation_files.write_files(options["report"], options["junit"])
                with files as outcome, report_refusals():  # a file has the sentence of a refusal
                    evaluations.prepare_database()
                    self._evaluate(outcome, options)

    def _evaluate(self, outcome: evaluation_files.Outcome, options: dict[str, Any]) -> None:
        outcome.run = run = self._find_run(options)
        if run.status == Run.Status.ENDED:
            self.stderr.write(f"Run {run.pk} of these files has ended; no calls are made.")
        elif run.status == Run.Status.RUNNING:
            self._play(run, options)
        self._show_result(run, options["json"])
        if run.status == Run.Status.PAUSED:
            self._tell_resuming(run)
        outcome.code = exit_code(run)
        if outcome.code:
            sys.exit(outcome.code)

    def _check(self, options: dict[str, Any]) -> None:
        if options["report"] or options["junit"]:
            raise Refused("--check starts no run, and so has no --report and no --junit.")
        evaluations.prepare_database()
        run = self._find_run(options, start=False)
        evaluations.allow_servers(run)
        evaluations.limit_draft(run, options)
        check = evaluation_check.check_models(run)
        document = json.dumps(check.document, indent=2, ensure_ascii=False)
        self.stdout.write(document if options["json"] else "\n".join(check.lines))
        if not check.is_good:
            sys.exit(NOT_READY)

    def _find_run(self, options: dict[str, Any], start: bool = True) -> Run:
        if options["resume"]:
            run = run_of(options["resume"], options["team"])
            return evaluations.continue_run(run, options, self.stderr.write) if start else run
        if not options["models"]:
            raise Refused("Name the YAML file of the models, or begin with --init.")
        return evaluations.find_or_create(options, self.stderr.write, start)

    def _play(self, run: Run, options: dict[str, Any]) -> None:
        """Play the run to its end; after an interruption or a failure it is paused."""
        visible = options["verbosity"] > 0 and not options["json"]
        try:
            self._watch(run, visible)
            while evaluations.settle_unreadable(run, options):
                self._watch(run, visible)
        except BaseException as error:
            if Run.objects.filter(pk=run.pk, status=Run.Status.RUNNING).exists():
                lifecycle.pause_run(run)
            run.refresh_from_db()
            if isinstance(error, KeyboardInterrupt | Refused):
                self._show_result(run, options["json"])
            self._tell_resuming(run)
            if isinstance(error, KeyboardInterrupt):
                sys.exit(INTERRUPTED)
            raise

    def _show_result(self, run: Run, as_json: bool) -> None:
        text = result.format_json(run) if as_json else "\n".join(result.result_lines(run))
        self.stdout.write(text)

    def _tell_resuming(self, run: Run) -> None:
        command = f"manage.py evaluate --resume {run.pk}"
        if unreadable.list_asking(run):
            for count in unreadable.count_replies(run):
                if count.asking:
                    self.stderr.write(f"“{count.worker}”: {count.advice}.")
            command += " --unreadable reread, wrong or set-aside"
        self.stderr.write(f"Paused. Go on with: {command}")

    def _watch(self, run: Run, visible: bool) -> None:
        """Play the run under a bar; show each model's first reply, and models set aside."""
        bar = tqdm(
            total=run.candidates.count() * run.deck_size,
            unit=" calls",
            disable=not visible,
            bar_format="{n_fmt} of at most {total_fmt} calls, {elapsed}{postfix}",
        )
        checked = not visible

        def tell(run: Run) -> None:
            nonlocal checked
            for name, problem in failing_models.set_aside_failing(run).items():
                bar.clear()
                self._tell_set_aside(run, name, problem)
            failing_models.refuse_without_choice(run)
            if not checked and (result.is_checked(run) or run.status != Run.Status.RUNNING):
                checked = True
                bar.clear()
                self.stderr.write("\n".join(result.check_lines(run)))
            bar.n = run.model_calls.count()
            decided = run.candidates.exclude(verdict=0).count()
            bar.set_postfix_str(
                f" {result.format_spent(run)}, {decided} of {run.candidates.count()} decided"
            )

        try:
            play.play_run(run, tell)
        finally:
            bar.close()

    def _tell_set_aside(self, run: Run, name: str, problem: str) -> None:
        self.stderr.write(
            f"“{name}” never replied and is set aside: {problem} When it works, pause and use "
            f"--resume {run.pk} --take-back “{name}”."
        )


def exit_code(run: Run) -> int:
    if run.status == Run.Status.PAUSED:
        return UNREADABLE
    return 0 if run.finished else ENDED_EARLY
