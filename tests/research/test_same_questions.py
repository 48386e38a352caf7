"""Replays of models that meet the same questions: their table, and its errors."""

from pathlib import Path

from research import same_questions, tables
from research.__main__ import main
from topk import THIS_SET


def test_command_writes_a_row_for_each_rule_and_keeps_the_others(tmp_path: Path) -> None:
    for rule in ("same-questions", "uniform"):
        words = ["--out", str(tmp_path), "--runs", "2", "--accuracy", THIS_SET, "--only", rule]
        assert main(["same-questions", "--processes", "1", "--quiet", *words]) == 0
    rows = tables.read_table(tmp_path / "same-questions.csv", same_questions.Row)
    cases = {(row.case, row.rule) for row in rows}
    assert len(cases) == 4
    assert len(rows) == 4 * len(same_questions.PROBLEMS)
    calls = {(row.case, row.k, row.epsilon, row.rule): row.calls for row in rows}
    for (case, k, epsilon, _), number in calls.items():
        assert number <= calls[case, k, epsilon, "same-questions"] <= 12_000
    ours = [row for row in rows if row.rule == "same-questions"]
    assert all(row.kept == 2 and not row.one_off for row in ours)
    page = (tmp_path / "same-questions.md").read_text(encoding="utf-8")
    assert "## item responses, on this question set, K = 1, ε = 0.02" in page
