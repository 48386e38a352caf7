"""``manage.py evaluate``: from two files to a selection of models."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command

from selection import db_clock
from selection.imports import row_parsers
from selection.management.evaluation_files import Outcome, format_junit
from selection.model_workers import dispatcher, play
from selection.model_workers.model_files import ModelFile
from selection.models import Endpoint, ModelCall, ModelServer, ModelSpending, QuestionSet, Run
from selection.runs import lifecycle
from selection.runs.roster import failing_models, membership
from tests.model_stub import ModelStub
from tests.worlds import make_run

pytestmark = pytest.mark.django_db
ACCURACY = {"good": 0.95, "fair": 0.6, "bad": 0.3}


@pytest.fixture(autouse=True)
def restored(settings: Any) -> None:
    """Restore the settings that the command changes for its process."""
    settings.MODELS_INSIDE = settings.MODELS_INSIDE


def reply(model: str, text: str) -> str:
    """Answer A, which is right, as often as the model's accuracy says."""
    luck = int(hashlib.sha256(f"{model} {text}".encode()).hexdigest()[:8], 16) / 16**8
    return "A" if luck < ACCURACY[model] else "B"


def write_files(folder: Path, url: str, models: list[str], questions: int = 150) -> list[str]:
    rows = "".join(f"q{i},Ticket {i}?,billing,billing | login\n" for i in range(questions))
    (folder / "gold.csv").write_text(f"question,text,answer,choices\n{rows}")
    (folder / "models.yaml").write_text(
        f"servers: {{stub: {{url: '{url}', concurrency: 50, key: sk-secret-key}}}}\n"
        f"models: [{{server: stub, model: {json.dumps(models)}, price_call: 0.01}}]\n"
    )
    return [str(folder / "models.yaml"), str(folder / "gold.csv")]


def run_evaluate(*arguments: str) -> int:
    """Return the exit code of the command."""
    try:
        call_command("evaluate", *arguments)
    except SystemExit as end:
        return int(end.code or 0)
    except CommandError as error:
        return error.returncode
    return 0


@pytest.mark.parametrize("algorithm", ["certified", "same-questions"])
def test_select_the_best_model(algorithm: str, tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, list(ACCURACY))
        chosen = ("--algorithm", algorithm, "--epsilon", "0.2", "--seed", "1")
        call_command("evaluate", *files, *chosen)
    shown = capsys.readouterr().out
    assert "good" in shown.splitlines()[0]
    assert shown.splitlines()[0].endswith("selected")
    assert f"{stub.calls:,} calls of 450" in shown
    assert "with probability at least 0.95" in shown.lower()
    assert "sk-secret-key" not in shown
    assert 0 < stub.calls < 450
    assert Run.objects.get().ended_by_guarantee


def test_print_the_result_for_programs(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, list(ACCURACY))
        call_command("evaluate", *files, "--k", "2", "--epsilon", "0.2", "--seed", "1", "--json")
    result = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in result["models"] if row["selected"]] == ["good", "fair"]
    assert result["calls"] == stub.calls
    assert float(result["cost"]) == pytest.approx(0.01 * stub.calls)


def test_spend_by_price(tmp_path: Path, capsys: Any) -> None:
    settings = ["--by-price", "--algorithm", "universal", "--epsilon", "0.2", "--seed", "1"]
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        with Path(files[0]).open("a") as models:
            models.write("- {server: stub, model: fair, price_call: 0.2}\n")
        Path(files[0]).write_text(
            Path(files[0]).read_text().replace("models: [", "models:\n- ").replace("}]", "}")
        )
        call_command("evaluate", *files, *settings)
    run = Run.objects.get()
    assert sorted(run.options["prices"]) == [0.01, 0.01, 0.2]
    assert "good" in capsys.readouterr().out.splitlines()[0]
    with pytest.raises(CommandError, match="Certified does not spend by price; Universal can"):
        call_command("evaluate", *files, "--by-price")


