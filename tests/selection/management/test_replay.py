"""``manage.py replay``."""

import json
import os
import signal
import subprocess
import sys
from functools import partial

import pytest
from django.conf import settings
from django.core.management import CommandError

from selection import engine
from selection.algorithms import ALGORITHMS
from selection.grading import scores
from selection.imports import catalog, validate_answers
from selection.imports.row_parsers import QuestionRow, WorkerRow
from selection.models import Answer, Assignment, Pool, QuestionSet, RecordedAnswer, Run
from selection.replays import crowd
from selection.replays.settings import compute_regrets
from selection.runs import lifecycle
from tests import file_rows, replays
from tests.pasts import write_past
from tests.replays import read

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

ACCURACIES = [0.95, 0.9, 0.95, 0.4, 0.5, 0.3]


@pytest.fixture
def past(tmp_path):
    return write_past(tmp_path, ACCURACIES, 60)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "selected.csv"


replay = partial(replays.replay, k=3, epsilon=0.3)
refused = partial(replays.refused, k=3, epsilon=0.3)


def test_it_selects_the_best_and_says_what_is_promised(past, out):
    said = replay(past, out, "--with-replacement")
    rows = read(out)
    assert {row["worker"] for row in rows} == {"w1", "w2", "w3"}
    assert {row["certified"] for row in rows} == {"certified"}
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
    assert "drawn with replacement from 360 recorded by 6 workers" in said
    assert "its rule to stop was met" in said
    assert "With probability at least 0.9" in said
    assert "0.0000 aggregate" in said
    assert "0.0000 explore-K" in said


def test_when_the_recorded_answers_run_out_it_says_so_and_certifies_nothing(past, out):
    said = replay(past, out)
    assert "of 360 recorded" in said
    assert "the questions are used up" in said
    assert "Not certified" in said
    assert {row["certified"] for row in read(out)} == {"not certified"}


def test_it_says_when_the_population_does_not_fit(tmp_path, out):
    past = write_past(tmp_path, [0.97] * 10 + [0.2] * 30, tasks=60)
    said = replay(past, out, "--algorithm", "credible", k=8, epsilon=0.001)
    assert "Mind           These workers do not look like one population" in said


def test_recorded_answers_can_suffice(past, out):
    said = replay(past, out, "--algorithm", "lucb", epsilon=0.8)
    assert "its rule to stop was met" in said
    assert {row["certified"] for row in read(out)} == {"certified"}


@pytest.mark.slow
def test_the_same_seed_gives_the_same_selection_however_many_are_asked_at_once(past, out):
    replay(past, out, "--with-replacement")
    first = out.read_text()
    replay(past, out, "--with-replacement", "--slots", "37")
    assert out.read_text() == first
    replay(past, out, "--with-replacement", "--seed", "2")
    assert out.read_text() != first


def test_the_order_of_the_file_does_not_matter_without_replacement(past, out):
    replay(past, out, "--slots", "50")
    first = out.read_text()
    lines = past[0].read_text().splitlines()
    by_task = sorted(lines[1:], key=lambda line: line.split(",")[1])
    past[0].write_text("\n".join([lines[0], *sorted(by_task, key=lambda line: line[:2])]))
    replay(past, out, "--slots", "50")
    assert out.read_text() == first


@pytest.mark.parametrize("algorithm", ["adaptive-top-k", "lucb", "ugape-c"])
@pytest.mark.parametrize("redraw", [True, False])
def test_the_budget_is_kept(past, out, algorithm, redraw):
    options = ["--with-replacement"] if redraw else []
    said = replay(past, out, "--budget", "100", "--algorithm", algorithm, *options, epsilon=0.01)
    assert "Answers used   100 " in said
    assert "the budget is spent" in said


def test_it_leaves_no_trace_in_the_configured_database(past, out):
    replay(past, out)
    assert not Pool.objects.exists()
    assert not Run.objects.exists()


@pytest.mark.slow
def test_a_kept_run_stays_in_the_configured_database(past, out):
    replay(past, out, "--keep")
    replay(past, out, "--keep", "--with-replacement")
    second, first = Run.objects.all()
    assert (first.name, second.name) == ("Replay of answers", "Replay of answers (2)")
    assert (first.status, first.ending) == ("ended", "questions")
    assert Answer.objects.filter(run=first).count() + RecordedAnswer.objects.count() == 360


@pytest.mark.slow
def test_each_draw_is_a_question_of_its_own(past, out):
    replay(past, out, "--keep", "--with-replacement")
    asked = Assignment.objects.values_list("candidate_id", "question_id")
    assert len(set(asked)) == len(asked) > 360
    assert set(Answer.objects.values_list("response", flat=True)) == {"right", "wrong"}


