"""The command that plays the papers' experiments again."""

import csv
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from research import intervals, tables
from research.__main__ import main
from research.papers import adaptive_top_k, lil_rand_lucb, report, sar, studies
from research.papers.cells import NONE, Cell, falls_short
from research.papers.claims import (
    ALWAYS,
    MOSTLY,
    OFTEN,
    RULE,
    Claim,
    Estimate,
    Outcome,
    Verdict,
    errs_less,
    errs_less_on_average,
    is_alike,
    is_less,
    mean_lead,
    pulls_alike,
    pulls_less,
)
from research.papers.rows import Row
from research.papers.studies import PAPERS

DOCS = Path(settings.BASE_DIR) / "research" / "docs" / "reproduction"
FOR, AGAINST, OPEN = Outcome.FOR, Outcome.AGAINST, Outcome.OPEN


@pytest.fixture
def tiny(monkeypatch):
    """Every study at sizes that are played in no time."""
    monkeypatch.setattr(sar, "EXPLORATIONS", (2,))
    monkeypatch.setattr(adaptive_top_k, "N", 12)
    monkeypatch.setattr(adaptive_top_k, "KS", (2, 4))
    monkeypatch.setattr(adaptive_top_k, "QUICK_BUDGETS", (60, 120))
    monkeypatch.setattr(lil_rand_lucb, "QUICK_RUNS", {6: 2, 8: 2})


def reproduce(paper, out, *options):
    numbers = ["--runs", "2", "--processes", "1", "--out", str(out)]
    return main(["reproduce", paper, "--quick", *numbers, *options])


def read(path):
    return tables.read_table(path, Row)


def row(series="a", failures=0, runs=100, pulls=1000.0, pulls_se=1.0, k=2, budget=NONE, seed=0):
    low, high = intervals.share_interval(failures, runs)
    return Row(
        experiment="x",
        series=series,
        algorithm="sar",
        options="",
        n=10,
        k=k,
        budget=budget,
        runs=runs,
        failures=failures,
        unfinished=0,
        error=failures / runs,
        error_low=low,
        error_high=high,
        pulls=pulls,
        pulls_se=pulls_se,
        pulls_low=pulls - 2.6 * pulls_se,
        pulls_high=pulls + 2.6 * pulls_se,
        seed=seed,
    )


# -- the whole way


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.usefixtures("tiny")
def test_reproduction_writes_table_plots_and_verdicts(paper, tmp_path, capsys):
    assert reproduce(paper, tmp_path) == 0
    said = capsys.readouterr().out
    names = {path.name for path in tmp_path.iterdir()}
    plots = {f"{paper}-quick-{plot.name}.png" for plot in PAPERS[paper].figures([])}
    assert names == plots | {f"{paper}-quick{end}" for end in (".csv", "-claims.csv", "-claims.md")}
    rows, wanted = read(tmp_path / f"{paper}-quick.csv"), PAPERS[paper].cells(True, 2)
    assert [row.seed for row in rows] == [cell.seed for cell in wanted for _ in cell.budgets]
    assert all(row.error_low <= row.error <= row.error_high for row in rows)
    with (tmp_path / f"{paper}-quick-claims.csv").open(encoding="utf-8", newline="") as file:
        verdicts = [line["verdict"] for line in csv.DictReader(file)]
    assert verdicts
    assert set(verdicts) <= set(Verdict)
    assert all(verdict in said for verdict in verdicts)