def test_stop_at_the_limit_of_money(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        arguments = [*files, "--epsilon", "0.001", "--limit", "0.25", "--json"]
        assert run_evaluate(*arguments) == 3
    result = json.loads(capsys.readouterr().out)
    assert stub.calls == 25
    assert result["ending"] == "budget"


def test_bad_rows_are_listed_and_left_out_on_request(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"], questions=12)
        with Path(files[1]).open("a") as gold:
            gold.write("q98,No answer?,,billing | login\nq99,Outside?,neither,billing | login\n")
        with pytest.raises(
            CommandError, match=r"2 rows with an error: line 14: .* line 15: .*-out"
        ):
            call_command("evaluate", *files)
        assert not Run.objects.exists()
        assert stub.calls == 0
        run_evaluate(*files, "--leave-out", "--epsilon", "0.5")
    assert Run.objects.get().question_set.questions.count() == 12


@pytest.mark.parametrize("limit", ["much", "nan", "-1", "1e9"])
def test_refuse_a_limit_that_is_no_amount(tmp_path: Path, limit: str) -> None:
    files = write_files(tmp_path, "http://127.0.0.1:9/v1", ["good", "bad"])
    with pytest.raises(CommandError, match="--limit must be an amount"):
        call_command("evaluate", *files, f"--limit={limit}")
    assert not Run.objects.exists()


def test_evaluation_shows_costs_below_a_cent(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"], questions=2)
        Path(files[0]).write_text(Path(files[0]).read_text().replace("0.01", "0.000003"))
        call_command("evaluate", *files)
    shown = capsys.readouterr().out
    assert "0.000006 $" in shown.splitlines()[0]
    assert "4 calls of 4 (100.0%), 0.000012 $." in shown


def test_pause_by_an_interruption_and_resume(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(run: Run, tell: Any) -> None:
        def tell_and_leave(run: Run) -> None:
            if run.model_calls.exists():
                raise KeyboardInterrupt

        whole(run, tell_and_leave)

    whole = play.play_run
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, list(ACCURACY))
        monkeypatch.setattr(play, "play_run", interrupt)
        assert run_evaluate(*files, "--epsilon", "0.05", "--seed", "1") == 130
        run = Run.objects.get()
        assert run.status == Run.Status.PAUSED
        assert not ModelCall.objects.in_flight().exists()
        shown = capsys.readouterr()
        assert f"--resume {run.pk}" in shown.err
        assert re.search(r"good +\d+\.\d% +\d+ calls", shown.out)
        assert "Not reached yet: With probability at least 0.95" in shown.out
        calls = stub.calls
        assert f"{calls} calls of 450 ({calls / 450:.1%}), {calls / 100:.2f} $." in shown.out
        monkeypatch.setattr(play, "play_run", whole)
        call_command("evaluate", "--resume", str(run.pk), "--limit", "4", "--json")
    assert ModelSpending.objects.get().limit == 4_000_000_000
    assert json.loads(capsys.readouterr().out)["ending"] == "promise"
    assert ModelSpending.objects.get().spent == stub.calls * 10_000_000


@pytest.mark.parametrize(
    ("models", "gold", "why"),
    [
        ("models: []", "question,text,answer\nq,Q?,a\n", "Line 1, column 1"),
        (None, "question,text,answer\nq,Q?,\n", "gold.csv has 1 row with an error: line 2"),
        (None, "a,b\n1,2\n", "gold.csv"),
    ],
)
def test_a_fault_in_a_file_stores_nothing(
    tmp_path: Path, models: str | None, gold: str, why: str
) -> None:
    files = write_files(tmp_path, "http://127.0.0.1:9/v1", list(ACCURACY))
    if models is not None:
        Path(files[0]).write_text(models)
    Path(files[1]).write_text(gold)
    with pytest.raises(CommandError, match=why):
        call_command("evaluate", *files)
    assert not Run.objects.exists()
    assert not ModelServer.objects.exists()


def test_keep_other_processes_from_calling_for_the_run(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def watched(run: Run, tell: Any) -> None:
        def tell_and_look(run: Run) -> None:
            server = ModelServer.objects.get()
            seen.extend(
                [dispatcher.list_servers(), list(dispatcher.list_callable(server, None, 9))]
            )
            if len(seen) == 6:
                raise KeyboardInterrupt

        whole(run, tell_and_look)

    whole = play.play_run
    with ModelStub(reply) as stub:
        monkeypatch.setattr(play, "play_run", watched)
        files = write_files(tmp_path, stub.url, list(ACCURACY))
        assert run_evaluate(*files, "--seed", "1") == 130
    assert seen == [[]] * 6
    run = Run.objects.get()
    lifecycle.resume_run(run)
    assert dispatcher.list_servers() == [ModelServer.objects.get()]


def test_give_up_without_any_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "PATIENCE", 0.5)
    files = write_files(tmp_path, "http://127.0.0.1:9/v1", list(ACCURACY))
    with pytest.raises(CommandError, match="No connection"):
        call_command("evaluate", *files)
    assert Run.objects.get().status == Run.Status.PAUSED


def test_tell_that_the_others_wait_for_money(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "PATIENCE", 2)
    monkeypatch.setattr(failing_models, "MOST_FAILURES", 1000)  # never set aside
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        dead = "dead: {url: 'http://127.0.0.1:9/v1'}, stub:"
        text = Path(files[0]).read_text().replace("stub:", dead, 1)
        text = text.replace("}]", "}, {server: dead, model: gone}]")
        Path(files[0]).write_text(text)
        with pytest.raises(
            CommandError, match=r"No connection .*\(2 others wait for a higher limit"
        ):
            call_command("evaluate", *files, "--epsilon", "0.001", "--limit", "0.1")
    assert ModelSpending.objects.get().spent <= 100_000_000


@pytest.mark.parametrize("renewed", [False, True])
def test_hold_of_a_killed_process_is_waited_for(renewed: bool, monkeypatch: Any) -> None:
    now, said = db_clock.database_now(), []
    run = make_run()
    spending = ModelSpending.objects.create(run=run, held_until=now + play.HOLD)

    def pass_time(seconds: float) -> None:
        spending.held_until = now + 2 * play.HOLD if renewed else None
        spending.save()

    monkeypatch.setattr("time.sleep", pass_time)
    assert play.wait_for_hold(run, said.append) is not renewed
    assert "waiting for its end" in said[0]


def test_raised_limit_continues_the_run_and_repeats_no_call(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        settings = [*files, "--epsilon", "0.2", "--seed", "1"]
        assert run_evaluate(*settings, "--limit", "0.1") == 3
        assert stub.calls == 10
        assert run_evaluate(*settings, "--limit", "0.1") == 3
        assert "has ended; no calls are made" in capsys.readouterr().err
        assert stub.calls == 10
        assert run_evaluate(*settings, "--limit", "9") == 0
        calls = stub.calls
        assert run_evaluate(*settings) == 0
        assert stub.calls == calls == ModelCall.objects.count()
        assert Run.objects.count() == 1
        assert run_evaluate(*settings, "--anew") == 0
    assert Run.objects.count() == 2


def write_broken(folder: Path, url: str, models: list[str]) -> list[str]:
    """Write files with a further model, “gone”, on a server that does not answer."""
    files = write_files(folder, url, models)
    text = Path(files[0]).read_text()
    text = text.replace("stub:", "dead: {url: 'http://127.0.0.1:9/v1'}, stub:", 1)
    Path(files[0]).write_text(text.replace("}]", "}, {server: dead, model: gone}]"))
    return files


def test_broken_model_is_set_aside_or_left_out(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failing_models, "MOST_FAILURES", 1)  # rests would only take time here
    with ModelStub(reply) as stub:
        files = write_broken(tmp_path, stub.url, list(ACCURACY))
        assert run_evaluate(*files, "--epsilon", "0.2", "--seed", "1") == 0
        shown = capsys.readouterr()
        assert re.search(r"gone .* set aside", shown.out)
        assert "Of the 4 workers 1 never answered" in shown.out
        assert re.search(r"good +(billing|login) +22 ", shown.err)
        assert "“gone” never replied and is set aside: No connection" in shown.err
        run = Run.objects.get()
        assert run.model_calls.filter(worker__key="gone").count() <= 3
        assert run_evaluate(*files, "--drop", "gone", "--epsilon", "0.2", "--seed", "1") == 0
        assert Run.objects.latest("pk").candidates.count() == 3
        assert run_evaluate(*files, "--drop", "nobody") == 2


def test_run_without_a_choice_is_refused(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failing_models, "MOST_FAILURES", 1)  # rests would only take time here
    with ModelStub(reply) as stub:
        files = write_broken(tmp_path, stub.url, ["good"])
        with pytest.raises(CommandError, match=r"1 of 2 models never replied.*No connection"):
            call_command("evaluate", *files)
    run = Run.objects.get()
    assert run.status == Run.Status.PAUSED
    with ModelStub(reply) as stub:
        ModelServer.objects.update(url=stub.url)
        Endpoint.objects.filter(model="gone").update(model="fair")
        arguments = ["--take-back", "gone", "--json"]
        membership.withdraw_workers(run, ["gone"])
        assert run_evaluate("--resume", str(run.pk), *arguments) == 0
    assert not run.candidates.exclude(gone="").exists()


@pytest.mark.parametrize("columns", ["prompt=question,answer=target", "question=prompt"])
def test_map_columns_of_the_gold_file(tmp_path: Path, capsys: Any, columns: str) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"], 2)
        answer = "target" if "target" in columns else "answer"
        rows = "".join(f"Ticket {i}?,billing,billing | login\n" for i in range(9))
        Path(files[1]).write_text(f"question,{answer},choices\n{rows}")
        assert run_evaluate(*files, "--map", columns, "--limit", "0.02") == 3
        assert run_evaluate(*files, "--map", "prompt", "--anew") == 2
        assert run_evaluate(*files, "--map", "prompt=nowhere", "--anew") == 2
    assert QuestionSet.objects.get().questions.first().prompt == "Ticket 0?"


def test_unreadable_replies_have_an_exit_code_and_a_way_on(tmp_path: Path, capsys: Any) -> None:
    def mumble(model: str, text: str) -> str:
        return "Well, hm." if model == "bad" else reply(model, text)

    with ModelStub(mumble) as stub:
        files = write_files(tmp_path, stub.url, list(ACCURACY))
        settings = [*files, "--epsilon", "0.2", "--seed", "1"]
        assert run_evaluate(*settings, "--json") == 4
        shown = capsys.readouterr()
        counts = {row["worker"]: row for row in json.loads(shown.out)["replies"]}
        assert counts["bad"]["unreadable"] == counts["bad"]["replies"] > 0
        assert "“bad”: choose another “parsing”" in shown.err
        assert run_evaluate(*settings, "--unreadable", "set-aside") == 0
        assert Run.objects.get().candidates.get(worker__key="bad").gone
        assert run_evaluate(*settings, "--anew", "--unreadable", "wrong") == 0


def test_the_example_is_written_once_and_can_be_read(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "try.yaml"
    assert run_evaluate("--init", str(path)) == 0
    assert f"crowdselect evaluate {path} --check" in capsys.readouterr().out
    file = ModelFile(path.read_text(), tmp_path)
    server = ModelServer(name="openai", url=file.servers[0].values["url"], team_id=1)
    endpoints = dict(file.build_endpoints({"openai": server}))
    assert len(endpoints) == 4
    assert {one.temperature for one in endpoints.values()} == {None}
    rows = row_parsers.read_path(tmp_path / "gold.csv").decode().splitlines()
    assert file.data == tmp_path / "gold.csv"
    assert len(rows) == 13
    path.write_text("mine")
    assert run_evaluate("--init", str(path)) == 2
    assert path.read_text() == "mine"


def write_one_file(folder: Path, url: str) -> str:
    """Write a model file that names its data, with columns of other names."""
    files = write_files(folder, url, ["good", "bad"], questions=20)
    gold = Path(files[1])
    gold.write_text(gold.read_text().replace("question,text,answer", "nr,ask,want"))
    fields = "{question: nr, prompt: ask, answer: want}"
    Path(files[0]).write_text(f"data: gold.csv\nfields: {fields}\n{Path(files[0]).read_text()}")
    return files[0]


def test_check_calls_each_model_once_and_its_draft_is_started(tmp_path: Path, capsys: Any) -> None:
    replies = {"bad": "Well, hm."}
    with ModelStub(lambda model, text: replies.get(model) or reply(model, text)) as stub:
        stub.refused["max_tokens"] = "Use max_completion_tokens instead."
        settings = [write_one_file(tmp_path, stub.url), "--epsilon", "0.3", "--seed", "1"]
        assert run_evaluate(*settings, "--check", "--limit", "0.01") == 2
        assert stub.calls == 0
        assert run_evaluate(*settings, "--check", "--limit", "9") == 1
        shown = capsys.readouterr().out
        assert re.search(r"bad +unreadable +22 +0.01 \$", shown)
        assert "“good”: The server refuses the request without changes: “max_comp" in shown
        assert re.search(r"about \d+ calls, 0\.\d+ \$ in .*; at most 40 calls, 0.40 \$\.", shown)
        assert "No answer of 1 model: “bad”." in shown
        run = Run.objects.get()
        assert run.status == Run.Status.DRAFT
        assert not run.model_calls.exists()
        replies.clear()
        assert run_evaluate(*settings, "--check", "--json") == 0
        checked = json.loads(capsys.readouterr().out)
        assert checked["passed"]
        assert stub.outcomes["replied"] == 4
        assert run_evaluate(*settings) == 0
        run.refresh_from_db()
        assert run.status == Run.Status.ENDED
        assert QuestionSet.objects.get().questions.get(key="q3").prompt == "Ticket 3?"


def test_result_is_left_in_files(tmp_path: Path, capsys: Any) -> None:
    report, junit = tmp_path / "out.html", tmp_path / "out.xml"
    outputs = ["--report", str(report), "--junit", str(junit)]
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"], questions=40)
        assert run_evaluate(*files, "--report", str(tmp_path / "no" / "out.html")) == 2
        assert run_evaluate(*files, "--map", "prompt=nowhere", *outputs) == 2
        assert stub.calls == 0
        [case] = ElementTree.parse(junit).getroot()
        assert "no column “nowhere”" in case.find("failure").get("message")
        settings = [*files, "--epsilon", "0.001", "--seed", "1", *outputs]
        assert run_evaluate(*settings, "--limit", "0.3") == 3
        suite = ElementTree.parse(junit).getroot()
        assert {case.get("name") for case in suite} == {"guarantee", "good", "bad"}
        assert suite[0].find("failure").get("message").startswith("Exit code 3: ")
        assert run_evaluate(*settings, "--limit", "9") == 0
    assert ElementTree.parse(junit).getroot().attrib | {"name": ""} == {
        "name": "",
        "tests": "3",
        "failures": "0",
        "skipped": "0",
    }
    page = report.read_text()
    run = Run.objects.get()
    calls = run.model_calls.count()
    assert f"{calls} calls, " in page
    assert re.search(r"<td>good</td>.*selected</td>", page)
    assert re.search(r"best of the others, bad, both answered \d+ questions, and differ on", page)
    assert re.search(r"<td>q\d+</td><td>Ticket \d+\?</td><td class=\"num\">1 of 1</td>", page)
    assert "We chose 1 of 2 workers" in page


def test_junit_names_a_missing_file(tmp_path: Path) -> None:
    junit, missing = tmp_path / "out.xml", tmp_path / "missing.yaml"
    with pytest.raises(CommandError, match="no such file"):
        call_command("evaluate", str(missing), "--junit", str(junit))
    [failure] = ElementTree.parse(junit).getroot().iter("failure")
    assert failure.attrib["message"] == f"Exit code 2: {missing}: no such file or directory."


def test_junit_stores_any_problem_of_a_model() -> None:
    outcome = Outcome(None, 1, "odd \x00\x1b\ud800 & <b>")
    [case] = ElementTree.fromstring(format_junit(outcome))
    assert case.find("failure").get("message") == "Exit code 1: odd ��� & <b>"
