"""One table: ours, the best of others that promises, and the usual practice."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from research import tables
from research.__main__ import main
from research.cells import carry_out
from research.processes import play_in_process
from research.validation import cases, compared, pools, suite
from research.validation.baselines import ChosenWorkers
from research.validation.compared import RULES, Cell, Row, format_field
from research.validation.measure import Effort
from topk import SELECTORS

DOCS = Path(settings.BASE_DIR) / "research" / "docs" / "validation" / "compared"
SURE = cases.fixed_case("sure", "Sure", np.repeat([1.0, 0.0], [2, 4]), 2)
TIED = cases.fixed_case("tied", "Tied", np.full(40, 0.5), 20)
EFFORT = Effort(runs=2, seconds=math.inf, cap=60_000)


def row(**said) -> Row:
    asked = ("x", "X", 100, 20, 0.05, 0.05)
    made = Row(
        *asked, rule="credible", runs=200, capped=0, answers=946.2, error=13.4, off=8, low=0, high=1
    )
    return replace(made, **said)


def run(folder, *algorithms: str, effort: Effort = EFFORT) -> list[Row]:
    wanted = suite.StudySettings([SURE], algorithms or list(SELECTORS), effort, folder)
    carry_out(compared.build_study(wanted), play_in_process, lambda more, title: None)
    return tables.read_table(folder / "compared" / "results.csv", Row)


# -- pools


def test_pools_have_names_of_their_own_and_as_many_workers_as_they_say():
    known = pools.list_pools()
    assert len({case.name for case in known}) == len(known)
    for case in known:
        means = case.means(0)
        assert means.shape == (case.n,)
        assert 0 <= means.min() <= means.max() <= 1


def test_groups_are_named_by_size_and_accuracy():
    case = pools.groups_of(5, (1, 0.99), (49, 0.7))
    assert (case.title, case.n, case.k) == ("1 at .99, 49 at .7", 50, 5)
    assert case.means(0).sum() == pytest.approx(0.99 + 49 * 0.7)


# -- a field


def test_field_states_the_price_and_the_rate_of_misses():
    assert format_field(row(low=0.017, high=0.0765)) == "946 ± 13<br>8 of 200: 1.7 % to 7.6 %"


def test_field_with_significantly_more_misses_than_delta_is_bold():
    worse = format_field(row(answers=1000, error=0, off=80, low=0.31, high=0.49))
    assert worse == "1,000<br>**80 of 200: 31.0 % to 49.0 %**"


def test_runs_given_up_are_neither_kept_nor_off():
    assert (
        format_field(row(runs=3, capped=3, answers=3e6, error=0))
        == "over 3,000,000<br>all 3 given up"
    )
    some = format_field(row(runs=10, capped=4, answers=2e6, error=0, off=1, low=0.001, high=0.6))
    assert some == "over 2,000,000<br>1 of 6: 0.1 % to 60.0 %"


# -- a cell


def test_a_rule_that_takes_the_worst_is_off_every_time(monkeypatch):
    monkeypatch.setattr(
        compared, "choose_workers", lambda case, *_: ChosenWorkers(np.array([4, 5]), 7)
    )
    (played,) = Cell(SURE, "best-10", EFFORT).play()
    assert (played.off, played.answers, played.low > 0) == (2, 7, True)


def test_empty_selection_counts_as_a_miss():
    (played,) = Cell(replace(SURE, fixed=(0.1,) * 6), "pass-10", EFFORT).play()
    assert played.off == 2


def test_a_rule_that_only_runs_into_the_cap_is_left_after_a_few():
    (played,) = Cell(TIED, "kl-lucb", Effort(runs=50, seconds=math.inf, cap=500)).play()
    assert (played.runs, played.capped, played.off) == (5, 5, 0)


def test_rules_meet_the_same_pools_and_a_single_rule_is_not_given_up():
    bell = cases.beta_case(6, 2, 10, 2, 0.05, 0.05)
    small = Effort(runs=2, seconds=math.inf, cap=5)
    (played,) = Cell(bell, "best-10", small).play()
    assert (played.capped, played.answers, played.error) == (0, 100, 0)


def test_slow_rules_take_a_fifth_of_the_runs_in_pools_that_are_not_small(tmp_path):
    wanted = suite.StudySettings([SURE, TIED], list(SELECTORS), replace(EFFORT, runs=200), tmp_path)
    runs = {(c.case.name, c.rule): c.effort.runs for c in compared.build_study(wanted).cells}
    assert runs["sure", "certified"] == runs["tied", "credible"] == runs["tied", "best-10"] == 200
    assert runs["tied", "certified"] == runs["tied", "kl-lucb"] == 40


# -- the table


def test_measuring_one_again_keeps_the_rest_of_its_line(tmp_path):
    before = run(tmp_path)
    assert [each.rule for each in before] == list(RULES)
    after = run(tmp_path, "certified", effort=replace(EFFORT, runs=3))
    assert [each.runs for each in after] == [3] + [2] * (len(RULES) - 1)
    page = (tmp_path / "compared" / "README.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith("| Sure")]
    assert line.count("0 of 2") == len(RULES) - 1
    assert line.count("0 of 3") == 1


def test_the_command_writes_the_table_of_the_pools_that_are_named(tmp_path, capsys):
    options = ["--quick", "--cases", "beta-6-2-n12-k3-e0.05", "--processes", "1"]
    assert main(["validate", "--compare", *options, "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    ours = "`certified` | `universal` | `credible` | `pair-lucb` | `kl-lucb`"
    assert f"| pool | n, K, ε, δ | {ours} | 10 each, best K |" in said
    rows = tables.read_table(tmp_path / "compared" / "results.csv", Row)
    assert [(each.rule, each.runs) for each in rows] == [(rule, 2) for rule in RULES]
    assert "| Accuracies from Beta(6,2) | 12, 3, 0.05, 0.05 |" in said


def test_committed_table_matches_its_page(tmp_path):
    """A line a pool of ours, and no other pools; the page is made of the same figures."""
    rows = tables.read_table(DOCS / "results.csv", Row)
    assert {each.case for each in rows} == {case.name for case in pools.list_pools()}
    assert (DOCS / "README.md").read_text(encoding="utf-8").endswith(compared.rows_markdown(rows))
    tables.keep_rows(tmp_path / "results.csv", rows, Row)
    assert (tmp_path / "results.csv").read_bytes() == (DOCS / "results.csv").read_bytes()
