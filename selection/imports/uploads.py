"""Uploaded files: recognise, preview, stage and discard them. ``commit`` imports them.

The first rows are staged at once in the request, which is enough for a usual file. A job stages the
rest in turns.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import islice
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import Model

from selection import db_clock
from selection.errors import NotFound, Refused
from selection.grading import question_kinds
from selection.limits import MOST_FILE
from selection.models import ColumnNames, Run, Upload, UploadedRow, Watch
from selection.models.team_paths import team_of
from selection.outbox import jobs
from selection.watches import begin

from . import commit, key_readings, platforms, row_parsers, staging, surveys
from .column_plan import ColumnPlan, apply_column_choices
from .readers import Row, Table, read_table
from .validate_answers import refuse_ended

AT_ONCE = 0.7  # seconds that the request spends on staging
A_TURN = 20.0  # seconds after which a task makes room for others
KEPT = timedelta(days=1)  # between preview and import
DECIDED_BY = 2000  # rows
HEAD = 10  # rows that are shown to choose columns

State = Upload.State
ANSWERS = (Upload.Kind.ANSWERS, Upload.Kind.GOLD)


# -- beginning


def refuse_large(name: str, size: int) -> None:
    if size > MOST_FILE:
        raise Refused(f"{name} is larger than {MOST_FILE >> 20} MB; split it into parts.")


def create_upload(kind: str, target: Model, name: str, raw: bytes, at_once: bool = True) -> Upload:
    """Store the file, with its first rows staged if its columns are recognised.

    at_once  else no row is staged yet: the caller calls ``go_on``

    Raises Refused if it cannot be read, Conflict if its target takes no file.
    """
    if isinstance(target, Run) and target.status != Run.Status.ENDED:  # late answers are listed
        refuse_ended(target)
    elif isinstance(target, Watch):
        begin.refuse_stopped(target)
    team = team_of(target)
    assert team is not None  # what a file goes into is stored
    names = surveys.names_of(target)

    def fits(columns: list[str], later: Sequence[list[str]]) -> bool:
        plan = _likeliest_plan(kind, columns, names, later)
        return not plan.missing_fields() or _remembered_plan(team, kind, columns, names) is not None

    table = read_table(raw, name, fits=fits)
    plan = _plan_for(team, kind, table, names)
    upload = Upload(team_id=team, kind=kind, subject=target.pk, name=name[:200], resumes=True)
    upload.estimate = table.estimate * max(1, len(plan.questions))
    upload.content = raw
    _begin(upload, plan, table)
    jobs.add_job(upload, KEPT)
    if at_once:
        go_on(upload)
    return upload


def _begin(upload: Upload, plan: ColumnPlan, table: Table) -> None:
    """Begin to read by this plan; a process that reads by an earlier one stores nothing more."""
    upload.plan, upload.header, upload.what = asdict(plan), table.header, table.what[:200]
    upload.result, upload.error = None, ""
    upload.state = State.ASKING if plan.is_open else State.WORKING
    upload.sent = db_clock.database_now()


def name_columns(
    upload: Upload, plan: ColumnPlan, encoding: str = "", at_once: bool = True
) -> None:
    """Read the file again by this plan, and the team's next file with such columns likewise.

    encoding  of its characters; empty: detected

    Raises Refused if it cannot be read in this way.
    """
    table = read_table(bytes(upload.content), upload.name, encoding, header=plan.header)
    plan = _with_readings(plan, table)
    signature = platforms.columns_signature(table.header)
    lookup: dict[str, Any] = {"team_id": upload.team_id, "kind": upload.kind}
    with transaction.atomic():
        # The file is locked before its rows are dropped, so that no process stages more meanwhile.
        locked = Upload.objects.select_for_update().filter(pk=upload.pk)
        if not locked.exclude(state=State.TAKEN).exists():
            raise NotFound("This file was imported or discarded already.")
        if not plan.is_open and table.header == upload.header:
            ColumnNames.objects.update_or_create(
                **lookup, signature=signature, defaults={"plan": asdict(plan)}
            )
        UploadedRow.objects.filter(upload=upload)._raw_delete("default")
        _begin(upload, plan, table)
        upload.encoding = encoding
        upload.save()
    if at_once:
        go_on(upload)


def choose_columns(
    upload: Upload,
    pairs: Sequence[tuple[str, str]],
    questions: Sequence[tuple[str, str]] = (),
    encoding: str = "",
    headed: bool | None = None,
    reading: str | None = None,
    compared: str | None = None,
) -> None:
    """Read the file again with these columns; the others keep their meaning. Raises Refused.

    pairs      (column, field), see ``apply_column_choices``
    questions  (column, question) of a survey
    headed     if the first row names the columns; None: as before
    reading    how the answers name the choices, see ``key_readings``; None: as before
    compared   how typed answers are compared, see ``ColumnPlan``; None: as before
    """
    plan = apply_column_choices(ColumnPlan(**upload.plan), upload.header, pairs)
    plan.headed = plan.headed if headed is None else headed
    plan.reading = plan.reading if reading is None else key_readings.find_name(reading)
    plan.compared = plan.compared if compared is None else compared
    question_kinds.grading_of(plan.compared.removeprefix("text"))
    if questions:
        plan = assign_survey_columns(upload, plan, questions)
    name_columns(upload, plan, encoding)


def begin_at(upload: Upload, line: int, encoding: str = "", at_once: bool = True) -> None:
    """Read the file again with its header in this line. Raises Refused."""
    target = staging.target_of(upload)
    names = surveys.names_of(target)
    table = read_table(bytes(upload.content), upload.name, encoding, header=line)
    plan = _plan_for(upload.team_id, upload.kind, table, names)
    name_columns(upload, plan, encoding, at_once)


def _plan_for(team: int, kind: str, table: Table, names: surveys.Names) -> ColumnPlan:
    answers = kind in ANSWERS  # a survey may have further lines of names
    first = [cells for _, cells in islice(table.rows, 2)] if answers else []
    remembered = _remembered_plan(team, kind, table.header, names)
    plan = remembered or _likeliest_plan(kind, table.header, names, first)
    plan.header = table.line if table.titled else 0
    return _with_readings(plan, table)


def _with_readings(plan: ColumnPlan, table: Table) -> ColumnPlan:
    """Add what a person must choose about the answers of gold questions, by the first rows."""
    if plan.kind != Upload.Kind.QUESTIONS:
        return plan
    first = replace(table, rows=islice(table.rows, DECIDED_BY))
    readings = row_parsers.find_readings(first, replace(plan, reading=""))
    return replace(plan, readings=readings if len(readings) > 1 else {})


def _likeliest_plan(
    kind: str, columns: Sequence[str], names: surveys.Names, first: Sequence[list[str]]
) -> ColumnPlan:
    if kind in ANSWERS:
        return surveys.recognise_survey(columns, names, first)
    return platforms.recognise_columns(kind, columns)


def _remembered_plan(
    team: int, kind: str, header: list[str], names: surveys.Names
) -> ColumnPlan | None:
    """Recall the team's last plan for such a file, if it still fits."""
    remembered = ColumnNames.objects.filter(
        team=team, kind=kind, signature=platforms.columns_signature(header)
    ).first()
    if remembered is None:
        return None
    plan = ColumnPlan(**remembered.plan)
    used = {*plan.fields.values(), *plan.attributes, *plan.questions, plan.only, plan.unless}
    used = (used | {*plan.options, *plan.wrong, *plan.context}) - {""}
    plan.remembered = True
    # Another run may have other questions under the same names.
    about_these = set(plan.questions.values()) <= set(names.values())
    return plan if used <= set(header) and about_these else None


