"""Evaluations of models: the run of two files and their settings, created or found again."""

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from selection.errors import Conflict, Refused
from selection.imports import column_plan, commit, row_parsers, uploads
from selection.management.lookups import find_team, parse_amount
from selection.model_workers import (
    askable,
    changes,
    model_files,
    play,
    price_list,
    spending,
    unreadable,
)
from selection.models import ModelServer, ModelSpending, Pool, QuestionSet, Run, Team, Upload
from selection.runs import lifecycle, unreadable_models
from selection.runs.roster import membership, model_checks
from selection.runs.settings import drafts
from selection.texts import counted

ON_THIS_SET = "on this question set"
DECIDING = ("k", "epsilon", "delta", "algorithm", "by_price", "currency")
MOST_TOLD = 5  # bad rows of a file
Status = Run.Status


def prepare_database() -> None:
    executor = MigrationExecutor(connection)
    if connection.vendor == "sqlite" and not executor.loader.applied_migrations:
        call_command("migrate", verbosity=0)
    elif executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise Refused("The database is not up to date: run manage.py migrate first.")


def find_or_create(
    options: dict[str, Any], tell: Callable[[str], object], start: bool = True
) -> Run:
    """Return the run of these files and settings, ready to go on or ended.

    An earlier one is continued: nothing is asked twice. Raises Refused for a fault in a file.

    tell   told where the prices of a new run's models are from, and of waiting
    start  else a new run stays a draft, and an earlier one as it is
    """
    team, file = find_team(options["team"]), read_models(options)
    raw = row_parsers.read_path(options["gold"])
    inputs = digest_inputs(file, raw, options)
    earlier = Run.objects.filter(team=team, spending__inputs=inputs).order_by("-pk").first()
    if earlier is not None and not options["anew"]:
        return continue_run(earlier, options, tell) if start else earlier
    stored = ModelServer.objects.filter(team=team).values_list("name", "url")
    urls = dict(stored) | {entry.values["name"]: entry.values["url"] for entry in file.servers}
    for note in price_list.fill_prices(file.models, urls, options["currency"]):
        tell(note)
    with transaction.atomic():
        run = create_draft(team, file, raw, inputs, options)
        return start_draft(run, options) if start else run


def read_models(options: dict[str, Any]) -> model_files.ModelFile:
    """Read the models; complete the options by the gold questions that their file names."""
    path = options["models"]
    file = model_files.ModelFile(path.read_text(encoding="utf-8-sig"), path.parent)
    options["columns"] = [] if options["gold"] else file.columns
    options["gold"] = options["gold"] or file.data
    if options["gold"] is None:
        raise Refused("Name a file of gold questions: after the models, or as “data” in the YAML.")
    drop_models(file, options["drop"])
    return file


def drop_models(file: model_files.ModelFile, names: Sequence[str]) -> None:
    known = [entry.worker for entry in file.models]
    for name in names:
        if name not in known:
            raise Refused(f"--drop: there is no model “{name}”; there are {', '.join(known)}.")
    file.models = [entry for entry in file.models if entry.worker not in names]


def digest_inputs(file: model_files.ModelFile, raw: bytes, options: dict[str, Any]) -> str:
    servers = [entry.values for entry in file.servers]
    models = [(entry.worker, entry.server, entry.values) for entry in file.models]
    names = (*DECIDING, "seed", "any_questions", "map")
    chosen = [options[name] for name in names] + ["leave_out"] * options["leave_out"]
    chosen += options["columns"]
    parts = [servers, models, hashlib.sha256(raw).hexdigest(), chosen]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def continue_run(run: Run, options: dict[str, Any], tell: Callable[[str], object]) -> Run:
    """Let a run go on if it can: paused, or ended by a lower limit in money.

    Raises Conflict if another process makes its calls; one that was killed is waited for.
    """
    allow_servers(run)
    limit = parse_amount("--limit", options["limit"])
    if run.status == Status.DRAFT:
        return start_draft(run, options)
    if run.status == Status.ENDED:
        before = spending.read_limit(run)
        if limit is None or before is None or limit <= before:
            return run
        lifecycle.raise_limit(run, limit, who="command")
    elif limit is not None:
        spending.set_limit(run, limit)
    if run.status == Status.RUNNING and not play.wait_for_hold(run, tell):
        raise Conflict(f"Another process evaluates this now: run {run.pk}, “{run}”.")
    change_roster(run, options)
    if unreadable.list_asking(run):
        settle_unreadable(run, options)
    elif run.status == Status.PAUSED:
        lifecycle.resume_run(run)
    run.refresh_from_db()
    if run.status == Status.RUNNING:
        play.hold_run(run.pk)
    return run


