"""The packed columns of a run's candidates, and the log of changes."""

from collections.abc import Callable

import numpy as np
import pytest
from django.db import connection, transaction

from selection import engine
from selection.engine.packed import (
    NAMES,
    CandidateColumns,
    forget_columns,
    pack_columns,
    unpack_columns,
)
from selection.models import Candidate, CandidateArrays, CandidateChange, Run, Worker
from selection.models.candidate_arrays import drop_triggers, has_triggers, restore_triggers
from selection.runs import lifecycle
from selection.runs.roster import membership
from tests.worlds import answer_all, crowd, make_pool, make_run, play

pytestmark = pytest.mark.django_db
GOOD = crowd(1, good=2)
Write = Callable[[Run], object]


def stepped_run(**fields: object) -> Run:
    run = make_run(**{"n": 6, "epsilon": 0.05} | fields)
    for _ in range(3):
        engine.advance(run.pk)
        answer_all(run, GOOD)
    return Run.objects.get(pk=run.pk)


def stored_columns(run: Run) -> dict[str, list[object]]:
    rows = run.candidates.order_by("arm")
    names = [name for name in NAMES if name != "left"]
    table = [*zip(*rows.values_list(*names), strict=True)]
    left = [gone != "" for gone in rows.values_list("gone", flat=True)]
    return {name: list(values) for name, values in zip(names, table, strict=True)} | {"left": left}


def read_columns(run: Run) -> dict[str, list[object]]:
    columns = CandidateColumns.read(run).columns
    return {name: values.tolist() for name, values in columns.items()}


def write_row(run: Run, **values: object) -> None:
    run.candidates.filter(arm=2).update(**values)


def write_sql(run: Run) -> None:
    with connection.cursor() as cursor:
        sql = "UPDATE selection_candidate SET pulls = pulls + 1 WHERE run_id = %s AND arm < 4"
        cursor.execute(sql, [run.pk])


def save_row(run: Run) -> None:
    row = run.candidates.get(arm=1)
    row.rewards += 0.5
    row.save()


def add_row(run: Run) -> None:
    worker = Worker.objects.create(pool=run.pool, key="new")
    Candidate.objects.create(run=run, worker=worker, arm=run.candidates.count())


def swap_arms(run: Run) -> None:
    for old, new in ((0, 99), (1, 0), (99, 1)):
        run.candidates.filter(arm=old).update(arm=new)


def replace_row(run: Run) -> None:
    row = run.candidates.get(arm=0)
    row.assignments.all().delete()
    row.delete()
    Candidate.objects.create(run=run, worker=row.worker, arm=0)


def key_of(run: Run, arm: int) -> str:
    return run.candidates.get(arm=arm).worker.key


