"""Registry of the formats: the run's page and the API read them from here."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.text import slugify

from selection import reports, viewer_locale
from selection.errors import Conflict, Refused
from selection.models import Run

from . import payment, tables, writing
from .context import ExportContext
from .report import write_report
from .writing import ExportTable, plain_lines, program_csv

MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "txt": "text/plain; charset=utf-8",
    "html": "text/html; charset=utf-8",
}


@dataclass(frozen=True)
class Format:
    """A format that a run can be exported in.

    title    of its content
    about    its use
    ending   of the file's name; it implies the media type
    write    returns a table for people, or yields the file; refuses before the first piece if it
             cannot be made
    asks     permissions required to download it, besides seeing the run
    drafts   True if it exists before the run has begun
    lacks    why the pay must be stated for a run, in a sentence; empty if it need not
    """

    name: str
    title: str
    about: str
    ending: str
    write: Callable[[ExportContext], ExportTable | Iterator[bytes]]
    asks: tuple[str, ...] = ()
    drafts: bool = False
    lacks: Callable[[Run], str] = lambda run: ""

    @property
    def media(self) -> str:
        return MEDIA[self.ending]


@dataclass(frozen=True)
class File:
    """A file that is made while it is read. pieces: of its bytes, to be read once."""

    name: str
    media: str
    pieces: Iterator[bytes]


def make_file(
    run: Run,
    name: str,
    named: str = "",
    pay: Decimal | None = None,
    style: writing.CsvStyle = writing.COMMA,
) -> File:
    """Write the run in this format. named, pay: see ``ExportContext``.

    style  of a CSV file for people; those of platforms have their own

    Raises Refused for an unknown format, Conflict for a run that has not begun.
    """
    if name not in FORMATS:
        raise Refused(f"There is no format “{name}”; there are {', '.join(FORMATS)}.")
    chosen = FORMATS[name]
    if run.status == Run.Status.DRAFT and not chosen.drafts:
        raise Conflict(f"There is nothing to download before the run “{run}” has started.")
    with viewer_locale.formatting_for(None):
        table = chosen.write(ExportContext(run, named, pay))
    pieces = writing.csv_file(table, style=style) if isinstance(table, ExportTable) else table
    content = name.removesuffix(chosen.ending).strip("-") or "selected"
    file = f"{slugify(f'{run} {content}')}.{chosen.ending}"
    return File(file, chosen.media, pieces)


# -- for people and their programs


def _write_json(context: ExportContext) -> Iterator[bytes]:
    facts = reports.run_facts(context.run, context.standings)
    return writing.json_file(facts, "workers", tables.workers_rows(context))


def _write_workbook(context: ExportContext) -> Iterator[bytes]:
    return writing.write_workbook(
        [
            tables.selected_table(context),
            tables.workers_table(context),
            tables.settings_table(context),
        ]
    )


def _answers_table(context: ExportContext) -> ExportTable:
    return ExportTable(reports.answer_columns(context.run), reports.answer_rows(context.run))


# -- for platforms


def write_mturk(context: ExportContext) -> Iterator[bytes]:
    """Yield MTurk's file of workers: the selected get the qualification, with a score, 0 to 100."""
    rows = (
        [worker, *_cells_by_kind(context.run, scores)]
        for worker, lines in context.selected_lines.items()
        if (scores := [(line.number, round(100 * (line.mean or 0))) for line in lines])
    )
    return program_csv(ExportTable(_qualification_headings(context), rows))


def mturk_revoke(context: ExportContext) -> Iterator[bytes]:
    """Yield MTurk's file of tested workers that were not selected: they lose the qualification."""
    rows = (
        [worker, *_cells_by_kind(context.run, [(line.number, "Revoke") for line in rejected])]
        for worker, lines in context.lines_by_worker.items()
        if (rejected := [line for line in lines if line.judged and not line.selected])
    )
    return program_csv(ExportTable(_qualification_headings(context), rows))


def _qualification_headings(context: ExportContext) -> list[str]:
    names = [context.name]
    if context.run.several:
        names = [f"{context.name}: {skill}" for skill in context.run.skills]
    return ["Worker ID", *(f"UPDATE-{name}" for name in names)]


