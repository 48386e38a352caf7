"""Every export format, made of runs in every state, down to the file."""

import csv
import io
import json
import re
from decimal import Decimal

import openpyxl
import pandas
import pytest

from selection import engine, exports, reports
from selection.errors import Conflict, Refused
from selection.exports import FORMATS, ExportTable
from selection.exports.writing import program_csv
from selection.imports import catalog, platforms, row_parsers
from selection.imports.readers import read_table
from selection.imports.row_parsers import WorkerRow, restore_defused
from selection.models import Pool, Run, Skill
from selection.questions import corrections
from selection.runs import lifecycle, manual_verdicts, worker_texts
from selection.runs.roster import membership
from selection.runs.settings import drafts
from selection.runs.worker_texts import PageFacts
from tests.worlds import Crowd, answer_all, crowd, make_pool, make_questions, make_run, play

pytestmark = pytest.mark.django_db

SETTINGS = {
    "epsilon": 0.6,
    "slots": 60,
    "slots_per_worker": 30,
    "price": "0.05",
    "currency": "$",
}
CLEAR: Crowd = crowd(3, good=2, high=1.0, low=0.2)


def running() -> Run:
    pool = make_pool(6, language=["German", "Welsh"], town=["Ulm"])
    run = make_run(
        pool=pool, epsilon=0.05, slots=60, slots_per_worker=10, price="0.05", currency="$"
    )
    engine.advance(run.pk)
    answer_all(run, CLEAR)
    engine.advance(run.pk)
    return Run.objects.get(pk=run.pk)


def kept() -> Run:
    return play(make_run(**SETTINGS), CLEAR)


def early() -> Run:
    run = running()
    lifecycle.stop_run(run, "ada", "no time")
    return Run.objects.get(pk=run.pk)


def kinds_early() -> Run:
    run = _kinds()
    engine.advance(run.pk)
    answer_all(run, CLEAR)
    engine.advance(run.pk)
    lifecycle.stop_run(run, "ada", "no time")
    return Run.objects.get(pk=run.pk)


def kinds() -> Run:
    return play(_kinds(), CLEAR)


def _kinds() -> Run:
    further = [Skill(question_set=make_questions(300), k=1)]
    run = Run(
        name="kinds",
        pool=make_pool(5),
        question_set=make_questions(300),
        **SETTINGS | {"k": 2, "algorithm": "clucb-pac", "seed": 3, "one_kind_each": True},
    )
    drafts.create_run(run, further)
    lifecycle.start_run(run)
    return Run.objects.get(pk=run.pk)


def corrected() -> Run:
    run = early()
    question = run.candidates.order_by("-pulls").first().assignments.first().question
    corrections.correct_question(
        question, corrections.Gold(question.prompt, ["no"], []), "ada", "wrong key"
    )
    return Run.objects.get(pk=run.pk)


def mixed() -> Run:
    """Return a run with leavers, verdicts by hand, a retired question, and an answer too late."""
    run = running()
    membership.withdraw_workers(run, ["w5"], "ada", "asked to")
    manual_verdicts.override_verdict(
        run.candidates.get(worker__key="w4"), 1, "ada", "known from before"
    )
    manual_verdicts.override_verdict(run.candidates.get(worker__key="w0"), -1, "ada", "copied")
    run.answers.filter(assignment__candidate__worker__key="w3").update(expired=True, right=False)
    corrections.retire_question(run.question_set.questions.first(), "ada", "ambiguous")
    return Run.objects.get(pk=run.pk)


STATES = {
    each.__name__: each for each in (running, kept, early, kinds, kinds_early, corrected, mixed)
}


def export(run: Run, name: str, **options: object) -> bytes:
    return b"".join(exports.make_file(run, name, **options).pieces)


def read_export(run: Run, name: str, **options: object) -> pandas.DataFrame:
    """Return the file as pandas reads it, because programs do."""
    raw = io.BytesIO(export(run, name, **options))
    return pandas.read_csv(raw, encoding="utf-8-sig", keep_default_na=False)


