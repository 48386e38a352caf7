"""What an evaluation starts with: the models and gold questions of its files, and its settings."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from selection.errors import Refused
from selection.grading import question_kinds
from selection.imports import (
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
from selection.model_workers.prompts import MESSAGES, list_fields
from selection.models import Endpoint, ModelServer, Question, QuestionSet
from selection.texts import counted

DECIDING = ("k", "epsilon", "delta", "algorithm", "by_price", "any_questions", "currency", "seed")
PACE = ("timeout",)  # settings of a model that may change while it is asked
MANNERS = ("reading", "compared")  # in --map: how answers name choices, how they are compared
MOST_TOLD = 5  # bad rows, differences
NOTHING: dict[str, Any] = {}


@dataclass
class Inputs:
    """The files, read.

    gold       path of the gold questions
    questions  by their keys
    cells      of their rows that templates name, and their messages; by key and column
    columns    of the gold file
    document   everything that a run started with and keeps, by name
    unused     columns of the gold file that are not read
    """

    file: ModelFile
    gold: Path
    questions: dict[str, Question]
    cells: dict[str, dict[str, str]]
    columns: list[str]
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
    gold_file = GoldFile(gold, [] if options["gold"] else file.columns, options["map"])
    templates = [str(entry.values.get("template", "")) for entry in file.models]
    questions, cells, unused = gold_file.read({*map_fields(templates)}, options["leave_out"])
    document = {
        "servers": {entry.values["name"]: _fixed_server(entry.values) for entry in file.servers},
        "models": {
            entry.worker: {"server": entry.server}
            | {name: value for name, value in entry.values.items() if name not in PACE}
            for entry in file.models
        },
        "questions": {key: _digest(questions[key], cells[key]) for key in questions},
        "settings": {name: options[name] for name in DECIDING},
    }
    document = json.loads(json.dumps(document, default=str))
    return Inputs(file, gold, questions, cells, gold_file.table.header, document, unused)


def map_fields(templates: Iterable[str]) -> Iterator[str]:
    for template in templates:
        yield from list_fields(template)


def _fixed_server(values: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what decides who is asked: not the pace, nor the key, which may be renewed."""
    fixed = {name: values.get(name) or {} for name in ("extra_headers", "extra_query")}
    return {"url": str(values["url"]).rstrip("/")} | fixed


def _digest(question: Question, cells: Mapping[str, str]) -> str:
    parts = [question.prompt, question.accepted, question.choices, question.grading, cells]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


# -- gold questions


class GoldFile:
    """A file of gold questions and the meaning of its columns. Raises Refused if one is missing."""

    def __init__(self, path: Path, columns: Sequence[tuple[str, str]], maps: Sequence[str]) -> None:
        raw, kind, self.path = row_parsers.read_path(path), column_plan.QUESTIONS, path
        uploads.refuse_large(path.name, len(raw))
        self.table = table = read_table(raw, path.name, fits=platforms.header_test(kind))
        pairs = [*columns, *parse_columns(maps, table.header)]
        plan = platforms.recognise_columns(kind, table.header)
        chosen = [pair for pair in pairs if pair[1] not in MANNERS]
        self.plan = column_plan.apply_column_choices(plan, table.header, chosen)
        manners = {name: value for value, name in pairs if name in MANNERS}
        self.plan.reading = key_readings.find_name(manners.get("reading", ""))
        self.plan.compared = manners.get("compared", "")
        question_kinds.grading_of(self.plan.compared.removeprefix("text"))
        platforms.refuse_missing(self.plan, table.header, path.name, table.line)
        again = read_table(raw, path.name, fits=platforms.header_test(kind))
        readings = row_parsers.find_readings(again, self.plan)
        if len(readings) > 1 and not self.plan.reading:
            raise Refused(f"{path.name}: {key_readings.describe_readings(readings)}")

    def read(
        self, fields: Collection[str], leave_out: bool
    ) -> tuple[dict[str, Question], dict[str, dict[str, str]], list[str]]:
        """Read the questions and their cells by key, and the columns that nothing reads.

        fields  columns that templates name: their text is not part of the prompt besides

        Raises Refused for rows with an error, unless they are left out.
        """
        header, plan = self.table.header, self.plan
        plan.context = [column for column in plan.context if column not in fields]
        unused = [column for column in plan.unread_columns(header) if column not in fields]
        together, bad = QuestionSet(team_id=0, name=self.path.stem), list[BadRow]()
        questions, lines = dict[str, Question](), dict[str, int]()
        cells = dict[str, dict[str, str]]()
        for (_, row), made in row_parsers.parse_rows(self.table, plan):
            if isinstance(made, QuestionRow) and made.question in questions:
                first = lines[made.question]
                made = BadRow(made.line, f"This question is there already, in line {first}.")
            if isinstance(made, BadRow):
                bad.append(made)
            elif isinstance(made, QuestionRow):
                values = dict(zip(header, row, strict=False))
                key, prompt = made.question, values.get(plan.fields["prompt"], "")
                questions[key] = _build_question(together, len(questions), made)
                cells[key] = {name: values[name] for name in header if name in fields}
                if messages := _read_messages(prompt):
                    cells[key][MESSAGES] = json.dumps(messages)
                lines[key] = made.line
        if bad and not leave_out:
            told = "; ".join(f"line {row.line}: {row.why}" for row in bad[:MOST_TOLD])
            advice = "Correct them, or leave them out with --leave-out."
            number = counted(len(bad), "row")
            raise Refused(f"{self.path.name} has {number} with an error: {told} {advice}")
        if not questions:
            raise Refused(f"{self.path.name} has no gold question.")
        return questions, cells, unused


def _read_messages(prompt: str) -> list[Any]:
    """Read the messages of a conversation that ends with the user's; empty if it is none."""
    messages = gold_cells.read_messages(prompt)
    shaped = all(isinstance(one, dict) and {"role", "content"} <= one.keys() for one in messages)
    return messages if messages and shaped and messages[-1]["role"] == "user" else []


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
    kind = column_plan.QUESTIONS
    fields = {entry.name for entry in column_plan.FIELDS[kind]} | {*MANNERS}
    fields |= column_plan.SEVERAL[kind].keys()
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
    models = dict(inputs.file.build_endpoints(servers, inputs.columns))
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
