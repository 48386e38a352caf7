"""Files that ``evaluate`` writes: a report, JUnit's XML for CI, an example to begin with."""

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.template.loader import render_to_string

from selection.errors import Refused
from selection.exports.model_part import MOST_DECIDING, rank_differing
from selection.exports.report import report_style
from selection.facts import Facts
from selection.version import __version__

from .result import Result

EXAMPLE, GOLD = "crowdselect.yaml", "gold.csv"
FAILED, REFUSED = 1, 2  # exit codes
UNSTORABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0


@dataclass
class Outcome:
    """The end of an evaluation. result: None before there is a run; code: of the exit."""

    result: Result | None = None
    code: int = FAILED
    why: str = "The evaluation failed."


@contextmanager
def write_files(report: Path | None, junit: Path | None) -> Iterator[Outcome]:
    """Write the files when the block ends, however it ends.

    Raises Refused at once if there is no such folder: the calls would be paid by then.
    """
    for path in filter(None, (report, junit)):
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise Refused(f"{path} is no file in an existing folder.")
    outcome = Outcome()
    try:
        yield outcome
    except Refused as refusal:
        outcome.code, outcome.why = REFUSED, str(refusal)
        raise
    except OSError as error:
        outcome.code = REFUSED
        outcome.why = f"{error.filename}: {(error.strerror or str(error)).lower()}."
        raise
    finally:
        if report is not None and outcome.result is not None:
            report.write_text(render_report(outcome.result), encoding="utf-8")
        if junit is not None:
            junit.write_text(render_junit(outcome), encoding="utf-8")


def render_junit(outcome: Outcome) -> str:
    """Render a test case for the guarantee, which fails unless the code is 0, and for each model.

    A model's fails if its replies cannot be read, and is skipped if it was set aside.
    """
    result, code = outcome.result, outcome.code
    asking, cases = dict[str, str](), list[tuple[dict[str, Any], str, str | None]]()
    if result is not None:
        asking = {one.worker: one.advice for one in result.replies if one.asking}
        cases = [(row, result.format_row(row), asking.get(row["model"])) for row in result.rows]
    why = result.guarantee if result is not None and code > REFUSED else outcome.why
    counts = {
        "failures": bool(code) + len(asking),
        "skipped": sum(row["set_aside"] and advice is None for row, _, advice in cases),
    }
    facts = {"result": result, "code": code, "why": why, "cases": cases, "number": len(cases) + 1}
    text = render_to_string("selection/evaluation_junit.xml", facts | counts)
    return UNSTORABLE.sub("�", text)


def render_report(result: Result) -> str:
    """Render one HTML page to read, print and keep."""
    evaluation, replies = result.evaluation, {count.worker: count for count in result.replies}
    facts = {
        "result": result,
        "settings": evaluation.settings,
        "run": evaluation,
        "style": report_style(),
        "version": __version__,
        "rows": [(r, result.format_cells(r), replies.get(r["model"])) for r in result.rows],
        "deciding": _compare(result),
    }
    return render_to_string("selection/evaluation_report.html", facts)


def _compare(result: Result) -> Facts | None:
    """Compare the selected with the best of the others, question by question."""
    rest = [row["model"] for row in result.rows if not row["selected"] and row["accuracy"]]
    if not rest:
        return None
    grades: dict[str, dict[str, bool]] = defaultdict(dict)
    for name, key, value in result.evaluation.study.results:
        if value is not None:
            grades[name][key] = bool(value)
    chosen, rival = [grades[name] for name in result.best.names], grades[rest[0]]
    met = {key: [one[key] for one in chosen if key in one] for key in rival}
    differing, common = rank_differing(met, rival)
    questions = result.evaluation.questions
    rows = [
        Facts(key=key, prompt=questions[key].prompt, right=right, met=met, rival_right=rival_right)
        for key, right, met, rival_right in differing[:MOST_DECIDING]
    ]
    return Facts(rival=rest[0], rows=rows, common=common, differing=len(differing))


def write_example(path: Path) -> list[str]:
    """Write the models, and gold questions beside them unless there are some; return what to do.

    Raises Refused if the file exists.
    """
    gold = path.with_name(GOLD)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(render_to_string("selection/evaluation_example.yaml", {"name": path}))
    except FileExistsError as error:
        raise Refused(f"{path} exists, and stays as it is: name another file.") from error
    written = f"{path} is written"
    if gold.exists():
        written += f"; {gold} was there, and stays"
    else:
        gold.write_text(render_to_string("selection/evaluation_example.csv"), encoding="utf-8")
        written += f", and twelve questions in {gold}: put yours in their place"
    steps = f"export OPENAI_API_KEY=…\ncrowdselect evaluate {path} --check\n"
    return [f"{written}.", f"{steps}crowdselect evaluate {path} --limit 1"]