@pytest.mark.parametrize("state", STATES)
def test_formats_are_readable_for_runs_in_many_states(state):
    run = STATES[state]()
    for name, chosen in FORMATS.items():
        assert is_readable(export(run, name), chosen.ending) or name == "prolific-block", name


def is_readable(raw: bytes, ending: str) -> bool:
    if ending == "xlsx":
        sheets = openpyxl.load_workbook(io.BytesIO(raw)).sheetnames
        return sheets == ["Selected", "All workers", "Run"]
    if ending == "json":
        return bool(json.loads(raw))
    if ending == "html":
        return raw.startswith(b"<!doctype html>")
    return bool(raw.decode().strip())


# -- for people and their programs


def test_the_selected_are_the_same_in_every_format():
    run = mixed()
    document = reports.export_run(run)
    workers = [row["worker"] for row in document["workers"]]
    assert "w4" in workers
    assert "w0" not in workers
    assert list(read_export(run, "csv")["worker"]) == workers
    rows = list(openpyxl.load_workbook(io.BytesIO(export(run, "xlsx")))["Selected"].values)
    assert [row[1] for row in rows[1:]] == workers
    everybody = read_export(run, "all-csv")
    assert set(everybody[everybody["selected"] == "yes"]["worker"]) == set(workers)
    listed = json.loads(export(run, "json"))["workers"]
    assert {row["worker"] for row in listed if row["selected"]} == set(workers)


def test_workers_file_has_statistics_verdict_presence_and_attributes():
    rows = read_export(mixed(), "all-csv").set_index("worker")
    assert len(rows) == 6
    assert rows.loc["w5", "presence"] == "withdrawn"
    assert rows.loc["w0", "by_algorithm"] == "yes"
    assert (rows.loc["w0", "by_hand"], rows.loc["w0", "by_hand_why"]) == ("rejected", "copied")
    assert rows.loc["w3", "lapsed"] == rows.loc["w3", "answers"] > 0
    assert list(rows["attribute:language"])[:1] != [""]
    assert set(rows["attribute:town"]) == {"Ulm"}
    sums = rows["right"] + rows["wrong"] + rows["lapsed"]
    assert (sums == rows["answers"]).all()


def test_workers_json_equals_the_table():
    run = mixed()
    document = json.loads(export(run, "json"))
    assert document["seed"] == run.seed
    assert document["assignments"] == run.count_spent() >= document["answers_used"]
    row = next(row for row in document["workers"] if row["worker"] == "w1")
    assert row["attributes"] == {"language": "Welsh", "town": "Ulm"}
    assert row["last_seen"]
    assert "seed" not in row


def read_settings(run: Run) -> dict[str, object]:
    return dict(openpyxl.load_workbook(io.BytesIO(export(run, "xlsx")))["Run"].values)


def test_settings_are_a_table_of_their_own():
    run = early()
    rows = read_settings(run)
    assert (rows["run"], rows["seed"], rows["epsilon"]) == (run.name, 7, 0.05)
    assert rows["guarantee"].startswith("No guarantee: there were too few")
    assert "seed" not in read_export(run, "csv").columns
    assert read_settings(kinds())["skills"].startswith("[{")


def test_lines_by_kind_name_the_kind_selected_instead():
    rows = read_export(kinds(), "all-csv")
    assert len(rows) == 10
    selected = rows[rows["selected"] == "yes"]
    assert len(selected) == 3
    others = rows[(rows["selected"] == "no") & rows["worker"].isin(selected["worker"])]
    assert (others["elsewhere"] != "").all()


