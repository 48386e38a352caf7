"""The command that plays the papers' experiments again."""

import csv
import math
from dataclasses import replace
from io import StringIO
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from research import intervals
from research.papers import STUDIES, adaptive_top_k, lil_rand_lucb, report, running, sar, table
from research.papers.cells import NONE, Cell, falls_short, play_cell
from research.papers.claims import (
    ALWAYS,
    MOSTLY,
    OFTEN,
    RULE,
    Claim,
    Estimate,
    Outcome,
    Verdict,
    alike,
    below,
    errs_less,
    errs_less_on_average,
    lead,
    pulls_alike,
    pulls_less,
)
from research.papers.table import Row

DOCS = Path(settings.BASE_DIR) / "docs" / "reproduction"
FOR, AGAINST, OPEN = Outcome.FOR, Outcome.AGAINST, Outcome.OPEN


@pytest.fixture
def tiny(monkeypatch):
    """Every study at sizes that are played in no time."""
    monkeypatch.setattr(sar, "EXPLORATIONS", (2,))
    monkeypatch.setattr(adaptive_top_k, "N", 12)
    monkeypatch.setattr(adaptive_top_k, "KS", (2, 4))
    monkeypatch.setattr(adaptive_top_k, "QUICK_BUDGETS", (60, 120))
    monkeypatch.setattr(lil_rand_lucb, "QUICK_RUNS", {6: 2, 8: 2})


def reproduce(study, out, *options, runs=2):
    said = StringIO()
    numbers = ["--runs", str(runs), "--out", str(out)]
    call_command("reproduce", study, "--quick", *numbers, *options, stdout=said)
    return said.getvalue()


@pytest.fixture
def some():
    """A few cells."""
    means = np.array([0.7, 0.5, 0.3])
    return [Cell("x", "SAR", "sar", means, k, 3, budgets=(q,)) for k in (1, 2) for q in (12, 30)]


def row(series="a", failures=0, runs=100, pulls=1000.0, pulls_se=1.0, k=2, budget=NONE, seed=0):
    low, high = intervals.of_share(failures, runs)
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


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.usefixtures("tiny")
def test_it_writes_table_plots_and_verdicts(study, tmp_path):
    said = reproduce(study, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    figures = STUDIES[study].figures([])
    plots = {f"{study}-quick-{plot.name}.{kind}" for plot in figures for kind in ("png", "svg")}
    assert names == plots | {f"{study}-quick{end}" for end in (".csv", "-claims.csv", "-claims.md")}
    rows, wanted = table.read(tmp_path / f"{study}-quick.csv"), STUDIES[study].cells(True, 2)
    assert [row.seed for row in rows] == [cell.seed for cell in wanted for _ in cell.budgets]
    assert all(row.error_low <= row.error <= row.error_high for row in rows)
    with (tmp_path / f"{study}-quick-claims.csv").open(encoding="utf-8", newline="") as file:
        verdicts = [line["verdict"] for line in csv.DictReader(file)]
    assert verdicts
    assert set(verdicts) <= set(Verdict)
    assert all(verdict in said for verdict in verdicts)


@pytest.mark.parametrize("option", ["--runs", "--processes"])
def test_numbers_below_one_are_refused(option, tmp_path):
    with pytest.raises(CommandError, match=option):
        call_command("reproduce", "sar", option, "0", "--out", str(tmp_path))


def test_a_folder_that_cannot_be_made_is_said_in_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CommandError, match="file"):
        reproduce("sar", tmp_path / "file" / "below")


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("study", STUDIES)
def test_no_two_cells_share_a_seed(study, quick):
    seeds = [cell.seed for cell in STUDIES[study].cells(quick, None)]
    assert len(set(seeds)) == len(seeds)


# -- going on after an interruption


def test_what_was_finished_is_not_played_again(some, tmp_path, monkeypatch):
    played = []

    def until_interrupted(cell):
        if len(played) == 2:
            raise KeyboardInterrupt
        return noted(cell)

    def noted(cell):
        played.append(cell.seed)
        return play_cell(cell)

    whole = running.run(some, tmp_path / "whole.csv", 1, int)
    monkeypatch.setattr(running, "play_cell", until_interrupted)
    with pytest.raises(KeyboardInterrupt):
        running.run(some, tmp_path / "broken.csv", 1, int)
    assert not (tmp_path / "broken.csv").exists()
    monkeypatch.setattr(running, "play_cell", noted)
    assert running.run(some, tmp_path / "broken.csv", 1, int) == whole
    assert sorted(played) == sorted(cell.seed for cell in some)
    assert (tmp_path / "whole.csv").read_bytes() == (tmp_path / "broken.csv").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"whole.csv", "broken.csv"}


def test_an_interrupted_command_says_that_it_can_go_on(tmp_path, monkeypatch):
    def interrupted(cell):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "play_cell", interrupted)
    with pytest.raises(CommandError, match="goes on from there"):
        reproduce("sar", tmp_path)


