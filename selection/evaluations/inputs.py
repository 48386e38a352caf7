"""What an evaluation starts with: the models and gold questions of its files, and its settings."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings

from selection.errors import Refused
from selection.grading import question_kinds
from selection.imports import (
    catalog,
    column_plan,
    gold_cells,
    key_readings,
    platforms,
    row_parsers,
    uploads,
)
from selection.imports.readers import read_table
from selection.imports.row_parsers import BadRow, QuestionRow
from selection.model_workers import api_keys, askable, endpoints, price_list
from selection.model_workers.model_files import ModelFile
from selection.model_workers.prompts import list_fields
from selection.models import Endpoint, ModelServer, Question, QuestionSet
from selection.texts import counted, plural

DECIDING = ("k", "epsilon", "delta", "algorithm", "by_price", "any_questions", "currency", "seed")
PACE = ("timeout",)  # settings of a model that may change while it is asked
MANNERS = ("reading", "compared")  # in --map: how answers name choices, how they are compared
MOST_TOLD = 5  # bad rows


@dataclass
class Inputs:
    """The files, read.

    gold       path of the gold questions
    questions  by their keys, with the columns that templates name, and with their messages
    columns    of the gold file
    document   everything that a run started with and keeps, by its place in the files
    notes      on what was not read
    """

    file: ModelFile
    gold: Path
    questions: dict[str, Question]
    columns: list[str]
    notes: list[str]
    document: dict[str, Any]

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.document["settings"])

    def drop_models(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self.document["models"]:
                known = ", ".join(self.document["models"])
                raise Refused(f"--drop: there is no model “{name}”; there are {known}.")
            del self.document["models"][name]
        self.file.models = [entry for entry in self.file.models if entry.worker not in names]


def read_inputs(options: dict[str, Any]) -> Inputs:
    """Read the files that the options name. Raises Refused for a fault in one."""
    path = options["models"]
    if path is None:
        raise Refused("Name the YAML file of the models, or begin with --init.")
    file = ModelFile(path.read_text(encoding="utf-8-sig"), path.parent)
    gold = options["gold"] or file.data
    if gold is None:
        raise Refused("Name a file of gold questions: after the models, or as “data” in the YAML.")
    columns = [] if options["gold"] else file.columns
    templates = [str(entry.values.get("template", "")) for entry in file.models]
    fields = {name for template in templates for name in list_fields(template)}
    read = _read_gold(gold, [*columns, *parse_columns(options["map"])], fields, options)
    document = {
        "servers": {entry.values["name"]: _fix_server(entry.values) for entry in file.servers},
        "models": {
            entry.worker: {"server": entry.server}
            | {name: value for name, value in entry.values.items() if name not in PACE}
            for entry in file.models
        },
        "questions": {key: _digest(question) for key, question in read[0].items()},
        "settings": {name: options[name] for name in DECIDING},
    }
    return Inputs(file, gold, *read, json.loads(json.dumps(document, default=str)))


def _fix_server(values: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what decides who is asked: not the pace, nor the key, which may be renewed."""
    fixed = {name: values.get(name) or {} for name in ("extra_headers", "extra_query")}
    return {"url": str(values["url"]).rstrip("/")} | fixed


def _digest(question: Question) -> str:
    parts = [question.prompt, question.accepted, question.choices, question.grading]
    parts += [question.columns, question.history]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def list_differences(
    stored: Mapping[str, Any], given: Mapping[str, Any], path: str = ""
) -> Iterator[str]:
    """Describe how the documents differ, place by place."""
    for name in dict.fromkeys([*stored, *given]):
        before, now, place = stored.get(name), given.get(name), path + name
        if name not in given:
            yield f"{place} is missing now"
        elif name not in stored:
            yield f"{place} is new"
        elif isinstance(before, dict) and isinstance(now, dict):
            yield from list_differences(before, now, f"{place} › ")
        elif before != now and path == "questions › ":
            yield f"{place} has changed"
        elif before != now:
            yield f"{place} was {before!r:.80} and is {now!r:.80}"


# -- gold questions


