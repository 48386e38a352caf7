"""Run in the environment of ``make interop``, which has the libraries and nothing of ours.

libraries.py FOLDER loads every export that lies in FOLDER/out with the program it is meant for, and
writes into FOLDER/in the files of these programs, with the values read in facts.json.
"""

import json
import sys
from pathlib import Path
from typing import Any

import openpyxl
import pandas
from crowdkit.aggregation import DawidSkene, GoldMajorityVote, MajorityVote, Wawa
from label_studio_sdk.converter import Converter
from label_studio_sdk.label_interface import LabelInterface

CONFIG = """<View><Text name="text" value="$text"/><Choices name="label" toName="text">
<Choice value="yes"/><Choice value="no"/></Choices></View>"""


def main(folder: Path) -> None:
    out, into = folder / "out", folder / "in"
    into.mkdir(exist_ok=True)
    columns = {"question": "task", "response": "label"}
    answers = pandas.read_csv(out / "answers.csv", keep_default_na=False).rename(columns=columns)
    triples = answers[["worker", "task", "label"]]
    skills = pandas.read_csv(out / "all-csv.csv", index_col="worker")["mean"].dropna()
    facts: dict[str, Any] = {
        "tables": tables(out),
        "sheets": sheets(out),
        "json": documents(out),
        **crowd_kit(into, triples, skills),
        **label_studio(into, triples),
    }
    of_pandas(into, triples)
    (folder / "facts.json").write_text(json.dumps(facts))


def tables(out: Path) -> dict[str, list[int]]:
    """(rows, columns) of every CSV by pandas; Prolific's lists have no header."""
    found = {}
    for path in out.iterdir():
        if path.suffix in (".csv", ".txt"):
            bare = path.stem.startswith("prolific")
            try:
                frame = pandas.read_csv(path, header=None if bare else 0)
            except pandas.errors.EmptyDataError:
                frame = pandas.DataFrame()
            found[path.stem] = list(frame.shape)
    return found


def sheets(out: Path) -> dict[str, list[list[int]]]:
    """The same of every sheet, by pandas and by openpyxl."""
    path = out / "xlsx.xlsx"
    by_pandas = pandas.read_excel(path, sheet_name=None)
    book = openpyxl.load_workbook(path)
    return {
        sheet.title: [[sheet.max_row - 1, sheet.max_column], list(by_pandas[sheet.title].shape)]
        for sheet in book.worksheets
    }


def documents(out: Path) -> dict[str, int]:
    """Rows of those that pandas takes for a table."""
    whole = json.loads((out / "json.json").read_text())
    return {"json": len(pandas.json_normalize(whole, "workers"))}


def crowd_kit(into: Path, triples: Any, skills: Any) -> dict[str, Any]:
    """Aggregate our answers, weighed with our skills, and write the result."""
    weighed = MajorityVote().fit_predict(triples, skills=skills)
    weighed.to_csv(into / "gold.csv")
    triples.to_csv(into / "triples.csv", index=False)
    gold = weighed.rename("label")
    graded = GoldMajorityVote().fit(triples, gold)
    graded.skills_.to_csv(into / "skills.csv")
    return {
        "weighed": {str(task): label for task, label in weighed.items()},
        "dawid_skene": int(DawidSkene(n_iter=10).fit_predict(triples).size),
        "wawa": int(Wawa().fit(triples).skills_.size),
        "gold_skills": {str(worker): skill for worker, skill in graded.skills_.items()},
    }


def label_studio(into: Path, triples: Any) -> dict[str, Any]:
    """Makes tasks with annotations, and all its exports of them."""
    interface = LabelInterface(CONFIG)
    tasks = [_task(number, *rest) for number, rest in enumerate(triples.groupby("task"), 1)]
    wrong = [
        error
        for task in tasks
        for annotation in task["annotations"]
        for error in interface.validate_prediction(annotation, return_errors=True) or ()
    ]
    (into / "studio.json").write_text(json.dumps(tasks))
    converter = Converter(CONFIG, str(into), download_resources=False)
    tasks_file = str(into / "studio.json")
    converter.convert_to_json_min(tasks_file, str(into / "JSON_MIN"), is_dir=False)
    csv = {"csv_separator": ",", "sep": ",", "header": True}
    converter.convert_to_csv(tasks_file, str(into / "CSV"), is_dir=False, **csv)
    return {
        "wrong": [str(error) for error in wrong],
        "annotations": sum(len(task["annotations"]) for task in tasks),
    }


def _task(number: int, name: str, answers: Any) -> dict[str, Any]:
    """As an export of Label Studio has it; the first annotation is ground truth."""
    return {
        "id": number,
        "data": {"text": f"Question {name}", "question_id": name},
        "annotations": [
            {
                "id": 1000 * number + place,
                "completed_by": {"id": place, "email": f"{row.worker}@example.org"},
                "ground_truth": not place,
                "was_cancelled": False,
                "created_at": "2026-11-22T10:00:00Z",
                "lead_time": 1.5,
                "model_version": "none",
                "score": 1.0,
                "result": [
                    {
                        "id": f"r{number}-{place}",
                        "from_name": "label",
                        "to_name": "text",
                        "type": "choices",
                        "value": {"choices": [row.label]},
                    }
                ],
            }
            for place, row in enumerate(answers.itertuples())
        ],
    }


def of_pandas(into: Path, triples: Any) -> None:
    """The same answers in every form that pandas writes them in."""
    triples.to_csv(into / "with-index.csv")
    triples.to_csv(into / "german.csv", sep=";", encoding="cp1252", index=False)
    triples.to_csv(into / "wide-letters.tsv", sep="\t", encoding="utf-16", index=False)
    triples.to_excel(into / "triples.xlsx", index=False)
    triples.to_excel(into / "triples.ods", index=False)
    triples.to_json(into / "records.json", orient="records")
    triples.to_json(into / "lines.json", orient="records", lines=True)
    wide = triples.pivot(index="worker", columns="task", values="label")
    wide.to_csv(into / "wide.csv")
    wide.reset_index().to_excel(into / "wide.xlsx", index=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