def _cells_by_kind(run: Run, values: Iterable[tuple[int, Any]]) -> list[Any]:
    cells = dict(values)
    return [cells.get(number, "") for number in range(len(run.skills))]


def prolific_allow(context: ExportContext) -> Iterator[bytes]:
    return plain_lines([worker] for worker in context.selected_lines)


def prolific_block(context: ExportContext) -> Iterator[bytes]:
    """Yield the tested workers that were not selected. A worker without answers may be good."""
    chosen = context.selected_lines
    return plain_lines(
        [worker]
        for worker, lines in context.lines_by_worker.items()
        if worker not in chosen and any(line.judged for line in lines)
    )


def _write_dump(context: ExportContext) -> Iterator[bytes]:
    return map(str.encode, reports.dump_text(context.run, anonymous=True))


ANSWERS = ("selection.view_answer",)

AUDIENCES = {
    "Results": (
        Format(
            "csv",
            "Selected workers (CSV)",
            "One row per selected worker.",
            "csv",
            tables.selected_table,
        ),
        Format(
            "xlsx",
            "Selection (Excel)",
            "Three sheets: selected workers, all workers, settings.",
            "xlsx",
            _write_workbook,
        ),
        Format(
            "report",
            "Report (HTML)",
            "A page to print or archive, with charts and a methods paragraph.",
            "html",
            write_report,
            drafts=True,
        ),
        Format(
            "all-csv",
            "All workers (CSV)",
            "All workers with statistics, verdicts, presence and attributes.",
            "csv",
            tables.workers_table,
        ),
        Format(
            "json",
            "Everything (JSON)",
            "All workers, selected or not, with the run's settings, guarantee and seed.",
            "json",
            _write_json,
        ),
        Format(
            "answers",
            "All answers (CSV)",
            "Each answer with its grade and the step that counted it.",
            "csv",
            _answers_table,
            ANSWERS,
        ),
        Format(
            "dump",
            "Full run data (JSON)",
            "The whole run without names and texts, for recomputing its result (verify).",
            "json",
            _write_dump,
            ANSWERS,
        ),
    ),
    "Paying": (
        Format(
            "payment",
            "Payment list (CSV)",
            "All tested workers, accepted or rejected, with their answers and pay: the pay shown "
            "to workers, or the run's price. A rejected worker is paid like an accepted one.",
            "csv",
            payment.payment_table,
        ),
        Format(
            "prolific-bonus",
            "Prolific: bonuses",
            "Ids and amounts for Prolific's bulk bonus payments, also for rejected workers. "
            "Prolific pays in your study's currency.",
            "csv",
            payment.prolific_bonus,
            lacks=payment.lacks_pounds,
        ),
        Format(
            "mturk-bonus",
            "MTurk: bonuses",
            "SendBonus file for MTurk workers: WorkerId, AssignmentId, BonusAmount in US dollars, "
            "also for rejected workers.",
            "csv",
            payment.mturk_bonus,
            lacks=payment.lacks_dollars,
        ),
    ),
    "Platforms": (
        Format(
            "mturk",
            "MTurk: grant a qualification",
            "Upload it under Manage, Workers. The qualification has the run's name; to use another "
            "one, change the heading UPDATE-…. The score is the share of right answers in percent.",
            "csv",
            write_mturk,
        ),
        Format(
            "mturk-revoke",
            "MTurk: revoke a qualification",
            "Removes the qualification from rejected workers. Rejection here denies nobody "
            "payment: do not reject their HITs.",
            "csv",
            mturk_revoke,
        ),
        Format(
            "prolific-allow",
            "Prolific: allowlist",
            "One id per line, for a custom allowlist of the selected workers.",
            "txt",
            prolific_allow,
        ),
        Format(
            "prolific-block",
            "Prolific: blocklist",
            "One id per line, for a custom blocklist of rejected workers. Rejection here denies "
            "nobody payment: approve their submissions.",
            "txt",
            prolific_block,
        ),
    ),
}
FORMATS = {each.name: each for formats in AUDIENCES.values() for each in formats}
