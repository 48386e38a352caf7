"""``manage.py evaluate``: from two files to a selection of models."""

import hashlib
import json
import re
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command

from selection.evaluations import calls
from selection.evaluations.calls import Caller
from selection.evaluations.files import Outcome, render_junit
from selection.evaluations.ledger import Ledger, Row
from selection.imports import row_parsers
from selection.model_workers import price_list
from selection.model_workers.model_files import ModelFile
from selection.models import ModelServer
from tests.model_stub import ModelStub

ACCURACY = {"good": 0.95, "fair": 0.6, "bad": 0.3}


@pytest.fixture(autouse=True)
def restored(settings: Any, tmp_path: Path) -> None:
    """Restore the settings that the command changes for its process; no database is there."""
    settings.MODELS_INSIDE, settings.MODEL_KEYS = settings.MODELS_INSIDE, settings.MODEL_KEYS
    settings.VAR_DIR = tmp_path / "data"


def stored(folder: Path, statement: str = "SELECT * FROM calls ORDER BY number") -> list[Row]:
    return Ledger(folder / "data" / "evaluations").execute(statement)


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
    assert "with probability at least 95%" in shown.lower()
    assert "sk-secret-key" not in shown
    assert 0 < stub.calls < 450


def test_print_the_result_for_programs(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, list(ACCURACY))
        call_command("evaluate", *files, "--k", "2", "--epsilon", "0.2", "--seed", "1", "--json")
    result = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in result["models"] if row["selected"]] == ["good", "fair"]
    assert result["calls"] == stub.calls
    assert float(result["cost"]) == pytest.approx(0.01 * stub.calls)