def test_several_processes_find_the_same(some, tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    assert running.run(some, one, 1, int) == running.run(some, two, 2, int)


def test_a_finished_table_is_not_played_again(some, tmp_path, monkeypatch):
    rows = running.run(some, tmp_path / "rows.csv", 1, int)
    monkeypatch.setattr(running, "play_cell", None)
    assert running.run(some, tmp_path / "rows.csv", 1, int) == rows


def test_another_number_of_runs_is_played_anew(some, tmp_path):
    running.run(some, tmp_path / "rows.csv", 1, int)
    more = [replace(cell, runs=cell.runs + 1) for cell in some]
    assert {row.runs for row in running.run(more, tmp_path / "rows.csv", 1, int)} == {4}


def test_torn_lines_and_cells_are_played_again(tmp_path):
    cell = Cell("x", "a", "clucb-pac", np.array([0.9, 0.1]), 1, 3, budgets=(9, 20), anytime=True)
    other = replace(cell, series="b")
    path, told = tmp_path / "rows.csv", []
    table.write(path, chain(play_cell(cell), play_cell(other)))
    path.write_text(path.read_text()[:-40])
    assert list(running.finished([cell, other], table.read(path))) == [cell.seed]
    running.run([cell, other], path, 1, told.append)
    assert told == [1, 1]
    assert [row.budget for row in table.read(path)] == [9, 20, 9, 20]


# -- one cell


def test_a_cell_gives_the_same_rows_each_time():
    cell = Cell("x", "SAR", "sar", np.array([0.5, 0.4, 0.4]), 2, 20, budgets=(60,))
    assert play_cell(cell) == play_cell(cell)
    assert play_cell(cell)[0].seed != replace(cell, k=1).seed


def test_any_best_set_counts_as_right_and_the_tolerance_is_of_the_mean():
    cell = Cell("x", "SAR", "sar", np.array([0.5, 0.4, 0.4, 0.3]), 2, 1)
    assert not falls_short(cell, np.array([0, 2]))
    assert falls_short(cell, np.array([0, 3]))
    assert not falls_short(replace(cell, tolerance=0.05), np.array([0, 3]))
    assert falls_short(replace(cell, tolerance=0.049), np.array([0, 3]))


def test_an_anytime_play_spends_each_budget():
    means = np.linspace(0.6, 0.4, 10)
    cell = Cell("x", "a", "clucb-pac", means, 3, 2, budgets=(15, 40, 90), anytime=True)
    rows = play_cell(cell)
    assert [(row.budget, row.pulls) for row in rows] == [(15, 15), (40, 40), (90, 90)]


def test_a_play_that_does_not_end_is_a_failure_and_left_out_of_the_mean(monkeypatch):
    monkeypatch.setattr("research.papers.cells.CAP_PER_ARM", 5)
    (found,) = play_cell(Cell("x", "LUCB", "lucb", np.array([0.5, 0.5, 0.5]), 1, 4))
    assert (found.failures, found.unfinished) == (4, 4)
    assert math.isnan(found.pulls)


def test_hardness_leaves_out_arms_without_a_gap():
    means = np.array([0.5, 0.4, 0.4, 0.3])
    assert sar.hardness(means, 1) == pytest.approx(100 + 100 + 100 + 25)
    assert sar.hardness(means, 2) == pytest.approx(100 + 100)


def test_intervals_are_exact():
    assert intervals.of_share(0, 100) == pytest.approx((0, 1 - 0.005**0.01))
    assert intervals.of_share(100, 100) == pytest.approx((0.005**0.01, 1))
    mean, error, low, high = intervals.of_mean([1, 2, 3])
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
def test_only_disjoint_intervals_speak(left, right, outcome):
    estimates = [Estimate(sum(ends) / 2, *ends) for ends in (left, right)]
    assert below(*estimates) == outcome


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
    assert alike(*(Estimate(sum(ends) / 2, *ends) for ends in (left, right))) == outcome


def test_points_at_which_all_succeed_or_all_fail_are_left_out():
    rows = [row("a", 0, k=1), row("b", 0, k=1), row("a", 100, k=2), row("b", 100, k=2)]
    assert errs_less(rows, "a", "b") == []
    rows += [row("a", 0, k=3), row("b", 100, k=3), row("b", 50, k=4)]
    assert errs_less(rows, "a", "b") == [FOR]
    assert errs_less(rows, "b", "a") == [AGAINST]


def test_a_curve_tells_what_no_point_of_it_does():
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
    assert lead(same).low == pytest.approx(lead(alone).low)


def test_pulls_are_compared_by_their_intervals():
    rows = [row("a", pulls=1000), row("b", pulls=1040), row("c", pulls=1300)]
    assert pulls_less(rows, "a", "b") == [FOR]
    assert pulls_alike(rows, "a", "b") == [FOR]
    assert pulls_alike(rows, "a", "c") == [AGAINST]


# -- what is committed


@pytest.mark.parametrize("study", STUDIES)
def test_the_page_says_what_the_tables_say(study):
    rows = table.read(DOCS / f"{study}.csv")
    claims = report.markdown(STUDIES[study].claims(rows))
    assert claims in (DOCS / "README.md").read_text(encoding="utf-8")
    assert claims in (DOCS / f"{study}-claims.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("study", STUDIES)
def test_the_tables_are_those_of_the_full_runs(study):
    rows = table.read(DOCS / f"{study}.csv")
    known = running.finished(STUDIES[study].cells(False, None), rows)
    assert len(known) == len(STUDIES[study].cells(False, None))


def test_the_page_gives_the_rule():
    assert RULE in (DOCS / "README.md").read_text(encoding="utf-8")
