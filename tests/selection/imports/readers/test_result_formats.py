"""Results of each program that evaluates models: two models, three items, the same grades."""

import io
import json
import zipfile
from typing import Any

import pytest

from selection.errors import Refused
from selection.imports.keyed_answers import File, KeyedAnswers, read_keyed_answers
from selection.imports.open_columns import find_open_columns
from selection.imports.readers import archives

GRADES = {("a", 0): 1, ("a", 1): 0, ("a", 2): 1, ("b", 0): 0, ("b", 1): 0, ("b", 2): 1}
PAIRS = [(model, item, right) for (model, item), right in GRADES.items()]


def lines(rows: list[Any]) -> str:
    return "\n".join(map(json.dumps, rows))


def lm_eval(item: int, right: int, **more: Any) -> dict[str, Any]:
    return {"doc_id": item, "doc_hash": str(item), "metrics": ["acc"], "acc": right, **more}


def inspect_log(model: str) -> dict[str, Any]:
    samples = [
        {"id": item, "epoch": 1, "scores": {"match": {"value": "C" if right else "I"}}}
        for of, item, right in PAIRS
        if of == model
    ]
    return {"eval": {"model": model, "task": "pop"}, "samples": samples}


def promptfoo(model: str, item: int, right: int, prompt: str = "p") -> dict[str, Any]:
    result = {"success": bool(right), "score": right, "testIdx": item, "promptIdx": 0}
    return {**result, "provider": {"id": model, "label": ""}, "prompt": {"label": prompt}}


def oaieval(model: str) -> list[dict[str, Any]]:
    spec = {"spec": {"run_id": model, "completion_fns": [model], "eval_name": "e"}}
    events = [
        {"run_id": model, "event_id": 1, "sample_id": i, "type": kind, "data": {"correct": right}}
        for of, i, right in PAIRS
        for kind in ("sampling", "match")
        if of == model
    ]
    return [spec, *events, {"final_report": {"accuracy": 1}}]


def output_item(model: str, item: int, right: int) -> dict[str, Any]:
    results = [{"name": "Match", "passed": bool(right)}]
    return {"datasource_item_id": item, "sample": {"model": model}, "results": results}


