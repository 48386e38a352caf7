"""Files that an evaluation leaves: its report in HTML, and its result as JUnit's XML for CI."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from django.core.management import CommandError

from selection import exports
from selection.errors import Refused
from selection.model_workers import unreadable
from selection.models import Run

from . import evaluation_result

NAME, GUARANTEE = "crowdselect.evaluate", "guarantee"
FAILED, REFUSED = 1, 2  # exit codes
UNSTORABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0


@dataclass
class Outcome:
    """The end of an evaluation. run: None before it is found; code: of the exit."""

    run: Run | None = None
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
    except CommandError as error:
        outcome.code, outcome.why = error.returncode, str(error)
        raise
    except SystemExit as end:
        outcome.code = int(end.code or 0)
        raise
    finally:
        if outcome.run is not None:
            outcome.run.refresh_from_db()
            if report is not None:
                report.write_text(exports.render_page(outcome.run), encoding="utf-8")
        if junit is not None:
            junit.write_bytes(format_junit(outcome))


def format_junit(outcome: Outcome) -> bytes:
    """Write a test case for the guarantee, which fails unless the code is 0, and for each model."""
    suite = ElementTree.Element("testsuite", name=NAME)
    case = ElementTree.SubElement(suite, "testcase", classname=NAME, name=GUARANTEE)
    run = outcome.run
    if outcome.code:
        why = outcome.why if run is None or outcome.code <= REFUSED else ""
        if not why and run is not None:
            why = evaluation_result.describe_guarantee(run)
        _add_message(case, "failure", f"Exit code {outcome.code}: {why}")
    if run is not None:
        _add_text(case, "\n".join(evaluation_result.result_lines(run)))
        _add_models(suite, run)
    for kind in ("failure", "skipped"):
        suite.set({"failure": "failures"}.get(kind, kind), str(len(suite.findall(f".//{kind}"))))
    suite.set("tests", str(len(suite)))
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


def _add_models(suite: ElementTree.Element, run: Run) -> None:
    """Add a case for each model: failed if its replies cannot be read, skipped if set aside."""
    asking = {one.worker: one.advice for one in unreadable.count_replies(run) if one.asking}
    for row in evaluation_result.standing_rows(run):
        name = _clean(row["model"])
        case = ElementTree.SubElement(suite, "testcase", classname=NAME, name=name)
        if row["model"] in asking:
            _add_message(case, "failure", asking[row["model"]])
        elif row["set_aside"]:
            _add_message(case, "skipped", f"Set aside. {row['problem']}".strip())
        _add_text(case, evaluation_result.standing_line(row, run))


def _add_message(case: ElementTree.Element, kind: str, message: str) -> None:
    ElementTree.SubElement(case, kind, message=_clean(message))


def _add_text(case: ElementTree.Element, text: str) -> None:
    ElementTree.SubElement(case, "system-out").text = _clean(text)


def _clean(text: str) -> str:
    return UNSTORABLE.sub("�", text)
