"""Models as workers by the client, against a real server and a stub of a model server."""

import pytest

from crowdselect_client import ApiError, Client
from selection.models import ApiToken
from tests.jobs import job_worker
from tests.model_stub import ModelStub


def say_three(model: str, text: str) -> str:
    return "3"


@pytest.mark.django_db(transaction=True)
def test_model_verbs_reach_a_real_server(live_server, settings):
    settings.MODELS_INSIDE = True
    with (
        Client(live_server.url, ApiToken.issue("client")) as client,
        ModelStub(say_three) as stub,
        job_worker(),
    ):
        models = client.models
        server = models.create_server(name="Stub", url=stub.url, key="sk-secret-1")
        assert server["has_key"]
        assert models.change_server(server["id"], concurrency=3)["concurrency"] == 3
        assert [one["concurrency"] for one in models.servers()] == [3]
        assert models.names(server["id"]) == ["m1", "m2"]

        pool = client.create_pool("Models")["id"]
        gold = client.create_question_set("Sums")["id"]
        client.put_questions(gold, [{"question": "q1", "prompt": "1 + 2", "accepted": ["3"]}])
        stored = models.add(pool, "models: [{model: [m1, m2], server: Stub, price_call: 1}]")
        assert stored == {"added": 2, "changed": 0}
        entries = [{"model": "m3", "server": "Stub", "name": "{model}/x"}]
        assert models.add(pool, entries)["added"] == 1
        assert [one["worker"] for one in models.of_pool(pool)] == ["m1", "m2", "m3/x"]
        assert models.change(pool, "m3/x", temperature=None)["temperature"] is None
        assert models.show(pool, "m3/x")["model"] == "m3"
        test = models.test(pool, "m1", gold)
        assert (test["answer"], test["cost"]) == ("3", 1)
        models.delete(pool, "m3/x")
        with pytest.raises(ApiError, match="is the server of the workers"):
            models.delete_server(server["id"])

        run = client.create_run(name="r", pool=pool, question_set=gold, k=1)
        assert run.limit_spending(2.5) == run.spending()
        assert run.spending()["limit"] == 2.5
        assert list(run.calls("failed", "m1")) == []
        models.delete_server(models.create_server(name="Other", url=stub.url)["id"])
