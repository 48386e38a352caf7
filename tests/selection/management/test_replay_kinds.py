"""``manage.py replay`` on several kinds of task."""

import json
from functools import partial
from pathlib import Path

import pytest

from selection.algorithms import ALGORITHMS
from selection.models import Answer, QuestionSet, Run
from selection.replays import crowd
from selection.simulation import question_kinds
from tests import replays
from tests.replays import read

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

OF_KINDS = [name for name, kind in ALGORITHMS.items() if kind.takes_skills]
MATCHING = [name for name, kind in ALGORITHMS.items() if kind.matches]
# Right answers in every ten, by worker: in reading, in counting.
KNOWN = {"w0": (10, 10), "w1": (9, 0), "w2": (0, 6), "w3": (1, 1), "w4": (1, 0), "w5": (0, 0)}
TASKS = 400
BEST, BEST_APART = [("reading", "w0"), ("counting", "w0")], [("reading", "w1"), ("counting", "w0")]


@pytest.fixture
def past(tmp_path):
    """answers.csv, reading.csv and counting.csv."""
    names, lines = ("reading", "counting"), ["worker,task,label"]
    for number, name in enumerate(names):
        tasks = [f"{name} {i}" for i in range(TASKS)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["task,label", *(f"{t},1" for t in tasks)]))
        for worker, right in KNOWN.items():
            said = (f"{worker},{t},{int(i % 10 < right[number])}" for i, t in enumerate(tasks))
            lines.extend(said)
    (tmp_path / "answers.csv").write_text("\n".join(lines))
    return [tmp_path / f"{name}.csv" for name in ("answers", *names)]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "selected.csv"


replay = partial(replays.replay, k=(1, 1), epsilon=0.4)
refused = partial(replays.refused, k=(1, 1), epsilon=0.4)


def chosen_of(out):
    return [(row["skill"], row["worker"]) for row in read(out)]


def also(algorithm):
    budget = "budget" in ALGORITHMS[algorithm].needs
    return ("--algorithm", algorithm, *(["--budget", "1200"] if budget else []))


# -- what is selected


def each_way(algorithms):
    """All of them on the answers as they are, one of them with answers drawn again, too."""
    return [(name, []) for name in algorithms] + [(algorithms[0], ["--with-replacement"])]


@pytest.mark.parametrize(("algorithm", "drawn"), each_way(OF_KINDS))
def test_the_best_of_each_kind_are_written(past, out, algorithm, drawn):
    said = replay(past, out, *also(algorithm), *drawn)
    assert chosen_of(out) == BEST
    assert "Regret         0.0000 aggregate" in said
    assert "0.0000 in “reading”\n               0.0000 in “counting”" in said
    assert "Selected       w0 for “reading”\nSelected       w0 for “counting”" in said
    promised = algorithm in MATCHING
    assert ("among all selections of 1 for “reading” and 1 for “counting”" in said) == promised
    assert ("no promise" in said) != promised
    assert {row["promise"] in said for row in read(out)} == {True}


@pytest.mark.parametrize(("algorithm", "drawn"), each_way(MATCHING))
def test_nobody_is_written_for_two_kinds_where_that_is_asked(past, out, algorithm, drawn):
    said = replay(past, out, *also(algorithm), "--one-kind-each", *drawn)
    assert chosen_of(out) == BEST_APART
    assert "1 for “counting”, nobody for two of them." in said
    assert "0.0000 aggregate (mean of the best selection, nobody for two kinds, less" in said


def test_each_kind_has_a_k_of_its_own_and_json_says_so(past, tmp_path):
    replay(past, tmp_path / "selected.json", k=(1, 2))
    document = json.loads((tmp_path / "selected.json").read_text())
    assert [(skill["skill"], skill["k"]) for skill in document["skills"]] == [
        ("reading", 1),
        ("counting", 2),
    ]
    assert (document["k"], document["one_kind_each"]) == (3, False)
    assert document["algorithm"] == "clucb-pac"
    found = [(row["skill"], row["worker"]) for row in document["workers"]]
    assert found == [("reading", "w0"), ("counting", "w0"), ("counting", "w2")]


def test_the_gold_file_tells_the_kind_whatever_a_column_skill_says(past, out):
    replay(past, out)
    first = out.read_text()
    lines = past[0].read_text().splitlines()
    said = [f"{line},{'skill' if not i else 'reading'}" for i, line in enumerate(lines)]
    past[0].write_text("\n".join(said))
    replay(past, out)
    assert out.read_text() == first


@pytest.mark.slow
def test_an_answer_given_again_under_another_skill_is_left_out(past, out):
    first = past[0].read_text().splitlines()
    alone = replay(past, out)
    again = [f"w0,reading {i},0,other" for i in range(7)]
    skilled = [f"{line},{'skill' if not i else 'own'}" for i, line in enumerate(first)]
    past[0].write_text("\n".join([*skilled, *again]))
    said = replay(past, out)
    assert "7 left out that answer a task again" in said
    assert said.replace("; 7 left out that answer a task again", "") == alone