def test_workbook_cells_respect_their_limits():
    pool = Pool.objects.create(name="odd")
    names = ["=1+1", "x" * 40_000, "Zoë"]
    rows = [WorkerRow(i, f"w{i}", name, {}) for i, name in enumerate(names)]
    catalog.take_workers(pool, [row for row in rows if len(row.name) < 200])
    pool.workers.create(key="long", name="x", attributes={"note": "y" * 40_000})
    run = make_run(pool=pool, seed=2**60 + 1)
    book = openpyxl.load_workbook(io.BytesIO(export(run, "xlsx")))
    cells = {cell.value: cell.data_type for row in book["All workers"].iter_rows() for cell in row}
    assert cells["'=1+1"] == "s"
    assert "Zoë" in cells
    assert max(len(str(value)) for value in cells) == 32_767
    assert ("seed", str(2**60 + 1)) in set(book["Run"].values)


# -- for platforms


def test_mturk_columns_have_a_score_for_the_selected():
    run = kept()
    rows = read_export(run, "mturk")
    assert list(rows.columns) == ["Worker ID", f"UPDATE-{run.name}"]
    assert sorted(rows["Worker ID"]) == ["w0", "w1"]
    assert set(rows[f"UPDATE-{run.name}"]) == {100}
    assert export(run, "mturk").startswith(b"Worker ID,")
    named = read_export(run, "mturk", named="Good Tagger")
    assert list(named.columns)[1] == "UPDATE-Good Tagger"
    revoked = read_export(run, "mturk-revoke")
    assert sorted(revoked["Worker ID"]) == ["w2", "w3", "w4", "w5"]
    assert set(revoked[f"UPDATE-{run.name}"]) == {"Revoke"}


def test_mturk_has_a_qualification_for_each_kind_of_task():
    run = kinds()
    rows, revoked = read_export(run, "mturk"), read_export(run, "mturk-revoke")
    titles = [f"UPDATE-{run.name}: {skill}" for skill in run.skills]
    assert list(rows.columns) == list(revoked.columns) == ["Worker ID", *titles]
    assert [(rows[title] != "").sum() for title in titles] == [2, 1]
    assert [(revoked[title] == "Revoke").sum() for title in titles] == [3, 4]


def test_prolific_blocklist_has_tested_workers_only():
    run = kept()
    assert export(run, "prolific-allow").decode().split() == ["w0", "w1"]
    assert sorted(export(run, "prolific-block").decode().split()) == ["w2", "w3", "w4", "w5"]
    fresh = make_run()
    assert export(fresh, "prolific-block") == b""


def test_numbers_stay_numbers_for_programs_and_formulas_do_not():
    labels = ["-1", "=1+1", "+2.5", "-1-1", "'-1"]
    raw = b"".join(program_csv(ExportTable(["label"], [[label] for label in labels])))
    assert raw.decode().split() == ["label", "-1", "'=1+1", "+2.5", "'-1-1", "''-1"]
    assert [restore_defused(cell) for cell in raw.decode().split()[1:]] == labels


def test_our_own_reader_finds_the_workers_that_went_out():
    pool = Pool.objects.create(name="odd keys")
    keys = ["=cmd", "-x", "'-1", "+49 170", "a,b", 'quo"te', "Zoë"]
    catalog.take_workers(pool, [WorkerRow(i, key, f"@{key}", {}) for i, key in enumerate(keys)])
    run = make_run(pool=pool, k=2)
    chosen = [line.worker for line in reports.worker_standings(run) if line.selected]
    for name, expected in (("all-csv", keys), ("csv", chosen)):
        back = read_table(export(run, name), "back.csv")
        plan = platforms.recognise_columns(platforms.WORKERS, back.header)
        rows = [row for _, row in row_parsers.parse_rows(back, plan)]
        assert sorted(row.worker for row in rows) == sorted(expected)
        assert all(row.name == f"@{row.worker}" for row in rows)


# -- paying


