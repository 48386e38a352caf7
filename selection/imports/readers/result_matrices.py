"""Read results of models on a benchmark: a row for each model and item, right or wrong or a score.

AlpacaEval's annotations, samples of lm-evaluation-harness, and HELM's statistics of each instance.
The last two name the model only in their path, so that each object needs a field "model".
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from selection.errors import Refused
from selection.grading import scores
from selection.limits import LONGEST_KEY

Object = dict[str, Any]
Objects = Iterable[tuple[int, Object]]
Rows = Iterator[tuple[int, dict[str, str]]]
Graded = Iterator[tuple[int, str, str, float]]

GRADES = {0.0: "wrong", 1.0: "right"}
_DRAW = 1.5  # AlpacaEval prefers the reference below, and the model above
_HASH = 12  # characters of the hash after a text that is too long for a key
# The metrics that are read, the likeliest first; most are right or wrong.
_LM_EVAL_METRICS = ("acc", "exact_match")
_HELM_METRICS = (
    "exact_match",
    "quasi_exact_match",
    "prefix_exact_match",
    "quasi_prefix_exact_match",
    "chain_of_thought_correctness",
    "f1_score",
    "rouge_l",
)


@dataclass(frozen=True)
class Matrix:
    """A format of results.

    signs  fields that an object of such a file has, in any of these groups
    grade  generator of (line, worker, question, score from 0 to 1) from (line, object) and the
           file's name; raises Refused, for a score between 0 and 1 unless the flag allows it
    """

    title: str
    signs: tuple[frozenset[str], ...]
    grade: Callable[[Objects, str, bool], Graded]

    def read(self, objects: Objects, name: str, between: bool) -> Rows:
        """Yield (line, cells). Raises Refused.

        between  True if scores between 0 and 1 are allowed: then all of a file that has one are
                 scores
        """
        graded: Iterable[tuple[int, str, str, float]] = self.grade(objects, name, between)
        if between:
            graded = list(graded)
        scored = between and any(score % 1 for *_, score in graded)
        for line, worker, question, score in graded:
            response, gold = (str(score), scores.KEY) if scored else (GRADES[score], GRADES[1])
            cells = {"worker": worker, "question": question, "response": response, "gold": gold}
            yield line, cells


def recognise_matrix(first: Object) -> Matrix | None:
    """Return the format of results that the first object of a file is of, or None."""
    fields = set(first)
    return next((each for each in MATRICES if any(fields >= signs for signs in each.signs)), None)


# -- the formats


def _read_alpaca_eval(objects: Objects, name: str, between: bool) -> Graded:
    """Yield 1 if the output of ``generator_2`` is preferred; nothing without a preference."""
    reference = None
    for line, value in objects:
        place = f"{name}, line {line}"
        against = _read_text(value, "generator_1", place)
        reference = reference or against
        if against != reference:
            raise Refused(
                f"{place}: this model is compared with “{against}”, and others with “{reference}”; "
                "keep the annotations with one “generator_1”."
            )
        preference = _read_preference(value.get("preference"), place)
        if preference is not None:
            item = _shorten_key(_read_text(value, "instruction", place))
            worker = _read_text(value, "generator_2", place)
            yield line, worker, item, float(preference > _DRAW)


def _read_preference(value: Any, place: str) -> float | None:
    """Return 1 to 2, or 0 for a draw; None if the judge gave no preference."""
    if value in (None, "NaN"):
        return None
    preference = _read_number(value, place, "preference")
    if preference != 0 and not 1 <= preference <= 2:
        raise Refused(
            f"{place}: the preference is {value}; it must be from 1 to 2, or 0 for a draw."
        )
    return preference


def _read_lm_eval(objects: Objects, name: str, between: bool) -> Graded:
    """Yield the metric of each sample, by the first filter of the file."""
    filters: set[str] = set()
    documents: dict[str, Any] = {}
    for line, value in objects:
        place = f"{name}, line {line}"
        used = str(value.get("filter"))
        if not filters:
            filters.add(used)
        if used not in filters:
            continue
        item = _name_item(value, "doc_id", place)
        document = value.get("doc_hash")
        if documents.setdefault(item, document) != document:
            raise Refused(
                f"{place}: “{item}” is another document than before; if the file has samples of "
                "several tasks, give each object its “task”."
            )
        score = _read_score(*_pick_sample_metric(value, place), place, between)
        yield line, _read_text(value, "model", place), item, score


def _pick_sample_metric(value: Object, place: str) -> tuple[str, Any]:
    """Return name and value of the sample's metric. Raises Refused if it is unclear."""
    logged = value.get("metrics")
    names = [entry for entry in logged if entry in value] if isinstance(logged, list) else []
    known = [metric for metric in _LM_EVAL_METRICS if metric in value]
    if not known and len(names) != 1:
        found = f"it has {', '.join(map(str, names))}" if names else "there is none"
        raise Refused(
            f"{place}: a sample needs the metric {' or '.join(_LM_EVAL_METRICS)}, or only one; "
            f"{found}."
        )
    metric = (known or names)[0]
    return metric, value[metric]


