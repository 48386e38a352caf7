"""Uploaded files: recognise, preview, stage and discard them. ``commit`` imports them.

The first rows are staged at once in the request, which is enough for a usual file. The rest is work
for Celery; the sweep sends lost tasks again.
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from itertools import islice
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import Model, Q

from selection import db_clock
from selection.errors import NotFound, Refused
from selection.grading import question_kinds
from selection.limits import MOST_FILE
from selection.models import ColumnNames, Run, Upload, UploadedRow, Watch
from selection.models.team_paths import team_of
from selection.outbox.queues import WorkQueue
from selection.watches import begin

from . import commit, key_readings, platforms, row_parsers, staging, surveys
from .column_plan import ColumnPlan, apply_column_choices
from .readers import Row, Table, read_table
from .validate_answers import refuse_ended

logger = logging.getLogger(__name__)

AT_ONCE = 0.7  # seconds that the request spends on staging
A_TURN = 20.0  # seconds after which a task makes room for others
KEPT = timedelta(days=1)  # between preview and import
UNDOABLE = timedelta(days=7)
DECIDED_BY = 2000  # rows
HEAD = 10  # rows that are shown to choose columns

State = Upload.State
ANSWERS = (Upload.Kind.ANSWERS, Upload.Kind.GOLD)
QUEUE = WorkQueue(
    *(Upload, "selection.tasks.sort_upload", Q(state=State.READING)),
    lost=timedelta(seconds=60),
    stamp="moved",
)


# -- beginning


def refuse_large(name: str, size: int) -> None:
    if size > MOST_FILE:
        raise Refused(f"{name} is larger than {MOST_FILE >> 20} MB; split it into parts.")


def create_upload(kind: str, target: Model, name: str, raw: bytes, at_once: bool = True) -> Upload:
    """Store the file, with its first rows staged if its columns are recognised.

    at_once  else no row is staged yet: the caller calls ``finish_upload``

    Raises Refused if it cannot be read, Conflict if its target takes no file.
    """
    if isinstance(target, Run):
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
    upload = Upload.objects.create(
        team_id=team,
        kind=kind,
        target=target.pk,
        name=name[:200],
        content=raw,
        plan=asdict(plan),
        header=table.header,
        what=table.what[:200],
        estimate=table.estimate * max(1, len(plan.questions)),
        state=State.OPEN if plan.is_open else State.READING,
        moved=db_clock.database_now(),
    )
    if at_once:
        go_on(upload)
    return upload


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
        upload.plan, upload.encoding, upload.header = asdict(plan), encoding, table.header
        upload.what, upload.error, upload.version = table.what[:200], "", upload.version + 1
        upload.position = upload.accepted_rows = upload.outside = upload.bad = upload.passed = 0
        upload.state = State.OPEN if plan.is_open else State.READING
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


def go_on(upload: Upload) -> None:
    """Stage rows for a moment; the rest goes to a task."""
    if upload.state == State.READING and not _sort_for_seconds(upload, AT_ONCE):
        _hand_out(upload)


def work_on_upload(upload_id: Any) -> None:
    """Stage rows for one turn. May come twice, late or never."""
    upload = Upload.objects.filter(pk=upload_id, state=State.READING).first()
    if upload is not None and not _sort_for_seconds(upload, A_TURN):
        _hand_out(upload)


def finish_upload(upload: Upload) -> None:
    if upload.state == State.READING:
        _sort_for_seconds(upload, float("inf"))


def refuse_missing_columns(upload: Upload) -> None:
    plan = ColumnPlan(**upload.plan)
    platforms.refuse_missing(plan, upload.header, upload.name, plan.header or 1)


def _sort_for_seconds(upload: Upload, seconds: float) -> bool:
    end = monotonic() + seconds
    try:
        done = staging.stage_rows(upload, lambda: monotonic() > end)
    except Refused as refusal:
        return _change_state(upload, State.FAILED, str(refusal))
    except Exception:
        logger.exception("File %s could not be sorted.", upload.pk)
        return _change_state(
            upload, State.FAILED, "This file cannot be read; save it as CSV in UTF-8."
        )
    if done is None:
        upload.refresh_from_db(fields=["state", "error"])
        return True
    return _change_state(upload, State.READY) if done else False


def _change_state(upload: Upload, state: State, error: str = "") -> bool:
    upload.state, upload.error = state, error[:500]
    rows = Upload.objects.filter(pk=upload.pk, version=upload.version, state=State.READING)
    rows.update(state=state, error=upload.error)
    return True


def _hand_out(upload: Upload) -> None:
    rows = Upload.objects.filter(pk=upload.pk)
    transaction.on_commit(lambda: QUEUE.hand_out(rows), robust=True)


def sweep_uploads() -> None:
    """Send lost tasks again; delete files that were not imported or can no longer be undone."""
    now = db_clock.database_now()
    QUEUE.sweep()
    waiting, taken = Q(created__lt=now - KEPT), Q(created__lt=now - UNDOABLE)
    commit.forget_uploads(Upload.objects.filter(waiting & ~Q(state=State.TAKEN) | taken))


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
    taken = Upload.objects.filter(kind=kind, target=target.pk, state=State.TAKEN)
    return taken.defer("content").order_by("-created").first()
