"""Read results of models on a benchmark: a row for each model and item, right or wrong or a score.

``result_formats`` declares the formats. A file with several metrics, filters or tasks has choices,
which the pages and commands ask for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from selection.errors import Refused
from selection.grading import numbers
from selection.grading.keys import shorten_key

from .limits import Fault, Line
from .result_formats import Format, find_value

# (line, object, path of its file in a folder)
Objects = Iterable[tuple[int, Any, str]]
Picked = Mapping[str, str]

GRADES = {0.0: "wrong", 1.0: "right"}
COLUMNS = ["worker", "question", "response", "gold"]
ALL = "all"
_WORDS = {
    **dict.fromkeys(("c", "true", "pass", "passed", "correct", "right"), 1.0),
    **dict.fromkeys(("i", "n", "false", "fail", "failed", "incorrect", "wrong"), 0.0),
    **dict.fromkeys(("wahr", "richtig", "vrai", "verdadero"), 1.0),
    **dict.fromkeys(("falsch", "faux", "falso"), 0.0),
    "p": 0.5,
}


@dataclass(frozen=True)
class Choice:
    """A choice between results of a file.

    name    metric, variant or task
    picked  the option that is read
    words   of an option, if its name does not tell enough
    """

    name: str
    options: list[str]
    picked: str
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    line: int
    model: str
    item: str
    task: str
    variant: str
    metrics: Mapping[str, Any]


@dataclass
class Results:
    """The results in a file, and its choices.

    faults  (line, reason) of records that cannot be read
    """

    form: Format
    rows: list[Result] = field(default_factory=list)
    faults: list[tuple[int, Fault]] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)

    def add(self, line: int, record: Any, memory: dict[str, Any]) -> None:
        """Add a record, or why it cannot be read."""
        try:
            result = _read_record(self.form, line, record, memory)
        except Refused as refusal:
            self.faults.append((line, Fault(refusal)))
        else:
            self.rows += [result] if result else []

    @property
    def description(self) -> str:
        read = [f"{choice.name} {choice.picked}" for choice in self.choices if choice.picked]
        return ", ".join([f"results of {self.form.title}", *read])


def read_results(form: Format, objects: Objects, name: str, picked: Picked) -> Results:
    """Read the results that are chosen, or likeliest. Raises Refused."""
    if form.refusal:
        raise Refused(f"{name} is a file of {form.title}, which {form.refusal}.")
    results = Results(form)
    memory: dict[str, Any] = {}
    for line, value, path in objects:
        named = form.path.fullmatch(path) if form.path else None
        within = named.groupdict() if named else {}
        try:
            if isinstance(value, Fault):
                raise Refused(value)
            for record in form.records(value, memory):
                results.add(line, record | within, memory)
        except Refused as refusal:
            results.faults.append((line, Fault(refusal)))
        except (AttributeError, KeyError, TypeError, ValueError):
            results.faults.append((line, Fault(f"This is no record of {form.title}.")))
    _choose_task(results, name, picked)
    _choose_variant(results, name, picked)
    _choose_metric(results, name, picked)
    return results


def arrange_results(results: Results, between: bool) -> Iterator[Line]:
    """Yield the header, then a row for each result, as in ``COLUMNS``.

    between  True if scores between 0 and 1 are allowed: then all of a file that has one are scores
    """
    yield 1, COLUMNS
    if undecided := [choice for choice in results.choices if not choice.picked]:
        raise Refused(f"There are several results for each answer: {describe(undecided)}.")
    lines: list[tuple[int, Result, float]] = []
    faults = list(results.faults)
    for result in results.rows:
        try:
            lines.append((result.line, result, _read_score(result, between)))
        except Refused as refusal:
            faults.append((result.line, Fault(refusal)))
    scored = between and any(score % 1 for *_, score in lines)
    yield from faults
    for line, result, score in lines:
        response, gold = (str(score), numbers.KEY) if scored else (GRADES[score], GRADES[1])
        item = f"{result.task}/{result.item}" if result.task else result.item
        yield line, [result.model, shorten_key(item), response, gold]


def describe(choices: Sequence[Choice]) -> str:
    return "; ".join(f"choose the {c.name} of {', '.join(c.options)}" for c in choices)


def parse_mark(text: Any) -> float:
    word = _WORDS.get(str(text).strip().casefold())
    return float(text) if word is None else word


# -- a record


def _read_record(form: Format, line: int, record: Any, memory: dict[str, Any]) -> Result | None:
    metrics = form.metrics(record)
    if metrics is None:
        return None
    model, item, task, variant = (
        " ".join(str(find_value(record, *paths)).split())
        for paths in (form.model, form.item, form.task, form.variant)
    )
    if not model:
        raise Refused(
            f"{form.title}: there is no “{form.model[0]}”; every object needs one, and “model” has "
            "to be added when the files of several models are joined. Or upload the program's "
            "folder as a zip file, or name it in the command."
        )
    if not item:
        raise Refused(f"There is no text in “{form.item[0]}”.")
    if not metrics:
        raise Refused("This was not graded: it has no metric; there may have been an error.")
    _refuse_other(memory, "against", find_value(record, form.against), "")
    _refuse_other(memory, f"document {task}/{item}", find_value(record, form.document), item)
    return Result(line, model, item, task, variant, metrics)


def _refuse_other(memory: dict[str, Any], key: str, value: Any, item: str) -> None:
    """Raise Refused if this was another value before."""
    first = memory.setdefault(key, value)
    if first == value:
        return
    if not item:
        raise Refused(
            f"This model is compared with “{value}”, and others with “{first}”; keep the "
            "annotations with one “generator_1”."
        )
    raise Refused(
        f"“{item}” is another document than before; if the file has samples of several tasks, "
        "give each object its “task”."
    )


def _read_score(result: Result, between: bool) -> float:
    ((metric, value),) = result.metrics.items()
    try:
        score = parse_mark(value)
    except (TypeError, ValueError):
        raise Refused(f"“{metric}” must be a number.") from None
    if between and not 0 <= score <= 1:
        raise Refused(f"{metric} is {value}, but a score is a number from 0 to 1.")
    if not between and score not in GRADES:
        raise Refused(
            f"{metric} is {value}, but an answer is wrong (0) or right (1) here. Decide from which "
            "score on it is right, and write 0 or 1; or use “Try it on past answers”, which takes "
            "scores."
        )
    return score


# -- choices


def _choose_task(results: Results, name: str, picked: Picked) -> None:
    tasks = list(dict.fromkeys(result.task for result in results.rows))
    task = _pick(results, name, picked, "task", [ALL, *tasks] if len(tasks) > 1 else [], ALL)
    if task != ALL:
        results.rows = [result for result in results.rows if result.task == task]


def _choose_variant(results: Results, name: str, picked: Picked) -> None:
    """Keep the chosen variant of each task that has several; else its first one."""
    by_task = _group_names(results, lambda result: [result.variant])
    several = {task: names for task, names in by_task.items() if len(names) > 1}
    options = list(dict.fromkeys(name for names in several.values() for name in names))
    agree = len({(r.model, r.task, r.item, str(r.metrics)) for r in results.rows}) == len(
        {(r.model, r.task, r.item) for r in results.rows}
    )
    first = next(iter(several.values()), [""])[0]
    variant = _pick(results, name, picked, "variant", [] if agree else options, first)
    kept = {task: variant if variant in names else names[0] for task, names in by_task.items()}
    if variant in picked.values() and any(variant not in names for names in several.values()):
        raise Refused(f"{name}: not every task has the variant “{variant}”; choose a task as well.")
    results.rows = [result for result in results.rows if result.variant == kept[result.task]]


def _choose_metric(results: Results, name: str, picked: Picked) -> None:
    """Keep the chosen metric of each task that has several; else the likeliest."""
    by_task = _group_names(results, lambda result: _scalar_names(result.metrics))
    several = {task: names for task, names in by_task.items() if len(names) > 1}
    options = list(dict.fromkeys(name for names in several.values() for name in names))
    known = [metric for metric in results.form.known if metric in options]
    if options and not known and "metric" not in picked:
        known = [""]
    agree = all(len({*map(_mark_or_text, r.metrics.values())}) < 2 for r in results.rows)
    agree = agree and all(len(r.metrics) == len(by_task[r.task]) for r in results.rows)
    metric = _pick(results, name, picked, "metric", [] if agree else options, (known or [""])[0])
    rows = []
    for result in results.rows:
        names = by_task[result.task]
        if result.task in several and "metric" in picked and metric not in names and not agree:
            raise Refused(f"{name}: “{result.task}” has no metric {metric}; choose a task as well.")
        likely = [each for each in (metric, *results.form.known, *names) if each in names]
        if likely and likely[0] in result.metrics:
            rows.append(_keep_metric(result, likely[0]))
    results.rows = rows


def _keep_metric(result: Result, metric: str) -> Result:
    return Result(**{**vars(result), "metrics": {metric: result.metrics[metric]}})


def _scalar_names(metrics: Mapping[str, Any]) -> list[str]:
    single = [name for name, value in metrics.items() if not isinstance(value, list | dict)]
    return single or list(metrics)


def _mark_or_text(value: Any) -> Any:
    try:
        return parse_mark(value)
    except (TypeError, ValueError):
        return str(value)


def _group_names(results: Results, names: Any) -> dict[str, list[str]]:
    """Group the names by task, each once, in the order of the file."""
    groups: dict[str, dict[str, None]] = {}
    for result in results.rows:
        groups.setdefault(result.task, {}).update(dict.fromkeys(names(result)))
    return {task: list(group) for task, group in groups.items()}


def _pick(
    results: Results, name: str, picked: Picked, what: str, options: list[str], usual: str
) -> str:
    """Pick the chosen option, else the usual one. Raises Refused for an unknown one."""
    chosen = picked.get(what, usual)
    if not options:
        return usual
    if chosen and chosen not in options:
        raise Refused(f"{name} has no {what} “{chosen}”; it has {', '.join(options)}.")
    results.choices.append(Choice(what, options, chosen))
    return chosen
