"""``manage.py replay``: the result of *Try it on past answers*, without a database."""

import csv
import json
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from crowdselect.past_answers import plays, records, replay_requests, results
from selection import tasks
from selection.imports.keyed_answers import File
from selection.models import default_team
from tests.pasts import write_past

THIS_SET = ("--option", "accuracy=on this question set")


@pytest.fixture
def past(tmp_path) -> list[Path]:
    return list(write_past(tmp_path, [0.95, 0.9, 0.95, 0.4, 0.5, 0.3], 60))


def command_line(past: list[Path], *options: str) -> list[str]:
    usual = {"--answers": str(past[0]), "--k": "3", "--epsilon": "0.3", "--delta": "0.1"}
    usual |= {"--gold": str(past[1])} if past[1:] else {}
    return ["replay", *(word for pair in usual.items() for word in pair), *options]


def replay(past: list[Path], *options: str) -> str:
    output = StringIO()
    call_command(*command_line(past, *options), stdout=output)
    return output.getvalue()


def document(past: list[Path], *options: str) -> dict[str, Any]:
    return json.loads(replay(past, *options, "--seeds", "2", "--json"))


def refusal(past: list[Path], *options: str) -> str:
    with pytest.raises(CommandError) as caught:
        replay(past, *options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- the result


def test_table_names_headline_methods_and_selected_workers(past):
    output = replay(past, "--seeds", "2")
    best = document(past)["result"]
    assert output.startswith(f"{best['headline']}. Target: the best 3 of 6 workers, within 30 poi")
    for method in best["methods"]:
        assert f"{method['title']} selects: {', '.join(method['selected'])}" in output
        assert f"\n{method['algorithm']} " in output
    assert "credible   " in output
    assert "aggregate, on average" in output
    assert set(best["methods"][-1]["selected"]) == {"w1", "w2", "w3"}


@pytest.mark.django_db
@pytest.mark.any_database
def test_json_has_the_result_of_page_and_api(past, tmp_path, monkeypatch):
    monkeypatch.setattr(plays, "SEEDS", 2)
    answers, key = (File(path.name, path.read_bytes()) for path in past)
    wanted = {"k": 3, "epsilon": 0.3, "delta": 0.1}
    source = replay_requests.Source(answers, key)
    stored = replay_requests.request_replay(source, wanted, default_team())
    while stored.going:
        tasks.work_on_long_job(str(stored.pk))
        stored.refresh_from_db()
    api = json.loads(json.dumps(results.build_result(stored).serialize()))
    path = tmp_path / "result.json"
    printed = json.loads(replay(past, "--seeds", "2", "--json", "--out", str(path)))
    assert printed["result"] == api
    assert printed["facts"] == stored.facts
    assert json.loads(path.read_text()) == printed


def test_csv_has_a_row_for_each_method_and_the_reason_of_a_refusal(past, tmp_path):
    path, chosen = tmp_path / "methods.csv", ("--algorithm", "sar", "--algorithm", "lucb")
    replay(past, *chosen, "--seeds", "1", "--out", str(path))
    with path.open(encoding="utf-8", newline="") as file:
        lucb, refused = csv.DictReader(file)
    assert sorted(lucb["selected"].split("; ")) == ["w1", "w2", "w3"]
    assert (lucb["enough"], lucb["answers"], lucb["refused"]) == ("False", "360", "")
    assert (refused["algorithm"], refused["refused"]) == ("sar", "SAR needs a budget.")
    assert "Not run: sar: SAR needs a budget." in replay(past, *chosen)


def test_chosen_method_alone_may_be_enough(past):
    result = document(past, "--algorithm", "lucb", "--epsilon", "0.8")["result"]
    assert [(row["algorithm"], row["runs"]) for row in result["methods"]] == [("lucb", 2)]
    assert result["enough"] == result["methods"][0]["answers"] < 360


def test_seeds_play_different_orders(past):
    chosen = ("--algorithm", "credible", "--epsilon", "0.05")
    first, again = document(past, *chosen), document(past, *chosen)
    assert first == again
    (row,) = first["result"]["methods"]
    assert len({answers for answers, *_ in row["plays"]}) == 2


def test_answers_drawn_with_replacement_never_run_out(past):
    chosen = ("--algorithm", "kl-lucb", "--epsilon", "0.1")
    once = document(past, *chosen)["result"]
    again = document(past, *chosen, "--with-replacement")["result"]
    assert (once["headline"], once["enough"]) == ("All 360 answers were not enough", None)
    assert again["enough"] > 360
    sentence = "answers drawn with replacement from 360 would have been enough"
    assert again["headline"] == f"{again['enough']:,} {sentence}"
    output = replay(past, *chosen, "--with-replacement", "--budget", "50")
    assert output.startswith("Answers drawn with replacement from 360 were not enough.")


@pytest.mark.parametrize("drawn", [[], ["--with-replacement"]])
def test_budget_limits_every_method(past, drawn):
    chosen = [word for name in ("adaptive-top-k", "lucb", "sar") for word in ("--algorithm", name)]
    result = document(past, *chosen, *drawn, "--budget", "100", "--epsilon", "0.01")["result"]
    assert {row["answers"] <= 100 for row in result["methods"]} == {True}
    assert len(result["methods"]) == 3


def test_option_goes_to_the_methods_that_have_it(past):
    chosen = ("--algorithm", "certified", "--algorithm", "lucb", "--epsilon", "0.01")
    usual = document(past, *chosen)["result"]["methods"]
    certified, lucb = document(past, *chosen, *THIS_SET)["result"]["methods"]
    assert (usual[0]["enough"], usual[1]) == (False, lucb)
    assert (certified["enough"], certified["loss"], certified["untrue"]) == (True, 0, 0)
    output = replay(past, *chosen, *THIS_SET, "--seeds", "1")
    assert output.count("aggregate, on this question set") == 1


def test_doubts_are_listed(past):
    past[0].write_text("\n".join(past[0].read_text().splitlines()[:-20]))
    output = replay(past, "--algorithm", "certified", *THIS_SET, "--seeds", "1")
    assert "Mind: Certified: The imported answers do not cover all 60 questions" in output


# -- the files


def test_answers_without_use_are_counted(past):
    more = "\nw1,t1,1\nw1,unknown,1\nw9,unknown,0\n,t1,1\n"
    past[0].write_text(past[0].read_text() + more)
    assert "line 365" in refusal(past)
    output = replay(past, "--leave-out", "--seeds", "1")
    assert "2 to questions without a correct answer in the key; 1 repeated" in output
    assert "1 in rows with an error. 1 worker has no other answers." in output


def test_scores_in_a_folder_are_replayed_by_the_chosen_metric(tmp_path):
    rng, folder = np.random.default_rng(3), tmp_path / "results"
    for model, mean in {"a": 0.9, "b": 0.85, "c": 0.3, "d": 0.2, "e": 0.25}.items():
        samples = [
            {"doc_id": item, "doc_hash": str(item), "metrics": ["f1", "none"], "none": 0.5}
            | {"f1": rng.beta(3 * mean, 3 - 3 * mean)}
            for item in range(60)
        ]
        (folder / model).mkdir(parents=True)
        path = folder / model / "samples_task_2026-01-01.jsonl"
        path.write_text("\n".join(map(json.dumps, samples)))
    chosen = ("--k", "2", "--algorithm", "certified", "--algorithm", "credible")
    assert "several results for each answer" in refusal([folder], *chosen)
    read = document([folder], *chosen, "--pick", "metric=f1")
    assert (read["facts"]["scores"], read["facts"]["answers"]) == (True, 300)
    assert set(read["result"]["methods"][0]["selected"]) == {"a", "b"}
    assert list(read["result"]["refused"]) == ["credible"]


def test_files_above_the_limit_of_the_page_are_replayed(past, monkeypatch):
    monkeypatch.setattr(records, "MOST_REPLAYED", 100)
    assert document(past)["facts"]["answers"] == 360


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--k", "6"], "K must be at least 1 and less than the number of workers (6)"),
        (["--k", "0"], "K must be at least 1"),
        (["--epsilon", "1"], "Epsilon must be"),
        (["--epsilon", "nan"], "Epsilon must be"),
        (["--delta", "0"], "Delta must be"),
        (["--budget", "0"], "The budget must be"),
        (["--seeds", "0"], "There must be at least 1 seed, not 0."),
        (["--algorithm", "magic"], "invalid choice: 'magic'"),
        (["--algorithm", "multi-sar"], "invalid choice: 'multi-sar'"),
        (["--algorithm", "sar"], "SAR needs a budget."),
        (["--algorithm", "lucb", *THIS_SET], "No algorithm of lucb has an option accuracy."),
        (["--algorithm", "certified", *THIS_SET, "--with-replacement"], "each question once"),
        (["--answers", "nothing.csv"], "nothing.csv cannot be read"),
        (["--out", "nowhere/result.csv"], "there is no folder nowhere"),
        (["--out", "result.txt"], "result.txt must end in .csv or .json"),
    ],
)
def test_request_that_cannot_be_played_is_refused_in_one_sentence(past, options, words):
    assert words in refusal(past, *options)


