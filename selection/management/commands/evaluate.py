"""``manage.py evaluate``: the best K of many models, from two files to a selection."""

import json
import signal
import sys
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandParser
from tqdm import tqdm

from selection.errors import Refused
from selection.evaluations import check, files, play, runs
from selection.evaluations.calls import Caller
from selection.evaluations.result import Result, describe_replies, list_first_replies
from selection.management.lookups import parse_amount, report_refusals
from selection.model_workers.prices import to_amount, to_nano
from selection.models import Endpoint
from selection.runs.money import format_call_cost

NOT_READY, ENDED_EARLY, UNREADABLE, INTERRUPTED = 1, 3, 4, 130
WAYS = ("reread", "wrong", "set-aside")
EXIT_CODES = (
    "Exit codes: 0 the guarantee holds; 1 or 2 a failure, or a file or setting was refused; 3 the "
    "money or the questions ended first; 4 too many replies cannot be read; 130 interrupted. "
    "--check: 0 if each model gave an answer, else 1."
)


class Command(BaseCommand):
    help = (
        "Choose the best K of many models, prompts or judges by gold questions, with as few calls "
        "as possible. Ctrl-C and SIGTERM pause. The same command again goes on where it stopped, "
        f"with a higher --limit also after its end by money; no call is repeated. {EXIT_CODES}"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("models", nargs="?", type=Path, help="YAML file, see docs/model-workers.md")
        gold = "gold questions, in any format that is imported (default: “data” of the YAML file)"
        add("gold", nargs="?", type=Path, help=gold)
        begin = f"write an example to begin with, and no more (default: {files.EXAMPLE})"
        add("--init", nargs="?", type=Path, const=Path(files.EXAMPLE), metavar="FILE", help=begin)
        once = "call each model once, and tell what the evaluation will cost; start nothing"
        add("--check", action="store_true", help=once)
        report = "write a report to read, print and keep: one HTML file"
        add("--report", type=Path, metavar="FILE", help=report)
        junit = "write the result as JUnit's XML, for continuous integration"
        add("--junit", type=Path, metavar="FILE", help=junit)
        columns = "unrecognised columns of the gold file, as in prompt=question,answer=target"
        add("--map", action="append", default=[], metavar="FIELD=COLUMN,…", help=columns)
        add("--leave-out", action="store_true", help="leave out gold questions with an error")
        add("--resume", metavar="RUN", help="go on with this run, by its name or number")
        add("--anew", action="store_true", help="a new run, although there is one of these files")
        drop = "leave this model out, or withdraw it from a run; may be given again"
        add("--drop", action="append", default=[], metavar="MODEL", help=drop)
        back = "ask a model again that was set aside or withdrawn; may be given again"
        add("--take-back", action="append", default=[], metavar="MODEL", help=back)
        lost = (
            "what to do if too many replies of a model have no answer: read all stored ones again "
            "by --parsing, count them as wrong, or set the model aside (default: pause)"
        )
        add("--unreadable", choices=WAYS, help=lost)
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
        add("--json", action="store_true", help="print the result for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        # SIGTERM is Ctrl-C: containers and systemd send it.
        before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
        try:
            with report_refusals():
                self._do(options)
        finally:
            signal.signal(signal.SIGTERM, before)

    def _do(self, options: dict[str, Any]) -> None:
        amount = parse_amount("--limit", options["limit"])
        limit = None if amount is None else to_nano(amount)
        if options["init"]:
            self.stdout.write("\n".join(files.write_example(options["init"])))
        elif options["check"]:
            self._check(options, limit)
        else:
            with files.write_files(options["report"], options["junit"]) as outcome:
                evaluation = runs.open_evaluation(options, limit, self.stderr.write)
                try:
                    outcome.code = self._evaluate(evaluation, outcome, options)
                finally:
                    evaluation.study.close()
            if outcome.code:
                sys.exit(outcome.code)

    def _check(self, options: dict[str, Any], limit: int | None) -> None:
        if options["report"] or options["junit"]:
            raise Refused("--check starts no run, and so has no --report and no --junit.")
        done = check.check_models(options, limit, self.stderr.write)
        document = json.dumps(done.document, indent=2, ensure_ascii=False)
        self.stdout.write(document if options["json"] else "\n".join(done.lines))
        if done.failed:
            sys.exit(NOT_READY)

    def _evaluate(
        self, evaluation: runs.Evaluation, outcome: files.Outcome, options: dict[str, Any]
    ) -> int:
        """Play the run to its end, show its result, and return the exit code."""
        asking, code = list[str](), 0
        outcome.result = Result(evaluation)
        try:
            if evaluation.ending:
                self.stderr.write(f"Run {evaluation.number} has ended; no calls are made.")
            else:
                asking = self._play(evaluation, options)
        except KeyboardInterrupt:
            code = INTERRUPTED
        except Refused:
            self._tell_resuming(evaluation)
            raise
        finally:
            outcome.result = result = Result(evaluation, asking)
            text = result.format_json() if options["json"] else "\n".join(result.lines)
            self.stdout.write(text)
        if not (code or asking):
            return 0 if result.is_kept else ENDED_EARLY
        for count in result.replies:
            if count.asking:
                self.stderr.write(f"“{count.worker}”: {count.advice}.")
        self._tell_resuming(evaluation, bool(asking))
        return code or UNREADABLE

    def _play(self, evaluation: runs.Evaluation, options: dict[str, Any]) -> list[str]:
        """Make calls until the end; return the models whose lost replies wait for a decision."""
        with tqdm(
            total=len(evaluation.models) * len(evaluation.questions),
            unit=" calls",
            disable=options["verbosity"] == 0 or options["json"],
            bar_format="{n_fmt} of at most {total_fmt} calls, {elapsed}{postfix}",
        ) as bar:
            show = Progress(self, bar, evaluation)
            asking = play.play_run(evaluation, show.tell, show)
            while asking and options["unreadable"]:
                evaluation.settle_unreadable(asking, options)
                asking = play.play_run(evaluation, show.tell, show)
        return list(asking)

    def _tell_resuming(self, evaluation: runs.Evaluation, asking: bool = False) -> None:
        command = f"manage.py evaluate --resume {evaluation.number}"
        command += f" --unreadable {', '.join(WAYS[:-1])} or {WAYS[-1]}" if asking else ""
        self.stderr.write(f"Paused. Go on with: {command}")


class Progress:
    """A bar of calls and money; and once all models have replied, a table of their replies."""

    def __init__(self, command: Command, bar: tqdm, evaluation: runs.Evaluation) -> None:
        self.command, self.bar, self.evaluation = command, bar, evaluation
        self.told = bool(bar.disable)

    def tell(self, line: str) -> None:
        self.bar.clear()
        self.command.stderr.write(line)

    def __call__(self, caller: Caller) -> None:
        silent = {name for name, model in caller.models.items() if not model.replied}
        if not self.told and silent <= self.evaluation.study.set_aside.keys():
            self.told = True
            rows = list_first_replies(self.evaluation)
            self.tell("\n".join(describe_replies(rows, self.evaluation.currency)))
        if not self.bar.disable:
            cost = format_call_cost(to_amount(caller.budget.spent), self.evaluation.currency)
            self.bar.n = caller.made
            self.bar.set_postfix_str(f" {cost}")
