"""Every format there is, once: the run's page, the API and the command line read them from here."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.utils.text import slugify

from selection import reports
from selection.errors import Conflict, Refused
from selection.models import Run

from . import payment, platforms, surveys, tables, writing
from .context import ExportContext
from .report import write_report
from .writing import ExportTable

MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "txt": "text/plain; charset=utf-8",
    "html": "text/html; charset=utf-8",
}


@dataclass(frozen=True)
class Format:
    """title    of what is in it
    about    what it is for
    group    whom it is for
    ending   of the file's name; it tells the media type
    write    makes it: what cannot be made is refused before the first piece
    asks     permissions that whoever takes it must have, besides seeing the run
    drafts   whether there is one before the run has begun
    lacks    why the pay must be said for a run, in a sentence; empty if it need not
    """

    name: str
    title: str
    about: str
    group: str
    ending: str
    write: Callable[[ExportContext], Iterator[bytes]]
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


def make_file(run: Run, name: str, named: str = "", pay: Decimal | None = None) -> File:
    """The run in this format. named, pay: see ``Wanted``.

    Raises Refused for an unknown format, Conflict for a run that has not begun.
    """
    found = find_format(name)
    if run.status == Run.Status.DRAFT and not found.drafts:
        raise Conflict(f"There is nothing to download before the run “{run}” has started.")
    pieces = found.write(ExportContext(run, named, pay))
    file = f"{slugify(f'{run} {name}') or name}.{found.ending}"
    return File(file, found.media, pieces)


def find_format(name: str) -> Format:
    if name not in FORMATS:
        raise Refused(f"There is no format “{name}”; there are {', '.join(FORMATS)}.")
    return FORMATS[name]


def formats_by_audience(without: Collection[str] = ()) -> dict[str, list[Format]]:
    """By whom they are for, in order."""
    found: dict[str, list[Format]] = {}
    for each in FORMATS.values():
        if each.name not in without:
            found.setdefault(each.group, []).append(each)
    return found


# -- those for people and their programs


def _write_selected(wanted: ExportContext) -> Iterator[bytes]:
    return writing.csv_file(tables.selected_table(wanted))


def _selected_json(wanted: ExportContext) -> Iterator[bytes]:
    return iter([writing.json_text(reports.export_run(wanted.run)).encode()])


def _write_all_workers(wanted: ExportContext) -> Iterator[bytes]:
    return writing.csv_file(tables.workers_table(wanted))


def _write_all_workers_json(wanted: ExportContext) -> Iterator[bytes]:
    facts = reports.run_facts(wanted.run, wanted.seen)
    return writing.json_file(facts, "workers", tables.workers_rows(wanted))


def _write_workbook(wanted: ExportContext) -> Iterator[bytes]:
    return writing.write_workbook(
        [tables.selected_table(wanted), tables.workers_table(wanted), tables.settings_table(wanted)]
    )


def _write_settings(wanted: ExportContext) -> Iterator[bytes]:
    return writing.csv_file(tables.settings_table(wanted))


def _write_answers(wanted: ExportContext) -> Iterator[bytes]:
    run = wanted.run
    return writing.csv_file(ExportTable(reports.answer_columns(run), reports.answer_rows(run)))


def _write_dump(wanted: ExportContext) -> Iterator[bytes]:
    return map(str.encode, reports.dump_text(wanted.run, anonymous=True).pieces)


RESULTS, PAYING = "Results", "Paying"
ANSWERS = ("selection.view_answer",)

FORMATS = {
    each.name: each
    for each in (
        Format(
            "csv",
            "The selected, CSV",
            "A line for each of them.",
            RESULTS,
            "csv",
            _write_selected,
        ),
        Format(
            "xlsx",
            "Workbook, xlsx",
            "Three sheets: the selected, all workers, the run.",
            RESULTS,
            "xlsx",
            _write_workbook,
        ),
        Format(
            "report",
            "Report, HTML",
            "A page to read, print and keep, with charts and a paragraph for a paper.",
            RESULTS,
            "html",
            write_report,
            drafts=True,
        ),
        Format(
            "json",
            "The selected, JSON",
            "The workers selected, with the run's settings and promise.",
            RESULTS,
            "json",
            _selected_json,
        ),
        Format(
            "all-csv",
            "All workers, CSV",
            "Everybody, with every statistic, verdict, presence and attribute.",
            RESULTS,
            "csv",
            _write_all_workers,
        ),
        Format(
            "all-json",
            "All workers, JSON",
            "The same, with the run's settings and promise.",
            RESULTS,
            "json",
            _write_all_workers_json,
        ),
        Format(
            "settings",
            "The run, CSV",
            "Its settings, promise and seed: what is needed to repeat it.",
            RESULTS,
            "csv",
            _write_settings,
        ),
        Format(
            "answers",
            "All answers, CSV",
            "Each answer, whether it was right, and the step that counted it.",
            RESULTS,
            "csv",
            _write_answers,
            ANSWERS,
        ),
        Format(
            "answers-wide",
            "All answers, a line a worker, CSV",
            "A column for each question that was answered, as surveys have them.",
            RESULTS,
            "csv",
            surveys.write_wide_answers,
            ANSWERS,
        ),
        Format(
            "dump",
            "Dump to verify, JSON",
            "The whole run in numbers, without names and words, for anybody to recompute its end "
            "from (verify).",
            RESULTS,
            "json",
            _write_dump,
            ANSWERS,
        ),
        Format(
            "payment",
            "Payment list, CSV",
            "Everybody tested, selected or not: shown, answered, what is due: by what workers "
            "were told, else the run's price.",
            PAYING,
            "csv",
            payment.write_payments,
        ),
        Format(
            "prolific-bonus",
            "Prolific: bonuses",
            "Lines of id and amount, for Prolific's bonus payments in bulk. It pays the amounts in "
            "the currency of your study there.",
            PAYING,
            "csv",
            payment.prolific_bonus,
            lacks=payment.lacks_pounds,
        ),
        Format(
            "mturk-bonus",
            "MTurk: bonuses",
            "What SendBonus is told of whoever came by a task there: WorkerId, AssignmentId, "
            "BonusAmount in US dollars, which is what MTurk pays.",
            PAYING,
            "csv",
            payment.mturk_bonus,
            lacks=payment.lacks_dollars,
        ),
        Format(
            "mturk",
            "MTurk: grant a qualification",
            "To upload under Manage, Workers. The qualification is named as the run, else change "
            "the heading UPDATE-…; the score is the share of right answers in percent.",
            "Platforms",
            "csv",
            platforms.write_mturk,
        ),
        Format(
            "mturk-revoke",
            "MTurk: revoke it",
            "Takes the same qualification from workers who were tested and are not selected.",
            "Platforms",
            "csv",
            platforms.mturk_revoke,
        ),
        Format(
            "prolific-allow",
            "Prolific: allowlist",
            "The ids of the selected, one a line, for a custom allowlist.",
            "Platforms",
            "txt",
            platforms.prolific_allow,
        ),
        Format(
            "prolific-block",
            "Prolific: blocklist",
            "The ids of who was tested and is not selected, one a line.",
            "Platforms",
            "txt",
            platforms.prolific_block,
        ),
        Format(
            "toloka",
            "Toloka: skills",
            "The selected with a skill of 0 to 100, as its interface for many users takes them. "
            "Put the skill's id for its name.",
            "Platforms",
            "json",
            platforms.write_toloka,
        ),
        Format(
            "label-studio",
            "Label Studio: annotators",
            "The selected by number, address or name, as its list of annotators has them.",
            "Platforms",
            "json",
            platforms.label_studio,
        ),
        Format(
            "crowd-kit",
            "crowd-kit: skills",
            "worker,skill of everybody tested, for aggregating their labels.",
            "Platforms",
            "csv",
            platforms.crowd_kit,
        ),
        Format(
            "crowd-kit-answers",
            "crowd-kit: answers",
            "worker,task,label of every answer given.",
            "Platforms",
            "csv",
            platforms.crowd_kit_answers,
            ANSWERS,
        ),
    )
}
