"""Studies: no result that was told is lost, and no pair is asked twice."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import topk
from topk import ProblemError, Study, StudyError

NAMES, ITEMS = ["ann", "bo", "cy", "di"], [f"q{i}" for i in range(30)]
RESULTS = np.random.default_rng(2).random((4, 30)) < np.array([[0.3], [0.9], [0.4], [0.8]])
QUICK = {"k": 2, "epsilon": 0.05, "algorithm": "lucb", "batch": 8}


def result_of(pair):
    return bool(RESULTS[NAMES.index(pair[0]), ITEMS.index(pair[1])])


def build(path=None, **settings):
    return Study(NAMES, ITEMS, path=path, **QUICK | settings)


def finish(study):
    """Tell all results; return the pairs asked."""
    asked = []
    for batch in study:
        asked += batch
        study.tell({pair: result_of(pair) for pair in batch})
    return asked


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.db"


def test_a_study_asks_each_pair_once_and_ends_with_the_best():
    study = build()
    asked = finish(study)
    assert len(asked) == len(set(asked)) == study.calls <= 120
    assert study.best.names == ["bo", "di"]
    assert {(*pair, float(result_of(pair))) for pair in asked} == set(study.results)


def test_results_told_in_parts_and_in_another_order_give_the_same_end():
    whole, parts = build(), build()
    for _ in range(6):
        batch = whole.ask(8)
        assert parts.ask(8) == batch
        whole.tell({pair: result_of(pair) for pair in batch})
        for pair in reversed(batch):
            parts.tell([(*pair, result_of(pair))])
            parts.tell([(pair, result_of(pair))])
    assert whole.best.guarantee == parts.best.guarantee
    assert whole.best.frame == parts.best.frame


def test_a_result_counts_when_all_earlier_ones_of_its_candidate_are_told():
    study = build()
    first, second = [pair for pair in study.ask(40) if pair[0] == "bo"][:2]
    study.tell({second: result_of(second)})
    assert study.best.answers[1] == 0
    study.tell({first: None})
    assert study.best.answers[1] == 1
    assert study.unreadable == {"bo": {"no result": 1}}


def test_results_that_contradict_or_were_not_asked_are_named_and_the_others_kept():
    study = build()
    one, other = study.ask(8)[:2]
    study.tell({one: result_of(one)})
    with pytest.raises(ProblemError, match=rf"\({one[0]}, {one[1]}\) was told as .* kept"):
        study.tell({one: not result_of(one), other: result_of(other)})
    assert len(study.results) == 2
    unasked = next((name, item) for name in NAMES for item in ITEMS if (name, item) not in [one])
    while unasked in study.outstanding or unasked == other:
        unasked = (unasked[0], ITEMS[ITEMS.index(unasked[1]) + 1])
    for pair, message in [(unasked, "not handed out"), (("x", "q1"), "no pair"), ("ab", "no pair")]:
        with pytest.raises(ProblemError, match=message):
            study.tell([(tuple(pair), True)])
    for wrong in (2, -0.5, "1", [1]):
        with pytest.raises(ProblemError, match="a number from 0 to 1"):
            study.tell([(*study.outstanding[0], wrong)])
    with pytest.raises(ProblemError, match="say scores=True"):
        study.tell([(*study.outstanding[0], 0.5)])


def test_pairs_that_were_not_told_end_the_loop_and_come_first_in_the_next():
    study, left = build(), []

    def leave_one_of_each_batch():
        for batch in study:
            left.append(batch[0])
            study.tell({pair: result_of(pair) for pair in batch[1:]})

    with pytest.raises(StudyError, match="handed out and not told, for example"):
        leave_one_of_each_batch()
    again = finish(study)
    assert again[: len(left)] == left
    assert study.best.names == ["bo", "di"]


# -- the file

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(topk.__file__).parents[1])}
KILLED = """
import os, signal
from test_study import build, result_of
study = build({path!r})
for number, batch in enumerate(study):
    for pair in batch[:5]:
        print(*pair, flush=True)
        study.tell({{pair: result_of(pair)}})
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    study.tell({{pair: result_of(pair) for pair in batch}})
"""


def test_a_killed_study_resumes_with_all_it_was_told(path):
    """It is killed with five of eight pairs told: the other three are asked again."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED.format(path=str(path))],
        cwd=Path(__file__).parent,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    study, straight = build(path), build()
    assert study.calls == 21
    told = {(name, item) for name, item, _ in study.results}
    assert {tuple(line.split()) for line in done.stdout.splitlines()} <= told
    assert len(study.outstanding) == 3
    asked = finish(study)
    assert not told & set(asked)
    assert len(told) + len(asked) == len(finish(straight))
    assert study.best.frame == straight.best.frame
    assert finish(build(path)) == []


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"k": 1}, "k is 2 there and 1 here"),
        ({"epsilon": 0.1}, "epsilon is 0.05 there and 0.1 here"),
        ({"algorithm": "kl-lucb"}, "algorithm is 'lucb' there"),
        ({"names": ["ann", "bo", "cy", "dora"]}, "number 4 is 'di' there, 'dora' here"),
        ({"items": ITEMS[:20]}, "items are 30 there and 20 here"),
    ],
)
def test_a_file_of_another_study_is_refused_with_the_difference(path, changed, difference):
    build(path).close()
    settings = {"names": NAMES, "items": ITEMS} | QUICK | changed
    with pytest.raises(StudyError, match=difference):
        Study(path=path, **settings)
    assert finish(build(path))