@pytest.mark.parametrize("option", ["--runs", "--processes"])
def test_numbers_below_one_are_refused(option, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["reproduce", "sar", option, "0", "--out", str(tmp_path)])
    assert f"argument {option}: must be at least 1, but it is 0" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_said_in_one_line(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert reproduce("sar", tmp_path / "file" / "below", "--quiet") == 2
    assert capsys.readouterr().err == f"{tmp_path / 'file' / 'below'}: Not a directory.\n"


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("paper", PAPERS)
def test_no_two_cells_share_a_seed(paper, quick):
    seeds = [cell.seed for cell in PAPERS[paper].cells(quick, None)]
    assert len(set(seeds)) == len(seeds)


# -- going on


@pytest.mark.usefixtures("tiny")
def test_a_finished_table_is_not_played_again(tmp_path, monkeypatch):
    reproduce("adaptive-top-k", tmp_path, "--quiet")
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr(Cell, "play", None)
    assert reproduce("adaptive-top-k", tmp_path, "--quiet") == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


@pytest.mark.usefixtures("tiny")
def test_changed_number_of_runs_is_played_again(tmp_path):
    reproduce("adaptive-top-k", tmp_path, "--quiet")
    reproduce("adaptive-top-k", tmp_path, "--quiet", "--runs", "3")
    assert {row.runs for row in read(tmp_path / "adaptive-top-k-quick.csv")} == {3}


def test_torn_lines_and_cells_are_played_again(tmp_path):
    means, path = (0.9, 0.1), tmp_path / "rows.csv"
    cell = Cell("x", "a", "clucb-pac", means, 1, 3, budgets=(9, 20), anytime=True)
    other = replace(cell, series="b")
    tables.keep_rows(path, [*cell.play(), *other.play()], Row)
    path.write_text(path.read_text()[:-40])
    assert list(studies.finished_rows([cell, other], read(path))) == [cell.key]


@pytest.mark.parametrize("paper", PAPERS)
def test_the_committed_tables_are_gone_on_with_and_give_the_committed_files(
    paper, tmp_path, monkeypatch
):
    shutil.copy(DOCS / f"{paper}.csv", tmp_path)
    monkeypatch.setattr(Cell, "play", None)
    assert main(["reproduce", paper, "--out", str(tmp_path), "--quiet"]) == 0
    for end in (".csv", "-claims.csv", "-claims.md"):
        assert (tmp_path / f"{paper}{end}").read_bytes() == (DOCS / f"{paper}{end}").read_bytes()


# -- one cell


def test_a_cell_gives_the_same_rows_each_time():
    cell = Cell("x", "SAR", "sar", (0.5, 0.4, 0.4), 2, 20, budgets=(60,))
    assert cell.play() == cell.play()
    assert cell.play()[0].seed != replace(cell, k=1).seed


def test_tied_best_sets_are_right_and_the_tolerance_applies_to_the_mean():
    cell = Cell("x", "SAR", "sar", (0.5, 0.4, 0.4, 0.3), 2, 1)
    assert not falls_short(cell, np.array([0, 2]))
    assert falls_short(cell, np.array([0, 3]))
    assert not falls_short(replace(cell, tolerance=0.05), np.array([0, 3]))
    assert falls_short(replace(cell, tolerance=0.049), np.array([0, 3]))


def test_an_anytime_play_spends_each_budget():
    means = tuple(np.linspace(0.6, 0.4, 10).tolist())
    cell = Cell("x", "a", "clucb-pac", means, 3, 2, budgets=(15, 40, 90), anytime=True)
    rows = cell.play()
    assert [(row.budget, row.pulls) for row in rows] == [(15, 15), (40, 40), (90, 90)]


def test_a_play_that_does_not_end_is_a_failure_and_left_out_of_the_mean(monkeypatch):
    monkeypatch.setattr("research.papers.cells.CAP_PER_ARM", 5)
    (found,) = Cell("x", "LUCB", "lucb", (0.5, 0.5, 0.5), 1, 4).play()
    assert (found.failures, found.unfinished) == (4, 4)
    assert math.isnan(found.pulls)


def test_hardness_leaves_out_arms_without_a_gap():
    means = np.array([0.5, 0.4, 0.4, 0.3])
    assert sar.hardness(means, 1) == pytest.approx(100 + 100 + 100 + 25)
    assert sar.hardness(means, 2) == pytest.approx(100 + 100)


def test_intervals_are_exact():
    assert intervals.share_interval(0, 100) == pytest.approx((0, 1 - 0.005**0.01))
    assert intervals.share_interval(100, 100) == pytest.approx((0.005**0.01, 1))
    mean, error, low, high = intervals.mean_interval([1, 2, 3])
    assert (mean, error) == pytest.approx((2, 3**-0.5))
    assert high - mean == pytest.approx(9.925 * error, rel=1e-3)
    assert low == pytest.approx(4 - high)


# -- the rule


@pytest.mark.parametrize(
    ("reach", "outcomes", "verdict"),
    [
        (ALWAYS, [FOR, FOR, OPEN], Verdict.REPRODUCED),
        (ALWAYS, [FOR, OPEN, OPEN], Verdict.UNDETERMINED),
        (ALWAYS, [FOR] * 9 + [AGAINST], Verdict.NOT_REPRODUCED),
        (MOSTLY, [FOR] * 9 + [AGAINST], Verdict.REPRODUCED),
        (MOSTLY, [FOR] * 8 + [AGAINST] * 2, Verdict.NOT_REPRODUCED),
        (MOSTLY, [FOR] * 4 + [OPEN] * 5 + [AGAINST], Verdict.UNDETERMINED),
        (OFTEN, [FOR, OPEN, AGAINST, AGAINST], Verdict.REPRODUCED),
        (OFTEN, [FOR, AGAINST, AGAINST], Verdict.NOT_REPRODUCED),
        (OFTEN, [OPEN, OPEN], Verdict.UNDETERMINED),
        (ALWAYS, [], Verdict.UNDETERMINED),
    ],
)
def test_a_verdict_follows_from_the_shares(reach, outcomes, verdict):
    assert Claim("", "", reach, outcomes).verdict == verdict


@pytest.mark.parametrize(
    ("left", "right", "outcome"),
    [
        ((1, 2), (3, 4), FOR),
        ((3, 4), (1, 2), AGAINST),
        ((1, 3), (2, 4), OPEN),
        ((1, 2), (2, 3), OPEN),
    ],
)
def test_only_disjoint_intervals_decide(left, right, outcome):
    estimates = [Estimate(sum(ends) / 2, *ends) for ends in (left, right)]
    assert is_less(*estimates) == outcome


@pytest.mark.parametrize(
    ("left", "right", "outcome"),
    [
        ((99, 101), (98, 102), FOR),
        ((99, 101), (80, 120), OPEN),
        ((99, 101), (115, 118), AGAINST),
        ((115, 118), (99, 101), AGAINST),
        ((-1, 2), (1, 2), OPEN),
    ],
)
def test_alike_is_within_a_tenth(left, right, outcome):
    assert is_alike(*(Estimate(sum(ends) / 2, *ends) for ends in (left, right))) == outcome


def test_points_at_which_all_succeed_or_all_fail_are_left_out():
    rows = [row("a", 0, k=1), row("b", 0, k=1), row("a", 100, k=2), row("b", 100, k=2)]
    assert errs_less(rows, "a", "b") == []
    rows += [row("a", 0, k=3), row("b", 100, k=3), row("b", 50, k=4)]
    assert errs_less(rows, "a", "b") == [FOR]
    assert errs_less(rows, "b", "a") == [AGAINST]


def test_curve_decides_although_no_single_point_does():
    curve = [(10 * b, "a", 40) for b in range(10)] + [(10 * b, "b", 50) for b in range(10)]
    rows = [
        row(series, failures, budget=budget, seed=number)
        for number, (budget, series, failures) in enumerate(curve)
    ]
    assert errs_less(rows, "a", "b") == [OPEN] * 10
    assert errs_less_on_average(rows, "a", "b", "budget") == [FOR]
    assert errs_less_on_average(rows, "b", "a", "budget") == [AGAINST]


def test_looks_at_the_same_plays_do_not_count_as_many_plays():
    alone = [(row("a", 40), row("b", 50, seed=1))]
    same = [(row("a", 40, budget=b), row("b", 50, budget=b, seed=1)) for b in range(10)]
    assert mean_lead(same).low == pytest.approx(mean_lead(alone).low)


def test_pulls_are_compared_by_their_intervals():
    rows = [row("a", pulls=1000), row("b", pulls=1040), row("c", pulls=1300)]
    assert pulls_less(rows, "a", "b") == [FOR]
    assert pulls_alike(rows, "a", "b") == [FOR]
    assert pulls_alike(rows, "a", "c") == [AGAINST]


# -- committed files


@pytest.mark.parametrize("paper", PAPERS)
def test_page_states_the_claims_of_the_tables(paper):
    rows = read(DOCS / f"{paper}.csv")
    claims = report.claims_markdown(PAPERS[paper].claims(rows))
    assert claims in (DOCS / "README.md").read_text(encoding="utf-8")
    assert claims in (DOCS / f"{paper}-claims.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("paper", PAPERS)
def test_tables_hold_the_full_runs(paper):
    rows = read(DOCS / f"{paper}.csv")
    known = studies.finished_rows(PAPERS[paper].cells(False, None), rows)
    assert len(known) == len(PAPERS[paper].cells(False, None))


def test_the_page_gives_the_rule():
    assert RULE in (DOCS / "README.md").read_text(encoding="utf-8")
