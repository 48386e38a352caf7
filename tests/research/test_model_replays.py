"""Replays of models' answers: the table of right answers, the rules, and their errors."""

from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from research import model_replays, tables
from research.__main__ import main
from research.model_replays import Row

RECORDED = Path(settings.BASE_DIR).parent / "shared" / "data" / "alpaca_models.csv"
ACCURACY = [0.95, 0.9, 0.6, 0.5, 0.4, 0.3]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Write the answers of six models to 120 questions; the first lacks one."""
    right = np.random.default_rng(1).random((6, 120)) < np.array(ACCURACY)[:, None]
    rows = [f"m{i},q{j},{int(right[i, j])}" for i in range(6) for j in range(120) if i or j]
    path = tmp_path / "six.csv"
    path.write_text("\n".join(["worker,task,label", *rows]) + "\n", encoding="utf-8")
    gold = "".join(f"q{j},1\n" for j in range(120))
    path.with_name("six_gold.csv").write_text(f"task,label\n{gold}", encoding="utf-8")
    return path


def read_results(folder: Path) -> dict[tuple[str, float], Row]:
    return {(row.rule, row.budget): row for row in tables.read_table(folder / "results.csv", Row)}


def replay(answers: Path, out: Path, *words: str) -> int:
    return main(["models", str(answers), "--out", str(out), "--processes", "1", "--quiet", *words])


def test_rules_are_all_replayed_and_only_ours_have_a_guarantee(
    answers: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert replay(answers, out, "--k", "2", "--epsilon", ".15", "--runs", "5") == 0
    rows = read_results(out)
    assert {rule for rule, _ in rows} == {*model_replays.GUARANTEED, *model_replays.BUDGETED}
    for (_, budget), row in rows.items():
        assert (row.n, row.questions, row.k) == (6, 120, 2)
        assert (row.kept > 0) == (budget == 0 and row.calls < 720)
        assert budget == 0 or row.share <= budget
    assert rows["certified", 0].off == rows["universal", 0].off == 0
    assert rows["certified", 0].runs == 5
    page = (out / "README.md").read_text(encoding="utf-8")
    assert "| UCB-E, 10 % | none | 5 | 72 |" in page
    assert "six: 6 models, 120 questions, K = 2, ε = 0.15" in page


def test_second_replay_keeps_the_rows_of_earlier_rules(answers: Path, tmp_path: Path) -> None:
    for rule in ("uniform", "ucb-e"):
        assert replay(answers, tmp_path, "--k", "1", "--runs", "3", "--only", rule) == 0
    assert {rule for rule, _ in read_results(tmp_path)} == {"uniform", "ucb-e"}


def test_a_missing_answer_is_a_wrong_one(answers: Path) -> None:
    table = model_replays.read_answers(answers)
    assert table.shape == (6, 120)
    assert table[0, 0] == 0


def test_ucb_e_calls_the_best_most_and_never_beyond_the_questions(answers: Path) -> None:
    table = model_replays.read_answers(answers)
    found = model_replays.play_ucb_e(2, 500, table, seed=1)
    assert sorted(found.workers.tolist()) == [0, 1]
    assert found.calls == 500
    assert model_replays.play_ucb_e(2, 10_000, table, seed=1).calls == table.size


def test_a_selection_far_from_the_best_is_off(answers: Path) -> None:
    """With 12 calls of uniform evaluation the two best of the six are often missed."""
    cell = model_replays.Cell(answers, 2, 0.01, "uniform", 0.02, runs=20)
    (row,) = cell.play()
    assert row.calls == 12
    assert row.off > 5
    assert row.low > 0


def test_an_unreadable_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay(tmp_path / "none.csv", tmp_path) == 2
    assert "none.csv" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(not RECORDED.exists(), reason="The recorded models are not on this machine.")
@pytest.mark.parametrize(("k", "share"), [(1, 0.13), (10, 0.24)])
def test_few_calls_choose_the_best_of_the_recorded_models(k: int, share: float) -> None:
    (row,) = model_replays.Cell(RECORDED, k, 0.02, "certified", 0, runs=2).play()
    assert (row.n, row.questions) == (53, 805)
    assert row.kept == row.runs
    assert row.off == 0
    assert row.share < share