def test_other_files_are_refused(path, tmp_path):
    path.write_text("no database " * 100)
    with pytest.raises(StudyError, match="cannot be opened as a study: file is not a database"):
        build(path)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    with pytest.raises(StudyError, match="a database of another program"):
        build(other)
    with pytest.raises(StudyError, match="cannot be opened"):
        build(tmp_path / "nowhere" / "study.db")


def test_a_second_process_is_refused_and_a_second_study_closes_the_first(path):
    first = build(path)
    code = f"from test_study import build; build({str(path)!r})"
    run = {"cwd": Path(__file__).parent, "env": ENVIRONMENT, "capture_output": True, "text": True}
    refused = subprocess.run([sys.executable, "-c", code], **run)
    assert "is in use by another process: one at a time" in refused.stderr
    assert finish(build(path))
    with pytest.raises(StudyError, match="closed: open it again"):
        first.ask(1)


def test_a_full_disk_loses_nothing_that_was_told(path):
    study = build(path)
    batch = study.ask(40)
    study.tell({pair: result_of(pair) for pair in batch[:10]})
    connection = study._storage._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    reason = "x" * 150
    with pytest.raises(StudyError, match="could not be written: database or disk is full"):
        study.tell({pair: OSError(f"{i} {reason}") for i, pair in enumerate(batch[10:])})
    assert len(study.results) == len(batch)
    connection.execute("PRAGMA max_page_count = 1000000")
    study.tell({})
    study.close()
    assert len(build(path).results) == len(batch)


def test_results_told_after_the_end_are_kept_and_not_counted(path):
    study = build(path, algorithm="certified", epsilon=0.3, k=1)
    late = [pair for pair in study.ask(40) if pair[0] == "ann"][-1:]
    while batch := [pair for pair in study.outstanding if pair not in late] or study.ask(8):
        study.tell({pair: result_of(pair) for pair in batch if pair not in late})
    best = study.best
    assert study.ended
    study.tell({pair: result_of(pair) for pair in late})
    study.close()
    again = build(path, algorithm="certified", epsilon=0.3, k=1)
    assert again.best.answers.tolist() == best.answers.tolist()
    assert len(again.results) == best.calls + 1


