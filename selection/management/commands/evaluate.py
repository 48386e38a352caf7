"""``manage.py evaluate``: the best K of many models, from two files to a selection."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandParser
from django.db import transaction
from django.db.models import Sum
from tqdm import tqdm

from selection import reports, wakeups
from selection.errors import Refused
from selection.imports import column_plan, commit, platforms, row_parsers, uploads
from selection.management.lookups import find_team, parse_amount, report_refusals, run_of
from selection.model_workers import askable, changes, model_files, play, prices, spending
from selection.models import ModelServer, ModelSpending, Pool, QuestionSet, Run, Team, Upload
from selection.reports.selection import selection_of_run
from selection.runs import drafts, lifecycle, money

ON_THIS_SET = "on this question set"
LINE = "{place:>3}  {name:<40} {accuracy:>8}  {calls:>6} calls  {cost:>12}  {verdict}"


class Command(BaseCommand):
    help = (
        "Choose the best K of many models, prompts or judges by gold questions, with as few calls "
        "as possible. Ctrl-C pauses; --resume goes on."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("models", nargs="?", type=Path, help="YAML file, see docs/model-workers.md")
        add("gold", nargs="?", type=Path, help="gold questions, in any format that is imported")
        add("--resume", metavar="RUN", help="go on with this run, by its name or number")
        add("--k", type=int, default=1, help="how many to select (default: 1)")
        add("--epsilon", type=float, default=0.05, help="how far off (default: 0.05)")
        add("--delta", type=float, default=0.05, help="how often (default: 0.05)")
        add("--algorithm", default="certified", metavar="NAME", help="default: certified")
        add(
            "--any-questions",
            action="store_true",
            help="let the guarantee be about questions like these, not about this set",
        )
        add("--by-price", action="store_true", help="ask cheaper models more; for universal")
        add("--limit", metavar="MONEY", help="most money to spend on calls; also with --resume")
        add("--currency", default="$", help="of the prices in the YAML file (default: $)")
        add("--seed", type=int, help="fixes every random choice (default: drawn)")
        add("--team", default="", help="whose run it is (default: the first team's)")
        add("--json", action="store_true", help="print the result for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals(), wakeups.silenced():  # it takes the steps itself, without Redis
            run = self._resumed_run(options) if options["resume"] else self._new_run(options)
            try:
                self._play(run, options["verbosity"] > 0 and not options["json"])
            except BaseException as error:
                lifecycle.pause_run(run)
                if isinstance(error, Refused | KeyboardInterrupt):
                    self._show_result(run, options["json"])
                self.stderr.write(f"Paused. Go on with: manage.py evaluate --resume {run.pk}")
                if not isinstance(error, KeyboardInterrupt):
                    raise
                return
            self._show_result(run, options["json"])

    def _resumed_run(self, options: dict[str, Any]) -> Run:
        run = run_of(options["resume"], options["team"])
        rows = ModelServer.objects.filter(endpoints__worker__candidates__run=run).distinct()
        allow_own_environment({server.key_variable: server.url for server in rows})
        play.hold_run(run.pk)
        set_limit(run, options)
        if run.status == Run.Status.PAUSED:
            lifecycle.resume_run(run)
        run.refresh_from_db()
        return run

    def _new_run(self, options: dict[str, Any]) -> Run:
        if not (options["models"] and options["gold"]):
            raise Refused("Name two files: the models in YAML and the gold questions.")
        with transaction.atomic():
            return create_run(options)

    def _show_result(self, run: Run, as_json: bool) -> None:
        self.stdout.write(format_json(run) if as_json else "\n".join(result_lines(run)))

    def _play(self, run: Run, visible: bool) -> None:
        bar = tqdm(
            total=run.candidates.count() * run.deck_size,
            unit=" calls",
            disable=not visible,
            bar_format="{n_fmt} of at most {total_fmt} calls, {elapsed}{postfix}",
        )

        def tell(run: Run) -> None:
            bar.n = run.model_calls.count()
            decided = run.candidates.exclude(verdict=0).count()
            bar.set_postfix_str(
                f" {_format_spent(run)}, {decided} of {run.candidates.count()} decided"
            )

        try:
            play.play_run(run, tell)
        finally:
            bar.close()


def create_run(options: dict[str, Any]) -> Run:
    """Store the servers, models, gold questions and run of the files, and start it."""
    team = find_team(options["team"])
    file = model_files.ModelFile(options["models"].read_text(encoding="utf-8"))
    allow_own_environment(
        {str(entry.values.get("key_variable", "")): entry.values["url"] for entry in file.servers}
    )
    name = drafts.free_name(f"{options['models'].stem} on {options['gold'].stem}", team.pk)
    pool = Pool.objects.create(team=team, name=drafts.free_name(name, team.pk, Pool))
    changes.store_file(pool, file)
    questions = _import_questions(options["gold"], team, name)
    wanted: dict[str, Any] = {
        "name": name,
        "pool": pool,
        "question_set": questions,
        **askable.count_slots(pool),
        "currency": options["currency"],
        **{field: options[field] for field in ("k", "epsilon", "delta", "algorithm", "by_price")},
    }
    if not options["any_questions"]:
        wanted["options"] = {"accuracy": ON_THIS_SET}
    if options["seed"] is not None:
        wanted["seed"] = options["seed"]
    run = drafts.create_draft(wanted, said="Created by evaluate.", who="command")
    set_limit(run, options)
    play.hold_run(run.pk)
    lifecycle.start_run(run)
    run.refresh_from_db()
    return run


def set_limit(run: Run, options: dict[str, Any]) -> None:
    """Limit the run's money if a limit is given; a resumed run keeps its own without."""
    limit = parse_amount("--limit", options["limit"])
    if limit is not None:
        spending.set_limit(run, limit)


