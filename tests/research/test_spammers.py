"""The table of spammers in recorded crowds: crowds of a folder, ratios, answers of spammers."""

from pathlib import Path

import numpy as np
import pytest

from research import spammers
from research.spammers import Play
from selection.errors import Refused


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write the answers of ten workers to 60 questions, and the key."""
    right = np.random.default_rng(1).random((10, 60)) < np.linspace(0.9, 0.5, 10)[:, None]
    rows = [f"w{i},q{j},{int(right[i, j])}" for i in range(10) for j in range(60)]
    (tmp_path / "ten.csv").write_text("\n".join(["worker,task,label", *rows]), encoding="utf-8")
    gold = "".join(f"q{j},1\n" for j in range(60))
    (tmp_path / "ten_gold.csv").write_text(f"task,label\n{gold}", encoding="utf-8")
    return tmp_path


def test_every_crowd_has_a_line_for_each_rule_and_number_of_spammers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spammers, "CAP", 12)
    lines = [line.split(" | ") for line in spammers.write_lines(folder, 2)]
    assert [line[3:5] for line in lines] == [
        [f"`{rule}`", str(number)] for rule in spammers.RULES for number in spammers.SPAMMERS
    ]
    assert all(line[:3] == ["| ten", "10", "2"] for line in lines)
    assert all(line[-1] == "2 |\n" for line in lines)  # given up


def test_line_compares_the_same_seeds() -> None:
    none = [Play(100, 0, False, False), Play(100, 0, False, False)]
    plays = [Play(90, 8, True, False), Play(130, 10, False, True)]
    assert spammers.compare(none, plays) == [2, "110", "1.10 ± 0.20", "9", 1, 1]


def test_folder_without_crowds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="has no crowd"):
        list(spammers.write_lines(tmp_path, 1))