def settle_unreadable(run: Run, options: dict[str, Any]) -> bool:
    """Decide on replies without an answer as the options say; return True if the run goes on."""
    way = (options["unreadable"] or "").replace("-", " ")
    if not way or not unreadable.list_asking(run):
        return False
    unreadable_models.settle(run, way, options["parsing"], options["pattern"], "command")
    run.refresh_from_db()
    return run.status == Status.RUNNING


def change_roster(run: Run, options: dict[str, Any]) -> None:
    if options["resume"] and options["drop"]:
        membership.withdraw_workers(run, options["drop"], "command", "--drop")
    if options["take_back"]:
        membership.take_back(run, options["take_back"], "command", "--take-back")


def create_draft(
    team: Team, file: model_files.ModelFile, raw: bytes, inputs: str, options: dict[str, Any]
) -> Run:
    """Store the servers, models and gold questions of the files, and a draft of their run."""
    allow_own_environment(
        {str(entry.values.get("key_variable", "")): entry.values["url"] for entry in file.servers}
    )
    name = drafts.free_name(f"{options['models'].stem} on {options['gold'].stem}", team.pk)
    pool = Pool.objects.create(team=team, name=drafts.free_name(name, team.pk, Pool))
    changes.store_file(pool, file)
    questions = _import_questions(raw, team, name, options)
    wanted: dict[str, Any] = {
        "name": name,
        "pool": pool,
        "question_set": questions,
        **askable.count_slots(pool),
        **{field: options[field] for field in DECIDING},
    }
    if not options["any_questions"]:
        wanted["options"] = {"accuracy": ON_THIS_SET}
    if options["seed"] is not None:
        wanted["seed"] = options["seed"]
    run = drafts.create_draft(wanted, said="Created by evaluate.", who="command")
    limit_draft(run, options)
    ModelSpending.objects.update_or_create(run=run, defaults={"inputs": inputs})
    return run


def limit_draft(run: Run, options: dict[str, Any]) -> None:
    limit = parse_amount("--limit", options["limit"])
    if limit is not None and run.status == Status.DRAFT:
        spending.set_limit(run, limit)


def start_draft(run: Run, options: dict[str, Any]) -> Run:
    limit_draft(run, options)
    if options["resume"] and options["drop"]:
        model_checks.leave_out(run, options["drop"], "command")
    play.hold_run(run.pk)
    lifecycle.start_run(run)
    run.refresh_from_db()
    return run


def allow_servers(run: Run) -> None:
    rows = ModelServer.objects.filter(endpoints__worker__pool=run.pool).distinct()
    allow_own_environment({server.key_variable: server.url for server in rows})


def allow_own_environment(urls: dict[str, str]) -> None:
    """Allow these variables for these addresses, and addresses of this machine's network.

    Whoever runs this command can read and reach them anyway.
    """
    settings.MODELS_INSIDE = True
    settings.MODEL_KEYS = {**settings.MODEL_KEYS, **urls}


def _import_questions(raw: bytes, team: Team, name: str, options: dict[str, Any]) -> QuestionSet:
    file_name, columns = options["gold"].name, options["map"] or options["columns"]
    name = drafts.free_name(name, team.pk, QuestionSet)
    questions = QuestionSet.objects.create(team=team, name=name)
    upload = uploads.create_upload("questions", questions, file_name, raw, at_once=False)
    try:
        if columns:
            pairs = [*options["columns"], *parse_columns(options["map"], upload.header)]
            uploads.choose_columns(upload, pairs, at_once=False)
        uploads.read_whole(upload)
        if not options["leave_out"]:
            _refuse_bad_rows(upload)
        commit.commit_import(upload.pk)
    finally:
        uploads.discard_upload(upload)
    return questions


def _refuse_bad_rows(upload: Upload) -> None:
    problems = commit.rejected_rows(upload)
    told = [f"line {problem.line}: {problem.why}" for problem in problems[:MOST_TOLD]]
    if told:
        count = counted(problems.count(), "row")
        advice = "Correct them, or leave them out with --leave-out."
        raise Refused(f"{upload.name} has {count} with an error: {'; '.join(told)} {advice}")


def parse_columns(texts: Sequence[str], header: Sequence[str]) -> list[tuple[str, str]]:
    """Return (column, field) of FIELD=COLUMN texts with commas; COLUMN=FIELD is read as well."""
    fields = {entry.name for entry in column_plan.FIELDS[column_plan.QUESTIONS]}
    pairs = []
    for text in ",".join(texts).split(",") if texts else []:
        one, sign, other = (part.strip() for part in text.partition("="))
        if not (sign and one and other):
            raise Refused(f"--map: “{text}” names no column; write --map prompt=question.")
        turned = other in fields and not (one in fields and other in header)
        pairs.append((one, other) if turned else (other, one))
    return pairs