@pytest.mark.slow
def test_a_worker_draws_for_each_kind_anew(past, out):
    """w5 answers both alike, so that one stream of draws would make the two the same."""
    lines = past[0].read_text().splitlines()
    kept = [line for line in lines if not line.startswith("w5")]
    tasks = [f"{name} {i}" for name in ("reading", "counting") for i in range(TASKS)]
    past[0].write_text("\n".join([*kept, *(f"w5,{t},{i % 2}" for i, t in enumerate(tasks))]))
    replay(past, out, "--with-replacement", "--keep", *also("multi-sar"))
    mine = Answer.objects.filter(assignment__candidate__worker__key="w5")
    columns = ("assignment__candidate__skill", "assignment__position", "right")
    given = {(skill, place): right for skill, place, right in mine.values_list(*columns)}
    both = [place for skill, place in given if not skill and (1, place) in given]
    assert len(both) > 20
    assert any(given[0, place] != given[1, place] for place in both)


# -- what is said of it


def test_losses_are_against_the_best_that_is_allowed(past, out):
    replay(past, out, "--one-kind-each", "--keep")
    lost = question_kinds.compute_losses(
        Run.objects.get(), crowd.read_crowd(*past), [["w0"], ["w2"]]
    )
    assert lost.overall == pytest.approx((0.9 + 1.0 - 1.0 - 0.6) / 2)
    assert lost.each == pytest.approx([0.9 - 1.0, 1.0 - 0.6])
    assert lost.unknown == [0, 0]


def test_who_answered_nothing_of_a_kind_is_told(past, out):
    lines = past[0].read_text().splitlines()
    past[0].write_text("\n".join(line for line in lines if not line.startswith("w3,counting")))
    said = replay(past, out, *also("clucb-pac"))
    assert "Mind           1 of the workers have no recorded answer to a task of “counting”" in said
    assert "task of “reading”" not in said
    assert "recorded by 6 workers" in said
    assert chosen_of(out) == BEST
    out.unlink()
    why = refused(past, out, "--with-replacement")
    assert "“w3” has no recorded answer to a task of “counting” to draw again" in why


@pytest.mark.slow
def test_kept_kinds_are_told_apart_by_numbers_and_files_alike_by_folders(past, out, tmp_path):
    replay(past, out, "--keep")
    other = tmp_path / "other"
    other.mkdir()
    past[2] = past[2].rename(other / "reading.csv")
    replay(past, out, "--keep", *also("multi-sar"))
    names = set(QuestionSet.objects.values_list("name", flat=True))
    assert names == {"reading", "counting", str(past[1]), str(past[2])}
    past[2] = past[2].rename(tmp_path / "counting.csv")
    replay(past, out, "--keep", *also("multi-sar"))
    assert [skill for skill, _ in chosen_of(out)] == ["reading (2)", "counting (2)"]


# -- what cannot be


@pytest.mark.parametrize(
    ("options", "k", "words"),
    [
        ([], (1,), "Give as many --k as --gold files: there are 1 and 2."),
        ([], (1, 1, 1), "Give as many --k as --gold files: there are 3 and 2."),
        ([], (1, 6), "In the skill “counting”: K must be at least 1 and less than the number of"),
        (["--one-kind-each"], (4, 3), "want 7 workers, each for at most one kind of task"),
        (["--algorithm", "certified"], (1, 1), "Certified tests one skill; CLUCB-PAC,"),
        (["--algorithm", "magic"], (1, 1), f"choose one of {', '.join(OF_KINDS)}."),
        (["--algorithm", "multi-sar"], (1, 1), "Multi-bandit SAR needs a budget"),
        (["--seeds", "3"], (1, 1), "Only replays of one kind of task can be compared"),
        (["--json"], (1, 1), "Only replays of one kind of task can be compared"),
        (["--algorithm", "clucb-pac", "--algorithm", "lil-clucb"], (1, 1), "Only replays of one"),
        (
            ["--algorithm", "multi-sar", "--budget", "500", "--one-kind-each"],
            (1, 1),
            "CLUCB-PAC and lil'CLUCB select each for at most one.",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_sentence(past, out, options, k, words):
    said = refused(past, out, *options, k=k)
    assert words in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--one-kind-each"], "For --one-kind-each there must be several kinds of task"),
        (["--algorithm", "multi-sar"], "multi-sar is for several kinds of task"),
    ],
)
def test_what_is_about_several_kinds_is_refused_with_one(past, out, options, words):
    assert words in refused(past[:2], out, *options, k=(1,))


def test_files_that_do_not_fit_together_are_refused(past, out):
    answers, reading, counting = past
    said = refused([*past, reading], out, k=(1, 1, 1))
    assert said == (
        f"The task “reading 0” is in {reading} and in {reading}: each task must be of one kind."
    )
    counting.write_text("task,label\nsomething else,1\n")
    said = refused(past, out)
    assert said == f"{answers} has no answer to a task that {counting} names the known answer of."


def test_gold_files_may_be_given_one_by_one(past, out):
    answers, reading, counting = map(str, past)
    more = ["--gold", counting, "--k", "1"]
    replay([Path(answers), Path(reading)], out, *more, k=(1,))
    assert chosen_of(out) == BEST
