"""Comparisons on a recorded crowd, over many seeds and algorithms."""

import csv
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from selection.errors import Refused
from selection.replays import arrays, crowd, what_if
from selection.replays.arrays import PlayedRun
from selection.replays.settings import Regrets, ReplaySettings
from tests.pasts import write_past

ACCURACIES = [0.95, 0.9, 0.95, 0.4, 0.5, 0.3]
THIS_SET = ("--option", "accuracy=on this question set")
CAUTION = ("--option", "cautious=yes")


@pytest.fixture
def past(tmp_path) -> tuple[Path, Path]:
    return write_past(tmp_path, ACCURACIES, 60)


def usual(**changes: object) -> ReplaySettings:
    settings = {
        "name": "past",
        "k": 3,
        "algorithm": "certified",
        "epsilon": 0.3,
        "delta": 0.1,
        "budget": None,
        "seed": 1,
        "slots": None,
        "redraw": False,
    }
    return ReplaySettings(**settings | changes)


def replay(past: tuple[Path, Path], *options: str, epsilon: float = 0.3) -> str:
    output = StringIO()
    files = ["--answers", str(past[0]), "--gold", str(past[1])]
    numbers = ["--k", "3", "--epsilon", str(epsilon), "--delta", "0.1", "--seed", "1"]
    call_command("replay", *files, *numbers, *options, stdout=output)
    return output.getvalue()


def refused(past: tuple[Path, Path], *options: str) -> str:
    with pytest.raises(CommandError) as caught:
        replay(past, *options)
    assert caught.value.returncode == 2
    return str(caught.value)


def rows_of(table: str) -> dict[str, list[str]]:
    """Return the cells of each algorithm's line."""
    lines = table.splitlines()
    return {line.split()[0]: line.split("  ") for line in lines if "aggregate" in line}


# -- a row


def made_up(**changes: object) -> PlayedRun:
    usual = {"seed": 0, "answers": 100, "ending": "promise", "epsilon": 0.1, "true": True}
    return PlayedRun(**{**usual, "regrets": Regrets(0.02, 0.1)} | changes)


def test_a_row_has_the_median_and_where_four_runs_of_five_lie():
    plays = [made_up(answers=count) for count in range(100, 1200, 100)]
    row = what_if.build_row(usual(), plays)
    assert (row.low, row.answers, row.high) == (200, 600, 1000)


def test_a_row_counts_promises_that_were_reached_and_those_that_are_not_true():
    early = made_up(ending="questions", epsilon=0.25)
    wrong = made_up(true=False, regrets=Regrets(0.2, 0.3))
    row = what_if.build_row(usual(), [made_up(), early, wrong, wrong])
    assert (row.seeds, row.kept, row.untrue) == (4, 3, 2)
    assert (row.epsilon, row.epsilon_most) == (0.1, 0.25)
    assert (row.loss, row.loss_most) == (0.11, 0.2)


def test_algorithm_without_a_guarantee_has_no_epsilon():
    row = what_if.build_row(
        usual(algorithm="sar"), [made_up(epsilon=None, true=None, ending="budget")]
    )
    assert (row.promises, row.kept, row.untrue) == ("nothing", 0, 0)
    assert (row.epsilon, row.epsilon_most) == (None, None)
    assert what_if._row_cells(row)[4:7] == ("0 of 1", "", "nothing, nothing")


def test_a_promise_that_is_not_true_by_the_record_is_found(tmp_path):
    record = arrays.RecordedAnswers(crowd.read_crowd(*write_past(tmp_path, [0.6] * 10, 60)))
    settings = usual(algorithm="credible", epsilon=0.02, delta=0.5, redraw=True)
    plays = [
        arrays.play_record(record, ReplaySettings(**{**vars(settings), "seed": seed}))
        for seed in range(12)
    ]
    assert {play.true for play in plays} == {True, False}
    for play in plays:
        assert play.true is (play.regrets.aggregate <= 0.02 + 1e-9)


# -- every seed and algorithm


def test_each_algorithm_gets_the_options_it_knows():
    settings = usual(options={"accuracy": "on this question set"})
    certified, credible = what_if.settings_per_algorithm(settings, ["certified", "credible"])
    assert (certified.algorithm, certified.options) == ("certified", settings.options)
    assert (credible.algorithm, credible.options) == ("credible", {})
    with pytest.raises(Refused, match="No algorithm of credible, lucb has an option accuracy"):
        what_if.settings_per_algorithm(settings, ["credible", "lucb"])


def test_seeds_differ_and_repeat(past):
    recorded = crowd.read_crowd(*past)

    def played() -> Iterator[what_if.WhatIfRow]:
        settings = [usual(algorithm="credible", epsilon=0.05)]
        return what_if.play_all(recorded, settings, range(3), lambda: None)

    first, again = next(played()), next(played())
    assert first == again
    assert [play.seed for play in first.plays] == [0, 1, 2]
    assert len({play.answers for play in first.plays}) > 1