def test_earlier_file_stays_when_a_later_replay_fails(past, tmp_path):
    path = tmp_path / "result.csv"
    path.write_text("earlier")
    refusal(past, "--k", "6", "--out", str(path))
    assert path.read_text() == "earlier"


# -- the shell


def shell(past: list[Path], *options: str) -> list[str]:
    return [sys.executable, "manage.py", *command_line(past, *options)]


@pytest.mark.slow
def test_shell_sees_exit_code_2_and_one_sentence(past):
    words = shell(past, "--k", "6")
    done = subprocess.run(words, cwd=settings.BASE_DIR, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "K must be at least 1" in done.stderr


def hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background processes ignore them


@pytest.mark.slow
def test_interrupt_leaves_no_file(past, tmp_path):
    before = set(tmp_path.iterdir())
    options = ("--epsilon", "0.01", "--with-replacement", "--seeds", "1000")
    with subprocess.Popen(
        shell(past, *options, "--out", str(tmp_path / "result.csv")),
        cwd=settings.BASE_DIR,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "crowdselect.settings"},
        stderr=subprocess.PIPE,
        preexec_fn=hear_interrupts,
    ) as started:
        assert started.stderr is not None
        begun = started.stderr.read(8)
        started.send_signal(signal.SIGINT)
        output = started.communicate()[1]
    assert begun == b"\rreplay:"
    assert b"Interrupted; nothing was written." in output
    assert b"Traceback" not in output
    assert started.returncode == 130
    assert set(tmp_path.iterdir()) == before