def test_tested_workers_are_paid_for_given_answers_only():
    run = mixed()
    rows = read_export(run, "payment").set_index("worker")
    assert len(rows) == 6
    answers = run.answers.filter(assignment__candidate__worker__key="w1", expired=False)
    count = answers.exclude(response="").count()
    assert rows.loc["w1", "answered"] == count > 0
    assert float(rows.loc["w1", "due"]) == pytest.approx(0.05 * count, abs=0.005)
    late = rows.loc["w3"]
    assert (late["answered"], late["too_late"] > 0, float(late["due"])) == (0, True, 0.0)
    assert (rows["shown"] >= rows["answered"] + rows["too_late"]).all()
    assert set(rows["currency"]) == {"$"}


def test_answers_to_retired_questions_are_paid():
    run = running()
    before = read_export(run, "payment")
    corrections.retire_question(run.question_set.questions.first(), "ada", "ambiguous")
    assert read_export(run, "payment").equals(before)


def test_due_amount_follows_the_announced_pay():
    run = running()
    worker_texts.change_facts(run, PageFacts(Decimal("0.04")))
    run.refresh_from_db()
    rows = read_export(run, "payment")
    assert set(rows["pay_per_answer"]) == {0.04}
    assert list(rows["due"]) == pytest.approx(list(0.04 * rows["answered"]), abs=0.0001)
    assert set(read_export(run, "payment", pay=Decimal("0.03"))["pay_per_answer"]) == {0.03}
    worker_texts.change_facts(run, PageFacts())
    run.refresh_from_db()
    assert set(read_export(run, "payment")["pay_per_answer"]) == {0.05}


@pytest.mark.parametrize(
    ("currency", "pay", "due"), [("$", ".0101", 2), ("JPY", "12.3", 0), ("KWD", ".0101", 3)]
)
def test_due_amount_is_rounded_up_to_the_currency_s_unit(currency, pay, due):
    run, pay = running(), Decimal(pay)
    run.answers.filter(pk=run.answers.first().pk).update(expired=True)  # one of ten came too late
    Run.objects.filter(pk=run.pk).update(currency=currency)
    run.refresh_from_db()
    rows = export(run, "payment", pay=pay).decode("utf-8-sig").splitlines()
    payments = list(csv.DictReader(rows))
    assert any(Decimal(row["due"]) != pay * int(row["answered"]) for row in payments)
    for row in payments:
        announced, paid = pay * int(row["answered"]), Decimal(row["due"])
        assert announced <= paid < announced + Decimal(1).scaleb(-due)
        assert -paid.as_tuple().exponent == due


def test_unseen_questions_are_not_paid():
    run = make_run(price=1)
    engine.advance(run.pk)
    assert len(read_export(run, "payment")) == 0


def test_prolific_pays_lines_of_id_and_amount():
    run = mixed()
    lines = export(run, "prolific-bonus", pay=Decimal(0)).decode().split()
    assert lines == []
    amounts = dict(line.split(",") for line in export(run, "prolific-bonus").decode().split())
    due = read_export(run, "payment").set_index("worker")["due"]
    assert amounts == {worker: f"{value:.2f}" for worker, value in due.items() if value}
    assert "w3" not in amounts


@pytest.mark.parametrize("currency", ["$", "usd", "US$ ", "US dollars", ""])
def test_mturk_is_told_amounts_that_are_dollars(currency):
    export(_by_mturk(currency), "mturk-bonus")


@pytest.mark.parametrize("currency", ["€", "EUR", "£", "CA$", "AUD"])
def test_mturk_is_told_no_amount_of_another_currency_as_if_it_were_dollars(currency):
    run = _by_mturk(currency)
    with pytest.raises(
        Refused, match=rf"pays bonuses in US dollars.* are in {re.escape(currency)}"
    ):
        export(run, "mturk-bonus")
    assert FORMATS["mturk-bonus"].lacks(run)
    rows = read_export(run, "mturk-bonus", pay=Decimal("0.06"))
    assert list(rows["AssignmentId"]) == ["3TASK"]
    assert list(rows["BonusAmount"]) == [round(0.06 * _count_given(run, "w0"), 2)]


