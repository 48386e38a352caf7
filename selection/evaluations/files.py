"""Files that an evaluation leaves: its report in HTML, and its result as JUnit's XML for CI."""

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from django.template.loader import render_to_string

from selection.errors import Refused
from selection.exports.report import report_style
from selection.facts import Facts
from selection.version import __version__

from .result import Result

NAME, GUARANTEE = "crowdselect.evaluate", "guarantee"
FAILED, REFUSED = 1, 2  # exit codes
UNSTORABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0
MOST_DECIDING, LONGEST_PROMPT = 20, 200


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
            junit.write_bytes(format_junit(outcome))


# -- JUnit


def format_junit(outcome: Outcome) -> bytes:
    """Write a test case for the guarantee, which fails unless the code is 0, and for each model."""
    suite = ElementTree.Element("testsuite", name=NAME)
    case = ElementTree.SubElement(suite, "testcase", classname=NAME, name=GUARANTEE)
    result = outcome.result
    if outcome.code:
        failed = result is None or outcome.code <= REFUSED
        why = outcome.why if failed or result is None else result.guarantee
        _add_message(case, "failure", f"Exit code {outcome.code}: {why}")
    if result is not None:
        _add_text(case, "\n".join(result.lines))
        _add_models(suite, result)
    for kind in ("failure", "skipped"):
        suite.set({"failure": "failures"}.get(kind, kind), str(len(suite.findall(f".//{kind}"))))
    suite.set("tests", str(len(suite)))
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


def _add_models(suite: ElementTree.Element, result: Result) -> None:
    """Add a case for each model: failed if its replies cannot be read, skipped if set aside."""
    asking = {one.worker: one.advice for one in result.replies if one.asking}
    for row in result.rows:
        name = _clean(row["model"])
        case = ElementTree.SubElement(suite, "testcase", classname=NAME, name=name)
        if row["model"] in asking:
            _add_message(case, "failure", asking[row["model"]])
        elif row["set_aside"]:
            _add_message(case, "skipped", f"Set aside. {row['problem']}".strip())
        _add_text(case, result.format_row(row))


def _add_message(case: ElementTree.Element, kind: str, message: str) -> None:
    ElementTree.SubElement(case, kind, message=_clean(message))


def _add_text(case: ElementTree.Element, text: str) -> None:
    ElementTree.SubElement(case, "system-out").text = _clean(text)


def _clean(text: str) -> str:
    return UNSTORABLE.sub("�", text)


# -- the report


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
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    for name, key, value in result.evaluation.study.results:
        if value is not None:
            grades[name][key] = value
    rival, chosen = rest[0], [grades[name] for name in result.best.names]
    rows, common = [], 0
    for key, rival_right in grades[rival].items():
        met = [one[key] for one in chosen if key in one]
        common += bool(met)
        if met and abs(sum(met) / len(met) - rival_right) > 1 / 2:
            rows.append(_describe_difference(result, key, met, rival_right))
    rows.sort(key=lambda row: (-row["apart"], -row["met"]))
    shown = rows[:MOST_DECIDING]
    return Facts(rival=rival, rows=shown, common=common, differing=len(rows))


def _describe_difference(
    result: Result, key: str, met: list[float], rival_right: float
) -> dict[str, Any]:
    text, right = result.evaluation.questions[key].prompt, int(sum(met))
    prompt = text if len(text) <= LONGEST_PROMPT else f"{text[: LONGEST_PROMPT - 1]}…"
    apart = abs(right / len(met) - rival_right)
    numbers = {"right": right, "met": len(met), "rival_right": bool(rival_right), "apart": apart}
    return {"key": key, "prompt": prompt, **numbers}