def _read_helm(objects: Objects, name: str, between: bool) -> Graded:
    """Yield the metric of each instance, without those that were perturbed."""
    for line, value in objects:
        place = f"{name}, line {line}"
        if value.get("perturbation"):
            continue
        item = _name_item(value, "instance_id", place)
        score = _read_score(*_pick_instance_metric(value, place), place, between)
        yield line, _read_text(value, "model", place), item, score


def _pick_instance_metric(value: Object, place: str) -> tuple[str, Any]:
    """Return name and mean of the instance's metric. Raises Refused if it has none."""
    means: dict[str, Any] = {}
    for entry in value["stats"] if isinstance(value["stats"], list) else []:
        called = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(called, dict) and not called.get("perturbation"):
            means.setdefault(str(called.get("name")), entry.get("mean"))
    metric = next((metric for metric in _HELM_METRICS if metric in means), None)
    if metric is None:
        raise Refused(
            f"{place}: this instance has no statistic from 0 to 1 that is known; "
            f"{', '.join(_HELM_METRICS)} are read."
        )
    return metric, means[metric]


MATRICES = (
    Matrix(
        "AlpacaEval",
        (frozenset({"instruction", "generator_1", "generator_2", "preference"}),),
        _read_alpaca_eval,
    ),
    Matrix(
        "lm-evaluation-harness",
        (frozenset({"doc_id", "doc_hash"}), frozenset({"doc_id", "filtered_resps"})),
        _read_lm_eval,
    ),
    Matrix("HELM", (frozenset({"instance_id", "stats"}),), _read_helm),
)


# -- fields


def _read_text(value: Object, field: str, place: str) -> str:
    text = value.get(field)
    if not isinstance(text, str) or not text.strip():
        raise Refused(
            f"{place}: there is no “{field}”; every object needs one, and “model” has to be added "
            "when the files of several models are joined."
            if field == "model"
            else f"{place}: there is no text in “{field}”."
        )
    return text


def _name_item(value: Object, field: str, place: str) -> str:
    """Return the item's id, after the task if the object has one."""
    item, task = _read_text(value, field, place), value.get("task")
    return _shorten_key(f"{task}/{item}" if task else item)


def _read_score(metric: str, value: Any, place: str, between: bool) -> float:
    score = _read_number(value, place, metric)
    if between and not 0 <= score <= 1:
        raise Refused(f"{place}: {metric} is {value}, but a score is a number from 0 to 1.")
    if not between and score not in GRADES:
        raise Refused(
            f"{place}: {metric} is {value}, but an answer is wrong (0) or right (1) here. Decide "
            "from which score on it is right, and write 0 or 1; or use “Try it on past answers”, "
            "which takes scores."
        )
    return score


def _read_number(value: Any, place: str, field: str) -> float:
    try:
        return float(value)  # also of true and false
    except (TypeError, ValueError):
        raise Refused(f"{place}: “{field}” must be a number.") from None


def _shorten_key(text: str) -> str:
    """Return a text as a key: in one line, a long one with a hash in place of its end."""
    plain = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    if len(plain) <= LONGEST_KEY:
        return plain
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{plain[: LONGEST_KEY - _HASH - 2]}… {mark}"