WRITES: dict[str, Write] = {
    **{
        name: lambda run, name=name: write_row(run, **{name: 7})  # type: ignore[misc]
        for name in ("asked", "pulls", "void", "skipped", "skill", "rewards")
    },
    "verdict": lambda run: write_row(run, verdict=1),
    "gone": lambda run: write_row(run, gone="left"),
    "unaffordable": lambda run: write_row(run, unaffordable=True),
    "by SQL": write_sql,
    "by an object": save_row,
    "one more": add_row,
    "swapped": swap_arms,
    "replaced": replace_row,
    "withdrawn": lambda run: membership.withdraw_workers(
        run, [run.candidates.get(arm=3).worker.key]
    ),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_columns_follow_every_writer(write):
    run = stepped_run()
    assert CandidateArrays.objects.filter(run=run).exists()
    write(run)
    assert read_columns(Run.objects.get(pk=run.pk)) == stored_columns(run)


def test_undone_change_is_in_neither_columns_nor_log():
    run = stepped_run()
    before, entries = stored_columns(run), CandidateChange.objects.count()
    with transaction.atomic():
        write_sql(run)
        transaction.set_rollback(True)
    assert (read_columns(run), CandidateChange.objects.count()) == (before, entries)


def damage(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def test_damaged_row_is_read_anew():
    run = stepped_run()
    row = CandidateArrays.objects.get(run=run)
    row.content = damage(bytes(row.content))
    row.save()
    assert read_columns(run) == stored_columns(run)


def test_row_without_its_log_is_read_anew():
    run = stepped_run()
    CandidateChange.objects.all().delete()
    assert read_columns(run) == stored_columns(run)


def test_row_of_a_later_step_is_read_anew():
    """A backup of this table alone was restored, or the run's row was."""
    run = stepped_run()
    Run.objects.filter(pk=run.pk).update(steps=0)
    run.refresh_from_db()
    assert CandidateColumns.read(run).stale


def test_row_without_triggers_is_read_anew():
    run = stepped_run()
    drop_triggers(connection)
    write_sql(run)
    assert read_columns(run) == stored_columns(run)
    connection.check_constraints()  # PostgreSQL changes no table with deferred checks
    restore_triggers()
    assert has_triggers(connection)
    assert read_columns(run) == stored_columns(run)
    assert not CandidateArrays.objects.exists()


@pytest.mark.any_database
@pytest.mark.parametrize("largest", [0, 1, 255, 256, 70_000, 2**40])
def test_packed_columns_come_back_in_full(largest):
    columns = {name: np.array([0, largest, 1]) for name in NAMES}
    columns |= {"verdict": np.array([-1, 0, 1]), "rewards": np.array([0.0, largest, 0.25])}
    back = unpack_columns(pack_columns(columns))
    assert back is not None
    for name, values in columns.items():
        assert (back[name].dtype, back[name].tolist()) == (values.dtype, values.tolist())


def test_packed_columns_of_other_names_are_refused():
    columns = {name: np.arange(3) for name in (*NAMES[1:], NAMES[0])}
    assert unpack_columns(pack_columns(columns)) is None
    content = pack_columns({name: np.arange(3) for name in NAMES})
    assert unpack_columns(content) is not None
    assert unpack_columns(damage(content)) is None


def test_step_writes_the_row_only_when_much_changed():
    run = make_run(n=6, epsilon=0.05)
    engine.advance(run.pk)
    first = CandidateArrays.objects.get(run=run).step
    for _ in range(4):
        answer_all(run, GOOD)
        engine.advance(run.pk)
    assert CandidateArrays.objects.get(run=run).step == first
    CandidateChange.objects.bulk_create(
        CandidateChange(run=run, candidate=run.candidates.get(arm=0)) for _ in range(201)
    )
    answer_all(run, GOOD)
    step = engine.advance(run.pk)
    assert CandidateArrays.objects.get(run=run).step == step.number
    assert CandidateChange.objects.filter(run=run).count() < 20  # this step's own


def test_run_goes_on_as_if_nothing_were_packed():
    """Both runs are alike; one forgets its columns before every step."""
    pool = make_pool(8)
    pair = [make_run(pool=pool, k=3, algorithm="certified", epsilon=0.2) for _ in range(2)]
    for _ in range(30):
        forget_columns(pair[1])
        for run in pair:
            engine.advance(run.pk)
            answer_all(run, GOOD)
    one, other = (stored_columns(run) for run in pair)
    for name in set(NAMES) - {"id"}:
        assert one[name] == other[name]


def test_ended_run_keeps_neither_row_nor_log():
    run = play(make_run(), GOOD)
    assert run.status == Run.Status.ENDED
    stopped = stepped_run()
    lifecycle.stop_run(stopped)
    for model in (CandidateArrays, CandidateChange):
        assert not model.objects.filter(run__in=[run, stopped]).exists()


def test_deleted_run_leaves_nothing():
    run = stepped_run()
    run.delete()
    assert not CandidateArrays.objects.exists()
    assert not CandidateChange.objects.exists()