def test_scores_are_refused_rather_than_counted_as_wrong(past, out):
    past[1].write_text(f"task,label\nt0,{scores.KEY}\n")
    assert "use the page “Try it on past answers”" in refused(past, out)


def test_it_writes_json_by_the_ending(past, tmp_path):
    replay(past, tmp_path / "selected.json")
    document = json.loads((tmp_path / "selected.json").read_text())
    assert (document["k"], document["seed"], document["certified"]) == (3, 1, False)
    assert len(document["workers"]) == 3


def test_answers_to_tasks_without_gold_are_left_out_and_counted(past, out):
    more = "\nw1,unknown,1\nw9,unknown,0\nw9,unknown too,0\n"
    past[0].write_text(past[0].read_text() + more)
    said = replay(past, out)
    assert "3 to tasks without a known answer left out" in said
    assert "1 worker left out" in said
    assert "recorded by 6 workers" in said


@pytest.mark.parametrize(
    ("options", "numbers", "words"),
    [
        ([], {"k": 6}, "K must be at least 1 and less than the number of workers (6)"),
        ([], {"k": 0}, "K must be at least 1"),
        ([], {"epsilon": 1.0}, "Epsilon must be"),
        ([], {"epsilon": "nan"}, "Epsilon must be"),
        (["--delta", "0"], {}, "Delta must be"),
        (["--algorithm", "magic"], {}, "There is no algorithm “magic”"),
        (["--budget", "0"], {}, "The budget must be"),
        (["--seed", "-1"], {}, "The seed must be"),
        (["--slots", "0"], {}, "at least 1 slot"),
        (["--answers", "nothing.csv"], {}, "nothing.csv cannot be read"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_sentence(past, out, options, numbers, words):
    said = refused(past, out, *options, **numbers)
    assert words in said
    assert "\n" not in said


def test_a_bad_line_is_named(past, out):
    past[0].write_text(past[0].read_text() + "\nw1,t1,\nw1,t2,\n")
    assert "line 362: The column “label” is empty (1 more" in refused(past, out)
    past[1].write_text("task,label\nother,1\n")
    past[0].write_text("worker,task,label\nw1,t1,1\n")
    assert "has no answer to a question of the key" in refused(past, out)


def test_an_output_that_cannot_be_written_is_refused_before_the_work(past, tmp_path):
    assert "no folder" in refused(past, tmp_path / "nowhere" / "x.csv")
    assert "must end in .csv or .json" in refused(past, tmp_path / "x.txt")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(CommandError, match="is not a file"):
        replay(past, tmp_path / "folder.csv")


def test_an_earlier_selection_stays_when_a_later_one_fails(past, out):
    replay(past, out)
    first = out.read_text()
    with pytest.raises(CommandError):
        replay(past, out, k=6)
    assert out.read_text() == first


def command_line(past, out, *options):
    return [
        *(sys.executable, "manage.py", "replay", "--answers", str(past[0]), "--gold", str(past[1])),
        *("--out", str(out), *options),
    ]


@pytest.mark.slow
def test_the_shell_sees_exit_code_2_and_one_sentence(past, out):
    done = subprocess.run(
        command_line(past, out, "--k", "6"), cwd=settings.BASE_DIR, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "K must be at least 1" in done.stderr
    assert not out.exists()


def hear_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background processes ignore them


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_behind(past, out, tmp_path):
    place = tmp_path / "scratch"
    place.mkdir()
    scratch = dict.fromkeys(("TMPDIR", "SQLITE_TMPDIR"), str(place))
    with subprocess.Popen(
        command_line(past, out, "--k", "3", "--epsilon", "0.01", "--with-replacement"),
        cwd=settings.BASE_DIR,
        env=os.environ | scratch | {"DJANGO_SETTINGS_MODULE": "crowdselect.settings"},
        stderr=subprocess.PIPE,
        preexec_fn=hear_interrupts,
    ) as started:
        assert started.stderr is not None
        begun = started.stderr.read(8)
        started.send_signal(signal.SIGINT)
        said = started.communicate()[1]
    assert begun == b"\rreplay:"
    assert b"Interrupted; nothing was written." in said
    assert b"Traceback" not in said
    assert started.returncode == 130
    assert not out.exists()
    assert not list(place.iterdir())


def test_regrets_compare_with_the_best_by_recorded_accuracy():
    accuracy = {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.2}
    best, other = (
        compute_regrets(accuracy, ["a", "b"]),
        compute_regrets(accuracy, ["d", "a"]),
    )
    assert (best.aggregate, best.explore_k) == (0, 0)
    assert other.aggregate == pytest.approx(0.3)
    assert other.explore_k == pytest.approx(0.6)


def test_recorded_accuracies_are_over_tasks_with_gold(past):
    known = crowd.read_crowd(*past)
    assert len(known.workers) == 6
    assert all(len(right) == 60 for right in known.right.values())
    assert known.accuracy["w1"] > 0.85 > 0.6 > known.accuracy["w6"]


@pytest.mark.slow
def test_a_large_crowd_can_be_replayed(tmp_path, out):
    past = write_past(tmp_path, [0.9] * 7 + [0.3] * 32, 100)
    said = replay(past, out, "--with-replacement", "--algorithm", "lucb", k=7, epsilon=0.5)
    assert "its rule to stop was met" in said
    assert "recorded by 39 workers" in said


def test_a_row_that_answers_a_task_again_is_left_out_as_an_import_leaves_it_out(past, out):
    answers, _ = past
    first = answers.read_text().splitlines()[1]
    worker, task, label = first.split(",")
    again = f"\n{worker},{task},{1 - int(label)}"
    alone = replay(past, out)
    chosen = out.read_text()
    answers.write_text(answers.read_text() + again)
    said = replay(past, out)
    assert "1 left out that answer a task again" in said
    assert "again" not in alone
    assert out.read_text() == chosen


THIS_SET = ("--option", "accuracy=on this question set")
HAVING_IT = [name for name, kind in ALGORITHMS.items() if kind.says_accuracy]


@pytest.mark.parametrize("algorithm", HAVING_IT)
def test_a_replay_about_this_question_set_ends_with_its_promise(past, out, algorithm):
    said = replay(past, out, "--algorithm", algorithm, *THIS_SET, epsilon=0.2)
    assert "mean accuracy on this set of 60 questions of the 3 workers selected is within" in said
    assert "Mind" not in said
    assert {row["certified"] for row in read(out)} == {"certified"}
    assert {row["worker"] for row in read(out)} == {"w1", "w2", "w3"}


def test_on_this_question_set_everybody_having_answered_everything_is_certain(past, out):
    said = replay(past, out, "--algorithm", "certified", *THIS_SET, epsilon=0.001)
    assert "its rule to stop was met" in said
    assert "0.0000 aggregate" in said
    assert {row["certified"] for row in read(out)} == {"certified"}


def test_a_replay_warns_where_workers_may_have_chosen_their_questions(past, out):
    lines = past[0].read_text().splitlines()
    past[0].write_text("\n".join(lines[:-20]))
    said = replay(past, out, "--algorithm", "certified", *THIS_SET, epsilon=0.2)
    words = "do not cover all 60 questions for every worker. If workers chose their questions"
    assert words in said
    assert words in read(out)[0]["warnings"]


def test_this_question_set_is_refused_where_it_cannot_be(tmp_path, past, out):
    option = ("--algorithm", "certified", *THIS_SET)
    said = refused(past, out, *option, "--with-replacement")
    assert "is about answering each question once" in said
    large = write_past(tmp_path, ACCURACIES, 1001)
    assert "for at most 1,000 questions, and this one has 1,001" in refused(large, out, *option)


def test_a_run_set_up_by_hand_chooses_alike_with_the_same_seed_slots_and_order(past, out):
    replay(past, out, "--slots", "100", "--keep")
    kept = Run.objects.get()
    answers, _ = file_rows.parse_answers(past[0].read_text(), "answers.csv")
    known = file_rows.parse_gold(past[1].read_text(), "gold.csv")
    pool = Pool.objects.create(name="by hand")
    keys = dict.fromkeys(row.worker for row in answers)
    catalog.take_workers(pool, [WorkerRow(0, key, "", {}) for key in keys])
    question_set = QuestionSet.objects.create(name="by hand")
    rows = [QuestionRow(0, task, task, [label], []) for task, label in known.items()]
    catalog.take_questions(question_set, rows)
    fields = ("k", "algorithm", "epsilon", "delta", "seed")
    own = {field: getattr(kept, field) for field in fields}
    draft = Run(name="by hand", pool=pool, question_set=question_set, recorded_only=True, **own)
    run = lifecycle.create_run(draft)
    lifecycle.start_run(run)
    run.refresh_from_db()
    validate_answers.record_valid_answers(run, validate_answers.validate_answers(run, answers))
    while engine.advance(run.pk):
        pass
    columns = ("worker__key", "arm", "asked", "pulls", "rewards", "verdict")
    assert list(run.candidates.values_list(*columns)) == list(kept.candidates.values_list(*columns))