def packed(files: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def native(model: str) -> str:
    return lines([lm_eval(item, right) for of, item, right in PAIRS if of == model])


def helm(model: str) -> str:
    return json.dumps(
        [
            {"instance_id": i, "stats": [{"name": {"name": "exact_match"}, "mean": right}]}
            for of, i, right in PAIRS
            if of == model
        ]
    )


def log_file(model: str) -> bytes:
    log = inspect_log(model)
    samples = {f"samples/{s['id']}_epoch_1.json": json.dumps(s) for s in log.pop("samples")}
    return packed({"header.json": json.dumps(log), **samples})


def table(head: str, row: str) -> str:
    return "\n".join([head, *(row.format(m=m, i=i, r=r, b=bool(r)) for m, i, r in PAIRS)])


FILES: dict[str, str | bytes] = {
    "lm-eval": lines([lm_eval(i, r, model=m) for m, i, r in PAIRS]),
    "lm-eval folder": packed(
        {f"out/{m}/samples_arc_2026-01-01T00-00-00.1.jsonl": native(m) for m in "ab"}
        | {"out/a/results_2026.json": "{}"}
    ),
    "HELM folder": packed(
        {f"runs/v1/mmlu:s=x,model={m}/per_instance_stats.json": helm(m) for m in "ab"}
    ),
    "Inspect": json.dumps([inspect_log("a"), inspect_log("b")]),
    "Inspect folder": packed({f"{m}.json": json.dumps(inspect_log(m)) for m in "ab"}),
    "promptfoo": json.dumps(
        {"evalId": "e", "results": {"results": [promptfoo(*p) for p in PAIRS]}}
    ),
    "promptfoo lines": lines([promptfoo(*pair) for pair in PAIRS]),
    "promptfoo table": "q,[a] Say,[b] Say\n0,[PASS] x,[FAIL] y\n1,[FAIL],[FAIL]\n2,[PASS],[PASS]",
    "OpenAI Evals": lines(oaieval("a") + oaieval("b")),
    "Evals API": json.dumps({"object": "list", "data": [output_item(*pair) for pair in PAIRS]}),
    "Langfuse": table("name,value,datasetRunName,datasetItemId", "correct,{r},{m},{i}"),
    "Braintrust": lines(
        [
            {"span_id": 1, "scores": {"ok": r}, "metadata": {"model": m}, "dataset_record_id": i}
            for m, i, r in PAIRS
        ]
    ),
    "long": table("model,doc_id,acc", "{m},{i},{r}"),
    "long marks": table("model,question,correct", "{m},{i},{b}"),
    "marked answers": table("model,question,response,is_correct", "{m},{i},B,{b}"),
    "models in rows": "model,0,1,2\na,1,0,1\nb,0,0,1",
    "items in rows": "item,a,b\n0,1,0\n1,0,0\n2,1,1",
}


def read(content: str | bytes, **picked: str) -> KeyedAnswers:
    raw = content if isinstance(content, bytes) else content.encode()
    return read_keyed_answers(File("f", raw, picked=picked), None)


def grades(keyed: KeyedAnswers) -> dict[tuple[str, int], float]:
    names = {model: model.removesuffix(" Say").strip("[]") for model, _, _ in keyed.rows}
    return {(names[m], int(item.rpartition("/")[2])): grade for m, item, grade in keyed.rows}


@pytest.mark.parametrize("name", FILES)
def test_results_of_each_program_are_read(name):
    assert grades(read(FILES[name])) == GRADES


def test_a_packed_log_of_inspect_is_read():
    assert grades(read(packed({"a.eval": "", "b.json": json.dumps(inspect_log("b"))}))) == {
        pair: right for pair, right in GRADES.items() if pair[0] == "b"
    }
    one = {(m, i): right for (m, i), right in GRADES.items() if m == "a"}
    assert grades(read(log_file("a"))) == one


def test_a_folder_is_packed_with_the_files_that_its_program_names(tmp_path):
    for model in "ab":
        (tmp_path / "out" / model).mkdir(parents=True)
        (tmp_path / "out" / model / "samples_arc_2026-01-01T00.jsonl").write_text(native(model))
        (tmp_path / "out" / model / "results_x.json").write_text("{}")
    assert grades(read(archives.pack_folder(tmp_path / "out"))) == GRADES


SEVERAL = {
    "metric": lines([lm_eval(i, r, model=m, metrics=["acc", "f1"], f1=0) for m, i, r in PAIRS]),
    "variant": lines(
        [
            lm_eval(i, r * right, model=m, filter=name)
            for m, i, r in PAIRS
            for name, right in (("strict", 0), ("flexible", 1))
        ]
    ),
    "task": lines([lm_eval(i, r, model=m, task=t) for m, i, r in PAIRS for t in ("x", "y")]),
}


@pytest.mark.parametrize(
    ("name", "options", "picked"),
    [
        ("metric", ["acc", "f1"], "acc"),
        ("variant", ["strict", "flexible"], "flexible"),
        ("task", ["all", "x", "y"], "y"),
    ],
)
def test_several_results_for_an_answer_are_a_choice(name, options, picked):
    raw = SEVERAL[name].encode()
    (choice,) = find_open_columns(File("f", raw), None).choices
    assert (choice.name, choice.options) == (name, options)
    chosen = File("f", raw, picked={name: picked})
    opened = find_open_columns(chosen, None)
    assert opened is None or not opened.choices
    assert grades(read_keyed_answers(chosen, None)) == GRADES
    with pytest.raises(Refused, match="it has"):
        read(raw, **{name: "other"})


def test_metrics_that_agree_are_no_choice():
    rows = [lm_eval(i, r, model=m, metrics=["acc", "acc_norm"], acc_norm=r) for m, i, r in PAIRS]
    assert not read(lines(rows)).choices


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (json.dumps([{"model_a": "a", "model_b": "b", "winner": "tie"}]), "compares pairs"),
        (json.dumps({"results": {"arc": {"acc": 1}}, "configs": {}}), "means of each task only"),
        (json.dumps({"eval": {"model": "a"}, "plan": {}}), "has no samples"),
        (packed({"a.txt": "x"}), "no results of models"),
        (lines([promptfoo(*PAIRS[0]) | {"failureReason": 2}]), "This was not graded"),
        (table("model,question_id,score", "{m},{i},8"), "score is 8"),
    ],
)
def test_files_without_grades_are_refused_in_one_sentence(content, why):
    with pytest.raises(Refused, match=why):
        read(content)


# -- archives that unpack to more than they weigh


def pack_bytes(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in files.items():
            archive.writestr(name, raw)
    return content.getvalue()


def pack_log(sample: bytes) -> bytes:
    return pack_bytes({"header.json": b'{"version": 2}', "samples/1.json": sample})


def test_the_limit_is_that_of_all_levels_of_an_archive(monkeypatch):
    monkeypatch.setattr(archives, "MOST_UNPACKED", 100_000)
    log = pack_log(b'"%s"' % (b"0" * 60_000))
    for raw in (
        pack_bytes({"a.eval": pack_log(b"0" * 200_000)}),
        pack_bytes({"a.eval": log, "b.eval": log}),
    ):
        with pytest.raises(Refused, match="unpacks to more than"):
            archives.open_results(archives.Archive(raw, "a.zip"))


def test_the_files_of_all_levels_of_an_archive_are_counted(monkeypatch):
    monkeypatch.setattr(archives, "MOST_MEMBERS", 5)
    log = pack_bytes({"header.json": b"{}"} | {f"samples/{i}.json": b"{}" for i in range(3)})
    for raw in (
        pack_bytes({f"{i}.json": b"{}" for i in range(6)}),
        pack_bytes({"a.eval": log, "b.eval": log}),
    ):
        with pytest.raises(Refused, match="packs more than 5 files"):
            archives.open_results(archives.Archive(raw, "a.zip"))
