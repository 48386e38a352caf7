"""Published results of models, read as past answers: workers are models, questions are items."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from selection.errors import Refused
from selection.imports.keyed_answers import File, KeyedAnswers, read_keyed_answers
from selection.imports.readers import read_table

from .files import said

TOP = Path(__file__).parents[4]
LONG = "Write a story about a lighthouse keeper.\n\n" + "It must be long. " * 30


def preference(
    model: str, instruction: str, value: Any, reference: str = "text_davinci_003"
) -> Any:
    return {
        "instruction": instruction,
        "output_1": "I cannot say, but it is so.",
        "generator_1": reference,
        "dataset": "helpful_base",
        "output_2": "It is so.",
        "generator_2": model,
        "annotator": "alpaca_eval_gpt4",
        "preference": value,
        "price_per_example": 0.02436,
        "time_per_example": 1.6417987069,
    }


def sample(doc: int, metrics: dict[str, Any], used: str = "none", **more: Any) -> dict[str, Any]:
    return {
        "doc_id": doc,
        "doc": {"question": f"What is {doc}?", "choices": ["a", "b"], "answer": 1},
        "target": "1",
        "arguments": {"gen_args_0": {"arg_0": f"Question: What is {doc}?\nAnswer:", "arg_1": " a"}},
        "resps": [[["-1.5", "False"]], [["-0.5", "True"]]],
        "filtered_resps": [["-1.5", "False"], ["-0.5", "True"]],
        "filter": used,
        "metrics": list(metrics),
        "doc_hash": f"{doc:064x}",
        "prompt_hash": "p",
        "target_hash": "t",
        **metrics,
        **more,
    }


def instance(key: str, means: dict[str, Any], **more: Any) -> dict[str, Any]:
    stats = [
        {
            "name": {"name": name, "split": "test"},
            "count": 1,
            "sum": mean,
            "sum_squared": mean,
            "min": mean,
            "max": mean,
            "mean": mean,
            "variance": 0.0,
            "stddev": 0.0,
        }
        for name, mean in means.items()
    ]
    return {"instance_id": key, "train_trial_index": 0, **more, "stats": stats}


def read(content: str | list[Any]) -> KeyedAnswers:
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    return read_keyed_answers(File("f.json", text.encode()), None)


def refusal(content: str | list[Any]) -> str:
    with pytest.raises(Refused) as caught:
        read(content)
    return str(caught.value)


def lines(objects: list[Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


# -- AlpacaEval


def test_the_preferred_of_alpaca_eval_is_right_and_the_reference_is_no_worker():
    values = {"a": [2, 1.0, 1.500001], "b": [1.5, 0, 1.9999]}
    rows = [
        preference(model, f"{number}. Is it so?", value)
        for model, values_of in values.items()
        for number, value in enumerate(values_of)
    ]
    assert sorted(read(rows).rows) == [
        ("a", "0. Is it so?", True),
        ("a", "1. Is it so?", False),
        ("a", "2. Is it so?", True),
        ("b", "0. Is it so?", False),
        ("b", "1. Is it so?", False),
        ("b", "2. Is it so?", True),
    ]
    assert read_table(json.dumps(rows), "f").what == "JSON; results of AlpacaEval"


def test_comparisons_without_a_preference_are_left_out():
    rows = [preference("a", "Is it?", 2), preference("a", "Was it?", None)]
    assert read(rows).rows == [("a", "Is it?", True)]
    assert read([rows[0], preference("a", "Was it?", float("nan"))]).rows == [("a", "Is it?", True)]


def test_a_long_instruction_becomes_a_key_of_its_beginning_and_a_hash():
    other = LONG + "And sad."
    rows = [preference("a", text, 2) for text in (LONG, other, LONG)]
    keyed = read(rows)
    first, second = keyed.key
    assert (keyed.repeated, len(keyed.rows)) == (1, 2)
    assert first.startswith("Write a story about a lighthouse keeper. It must be long.")
    assert (len(first), first[:-12]) == (200, second[:-12])
    assert first != second


def test_two_references_are_no_single_comparison():
    rows = [preference("a", "Is it?", 2), preference("b", "Is it?", 2, "gpt4_1106_preview")]
    assert refusal(rows) == (
        "f.json, line 14: This model is compared with “gpt4_1106_preview”, and others with "
        "“text_davinci_003”; keep the annotations with one “generator_1”."
    )
    assert refusal([preference("a", "Is it?", 3)]) == (
        "f.json, line 2: The preference is 3; it must be from 1 to 2, or 0 for a draw."
    )


# -- lm-evaluation-harness


@pytest.mark.parametrize("right", [1.0, 1, True])
def test_samples_are_graded_by_their_metric(right):
    rows = [
        sample(0, {"acc": right, "acc_norm": 0.0}, model="a"),
        sample(1, {"acc": 0.0, "acc_norm": 1.0}, model="a"),
        sample(0, {"acc": False, "acc_norm": 1.0}, model="b"),
    ]
    assert read(lines(rows)).rows == [("a", "0", True), ("a", "1", False), ("b", "0", False)]


def test_the_first_filter_counts_and_the_task_is_part_of_the_item():
    both = [
        sample(7, {"exact_match": score}, used, model="a", task="gsm8k")
        for used, score in (("strict-match", 0.0), ("flexible-extract", 1.0))
    ]
    keyed = read(lines([*both, *({**each, "model": "b"} for each in reversed(both))]))
    assert keyed.rows == [("a", "gsm8k/7", False), ("b", "gsm8k/7", False)]
    assert keyed.repeated == 0


def test_single_unknown_metric_is_taken_but_several_are_refused():
    assert read(lines([sample(0, {"mc1": 1}, model="a")])).rows == [("a", "0", True)]
    assert refusal(lines([sample(0, {"rouge1": 1, "rouge2": 0}, model="a")])) == (
        "There are several results for each answer: choose the metric of rouge1, rouge2."
    )
    assert "it has no metric" in refusal(lines([sample(0, {}, model="a")]))


def test_fraction_makes_the_whole_file_scores():
    scores = [1, 0.25, 0.0, 0.9999]
    rows = [sample(doc, {"bleu": score}, model="a") for doc, score in enumerate(scores)]
    keyed = read(lines(rows))
    assert keyed.rows == [("a", str(doc), score) for doc, score in enumerate(scores)]
    assert {row.accepted[0] for row in keyed.key.values()} == {"a score from 0 to 1"}
    assert read([instance("id1", {"f1_score": 0.4}, model="a")]).rows == [("a", "id1", 0.4)]


@pytest.mark.parametrize("score", [2, "NaN", -0.1])
def test_scores_beyond_0_and_1_are_refused_with_their_line(score):
    rows = [sample(0, {"acc": 1}, model="a"), sample(1, {"acc": score}, model="a")]
    sentence = f"f.json, line 2: acc is {score}, but a score is a number from 0 to 1."
    assert refusal(lines(rows)) == sentence


def test_a_table_with_scores_as_its_key_is_read_as_scores():
    head = "worker,task,label,gold\n"
    key = "a score from 0 to 1"
    assert read(f"{head}a,1,0.75,{key}\n").rows == [("a", "1", 0.75)]
    assert refusal(f"{head}a,1,0.75,{key}\na,2,good,{key}\n") == (
        "f.json, line 3: “good” is not a score from 0 to 1; write it as in 0.73."
    )


def test_an_import_into_a_question_set_refuses_scores_with_their_line():
    rows = [sample(0, {"acc": 1}, model="a"), sample(1, {"acc": 0.5}, model="a")]
    table = read_table(lines(rows), "f.json")
    assert len(list(table.rows)) == 1
    assert table.faults == [
        (
            2,
            "acc is 0.5, but an answer is wrong (0) or right (1) here. Decide from which score on "
            "it is right, and write 0 or 1; or use “Try it on past answers”, which takes scores.",
        )
    ]


def test_a_score_that_is_no_number_is_refused():
    message = refusal(lines([sample(0, {"acc": [1, 2]}, model="a")]))
    assert message == "f.json, line 1: “acc” must be a number."


def test_samples_without_their_model_are_refused():
    assert refusal(lines([sample(0, {"acc": 1})])) == (
        "f.json, line 1: lm-evaluation-harness: there is no “model”; every object needs one, and "
        "“model” has to be added "
        "when the files of several models are joined. Or upload the program's folder as a zip "
        "file, or name it in the command."
    )


def test_two_documents_of_one_number_are_refused():
    rows = [sample(0, {"acc": 1}, model="a"), sample(0, {"acc": 1}, model="b", doc_hash="other")]
    assert refusal(lines(rows)) == (
        "f.json, line 2: “0” is another document than before; if the file has samples of several "
        "tasks, give each object its “task”."
    )


# -- HELM


def test_instances_of_helm_are_graded_by_exact_match():
    rows = [
        instance("id1", {"num_prompt_tokens": 40, "exact_match": 1.0}, model="a"),
        instance("id1", {"exact_match": 0.0}, model="a", perturbation={"name": "typos"}),
        instance("id1", {"quasi_exact_match": 0.0}, model="b", task="mmlu"),
    ]
    assert read(rows).rows == [("a", "id1", True), ("b", "mmlu/id1", False)]


def test_instances_without_a_usable_metric_are_refused():
    assert refusal([instance("id1", {"logprob": -0.4}, model="a")]) == (
        "f.json, line 2: logprob is -0.4, but a score is a number from 0 to 1."
    )
    assert "exact_match is 1.5" in refusal([instance("id1", {"exact_match": 1.5}, model="a")])
    assert "it has no metric" in refusal([{"instance_id": "id1", "stats": None, "model": "a"}])


# -- elsewhere


def test_the_models_may_become_a_pool_as_well():
    plan, rows = said("workers", json.dumps([preference("a", "Is it?", 2)]))
    assert (plan.title, [row.worker for row in rows]) == ("a file of answers", ["a"])


def write_results(folder: Path) -> None:
    """Write the files as the three programs do, in the same folders."""
    for model, score in (("org__a", 1.0), ("org__b", 0.0)):
        home = folder / "results" / model
        (home / "alpaca_eval_gpt4").mkdir(parents=True)
        for task in ("arc_easy", "gsm8k"):
            path = home / f"samples_{task}_2026-05-01T10-20-30.123456.jsonl"
            metric = {"exact_match" if task == "gsm8k" else "acc": score}
            path.write_text(lines([sample(n, metric, doc_hash=f"{task}{n}") for n in range(2)]))
        annotations = [preference(model, f"{n}. So?", 1 + score) for n in range(2)]
        (home / "alpaca_eval_gpt4" / "annotations.json").write_text(json.dumps(annotations))
        run = f"mmlu:subject=philosophy,method=multiple_choice_joint,model={model}"
        helm = folder / "benchmark_output" / "runs" / "v1" / run
        helm.mkdir(parents=True)
        stats = [instance(f"id{n}", {"exact_match": score, "logprob": -1.5}) for n in range(2)]
        (helm / "per_instance_stats.json").write_text(json.dumps(stats))


@pytest.mark.parametrize(
    ("program", "items"),
    [
        ("AlpacaEval", ["0. So?", "1. So?"]),
        ("lm-evaluation-harness", ["arc_easy/0", "arc_easy/1", "gsm8k/0", "gsm8k/1"]),
        (
            "HELM",
            [f"mmlu:subject=philosophy,method=multiple_choice_joint/id{n}" for n in range(2)],
        ),
    ],
)
def test_the_documented_programs_join_the_files_of_several_models(program, items, tmp_path):
    write_results(tmp_path)
    page = (TOP / "docs" / "past-answers.md").read_text()
    code = re.search(rf"(?s)### {program}\n.*?```python\n(.*?)```", page)
    subprocess.run([sys.executable, "-c", code[1]], cwd=tmp_path, env=os.environ, check=True)
    keyed = read((tmp_path / "joined.json").read_text())
    assert sorted(keyed.rows) == [
        (model, item, right)
        for model, right in (("org__a", True), ("org__b", False))
        for item in items
    ]
