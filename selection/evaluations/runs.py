"""Runs of evaluations: created for their files, or found again and continued."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.conf import settings

from selection.errors import Conflict, Refused
from selection.model_workers import parsing
from selection.model_workers.prices import most_cost, to_amount
from selection.model_workers.prompts import build_prompt
from selection.model_workers.unreadable import NO_ANSWER, classify
from selection.models import Endpoint
from selection.texts import plural
from topk import ProblemError, Study, StudyError
from topk.accuracy import LIKE_THESE
from topk.study.rule import KINDS

from . import inputs as files
from .inputs import Inputs
from .ledger import Ledger, Row

MONEY, QUESTIONS, GUARANTEE = "money", "questions", "guarantee"  # endings of a run
Tell = Callable[[str], object]


def folder() -> Path:
    return Path(settings.VAR_DIR) / "evaluations"


class Evaluation:
    """A run in progress: its study, open for this process alone, and its models by name."""

    def __init__(self, ledger: Ledger, row: Row, inputs: Inputs) -> None:
        self.ledger, self.inputs, self.limit = ledger, inputs, row["spend_limit"]
        self.number, self.name, self.ending = row["number"], row["name"], row["ending"]
        files.fill_prices(inputs, json.loads(row["prices"]))
        self.models: dict[str, Endpoint] = files.build_models(inputs)
        self.questions = inputs.questions
        self.counted_wrong: list[str] = json.loads(row["counted_wrong"])
        self._prices = self._list_prices() if self.settings["by_price"] else None
        if row["parsing"]:
            self._set_parsing(row["parsing"], row["pattern"])
        self._seed = row["seed"]
        self.study = self._open_study()

    @property
    def settings(self) -> dict[str, Any]:
        chosen: dict[str, Any] = self.inputs.document["settings"]
        return chosen

    @property
    def currency(self) -> str:
        return str(self.settings["currency"])

    def _open_study(self) -> Study:
        chosen = self.settings
        names = ("k", "epsilon", "delta", "algorithm")
        options: dict[str, Any] = {name: chosen[name] for name in names}
        if chosen["algorithm"] not in KINDS:
            raise Refused(f"There is no algorithm “{chosen['algorithm']}”: see docs/algorithms.md.")
        with refusing():
            return Study(
                self.models,
                self.questions,
                accuracy=LIKE_THESE if chosen["any_questions"] else None,
                path=self._path,
                prices=self._prices,
                seed=self._seed,
                set_aside_after=len(self.questions) + 1,
                **options,
            )

    @property
    def _path(self) -> Path:
        return self.ledger.folder / f"{self.number}.study"

    def _list_prices(self) -> list[float]:
        """List what a call of each model can cost at most, for a rule that spends by price."""
        key, question = next(iter(self.questions.items()))
        cells, models = self.inputs.cells[key], self.models.values()
        tokens = [build_prompt(model, question, cells).tokens for model in models]
        return [float(to_amount(most_cost(*pair))) for pair in zip(models, tokens, strict=True)]

    def end(self, ending: str) -> None:
        self.ending = ending
        self.ledger.change_run(self.number, ending=ending)

    # -- decisions

    def drop(self, names: Sequence[str]) -> None:
        with refusing():
            for name in names:
                self.study.give_up(name, "--drop")

    def take_back(self, names: Sequence[str]) -> None:
        with refusing():
            for name in names:
                self.study.take_back(name)

    def count_wrong(self, names: Sequence[str]) -> None:
        self.counted_wrong = sorted({*self.counted_wrong, *names})
        self.ledger.change_run(self.number, counted_wrong=self.counted_wrong)

    def reread(self, rule: str, pattern: str) -> None:
        """Read all stored replies by another rule, and play the study again from them.

        The same questions are asked in the same order; stored replies answer without a call.
        """
        parsing.validate_pattern(rule, pattern)
        self._set_parsing(rule, pattern)
        self.ledger.change_run(self.number, parsing=rule, pattern=pattern)
        for row in self.ledger.list_replies(self.number):
            question = self.questions[row["question"]]
            answer = parsing.read_reply(rule, pattern, question, row["reply"])
            kept = answer is None and row["result"] != "read"  # cut off, for example
            result = row["result"] if kept else classify(answer, row["reply"], "")
            problem = NO_ANSWER if answer is None else ""
            self.ledger.close_call(
                row["number"], answer=answer or "", result=result, problem=problem
            )
        given_up = self.study.set_aside
        self.study.close()
        for path in self._path.parent.glob(f"{self._path.name}*"):
            path.unlink()
        self.study = self._open_study()
        for name, reason in given_up.items():
            self.study.give_up(name, reason)

    def _set_parsing(self, rule: str, pattern: str) -> None:
        for model in self.models.values():
            model.parsing, model.pattern = rule, pattern


def settle_unreadable(
    evaluation: Evaluation, asking: Sequence[str], options: dict[str, Any]
) -> None:
    """Decide on models whose replies have no answer, as the options say."""
    way = options["unreadable"]
    if way == "reread":
        evaluation.reread(options["parsing"], options["pattern"])
    elif way == "wrong":
        evaluation.count_wrong(asking)
    else:
        for name in asking:
            evaluation.study.give_up(name, "Too many of its replies have no answer.")


@contextmanager
def refusing() -> Iterator[None]:
    """Turn the refusals of a study into refusals of the application."""
    try:
        yield
    except StudyError as error:
        raise (Conflict if "in use" in str(error) else Refused)(str(error)) from error
    except ProblemError as error:
        raise Refused(str(error)) from error


# -- creating and finding


def open_evaluation(options: dict[str, Any], limit: int | None, tell: Tell) -> Evaluation:
    """Create the run of these files and settings, or open it again. Raises Refused.

    A run in progress stays what it was started as: files that differ are refused. After its end,
    and before the first reply, they make a new run.

    limit  most money for calls, in billionths; None: that of the run so far, or none
    """
    ledger = Ledger(folder())
    if options["resume"]:
        kept = json.loads(ledger.find_named(options["resume"])["options"])
        paths = {name: kept[name] and Path(kept[name]) for name in ("models", "gold")}
        options |= kept | paths | {"drop": [*kept["drop"], *options["drop"]]}
    inputs = files.read_inputs(options)
    if inputs.unused:
        tell(describe_unused(inputs))
    places = options["models"].resolve(), inputs.gold.resolve()
    earlier = None if options["anew"] else ledger.find_run(*places)
    if earlier is not None and not (difference := _differences(earlier, inputs, options["drop"])):
        return _continue(Evaluation(ledger, earlier, inputs), options, limit)
    if earlier is not None and not earlier["ending"] and ledger.list_replies(earlier["number"]):
        raise Refused(
            f"Run {earlier['number']}, “{earlier['name']}”, is in progress, and keeps what it was "
            f"started with, but the files or settings differ: {difference}. Go on with those of "
            "its start, or make a new run by --anew."
        )
    if earlier is not None:
        tell(f"A new run, because of changes since run {earlier['number']}: {difference}.")
    inputs.drop_models(options["drop"])
    return _create(ledger, inputs, options, limit, tell)


def _differences(earlier: Row, inputs: Inputs, dropped: Sequence[str]) -> str:
    """Describe how the files differ from an earlier run; models it never had may be dropped."""
    stored = json.loads(earlier["document"])
    never_had = [name for name in dropped if name not in stored["models"]]
    inputs.drop_models(never_had)
    return files.describe_differences(stored, inputs.document)


def _create(
    ledger: Ledger, inputs: Inputs, options: dict[str, Any], limit: int | None, tell: Tell
) -> Evaluation:
    prices, notes = files.fill_prices(inputs)
    for note in notes:
        tell(note)
    files.build_models(inputs)  # refuses faults before anything is stored
    kept = {name: options[name] for name in (*files.DECIDING, "map", "leave_out", "drop")}
    gold = options["gold"] and str(options["gold"].resolve())
    seed = random.SystemRandom().getrandbits(31) if options["seed"] is None else options["seed"]
    number = ledger.create_run(
        name=f"{options['models'].stem} on {inputs.gold.stem}",
        models=str(options["models"].resolve()),
        gold=str(inputs.gold.resolve()),
        options=kept | {"models": str(options["models"].resolve()), "gold": gold},
        document=inputs.document,
        prices=prices,
        seed=seed,
        spend_limit=limit,
    )
    try:
        return Evaluation(ledger, ledger.find_named(str(number)), inputs)
    except Refused:
        ledger.execute("DELETE FROM runs WHERE number = ?", number)
        with suppress(OSError):
            (ledger.folder / f"{number}.study").unlink()
        raise


def _continue(evaluation: Evaluation, options: dict[str, Any], limit: int | None) -> Evaluation:
    evaluation.ledger.close_lost(evaluation.number)
    if limit is not None:
        evaluation.limit = limit
        evaluation.ledger.change_run(evaluation.number, spend_limit=limit)
    evaluation.drop([name for name in options["drop"] if name in evaluation.models])
    evaluation.take_back(options["take_back"])
    if evaluation.ending == MONEY or options["take_back"]:
        evaluation.end("")  # it goes on if the limit allows
    return evaluation


def describe_unused(inputs: Inputs) -> str:
    names = ", ".join(f"“{column}”" for column in inputs.unused)
    noun = plural("column", len(inputs.unused))
    return f"{inputs.gold.name}: models are not shown the {noun} {names}."