def test_pay_stated_in_dollars_has_cents_in_a_run_in_yen():
    run = _by_mturk("JPY")
    announced = export(run, "mturk-bonus", pay=Decimal("0.0501")).decode().splitlines()[1]
    cents = -(-501 * _count_given(run, "w0") // 100)
    assert announced == f"w0,3TASK,{cents / 100:.2f},{run}"


@pytest.mark.parametrize("currency", ["£", "GBP", "$", "usd", ""])
def test_prolific_is_told_amounts_that_are_pounds_or_dollars(currency):
    export(_by_mturk(currency), "prolific-bonus")


@pytest.mark.parametrize("currency", ["€", "JPY", "CA$"])
def test_prolific_is_told_no_amount_of_another_currency_as_if_it_were_its_own(currency):
    run = _by_mturk(currency)
    with pytest.raises(Refused, match=rf"pounds or US dollars.* are in {re.escape(currency)}"):
        export(run, "prolific-bonus")
    assert FORMATS["prolific-bonus"].lacks(run)
    amounts = dict(
        line.split(",")
        for line in export(run, "prolific-bonus", pay=Decimal("0.05")).decode().split()
    )
    assert amounts["w1"] == f"{0.05 * _count_given(run, 'w1'):.2f}"


def test_mturk_workers_are_paid_by_mturk_only():
    run = _by_mturk("$")
    run.candidates.filter(worker__key="w1").update(platform="prolific", task="s1")
    (worker,) = read_export(run, "mturk-bonus")["WorkerId"]
    lines = export(run, "prolific-bonus").decode().split()
    elsewhere = {line.split(",")[0] for line in lines}
    assert worker == "w0"
    assert {"w1", "w2"} <= elsewhere  # workers without a platform's link may have an id there
    assert worker not in elsewhere


def _by_mturk(currency: str) -> Run:
    run = running()
    run.candidates.filter(worker__key="w0").update(platform="mturk", task="3TASK")
    run.currency = currency
    run.save(update_fields=["currency"])
    return run


def _count_given(run: Run, worker: str) -> int:
    return int(read_export(run, "payment").set_index("worker")["answered"][worker])


def test_bonus_file_without_a_price_requires_the_pay():
    run = make_run()
    engine.advance(run.pk)
    answer_all(run, CLEAR)
    with pytest.raises(Refused, match="say the pay"):
        export(run, "prolific-bonus")
    assert set(read_export(run, "payment")["due"]) == {""}


# -- refusals and limits


def test_unknown_format_is_refused_with_the_known_ones():
    with pytest.raises(Refused, match="no format “pdf”; there are csv, xlsx"):
        exports.make_file(make_run(), "pdf")


def test_a_draft_has_nothing_to_export():
    draft = make_run(start=False)
    for name, candidate in FORMATS.items():
        if not candidate.drafts:
            with pytest.raises(Conflict, match="nothing to download"):
                exports.make_file(draft, name)


@pytest.mark.any_database
def test_no_file_has_a_formula():
    pool = Pool.objects.create(name="=pool")
    rows = [WorkerRow(i, f"={i}", f"@name {i}", {"+a": "-land x"}) for i in range(4)]
    catalog.take_workers(pool, rows)
    run = make_run(name="=run", pool=pool, k=1, price=1, currency="$")
    play(run, lambda slip: "=yes()", most=3)
    for name in [name for name, each in FORMATS.items() if each.ending in ("csv", "txt")]:
        raw = export(run, name).decode("utf-8-sig")
        cells = pandas.read_csv(io.StringIO(raw), header=None, dtype=str, keep_default_na=False)
        formulas = [cell for cell in cells.to_numpy().ravel() if cell[:1] in tuple("=+-@")]
        texts = [cell for cell in formulas if not cell.lstrip("-").replace(".", "").isdecimal()]
        assert texts == [], name


def test_number_of_queries_does_not_depend_on_workers(django_assert_max_num_queries):
    run = make_run(n=150, questions=5)
    with django_assert_max_num_queries(20):
        export(run, "all-csv")
