"""The table of `universal` against `certified`: pairs, ratios, and plays that went wrong."""

import numpy as np
import pytest

from research import pairs
from research.pairs import Play

CELL = Play("even", 5, 1, 0.2, "universal", 3)


def test_both_rules_see_the_same_pool() -> None:
    pools = [Play("beta", 12, 3, 0.05, rule, 7).means() for rule in pairs.RULES]
    assert np.array_equal(*pools)
    assert not np.array_equal(pools[0], Play("beta", 12, 3, 0.05, "certified", 8).means())


def test_pools_have_as_many_workers_as_their_row_says() -> None:
    for cell in [*pairs.list_cells(), *pairs.list_odd()]:
        assert cell.means().size == cell.n


def test_line_has_the_ratio_of_the_means_and_what_went_wrong() -> None:
    one = [Play("even", 5, 1, 0.2, "certified", seed, answers=100) for seed in (1, 2)]
    other = [
        Play("even", 5, 1, 0.2, "universal", 1, answers=90, wrong=True),
        Play("even", 5, 1, 0.2, "universal", 2, answers=130, over=True),
    ]
    line = pairs.format_pairs(one, other)
    assert line == "| even | 5 | 1 | 0.2 | swaps | 2 | 100 | 110 | 1.10 ± 0.20 | 0, 1 | 0, 1 |\n"


def test_answers_of_odd_workers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "CAP", 40)
    played = Play("four at 0", 20, 4, 0.05, "universal", 0).play()
    assert played.over
    assert 4 <= played.odd < played.answers
    line = pairs.format_odd([played] * 2, [played] * 2)
    assert line.endswith(f"| 2, 2 | {played.odd} |\n")


def test_same_seed_plays_the_same_run() -> None:
    assert CELL.play() == CELL.play() == pairs.repeat(CELL, 1)[0]
    assert not CELL.play().over