def _read_gold(
    path: Path,
    pairs: Sequence[tuple[str, str]],
    fields: Collection[str],
    options: Mapping[str, Any],
) -> tuple[dict[str, Question], list[str], list[str]]:
    """Read the questions by key, the columns, and notes on those not read.

    pairs   (column, field) as the files and the command say
    fields  columns that templates name: their text is not part of the prompt besides

    Raises Refused for a missing column, and for rows with an error unless they are left out.
    """
    raw, kind = row_parsers.read_path(path), column_plan.QUESTIONS
    uploads.refuse_large(path.name, len(raw))
    open_table = partial(read_table, raw, path.name, fits=platforms.header_test(kind))
    table = open_table()
    manners = {name: value for value, name in pairs if name in MANNERS}
    plan = column_plan.apply_column_choices(
        platforms.recognise_columns(kind, table.header),
        table.header,
        [pair for pair in pairs if pair[1] not in MANNERS],
    )
    plan.reading = key_readings.find_name(manners.get("reading", ""))
    plan.compared = manners.get("compared", "")
    question_kinds.grading_of(plan.compared.removeprefix("text"))
    platforms.refuse_missing(plan, table.header, path.name, table.line)
    readings = row_parsers.find_readings(open_table(), plan)
    if len(readings) > 1 and not plan.reading:
        raise Refused(f"{path.name}: {key_readings.describe_readings(readings)}")
    plan.context = [column for column in plan.context if column not in fields]
    together, bad = QuestionSet(team_id=0, name=path.stem), list[BadRow]()
    questions, lines = dict[str, Question](), dict[str, int]()
    for (_, row), made in row_parsers.parse_rows(table, plan):
        if isinstance(made, QuestionRow) and made.question in questions:
            first = lines[made.question]
            made = BadRow(made.line, f"This question is there already, in line {first}.")
        if isinstance(made, BadRow):
            bad.append(made)
        elif isinstance(made, QuestionRow):
            if why := askable.refuse_text(made.prompt, set()) or askable.refuse_choices(
                made.choices
            ):
                raise Refused(f"In the question “{made.question}” {why}")
            values, key = dict(zip(table.header, row, strict=False)), made.question
            question = catalog.build_question(together, len(questions), made)
            question.columns = {name: values[name] for name in table.header if name in fields}
            question.history = _read_messages(values.get(plan.fields["prompt"], ""))
            questions[key] = question
            lines[key] = made.line
    if bad and not options["leave_out"]:
        told = "; ".join(f"line {row.line}: {row.why}" for row in bad[:MOST_TOLD])
        number = counted(len(bad), "row")
        advice = "Correct them, or leave them out with --leave-out."
        raise Refused(f"{path.name} has {number} with an error: {told} {advice}")
    if not questions:
        raise Refused(f"{path.name} has no gold question.")
    unread = [f"“{name}”" for name in plan.unread_columns(table.header) if name not in fields]
    columns = f"{plural('column', len(unread))} {', '.join(unread)}"
    notes = [f"{path.name}: models are not shown the {columns}."] if unread else []
    return questions, table.header, notes


def _read_messages(prompt: str) -> list[Any]:
    """Read the messages of a conversation that ends with the user's; empty if it is none."""
    messages = gold_cells.read_messages(prompt)
    shaped = all(isinstance(one, dict) and {"role", "content"} <= one.keys() for one in messages)
    return messages if messages and shaped and messages[-1]["role"] == "user" else []


def parse_columns(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the (column, field) of FIELD=COLUMN texts with commas."""
    pairs = []
    for text in ",".join(texts).split(",") if texts else []:
        field, sign, column = (part.strip() for part in text.partition("="))
        if not (sign and field and column):
            raise Refused(f"--map: “{text}” names no column; write --map prompt=question.")
        pairs.append((column, field))
    return pairs


# -- models


def fill_prices(inputs: Inputs) -> list[str]:
    """Give models without a price their published one; tell in sentences where prices are from."""
    urls = {server.values["name"]: server.values["url"] for server in inputs.file.servers}
    return price_list.fill_prices(inputs.file.models, urls, inputs.settings["currency"])


def build_models(inputs: Inputs) -> dict[str, Endpoint]:
    """Build the models, on servers of their own. Raises Refused for an invalid setting or key."""
    keys = {e.values.get("key_variable", ""): e.values["url"] for e in inputs.file.servers}
    # Whoever runs the command can read the variables and reach the addresses anyway.
    settings.MODELS_INSIDE, settings.MODEL_KEYS = True, {**settings.MODEL_KEYS, **keys}
    servers = dict[str, ModelServer]()
    for entry in inputs.file.servers:
        server = ModelServer(team_id=0)
        try:
            endpoints.check_server(server, entry.values, entry.key)
        except Refused as refusal:
            raise inputs.file.refusal_of_server(entry, refusal) from refusal
        servers[server.name] = server
    models = dict(inputs.file.build_endpoints(servers, inputs.columns))
    for server in {id(model.server): model.server for model in models.values()}.values():
        api_keys.read_key(server)  # refuses a variable that is not set
    return models
