"""Our files in other people's programs, and theirs in ours; run by ``make interop`` alone."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from selection import exports
from selection.imports import platforms, row_parsers, surveys
from selection.imports.readers import read_table
from selection.imports.row_parsers import AnswerRow, BadRow
from selection.models import Run
from tests import file_rows
from tests.worlds import crowd, make_run, play

LIBRARIES = Path("var/interop/bin/python")
SETTINGS = {"epsilon": 0.6, "slots": 60, "slots_per_worker": 30, "price": "0.05", "currency": "$"}

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return play(make_run(**SETTINGS), crowd(3, good=2, high=1.0, low=0.2))


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    """Export a run in every format, and read the results of the libraries."""
    out = tmp_path / "out"
    out.mkdir()
    for name, each in exports.FORMATS.items():
        file = out / f"{name}.{each.ending}"
        file.write_bytes(b"".join(exports.make_file(run, name).pieces))
    script = Path(__file__).with_name("libraries.py")
    subprocess.run([LIBRARIES, script, tmp_path], check=True)
    return tmp_path


def given(run: Run) -> set[tuple[str, str, str]]:
    rows = run.answers.filter(expired=False).exclude(response="")
    return set(
        rows.values_list(
            "assignment__candidate__worker__key", "assignment__question__key", "response"
        )
    )


def read(path: Path, run: Run) -> list[AnswerRow | BadRow]:
    table = read_table(path.read_bytes(), path.name)
    plan = surveys.recognise_survey(table.header, surveys.names_of(run))
    platforms.refuse_missing(plan, table.header, path.name)
    return [one for _, one in row_parsers.parse_rows(table, plan) if one is not None]


def as_triples(found: list[Any]) -> set[tuple[str, str, str]]:
    assert not [row for row in found if isinstance(row, BadRow)]
    return {(row.worker, row.question, row.response) for row in found}


def test_libraries_load_the_exports_and_the_app_reads_their_files(run: Run, folder: Path):
    facts = json.loads((folder / "facts.json").read_text())
    _our_files(run, facts)
    _by_crowd_kit(run, folder / "in", facts)
    _by_pandas(run, folder / "in")
    _by_label_studio(run, folder / "in", facts)


def _our_files(run: Run, facts: dict[str, Any]) -> None:
    answers, tested = len(given(run)), run.candidates.filter(pulls__gt=0).count()
    rows = {name: shape[0] for name, shape in facts["tables"].items()}
    assert rows["answers"] == answers
    assert rows["payment"] == rows["prolific-bonus"] == tested
    assert rows["csv"] == rows["mturk"] == rows["prolific-allow"] == run.k
    assert rows["all-csv"] == run.candidates.count() == facts["json"]["json"]
    assert rows["mturk-revoke"] == run.candidates.count() - run.k
    assert all(ours == theirs for ours, theirs in facts["sheets"].values())
    assert facts["sheets"].keys() == {"Selected", "All workers", "Run"}


def _by_crowd_kit(run: Run, into: Path, facts: dict[str, Any]) -> None:
    """Its aggregated labels are a file of known answers; our skills are those it works out."""
    gold = file_rows.parse_gold((into / "gold.csv").read_bytes(), "gold.csv")
    assert gold == facts["weighed"]
    assert facts["dawid_skene"] == len(gold) == len({task for _, task, _ in given(run)})
    assert facts["wawa"] == len({worker for worker, _, _ in given(run)})
    table = read_table((into / "skills.csv").read_bytes(), "skills.csv")
    plan = platforms.recognise_columns("workers", table.header)
    found = {
        one.worker: float(one.attributes["skill"]) for _, one in row_parsers.parse_rows(table, plan)
    }
    assert found == pytest.approx(facts["gold_skills"])


def _by_pandas(run: Run, into: Path) -> None:
    names = ["triples.csv", "with-index.csv", "german.csv", "wide-letters.tsv", "triples.xlsx"]
    names += ["triples.ods", "records.json", "lines.json", "wide.csv", "wide.xlsx"]
    for name in names:
        assert as_triples(read(into / name, run)) == given(run), name


def _by_label_studio(run: Run, into: Path, facts: dict[str, Any]) -> None:
    assert facts["wrong"] == []
    wanted = {(f"{worker}@example.org", *rest) for worker, *rest in given(run)}
    assert as_triples(read(into / "studio.json", run)) == wanted
    assert facts["annotations"] == len(wanted)
    table = read_table((into / "studio.json").read_bytes(), "studio.json")
    plan = platforms.recognise_columns("questions", table.header)
    questions = [one for _, one in row_parsers.parse_rows(table, plan) if one is not None]
    assert len(questions) == len({task for _, task, _ in given(run)})
    assert {tuple(one.choices) for one in questions} == {("no", "yes")}
    for path in (into / "CSV").iterdir(), (into / "JSON_MIN").iterdir():
        assert len(as_triples(read(next(path), run))) == len(wanted)
