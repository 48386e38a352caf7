"""The client's types and methods match the current API."""

import ast
from typing import Any

import pytest

from crowdselect_client import ApiError, Client, replies
from selection.models import ApiToken
from tests import client_types


def test_types_mark_required_and_optional_keys():
    types: dict[str, Any] = {}
    exec(client_types.generated(), types)
    assert types["Settings"].__required_keys__ == {"name", "pool", "question_set", "k"}
    assert types["RunState"].__optional_keys__ == set()
    assert types["Selected"].__optional_keys__ == {"group", "skill", "expected", "mark"}
    assert names_of_the_client() <= types.keys()


def names_of_the_client() -> set[str]:
    """The types that the client's modules import."""
    trees = [ast.parse(path.read_text()) for path in client_types.MADE.parent.glob("*.py")]
    imports = [
        node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    ]
    return {name.name for node in imports if node.module == "replies" for name in node.names}


@pytest.mark.django_db(transaction=True)
def test_client_verbs_reach_a_real_server(live_server):
    with Client(live_server.url, ApiToken.issue("client")) as client:
        pool = client.create_pool("Judges", key="mine")
        assert client.create_pool("Judges", key="mine") == pool
        with pytest.raises(ApiError, match="name is already in use") as found:
            client.create_pool("Judges")
        assert found.value.status == 422
        rows: list[replies.WorkerIn] = [{"worker": f"w{n}/ü"} for n in range(150)]
        assert client.put_workers(pool["id"], [*rows, {"worker": ""}])["rows"][-1]["row"] == 151
        assert [one["worker"] for one in client.workers(pool["id"])] == [r["worker"] for r in rows]
        assert [one["workers"] for one in client.pools(name="Judges")] == [150]

        gold = client.create_question_set("Sums", "Add.", tries=2)
        asked: list[replies.QuestionIn] = [
            {"question": f"q{n}", "prompt": f"{n} + 0", "accepted": [str(n)]} for n in range(120)
        ]
        assert client.put_questions(gold["id"], asked)["added"] == 120
        assert len(list(client.questions(gold["id"]))) == 120
        assert [one["tries"] for one in client.question_sets("Sums")] == [2]

        lesson = client.create_practice(gold["id"], prompt="1 + 1", accepted=["2"])
        client.replace_practice(gold["id"], lesson["id"], prompt="1 + 2", accepted=["3"])
        assert [one["prompt"] for one in client.practice(gold["id"])] == ["1 + 2"]
        client.delete_practice(gold["id"], lesson["id"])
        assert client.send_media(gold["id"], "a dot.gif", b"GIF89a")["name"] == "a-dot.gif"
        client.delete_media(gold["id"], "a-dot.gif")
        assert list(client.media(gold["id"])) == client.practice(gold["id"]) == []
        brought = client.send_questions(gold["id"], "q.csv", b"Frage;Ergebnis\n7 + 0;7\n;8\n")
        assert brought.show()["state"] == "asking"
        assert brought.name({"Frage": "prompt", "Ergebnis": "answer"})["accepted_rows"] == 1
        assert [row["line"] for row in client.file(brought.id).rows(accepted=False)] == [3]
        with pytest.raises(ApiError, match="1 row would be left out"):
            brought.take(strict=True)
        assert brought.take()["state"] == "taken"
        brought.undo()
        client.send_workers(pool["id"], "w.csv", b"worker\nw200\n").put_aside()
        assert (
            client.send_workers(pool["id"], "w.csv", b"worker\nw0/\xc3\xbc\n").take()[
                "accepted_rows"
            ]
            == 1
        )

        run = client.create_run(name="Best 2", pool=pool["id"], question_set=gold["id"], k=2)
        draft = run.replace(
            name="Best 3", pool=pool["id"], question_set=gold["id"], k=3, price="0.05"
        )
        assert draft["price"] == 0.05
        assert run.tell_workers(pay=0.1, codes={"done": "C1"})["codes"]["done"] == "C1"
        assert run.page()["pay"] == 0.1
        assert run.start()["status"] == "running"
        assert run.invite(preview=True)["without_address"] == 150
        assert run.change_mail(remind_hours=5)["remind_hours"] == run.mail()["remind_hours"] == 5
        assert run.pause()["state"] == "paused"
        assert run.resume()["status"] == "running"
        assert run.change(budget=900, preview=True)["changed"].keys() == {"budget"}
        assert run.change(budget=900, reason="Enough.")["run"]["budget"] == 900
        assert [row["name"] for row in client.runs(status="running")] == ["Best 3"]
        assert len({one["link"] for one in run.workers()}) == 150
        assert run.claim(["w1/ü", "nobody"])[1]["state"] == "unknown"
        assert list(run.open(peek=True)) == list(run.answers()) == []
        said = b"worker,question,response\nw5/\xc3\xbc,q5,5\n"
        assert client.send_answers(run.id, "a.csv", said).take()["accepted_rows"] == 1
        assert run.tell_many([(10**9, "1")])[0]["status"] == 404
        assert len(list(run.standings())) == 150
        assert [line["worker"] for line in run.standings(worker="w1/ü")] == ["w1/ü"]
        assert run.stop()["ending"] == "stopped"
        assert run.wait()["status"] == "ended"
        assert run.selection()["k"] == 3
        assert b"pay_per_answer" in run.export("payment", pay="0.1")
        assert b"w1/" in run.export("all-csv")
        copied = client.run(run.copy("Again").id).show()
        assert (copied["name"], copied["k"], copied["status"]) == ("Again", 3, "draft")
