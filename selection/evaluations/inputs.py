"""What an evaluation starts with: the models and gold questions of its files, and its settings."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from selection.errors import Refused
from selection.imports import column_plan, platforms, row_parsers, uploads
from selection.imports.readers import read_table
from selection.imports.row_parsers import BadRow, QuestionRow
from selection.model_workers import api_keys, askable, endpoints, price_list
from selection.model_workers.model_files import ModelFile
from selection.models import Endpoint, ModelServer, Question, QuestionSet
from selection.texts import counted

DECIDING = ("k", "epsilon", "delta", "algorithm", "by_price", "any_questions", "currency", "seed")
PACE = ("timeout",)  # settings of a model that may change while it is asked
MOST_TOLD = 5  # bad rows, differences
NOTHING: dict[str, Any] = {}


@dataclass
class Inputs:
    """The files, read.

    gold       path of the gold questions
    questions  by their keys
    document   everything that a run started with and keeps, by name
    unused     columns of the gold file that are not read
    """

    file: ModelFile
    gold: Path
    questions: dict[str, Question]
    document: dict[str, Any]
    unused: list[str] = field(default_factory=list)

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
    questions, unused = read_questions(gold, columns, options["map"], options["leave_out"])
    document = {
        "servers": {entry.values["name"]: _fixed_server(entry.values) for entry in file.servers},
        "models": {
            entry.worker: {"server": entry.server}
            | {name: value for name, value in entry.values.items() if name not in PACE}
            for entry in file.models
        },
        "questions": {key: _digest_question(question) for key, question in questions.items()},
        "settings": {name: options[name] for name in DECIDING},
    }
    return Inputs(file, gold, questions, json.loads(json.dumps(document, default=str)), unused)


def _fixed_server(values: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what decides who is asked: not the pace, nor the key, which may be renewed."""
    fixed = {name: values.get(name) or {} for name in ("extra_headers", "extra_query")}
    return {"url": str(values["url"]).rstrip("/")} | fixed


def _digest_question(question: Question) -> str:
    parts = [question.prompt, question.accepted, question.choices, question.grading]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


# -- gold questions


def read_questions(
    path: Path, columns: Sequence[tuple[str, str]], maps: Sequence[str], leave_out: bool
) -> tuple[dict[str, Question], list[str]]:
    """Read the questions by key, and the columns that are not read. Raises Refused for bad rows."""
    raw, kind = row_parsers.read_path(path), column_plan.QUESTIONS
    uploads.refuse_large(path.name, len(raw))
    table = read_table(raw, path.name, fits=platforms.header_test(kind))
    plan = platforms.recognise_columns(kind, table.header)
    pairs = [*columns, *parse_columns(maps, table.header)]
    plan = column_plan.apply_column_choices(plan, table.header, pairs)
    platforms.refuse_missing(plan, table.header, path.name, table.line)
    together = QuestionSet(team_id=0, name=path.stem)
    questions, bad, lines = dict[str, Question](), list[BadRow](), dict[str, int]()
    for _, row in row_parsers.parse_rows(table, plan):
        if isinstance(row, QuestionRow) and row.question in questions:
            first = lines[row.question]
            row = BadRow(row.line, f"This question is there already, in line {first}.")
        if isinstance(row, BadRow):
            bad.append(row)
        elif isinstance(row, QuestionRow):
            questions[row.question] = _build_question(together, len(questions), row)
            lines[row.question] = row.line
    if bad and not leave_out:
        told = "; ".join(f"line {row.line}: {row.why}" for row in bad[:MOST_TOLD])
        advice = "Correct them, or leave them out with --leave-out."
        raise Refused(f"{path.name} has {counted(len(bad), 'row')} with an error: {told} {advice}")
    if not questions:
        raise Refused(f"{path.name} has no gold question.")
    used = {*plan.fields.values(), *plan.options, plan.only, plan.unless}
    return questions, [column for column in table.header if column and column not in used]


def _build_question(together: QuestionSet, number: int, row: QuestionRow) -> Question:
    why = askable.refuse_text(row.prompt, set()) or askable.refuse_choices(row.choices)
    if why:
        raise Refused(f"In the question “{row.question}” {why}")
    return Question(
        question_set=together,
        number=number,
        key=row.question,
        prompt=row.prompt,
        accepted=row.accepted,
        choices=row.choices,
        grading=row.grading,
    )


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


# -- models


def fill_prices(inputs: Inputs, prices: Mapping[str, Any] = NOTHING) -> tuple[Any, list[str]]:
    """Give models without a price the one of the run's start, or else their published one.

    Return the prices by model, and sentences on where they are from.
    """
    urls = {name: values["url"] for name, values in inputs.document["servers"].items()}
    for entry in inputs.file.models:
        entry.values.update(prices.get(entry.worker, {}))
    notes = price_list.fill_prices(
        inputs.file.models, urls, inputs.document["settings"]["currency"]
    )
    fixed = {
        entry.worker: {name: entry.values.get(name, 0) for name in price_list.PRICES}
        for entry in inputs.file.models
    }
    return fixed, [] if prices else notes


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
    models = dict(inputs.file.build_endpoints(servers))
    for server in {id(model.server): model.server for model in models.values()}.values():
        api_keys.read_key(server)  # refuses a variable that is not set
    return models


# -- differences


def describe_differences(stored: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Describe how the documents differ; empty if they do not."""
    differences = list(_list_differences(stored, given, ""))
    more = len(differences) - MOST_TOLD
    tail = f"; and {counted(more, 'more difference')}" if more > 0 else ""
    return "; ".join(differences[:MOST_TOLD]) + tail


def _list_differences(
    stored: Mapping[str, Any], given: Mapping[str, Any], path: str
) -> Iterator[str]:
    for name in dict.fromkeys([*stored, *given]):
        place = f"{path} › {name}" if path else name
        if name not in given:
            yield f"{place} is missing now"
        elif name not in stored:
            yield f"{place} is new"
        elif isinstance(stored[name], dict) and isinstance(given[name], dict):
            yield from _list_differences(stored[name], given[name], place)
        elif stored[name] != given[name] and path == "questions":
            yield f"the question {name} has changed"
        elif stored[name] != given[name]:
            yield f"{place} was {stored[name]!r:.80} and is {given[name]!r:.80}"
