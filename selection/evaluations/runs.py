"""Runs of evaluations: created for their files, or found again and continued."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings

from selection.errors import Conflict, Refused
from selection.model_workers import parsing, price_list
from selection.model_workers.ledger import read_answer
from selection.model_workers.prices import most_cost, to_amount
from selection.model_workers.prompts import build_prompt
from selection.model_workers.unreadable import NO_ANSWER, classify
from selection.models import Endpoint
from topk import ProblemError, Study, StudyError
from topk.accuracy import LIKE_THESE
from topk.study.rule import KINDS

from . import inputs as files
from .inputs import Inputs
from .ledger import Ledger, Row

MONEY, QUESTIONS, GUARANTEE = "money", "questions", "guarantee"  # endings of a run
MOST_TOLD = 5  # differences
Tell = Callable[[str], object]


def folder() -> Path:
    return Path(settings.VAR_DIR) / "evaluations"


@contextmanager
def refusing() -> Iterator[None]:
    """Turn the refusals of a study into refusals of the application."""
    try:
        yield
    except StudyError as error:
        raise (Conflict if "in use" in str(error) else Refused)(str(error)) from error
    except ProblemError as error:
        raise Refused(str(error)) from error


class Evaluation:
    """A run in progress: its study, open for this process alone, and its models by name."""

    def __init__(self, ledger: Ledger, row: Row, inputs: Inputs) -> None:
        self.ledger, self.inputs, self.limit = ledger, inputs, row["spend_limit"]
        self.number, self.name, self.ending = row["number"], row["name"], row["ending"]
        self.settings, self.questions = inputs.settings, inputs.questions
        self.currency = str(self.settings["currency"])
        prices = json.loads(row["prices"])
        for entry in inputs.file.models:
            entry.values.update(prices[entry.worker])
        self.models: dict[str, Endpoint] = files.build_models(inputs)
        self.counted_wrong: list[str] = json.loads(row["counted_wrong"])
        self._prices = self._list_prices() if self.settings["by_price"] else None
        if row["parsing"]:
            self._set_parsing(row["parsing"], row["pattern"])
        self._seed, self._path = row["seed"], ledger.folder / f"{self.number}.study"
        self.study = self._open_study()

    def _open_study(self) -> Study:
        chosen = self.settings
        options: dict[str, Any] = {name: chosen[name] for name in ("k", "epsilon", "delta")}
        if chosen["algorithm"] not in KINDS:
            raise Refused(f"There is no algorithm “{chosen['algorithm']}”: see docs/algorithms.md.")
        return Study(
            self.models,
            self.questions,
            algorithm=chosen["algorithm"],
            accuracy=LIKE_THESE if chosen["any_questions"] else None,
            path=self._path,
            prices=self._prices,
            seed=self._seed,
            set_aside_after=len(self.questions) + 1,
            **options,
        )

    def _list_prices(self) -> list[float]:
        """List what a call of each model can cost at most, for a rule that spends by price."""
        question, models = next(iter(self.questions.values())), self.models.values()
        tokens = [build_prompt(model, question).tokens for model in models]
        return [float(to_amount(most_cost(*pair))) for pair in zip(models, tokens, strict=True)]

    def change(self, **columns: Any) -> None:
        """Store columns of the run, which are attributes here."""
        self.ledger.update("runs", self.number, **columns)
        for name, value in columns.items():
            setattr(self, name, value)

    # -- decisions

    def settle_unreadable(self, asking: Sequence[str], options: dict[str, Any]) -> None:
        """Decide on models whose replies have no answer, as the options say."""
        if options["unreadable"] == "reread":
            self._reread(options["parsing"], options["pattern"])
        elif options["unreadable"] == "wrong":
            self.change(counted_wrong=sorted({*self.counted_wrong, *asking}))
        else:
            for name in asking:
                self.study.give_up(name, "Too many of its replies have no answer.")

    def _reread(self, rule: str, pattern: str) -> None:
        """Read all stored replies by another rule, and play the study again from them.

        The same questions are asked in the same order; stored replies answer without a call.
        """
        parsing.validate_pattern(rule, pattern)
        self._set_parsing(rule, pattern)
        self.ledger.update("runs", self.number, parsing=rule, pattern=pattern)
        for row in self.ledger.list_replies(self.number):
            question = self.questions[row["question"]]
            answer = read_answer(self.models[row["model"]], question, row["reply"])
            kept = answer is None and row["result"] != "read"  # cut off, for example
            result = row["result"] if kept else classify(answer, row["reply"], "")
            problem = NO_ANSWER if answer is None else ""
            columns = {"answer": answer or "", "result": result, "problem": problem}
            self.ledger.update("calls", row["number"], **columns)
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


# -- creating and finding


@refusing()
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
    for note in inputs.notes:
        tell(note)
    places = options["models"].resolve(), inputs.gold.resolve()
    earlier = None if options["anew"] else ledger.find_run(*places)
    if earlier is not None:
        stored = json.loads(earlier["document"])
        # Models that the run never had may be dropped.
        inputs.drop_models([name for name in options["drop"] if name not in stored["models"]])
        differences = list(files.list_differences(stored, inputs.document))
        if not differences:
            return _continue(Evaluation(ledger, earlier, inputs), options, limit)
        difference = "; ".join(differences[:MOST_TOLD]) + "; …" * (len(differences) > MOST_TOLD)
        if not earlier["ending"] and ledger.list_replies(earlier["number"]):
            raise Refused(
                f"Run {earlier['number']}, “{earlier['name']}”, is in progress, and keeps what it "
                f"was started with, but the files or settings differ: {difference}. Go on with "
                "those of its start, or make a new run by --anew."
            )
        tell(f"A new run, because of changes since run {earlier['number']}: {difference}.")
    inputs.drop_models(options["drop"])
    return _create(ledger, inputs, options, limit, tell)


def _create(
    ledger: Ledger, inputs: Inputs, options: dict[str, Any], limit: int | None, tell: Tell
) -> Evaluation:
    for note in files.fill_prices(inputs):
        tell(note)
    kept = {name: options[name] for name in (*files.DECIDING, "map", "leave_out", "drop")}
    models, gold = str(options["models"].resolve()), str(inputs.gold.resolve())
    seed = random.SystemRandom().getrandbits(31) if options["seed"] is None else options["seed"]
    number = ledger.insert(
        "runs",
        name=f"{options['models'].stem} on {inputs.gold.stem}",
        models=models,
        gold=gold,
        options=kept | {"models": models, "gold": options["gold"] and gold},
        document=inputs.document,
        prices={
            entry.worker: {name: entry.values.get(name, 0) for name in price_list.PRICES}
            for entry in inputs.file.models
        },
        seed=seed,
        spend_limit=limit,
    )
    try:
        return Evaluation(ledger, ledger.find_named(str(number)), inputs)
    except Exception:
        ledger.execute("DELETE FROM runs WHERE number = ?", number)
        raise


def _continue(evaluation: Evaluation, options: dict[str, Any], limit: int | None) -> Evaluation:
    evaluation.ledger.close_lost(evaluation.number)
    if limit is not None:
        evaluation.limit = limit
        evaluation.ledger.update("runs", evaluation.number, spend_limit=limit)
    for name in options["drop"]:
        if name in evaluation.models:
            evaluation.study.give_up(name, "--drop")
    for name in options["take_back"]:
        evaluation.study.take_back(name)
    if evaluation.ending == MONEY or options["take_back"]:
        evaluation.change(ending="")  # it goes on if the limit allows
    return evaluation