# -- sorting


def go_on(upload: Upload, seconds: float | None = None) -> None:
    """Stage rows for a moment; the rest goes to a task."""
    if upload.state == State.WORKING:
        seconds = AT_ONCE if seconds is None else seconds
        jobs.take_turn(upload, partial(stage_for_a_turn, seconds=seconds))


@jobs.perform(*Upload.KINDS, model=Upload)
def stage_for_a_turn(upload: Upload, seconds: float | None = None) -> Any:
    end = monotonic() + (A_TURN if seconds is None else seconds)
    if not staging.stage_rows(upload, lambda: monotonic() > end):
        upload.state = State.WAITING
    return upload.result


def refuse_missing_columns(upload: Upload) -> None:
    plan = ColumnPlan(**upload.plan)
    platforms.refuse_missing(plan, upload.header, upload.name, plan.header or 1)


def sweep_uploads() -> None:
    """Delete files that were not imported or can no longer be undone."""
    commit.forget_uploads(Upload.objects.filter(expires__lt=db_clock.database_now()))


def discard_upload(upload: Upload) -> None:
    commit.forget_uploads(Upload.objects.filter(pk=upload.pk).exclude(state=State.TAKEN))


# -- preview


@dataclass(frozen=True)
class FileHead:
    """The beginning of a file.

    header  empty names stand for columns without one
    rows    the first ones as they are in the file
    line    line of the header
    survey  the plan for reading it as a survey, if it may be one
    asked   (key, prompt, choices) of each question that it may have the answers to
    """

    header: list[str]
    rows: list[list[str]]
    encoding: str
    line: int = 1
    survey: ColumnPlan | None = None
    asked: Sequence[Sequence[Any]] = ()


def read_head(upload: Upload) -> FileHead:
    plan = ColumnPlan(**upload.plan)
    raw = bytes(upload.content)
    table = read_table(raw, upload.name, upload.encoding, header=plan.header)
    lines: list[Row] = list(islice(table.rows, HEAD))
    rows = [cells for _, cells in lines]
    head = FileHead(table.header, rows, table.encoding, table.line)
    target = staging.target_of(upload) if upload.kind in ANSWERS else None
    if target is None:
        return head
    asked = surveys.questions_of(target)
    survey = surveys.plan_survey(table.header, surveys.question_names(asked), rows)
    likely = survey.questions or plan.questions or plan.missing_fields()
    return replace(head, survey=survey if likely else None, asked=asked)


def assign_survey_columns(
    upload: Upload, plan: ColumnPlan, pairs: Sequence[tuple[str, str]]
) -> ColumnPlan:
    target = staging.target_of(upload)
    if upload.kind not in ANSWERS:
        raise Refused("Only a file of answers has columns with the answers to a question.")
    names = surveys.names_of(target)
    if not plan.questions:
        survey = surveys.plan_survey(upload.header, names, read_head(upload).rows)
        plan = replace(survey, fields=survey.fields | plan.fields, header=plan.header)
    return surveys.assign_columns(plan, upload.header, pairs, names)


def last_taken(kind: str, target: Model) -> Upload | None:
    """Find the file whose import may still be undone, or None."""
    taken = Upload.objects.filter(kind=kind, subject=target.pk, state=State.TAKEN)
    return taken.defer("content").order_by("-created").first()