def test_stop_at_the_limit_of_money(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        arguments = [*files, "--epsilon", "0.001", "--limit", "0.25", "--json"]
        assert run_evaluate(*arguments) == 3
    result = json.loads(capsys.readouterr().out)
    assert stub.calls == 25
    assert result["ending"] == "money"


def test_bad_rows_are_listed_and_left_out_on_request(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"], questions=12)
        with Path(files[1]).open("a") as gold:
            gold.write("q98,No answer?,,billing | login\nq99,Outside?,neither,billing | login\n")
        with pytest.raises(
            CommandError, match=r"2 rows with an error: line 14: .* line 15: .*-out"
        ):
            call_command("evaluate", *files)
        assert stub.calls == 0
        run_evaluate(*files, "--leave-out", "--epsilon", "0.5")
    assert "of 24" in capsys.readouterr().out


@pytest.mark.parametrize("limit", ["much", "nan", "-1", "1e9"])
def test_refuse_a_limit_that_is_no_amount(tmp_path: Path, limit: str) -> None:
    files = write_files(tmp_path, "http://127.0.0.1:9/v1", ["good", "bad"])
    with pytest.raises(CommandError, match="--limit must be an amount"):
        call_command("evaluate", *files, f"--limit={limit}")


def test_evaluation_shows_costs_below_a_cent(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"], questions=2)
        Path(files[0]).write_text(Path(files[0]).read_text().replace("0.01", "0.000003"))
        call_command("evaluate", *files)
    shown = capsys.readouterr().out
    assert "0.000006 $" in shown.splitlines()[0]
    assert re.search(r"[34] calls of 4 \(.*%\), 0\.0000(09|12) \$\.", shown)


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
    assert not stored(tmp_path, "SELECT * FROM runs")


def write_broken(folder: Path, url: str, models: list[str]) -> list[str]:
    """Write files with a further model, “gone”, on a server that does not answer."""
    files = write_files(folder, url, models)
    text = Path(files[0]).read_text()
    text = text.replace("stub:", "dead: {url: 'http://127.0.0.1:9/v1'}, stub:", 1)
    Path(files[0]).write_text(text.replace("}]", "}, {server: dead, model: gone}]"))
    return files


def test_map_columns_of_the_gold_file(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"], 2)
        rows = "".join(f"Ticket {i}?,billing,billing | login\n" for i in range(9))
        Path(files[1]).write_text(f"question,target,choices\n{rows}")
        assert (
            run_evaluate(*files, "--map", "prompt=question,answer=target", "--limit", "0.02") == 3
        )
        assert run_evaluate(*files, "--map", "prompt", "--anew") == 2
        assert run_evaluate(*files, "--map", "prompt=nowhere", "--anew") == 2
    assert all("Ticket " in body["messages"][-1]["content"] for body in stub.bodies)


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
        assert run_evaluate(*settings, "--limit", "0.2") == 3
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
    assert f"{stub.calls} calls of 80" in page
    assert re.search(r"<td>good</td>.*selected</td>", page)
    assert re.search(r"best of the others, bad, both answered \d+ questions, and differ on", page)
    assert re.search(r"<td>q\d+</td><td>Ticket \d+\?</td><td class=\"num\">1 of 1</td>", page)
    assert "We chose 1 of 2 models" in page


def test_junit_names_a_missing_file(tmp_path: Path) -> None:
    junit, missing = tmp_path / "out.xml", tmp_path / "missing.yaml"
    with pytest.raises(CommandError, match="no such file"):
        call_command("evaluate", str(missing), "--junit", str(junit))
    [failure] = ElementTree.parse(junit).getroot().iter("failure")
    assert failure.attrib["message"] == f"Exit code 2: {missing}: no such file or directory."


def test_junit_stores_any_problem_of_a_model() -> None:
    outcome = Outcome(None, 1, "odd \x00\x1b\ud800 & <b>")
    [case] = ElementTree.fromstring(render_junit(outcome))
    assert case.find("failure").get("message") == "Exit code 1: odd ��� & <b>"


# -- what it was started with


def test_spend_by_price(tmp_path: Path, capsys: Any) -> None:
    settings = ["--by-price", "--algorithm", "universal", "--epsilon", "0.2", "--seed", "1"]
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        text = Path(files[0]).read_text().replace("models: [", "models:\n- ").replace("}]", "}")
        Path(files[0]).write_text(f"{text}- {{server: stub, model: fair, price_call: 0.2}}\n")
        assert run_evaluate(*files, *settings) == 0
        assert "good" in capsys.readouterr().out.splitlines()[0]
        path = tmp_path / "data" / "evaluations" / "1.study"
        with sqlite3.connect(path) as study:
            query = "SELECT value FROM settings WHERE name = 'options'"
            [[options]] = study.execute(query).fetchall()
        assert json.loads(options)["prices"] == [0.01, 0.01, 0.2]
        assert run_evaluate(*files, "--by-price", "--anew") == 2


def test_raised_limit_continues_the_run_and_repeats_no_call(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        settings = [*files, "--epsilon", "0.2", "--seed", "1"]
        assert run_evaluate(*settings, "--limit", "0.1") == 3
        assert stub.calls == 10
        assert run_evaluate(*settings) == 3  # the limit stays
        assert stub.calls == 10
        assert run_evaluate(*settings, "--limit", "9") == 0
        calls_made = stub.calls
        assert run_evaluate(*settings) == run_evaluate("--resume", "1") == 0
        assert "has ended; no calls are made" in capsys.readouterr().err
        assert stub.calls == calls_made == len(stored(tmp_path))
        pairs = {(row["model"], row["question"]) for row in stored(tmp_path)}
        assert len(pairs) == calls_made
        assert run_evaluate(*settings, "--anew") == 0
    assert len(stored(tmp_path, "SELECT * FROM runs")) == 2


def test_a_run_in_progress_keeps_what_it_was_started_with(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {
        "“models on gold”, is in progress.* url was 'http://.*' and is 'http": ("url", None),
        "models › good › price_call was 0.01 and is 0.02": ("0.01", "0.02"),
        "models › good › max_tokens is new": ("price_call", "max_tokens: 9, price_call"),
    }
    with ModelStub(reply) as stub, ModelStub(reply) as stranger:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        start = Path(files[0]).read_text()
        with signalled(monkeypatch, signal.SIGINT, after=10):
            assert run_evaluate(*files) == 130
        before = stub.calls
        for words, (old, new) in changes.items():
            moved = start.replace(stub.url, stranger.url)
            Path(files[0]).write_text(start.replace(old, new) if new else moved)
            with pytest.raises(CommandError, match=words):
                call_command("evaluate", *files)
            assert run_evaluate("--resume", "1") == 2
        Path(files[0]).write_text(start)
        with pytest.raises(CommandError, match=r"settings › epsilon was 0\.05 and is 0\.3"):
            call_command("evaluate", *files, "--epsilon", "0.3")
        Path(files[1]).write_text(Path(files[1]).read_text().replace("Ticket 7?", "Ticket 8?"))
        with pytest.raises(CommandError, match="questions › q7 has changed"):
            call_command("evaluate", *files)
        assert (stub.calls, stranger.calls) == (before, 0)
        assert run_evaluate(*files, "--anew", "--epsilon", "0.3") == 0
        write_files(tmp_path, stub.url, ["good", "bad", "fair"])
        capsys.readouterr()
        assert run_evaluate(*files, "--epsilon", "0.3") == 0  # that one had ended
        assert "changes since run 2: models › fair is new" in capsys.readouterr().err
    assert stranger.calls == 0


def test_a_run_without_any_reply_may_be_mended(
    tmp_path: Path, capsys: Any, impatient: None
) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, "http://127.0.0.1:9/v1", ["good", "bad"])
        assert run_evaluate(*files, "--epsilon", "0.3") == 2  # nobody replies there
        write_files(tmp_path, stub.url, ["good", "bad"])
        assert run_evaluate(*files, "--epsilon", "0.3") == 0
        assert (
            "A new run, because of changes since run 1: servers › stub" in capsys.readouterr().err
        )


def test_two_files_with_a_server_of_one_name_call_their_own(tmp_path: Path) -> None:
    with ModelStub(reply) as one, ModelStub(reply) as other:
        for stub, name in ((one, "one"), (other, "other")):
            (tmp_path / name).mkdir()
            files = write_files(tmp_path / name, stub.url, ["good", "bad"], 30)
            assert run_evaluate(*files, "--epsilon", "0.3", "--limit", "0.1") == 3
        assert (one.calls, other.calls) == (10, 10)
        assert run_evaluate("--resume", "1", "--limit", "9") == 0
        assert one.calls > other.calls == 10


def test_prices_of_the_start_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def publish(price: float) -> None:
        prices = dict.fromkeys(price_list.PRICES, 0) | {"price_call": price}
        monkeypatch.setattr(price_list, "find_prices", lambda url, model: prices)

    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        Path(files[0]).write_text(Path(files[0]).read_text().replace(", price_call: 0.01", ""))
        publish(0.01)
        assert run_evaluate(*files, "--epsilon", "0.2", "--limit", "0.1") == 3
        publish(0.5)
        assert run_evaluate(*files, "--epsilon", "0.2", "--limit", "0.2") == 3
        assert stub.calls == 20


# -- interrupted


@contextmanager
def signalled(monkeypatch: pytest.MonkeyPatch, number: int, after: int) -> Iterator[None]:
    """Send a signal to this process once so many calls have ended."""
    with monkeypatch.context() as patch:
        whole = Caller.close

        def close(self: Caller, *ended: Any) -> dict[str, Any]:
            row = whole(self, *ended)
            if len(self.ledger.list_replies(self.run or 0)) == after:
                signal.raise_signal(number)
            return row

        patch.setattr(Caller, "close", close)
        yield


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_pause_by_an_interruption_and_resume(
    number: int, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, list(ACCURACY))
        with signalled(monkeypatch, number, after=10):
            assert run_evaluate(*files, "--epsilon", "0.05", "--seed", "1") == 130
        shown = capsys.readouterr()
        assert "--resume 1" in shown.err
        assert re.search(r"good +\d+\.\d% +\d+ calls", shown.out)
        assert "Not reached yet: With probability at least 95%" in shown.out
        made = stub.calls
        assert f"{made} calls of 450 ({made / 450:.1%}), {made / 100:.2f} $." in shown.out
        assert {row["state"] for row in stored(tmp_path)} == {"replied"}
        assert run_evaluate("--resume", "1", "--limit", "4", "--json") == 0
    assert json.loads(capsys.readouterr().out)["ending"] == "guarantee"
    assert sum(row["cost"] for row in stored(tmp_path)) == stub.calls * 10_000_000
    assert len({(row["model"], row["question"]) for row in stored(tmp_path)}) == stub.calls


# -- models that cannot answer


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "PATIENCE", 0.5)
    monkeypatch.setattr(calls, "LONG_PATIENCE", 0.5)
    monkeypatch.setattr(calls, "rest_seconds", lambda failures: 0.05 * 2**failures)


@pytest.mark.parametrize("status", [429, 500, 400, 401])
def test_a_model_that_cannot_answer_does_not_cost_the_questions_of_the_others(
    status: int, tmp_path: Path, capsys: Any, impatient: None
) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, [*ACCURACY, "gone"])
        stub.statuses["gone"] = status
        settings = ["--epsilon", "0.2", "--seed", "1"]
        assert run_evaluate(*files, *settings) == 0
        shown = capsys.readouterr()
        assert "good" in shown.out.splitlines()[0]
        assert re.search(r"gone .* set aside", shown.out)
        assert "Set aside: gone." in shown.out
        assert f"“gone” cannot answer and is set aside: The server answered {status}" in shown.err
        assert "--drop “gone”" in shown.err
        failed = stub.outcomes["status"]
        assert failed <= 8
        paid = stub.outcomes["replied"]
        assert paid == sum(row["cost"] for row in stored(tmp_path)) / 10_000_000
        assert run_evaluate(*files, *settings, "--drop", "gone", "--anew") == 0
        alone = len(stored(tmp_path, "SELECT * FROM calls WHERE run = 2"))
        assert paid <= alone + 60  # of 450; at temperature 0 the second run reuses replies
        assert stub.outcomes["status"] == failed
        assert run_evaluate(*files, "--drop", "nobody", "--anew") == 2


def test_a_model_set_aside_is_taken_back(tmp_path: Path, capsys: Any, impatient: None) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["fair", "bad", "good"])
        stub.statuses["good"] = 500
        settings = [*files, "--epsilon", "0.01", "--seed", "1"]
        assert run_evaluate(*settings, "--limit", "0.5") == 3
        assert "good" not in capsys.readouterr().out.splitlines()[0]
        stub.statuses.clear()
        assert run_evaluate(*settings, "--take-back", "good", "--limit", "9") == 0
        assert "good" in capsys.readouterr().out.splitlines()[0]
        assert run_evaluate(*settings, "--take-back", "nobody") == 2


def test_a_run_without_a_choice_is_paused(tmp_path: Path, capsys: Any, impatient: None) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, ["good", "gone"])
        stub.statuses["gone"] = 500
        with pytest.raises(CommandError, match="1 of 2 models cannot answer, so there is nothing"):
            call_command("evaluate", *files)
        assert stub.outcomes["replied"] < 30
        stub.status = 500
        with pytest.raises(CommandError, match=r"2 models cannot answer|No model replies"):
            call_command("evaluate", *files)
        stub.status = None
        stub.statuses.clear()
        stub.reply = lambda model, text: reply(model.replace("gone", "bad"), text)
        assert run_evaluate(*files) == 0


def test_a_model_that_answers_no_more_pauses_the_run_that_would_lose_its_guarantee(
    tmp_path: Path, capsys: Any, impatient: None
) -> None:
    with ModelStub(reply) as stub:
        files = write_files(tmp_path, stub.url, list(ACCURACY))

        def fail_later(model: str, text: str) -> str:
            if stub.outcomes["replied"] > 30:
                stub.statuses["good"] = 429
            return reply(model, text)

        stub.reply = fail_later
        settings = [*files, "--epsilon", "0.03", "--seed", "1"]
        with pytest.raises(CommandError, match=r"guarantee would be lost .*“good”.* by --drop"):
            call_command("evaluate", *settings)
        assert stub.outcomes["replied"] < 300
        assert run_evaluate(*settings, "--drop", "good") == 3
        assert "guarantee" in capsys.readouterr().out


# -- replies without an answer


def hedge(model: str, text: str) -> str:
    words = {"A": "1. billing, 2. login", "B": "1. login, 2. billing"}
    return words[reply(model, text)] if model == "good" else reply(model, text)


def test_unreadable_replies_have_an_exit_code_and_a_way_on(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(lambda m, t: "Well, hm." if m == "bad" else reply(m, t)) as stub:
        files = write_files(tmp_path, stub.url, list(ACCURACY))
        settings = [*files, "--epsilon", "0.2", "--seed", "1"]
        assert run_evaluate(*settings, "--json") == 4
        shown = capsys.readouterr()
        counts = {row["worker"]: row for row in json.loads(shown.out)["replies"]}
        assert counts["bad"]["unreadable"] == counts["bad"]["replies"] > 0
        assert "“bad”: choose another “parsing”" in shown.err
        made = stub.calls
        assert run_evaluate(*settings) == 4  # until there is a decision
        assert stub.calls == made
        assert run_evaluate(*settings, "--unreadable", "wrong") == 0
        assert run_evaluate(*settings, "--anew", "--unreadable", "wrong") == 0
        assert "set aside" not in capsys.readouterr().out


def test_stored_replies_are_read_again_by_another_rule(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(hedge) as stub:
        files = write_files(tmp_path, stub.url, list(ACCURACY))
        settings = [*files, "--epsilon", "0.2", "--seed", "1"]
        assert run_evaluate(*settings) == 4
        made = len(stored(tmp_path))
        capsys.readouterr()
        again = ["--unreadable", "reread", "--parsing", "regex", "--pattern", r"billing|login|A|B"]
        assert run_evaluate(*settings, *again) == 0
        assert "good" in capsys.readouterr().out.splitlines()[0]
        assert (
            len({(row["model"], row["question"]) for row in stored(tmp_path)}) == stub.calls > made
        )


def test_check_calls_each_model_once_and_starts_nothing(tmp_path: Path, capsys: Any) -> None:
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
        assert not stored(tmp_path, "SELECT * FROM runs")
        replies.clear()
        assert run_evaluate(*settings, "--check", "--json") == 0
        checked = json.loads(capsys.readouterr().out)
        assert checked["passed"]
        assert stub.outcomes["replied"] == 4
        assert run_evaluate(*settings) == 0
        asked = [body["messages"][-1]["content"] for body in stub.bodies if body["model"] == "good"]
        assert sum("Ticket 0?" in text for text in asked) <= 4  # its reply was taken by the run


def test_a_model_on_a_key_that_is_not_set_is_refused(tmp_path: Path) -> None:
    files = write_files(tmp_path, "http://127.0.0.1:9/v1", ["good", "bad"])
    text = Path(files[0]).read_text().replace("key: sk-secret-key", "key_variable: NO_SUCH_KEY")
    Path(files[0]).write_text(text)
    with pytest.raises(CommandError, match="variable “NO_SUCH_KEY” is not set"):
        call_command("evaluate", *files)


# -- columns beside the prompt


def write_gold(files: list[str], header: str, row: str, template: str = "") -> None:
    rows = "".join(f"{row.format(number=number)}\n" for number in range(12))
    Path(files[1]).write_text(f"{header}\n{rows}")
    models = Path(files[0]).read_text().partition("template")[0].partition("price_call")[0]
    shown = f"template: '{template}', " if template else ""
    Path(files[0]).write_text(f"{models}{shown}price_call: 0.01}}]\n")


def last_texts(stub: ModelStub) -> set[str]:
    return {body["messages"][-1]["content"].split("\n\nAnswer with")[0] for body in stub.bodies}


def test_columns_beside_the_prompt_are_shown_or_named(tmp_path: Path, capsys: Any) -> None:
    header, row = "prompt,context,answer,notes", "Who wrote {number}?,Ada wrote {number}.,Ada,x"
    with ModelStub(lambda model, text: "Ada") as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        write_gold(files, header, row)
        assert run_evaluate(*files, "--check") == 0
        assert "gold.csv: models are not shown the column “notes”." in capsys.readouterr().out
        run_evaluate(*files, "--epsilon", "0.5")
        assert "not shown the column “notes”" in capsys.readouterr().err
        assert "Who wrote 1?\n\nAda wrote 1." in last_texts(stub)
        stub.bodies.clear()
        write_gold(files, header, row, "{notes}: {context} {question}")
        run_evaluate(*files, "--epsilon", "0.5", "--anew")
        assert "not shown" not in capsys.readouterr().err
        assert "x: Ada wrote 1. Who wrote 1?" in last_texts(stub)
        write_gold(files, header, row, "{nothing} {question}")
        with pytest.raises(CommandError, match=r"has the placeholder \{nothing\}"):
            call_command("evaluate", *files, "--anew")


def test_messages_are_sent_as_messages(tmp_path: Path) -> None:
    history = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi."}]
    history += [{"role": "assistant", "content": "Yes?"}]
    with ModelStub(lambda model, text: "4") as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        asked = [[*history, {"role": "user", "content": f"{n}?"}] for n in range(12)]
        rows = [{"id": f"c{n}", "messages": asked[n], "answer": "4"} for n in range(12)]
        gold = tmp_path / "gold.jsonl"
        gold.write_text("\n".join(map(json.dumps, rows)))
        assert run_evaluate(files[0], str(gold), "--epsilon", "0.5") == 0
    assert all(body["messages"][:3] == history for body in stub.bodies)
    assert {body["messages"][3]["content"][:2] for body in stub.bodies} >= {"0?", "5?"}


def test_answers_that_name_choices_in_two_ways_are_asked_about(tmp_path: Path, capsys: Any) -> None:
    with ModelStub(lambda model, text: "A") as stub:
        files = write_files(tmp_path, stub.url, ["good", "bad"])
        Path(files[1]).write_text(
            "question,text,answer,choices\nq1,One?,1,3|1|2\nq2,Two?,2,3|2|1\nq3,Three?,1,2|1|3\n"
        )
        with pytest.raises(CommandError, match="choose the “reading”"):
            call_command("evaluate", *files)
        run_evaluate(*files, "--map", "reading=text", "--epsilon", "0.5")
        assert "of 6" in capsys.readouterr().out


def test_dates_that_may_be_read_in_two_orders_are_asked_about(tmp_path: Path) -> None:
    files = write_files(tmp_path, "http://127.0.0.1:9/v1", ["good", "bad"])
    dates = "\n".join(f"q{n},When {n}?,{n}/{n + 1}/2024" for n in range(1, 8))
    Path(files[1]).write_text(f"question,text,answer\n{dates}\n")
    with pytest.raises(CommandError, match=r"“1/2/2024” may be “1 February 2024” \(day first\)"):
        call_command("evaluate", *files)
    with pytest.raises(CommandError, match="No model replies"):
        call_command("evaluate", *files, "--map", "reading=day first")
