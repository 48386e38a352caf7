"""Formats of results of programs that evaluate models, and the place of each value."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from selection.errors import Refused

Object = dict[str, Any]
# Scores by metric; empty if the record was not graded, None if it has nothing to grade.
Metrics = Mapping[str, Any] | None

_DRAW = 1.5  # AlpacaEval prefers the reference below, and the model above


@dataclass(frozen=True)
class Format:
    """A format of results. Paths have dots between their parts; the first with a value is taken.

    signs    fields that an object of such a file has, in any of these groups
    metrics  function of a record that returns its scores
    model    paths of the model; item of the question; task of the benchmark it is from; and
             variant of what else there are several results by, such as the filter of a reply
    known    metrics that are read unless another is chosen, the likeliest first
    records  function that yields the records of an object; the second argument is a memory
    document path of what tells two items of one id apart
    against  path of what all models are compared with
    path     end of the file's path in a folder as the program writes it, with its groups
    refusal  reason to refuse files without grades
    """

    title: str
    signs: tuple[frozenset[str], ...]
    metrics: Callable[[Object], Metrics] = dict
    model: tuple[str, ...] = ("model",)
    item: tuple[str, ...] = ("id",)
    task: tuple[str, ...] = ("task",)
    variant: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    records: Callable[[Any, Object], Iterator[Object]] = lambda value, memory: iter((value,))
    document: str = ""
    against: str = ""
    path: re.Pattern[str] | None = None
    refusal: str = ""


def find_value(record: Any, *paths: str) -> Any:
    """Find the first value at these paths; "" if there is none."""
    for path in filter(None, paths):  # a column may have no name
        value = record.get(path)
        if value is None:
            value = record
            for part in path.split("."):
                value = value.get(part) if isinstance(value, dict) else None
        if value not in (None, ""):
            return value
    return ""


def recognise_format(fields: set[str]) -> Format | None:
    return next((each for each in FORMATS if any(fields >= signs for signs in each.signs)), None)


# -- AlpacaEval


def _alpaca_metrics(record: Object) -> Metrics:
    preference = record.get("preference")
    if preference in (None, "", "NaN"):
        return None
    number = _parse_float(preference)
    if number is None or (number != 0 and not 1 <= number <= 2):
        raise Refused(f"The preference is {preference}; it must be from 1 to 2, or 0 for a draw.")
    return {"preference": number > _DRAW}


def _parse_float(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


# -- lm-evaluation-harness and HELM

_LM_EVAL = ("acc", "exact_match", "prompt_level_strict_acc", "pass_at_1", "pass@1")
_HELM = (
    "exact_match",
    "quasi_exact_match",
    "prefix_exact_match",
    "quasi_prefix_exact_match",
    "chain_of_thought_correctness",
    "f1_score",
    "rouge_l",
)


def _lm_eval_metrics(record: Object) -> Metrics:
    logged = record.get("metrics")
    names = [*logged] if isinstance(logged, list) else []
    return {name: record[name] for name in dict.fromkeys([*names, *_LM_EVAL]) if name in record}


def _helm_metrics(record: Object) -> Metrics:
    if record.get("perturbation"):
        return None
    means: dict[str, Any] = {}
    for entry in record["stats"] if isinstance(record["stats"], list) else []:
        called = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(called, dict) and not called.get("perturbation"):
            means.setdefault(str(called.get("name")), entry.get("mean"))
    known = {name: means[name] for name in _HELM if name in means}
    return known or means


# -- Inspect and promptfoo


def _inspect_records(log: Object, _: Object) -> Iterator[Object]:
    shared = {"model": find_value(log, "eval.model"), "task": find_value(log, "eval.task")}
    yield from ({**sample, **shared} for sample in log.get("samples") or [])


def _inspect_metrics(sample: Object) -> Metrics:
    metrics: dict[str, Any] = {}
    for scorer, score in (sample.get("scores") or {"score": sample.get("score")}).items():
        value = score.get("value") if isinstance(score, dict) else score
        parts = value.items() if isinstance(value, dict) else [("", value)]
        metrics |= {f"{scorer}.{part}".rstrip("."): v for part, v in parts if v is not None}
    return metrics


def _promptfoo_records(value: Object, _: Object) -> Iterator[Object]:
    results = value.get("results", [value])
    yield from results["results"] if isinstance(results, dict) else results


def _promptfoo_metrics(result: Object) -> Metrics:
    if str(result.get("failureReason")) == "2":  # an error, rather than an answer
        return {}
    scores = {name: result.get(name) for name in ("success", "score")}
    return {**scores, **(result.get("namedScores") or {})}


# -- OpenAI's two programs, Braintrust, Langfuse


def _oaieval_records(event: Object, specs: Object) -> Iterator[Object]:
    spec = event.get("spec")
    if spec:
        specs[str(spec.get("run_id"))] = {
            "model": " + ".join(map(str, spec.get("completion_fns") or [])),
            "task": spec.get("base_eval") or spec.get("eval_name"),
        }
    elif event.get("type") in ("match", "metrics"):
        yield {**event, **specs.get(str(event.get("run_id")), {})}


def _oaieval_metrics(event: Object) -> Metrics:
    data = event.get("data") or {}
    names = ["correct"] if event["type"] == "match" else [*data]
    return {n: data.get(n) for n in names if isinstance(data.get(n), bool | str | int | float)}


def _output_items(value: Object, _: Object) -> Iterator[Object]:
    yield from value.get("data", [value])


def _output_metrics(item: Object) -> Metrics:
    return {result.get("name"): result.get("passed") for result in item.get("results") or []}


def _braintrust_metrics(span: Object) -> Metrics:
    return {
        n: score for n, score in (span.get("scores") or {}).items() if score is not None
    } or None


def _langfuse_metrics(row: Object) -> Metrics:
    value = find_value(row, "value", "stringValue")
    return None if value == "" else {row["name"]: value}


# -- DeepEval and LangSmith


def _deepeval_records(value: Object, _: Object) -> Iterator[Object]:
    shared = {"model": find_value(value, "model", "hyperparameters.model", "identifier")}
    yield from ({**shared, **case} for case in value["testCases"])


def _deepeval_metrics(case: Object) -> Metrics:
    metrics = {m.get("name"): m.get("score") for m in case.get("metricsData") or []}
    scores = {name: score for name, score in metrics.items() if score is not None}
    return {"success": case["success"], **scores} if "success" in case else scores


def _langsmith_metrics(run: Object) -> Metrics:
    nested = run.get("feedback")
    scores = {f"feedback.{n}": v for n, v in (nested if isinstance(nested, dict) else {}).items()}
    scores |= {n: v for n, v in run.items() if n.startswith("feedback.")}
    return {name: score for name, score in scores.items() if score not in (None, "")}


def _signs(*groups: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(group.split()) for group in groups)


FORMATS = (
    Format(
        "AlpacaEval",
        _signs("instruction generator_1 generator_2 preference"),
        _alpaca_metrics,
        model=("generator_2",),
        item=("instruction",),
        task=(),
        against="generator_1",
    ),
    Format(
        "lm-evaluation-harness",
        _signs("doc_id doc_hash", "doc_id filtered_resps"),
        _lm_eval_metrics,
        item=("doc_id",),
        variant=("filter",),
        known=_LM_EVAL,
        document="doc_hash",
        path=re.compile(
            r"(.*/)?(?P<model>[^/]+)/samples_(?P<task>[^/]+?)(_\d{4}-\d\d-\d\dT[^/_]*)?\.jsonl"
        ),
    ),
    Format(
        "lm-evaluation-harness",
        _signs("results configs", "results versions"),
        refusal="has the means of each task only: upload the samples_….jsonl of --log_samples",
    ),
    Format(
        "HELM",
        _signs("instance_id stats"),
        _helm_metrics,
        item=("instance_id",),
        known=_HELM,
        path=re.compile(
            r"(.*/)?(?P<task>(?:(?!,?\bmodel=)[^/])*+),?model=(?P<model>[^,/]++)[^/]*+"
            r"/per_instance_stats\.json"
        ),
    ),
    Format("Inspect", _signs("eval samples"), _inspect_metrics, records=_inspect_records),
    Format("Inspect", _signs("eval plan"), refusal="has no samples: log them, and upload that log"),
    Format(
        "promptfoo",
        _signs("results evalId", "promptIdx testIdx"),
        _promptfoo_metrics,
        model=("provider.label", "provider.id", "provider"),
        item=("testIdx", "vars"),
        task=(),
        variant=("prompt.label", "promptIdx"),
        known=("success",),
        records=_promptfoo_records,
    ),
    Format(
        "OpenAI Evals",
        _signs("spec", "run_id event_id type"),
        _oaieval_metrics,
        item=("sample_id",),
        known=("correct",),
        records=_oaieval_records,
    ),
    Format(
        "OpenAI's Evals API",
        _signs("object data", "datasource_item_id results"),
        _output_metrics,
        model=("sample.model",),
        item=("datasource_item_id",),
        task=("eval_id",),
        records=_output_items,
    ),
    Format(
        "Braintrust",
        _signs("scores span_id"),
        _braintrust_metrics,
        model=("metadata.model", "experiment_name", "experiment_id"),
        item=("dataset_record_id", "input"),
        task=(),
    ),
    Format(
        "Langfuse",
        _signs("name value datasetRunName datasetItemId"),
        _langfuse_metrics,
        model=("datasetRunName",),
        item=("datasetItemId",),
        task=(),
    ),
    Format(
        "DeepEval",
        _signs("testCases"),
        _deepeval_metrics,
        item=("name", "input"),
        task=(),
        known=("success",),
        records=_deepeval_records,
    ),
    Format(
        "LangSmith",
        _signs("example_id execution_time"),
        _langsmith_metrics,
        model=("model", "experiment", "experiment_name", "session_name", "outputs.model"),
        item=("example_id",),
        task=(),
    ),
    Format(
        "Weights & Biases",
        _signs("Name State Runtime", "_wandb", "_runtime _step"),
        refusal="has the means of each run only: export a wandb.Table with the columns model, "
        "question and score",
    ),
    Format(
        "Gorilla (BFCL)",
        _signs("accuracy correct_count total_count"),
        refusal="lists wrong answers only: write a table with the columns model, question and "
        "score, for all questions",
    ),
    Format(
        "an arena",
        _signs("model_a model_b"),
        refusal="compares pairs of models, and no question has a correct answer: each model needs "
        "a score for each question",
    ),
)