def allow_own_environment(urls: dict[str, str]) -> None:
    """Allow these variables for these addresses, and addresses of this machine's network.

    Whoever runs this command can read and reach them anyway.
    """
    settings.MODELS_INSIDE = True
    settings.MODEL_KEYS = {**settings.MODEL_KEYS, **urls}


def _import_questions(path: Path, team: Team, name: str) -> QuestionSet:
    name = drafts.free_name(name, team.pk, QuestionSet)
    questions = QuestionSet.objects.create(team=team, name=name)
    raw = row_parsers.read_path(path)
    upload = uploads.create_upload("questions", questions, path.name, raw, at_once=False)
    try:
        plan = column_plan.ColumnPlan(**upload.plan)
        platforms.refuse_missing(plan, upload.header, upload.name, plan.header or 1)
        uploads.finish_upload(upload)
        if upload.state == Upload.State.FAILED:
            raise Refused(f"{path.name}: {upload.error}")
        for problem in commit.rejected_rows(upload)[:1]:
            raise Refused(f"{path.name}, line {problem.line}: {problem.why}")
        commit.commit_import(upload.pk)
    finally:
        uploads.discard_upload(upload)
    return questions


# -- the result


def result_lines(run: Run) -> list[str]:
    """Return the selection, the guarantee and the cost, as lines of text."""
    rows = _standing_rows(run)
    chosen = [row for row in rows if row["selected"]]
    others = [row for row in rows if not row["selected"]]
    lines = [
        LINE.format(place=place, **_format_row(row, run)) for place, row in enumerate(chosen, 1)
    ]
    lines += [""] + [LINE.format(place="", **_format_row(row, run)) for row in others[:10]]
    lines += [f"     … and {len(others) - 10} more"] if len(others) > 10 else []
    everything = run.candidates.count() * run.deck_size
    calls = run.model_calls.count()
    return [
        *lines,
        "",
        _describe_guarantee(run),
        f"{calls:,} calls of {everything:,} ({calls / everything:.1%}), {_format_spent(run)}. "
        f"Run {run.pk}, “{run}”.",
    ]


def format_json(run: Run) -> str:
    status = reports.promise_status(run)
    document = {
        "run": run.pk,
        "name": run.name,
        "ending": run.ending,
        "guarantee": _describe_guarantee(run),
        "epsilon_reached": status.epsilon,
        "calls": run.model_calls.count(),
        "cost": str(prices.to_amount(_spending(run))),
        "models": _standing_rows(run),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _describe_guarantee(run: Run) -> str:
    """Return the guarantee; of a paused run, that it is not reached yet."""
    sentence = reports.promise_status(run).sentence
    return sentence if run.finished else f"Not reached yet: {sentence}"


def _standing_rows(run: Run) -> list[dict[str, Any]]:
    selected = set(selection_of_run(run).arms.tolist())
    calls = run.model_calls.order_by().values_list("worker")
    costs: dict[int, int] = dict(calls.annotate(cost_of_all=Sum("cost")))
    rows = [
        {
            "model": candidate.worker.key,
            "selected": candidate.arm in selected,
            "accuracy": round(candidate.rewards / candidate.pulls, 4) if candidate.pulls else None,
            "calls": candidate.pulls,
            "cost": str(prices.to_amount(costs.get(candidate.worker_id, 0))),
        }
        for candidate in run.candidates.select_related("worker")
    ]
    return sorted(rows, key=lambda row: (not row["selected"], -(row["accuracy"] or 0)))


def _format_row(row: dict[str, Any], run: Run) -> dict[str, str]:
    accuracy = "" if row["accuracy"] is None else f"{row['accuracy']:.1%}"
    cost = money.format_call_cost(Decimal(row["cost"]), run.currency)
    verdict = "selected" if row["selected"] else ""
    calls = str(row["calls"])
    return {"name": row["model"], "accuracy": accuracy, "calls": calls, "cost": cost} | {
        "verdict": verdict
    }


def _spending(run: Run) -> int:
    spending = ModelSpending.objects.filter(run=run).first()
    return 0 if spending is None else spending.spent


def _format_spent(run: Run) -> str:
    return money.format_call_cost(prices.to_amount(_spending(run)), run.currency)