# -- the command


def test_comparison_leaves_no_trace(past, tmp_path, db):
    output = replay(past, "--algorithm", "certified", "--algorithm", "credible", "--seeds", "4")
    assert "6 workers, the best 3 wanted, ε = 0.3, δ = 0.1; 360 recorded answers" in output
    assert "each used once; 4 seeds from 1." in output
    rows = rows_of(output)
    assert list(rows) == ["certified", "credible"]
    assert all("4 of 4" in " ".join(cells) for cells in rows.values())
    assert "Mind" not in output


def test_seed_gives_the_same_as_a_replay(past, tmp_path, db):
    path = tmp_path / "selected.json"
    replay(past, "--algorithm", "credible", "--seed", "2", "--out", str(path))
    alone = json.loads(path.read_text())
    several = json.loads(replay(past, "--algorithm", "credible", "--seeds", "3", "--json"))
    second_play = next(play for play in several[0]["plays"] if play["seed"] == 2)
    assert second_play["answers"] == alone["answers_used"]
    assert second_play["epsilon"] == alone["epsilon_reached"]


def test_drawing_with_replacement_never_runs_out(past):
    options = ("--algorithm", "kl-lucb", "--seeds", "3", "--json")
    once = json.loads(replay(past, *options, epsilon=0.1))[0]
    again = json.loads(replay(past, *options, "--with-replacement", epsilon=0.1))[0]
    assert once["kept"] == 0
    assert once["answers"] == [360, 360, 360]
    assert again["kept"] == 3
    assert again["answers"][0] > 360


def test_accuracy_on_this_question_set_ends_with_all_answers(past):
    options = ("--algorithm", "certified", "--algorithm", "credible", *THIS_SET, "--seeds", "3")
    output = replay(past, *options, epsilon=0.01)
    assert "aggregate, on this question set" in output
    numbers = json.loads(replay(past, *options, "--json", epsilon=0.01))
    assert numbers[0]["options"] == {"accuracy": "on this question set"}
    assert (numbers[0]["kept"], numbers[0]["untrue"], numbers[0]["loss_most"]) == (3, 0, 0)
    assert numbers[1]["options"] == {}


def test_doubts_are_listed_with_their_number_of_runs(past):
    past[0].write_text("\n".join(past[0].read_text().splitlines()[:-20]))
    output = replay(past, "--algorithm", "certified", *THIS_SET, "--seeds", "2")
    assert "Mind: certified, 2 of 2 runs: The imported answers do not cover" in output


def test_the_table_goes_to_a_file_for_programs(past, tmp_path):
    options = ("--algorithm", "credible", "--algorithm", "sar", "--budget", "120", "--seeds", "2")
    table, document = tmp_path / "table.csv", tmp_path / "table.json"
    replay(past, *options, "--out", str(table))
    output = replay(past, *options, "--json", "--out", str(document))
    with table.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["algorithm"], line["promises"]) for line in lines] == [
        ("credible", "aggregate, on average"),
        ("sar", "nothing"),
    ]
    assert int(lines[1]["answers"]) <= 120
    assert json.loads(output) == json.loads(document.read_text())


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_plot_is_reproducible(past, tmp_path, ending):
    first, again = tmp_path / f"one.{ending}", tmp_path / f"two.{ending}"
    for path in (first, again):
        replay(past, "--algorithm", "credible", "--seeds", "3", "--plot", str(path))
    assert first.read_bytes() == again.read_bytes()
    if ending == "svg":
        assert "ended with its promise" in first.read_text()
        assert "credible" in first.read_text()
    else:
        assert Image.open(first).size[0] > 800
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "Say with --out where the selection is to be written"),
        (("--seeds", "0"), "There must be at least 1 seed, not 0."),
        (("--seeds", "2", "--keep"), "A single replay can be kept"),
        (("--plot", "a.pdf"), "a.pdf must end in .svg or .png"),
        (("--seeds", "2", "--out", "a.txt"), "a.txt must end in .csv or .json"),
        (("--algorithm", "lucb", "--algorithm", "lucb"), "Name each algorithm once."),
        (("--algorithm", "lucb", "--algorithm", "magic"), "There is no algorithm “magic”"),
        (("--algorithm", "lucb", "--algorithm", "sar"), "needs a budget"),
        (("--seeds", "2", *THIS_SET), "No algorithm of adaptive-top-k has an option accuracy"),
        (("--seeds", "2", *CAUTION), "has an option cautious"),
        (("--seeds", "2", "--seed", str(2**62 - 1)), "The seed must be 0 to 2^62"),
    ],
)
def test_invalid_comparisons_are_refused_in_one_sentence(past, options, message):
    output = refused(past, *options)
    assert message in output
    assert "\n" not in output


def test_a_doubt_is_counted_whatever_its_numbers():
    output = ["About 17 %, 1,200 more.", "About 9 %, 80 more.", "Something else."]
    assert what_if._count_doubts(output) == {output[0]: 2, output[2]: 1}