def test_missing_results_are_asked_again_if_wanted(path):
    study = build(path)
    batch = study.ask(8)
    study.tell(dict.fromkeys(batch))
    assert build(path).outstanding == []
    assert set(build(path, retry=True).outstanding) == set(batch)


def test_a_budget_is_kept_and_may_be_raised(path):
    study = build(path, budget=30)
    assert len(finish(study)) == 30
    assert not study.best.complete
    assert len(finish(build(path, budget=50))) == 20


def test_names_must_differ_and_last(path):
    with pytest.raises(StudyError, match="item 'a' occurs twice, as number 1 and as number 3"):
        Study(["x", "y"], ["a", "b", "a"], k=1)
    with pytest.raises(StudyError, match="no name that lasts"):
        Study([object(), object()], ["a"], k=1, path=path)
    rows = [{"question": "one"}, {"question": "two"}]
    study = Study(["x", "y"], rows, k=1, path=path)
    pair = study.ask(1)[0]
    study.tell([(pair, True)])
    assert study.results == [(*pair, 1.0)]


@pytest.mark.parametrize(
    "algorithm", ["certified", "universal", "each-good", "same-questions", "adaptive-top-k"]
)
def test_a_candidate_set_aside_leaves_the_selection_of_every_kind_of_rule(algorithm):
    study = build(algorithm=algorithm, epsilon=0.3, set_aside_after=3)
    for batch in study:
        broken = {pair: OSError("gone") for pair in batch if pair[0] == "bo"}
        study.tell({pair: result_of(pair) for pair in batch} | broken)
    assert study.set_aside == {"bo": "OSError: gone"}
    assert study.best.names[-1] == "di"
    assert "With probability at least 95%" in study.best.guarantee


def test_a_guarantee_is_lost_only_if_the_proof_does_not_allow_leavers():
    for algorithm, kept in (("certified", False), ("lucb", True)):
        study = build(algorithm=algorithm, epsilon=0.3, set_aside_after=2, accuracy=None)
        for batch in study:
            told = {pair: result_of(pair) for pair in batch}
            if study.calls:
                told |= {pair: OSError("gone") for pair in batch if pair[0] == "ann"}
            study.tell(told)
        assert study.set_aside.keys() == {"ann"}
        assert ("With probability" in study.best.guarantee) == kept


def test_quotas_of_groups_without_names_are_kept():
    quotas = {"groups": [0, 0, 1, 1], "at_least": [1, 1], "at_most": [1, 1]}
    study = build(algorithm="certified", epsilon=0.3, quotas=quotas)
    finish(study)
    assert study.best.names == ["bo", "di"]


def test_a_candidate_given_up_stays_so_until_it_is_taken_back(path):
    study = build(path, algorithm="certified", epsilon=0.3, k=1)
    study.ask(8)
    study.give_up("bo", "always 429")
    assert study.set_aside == {"bo": "always 429"}
    study.close()
    again = build(path, algorithm="certified", epsilon=0.3, k=1)
    assert "bo" not in {name for name, _ in again.outstanding}
    finish(again)
    assert again.best.names == ["di"]
    assert again.best.guarantee.endswith("Set aside: bo.")
    assert again.best.epsilon == 0.3
    with pytest.raises(ProblemError, match="'eve' is no candidate"):
        again.give_up("eve", "")
    other = build(algorithm="certified", epsilon=0.3, k=1)
    lost = [pair for pair in other.ask(8) if pair[0] == "bo"]
    other.give_up("bo", "always 429")
    other.take_back("bo")
    assert [pair for pair in other.outstanding if pair[0] == "bo"] == lost
    finish(other)
    assert other.best.names == ["bo"]


def test_a_study_tells_if_the_guarantee_holds_without_a_candidate():
    study = build(algorithm="certified", epsilon=0.3, accuracy=None)
    batch = study.ask(8)
    assert study.keeps_guarantee_without(["bo"])
    study.tell({pair: result_of(pair) for pair in batch})
    assert not study.keeps_guarantee_without(["bo"])
