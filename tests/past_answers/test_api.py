"""Replays of past answers by the API."""

import json

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crowdselect.past_answers import plays
from crowdselect.past_answers.models import Replay
from selection import tasks
from selection.models import Pool, Run
from tests.pasts import write_past
from tests.worlds import make_run

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.any_database,
    pytest.mark.usefixtures("few_plays"),
]


@pytest.fixture
def call(client, token):
    def send(method, path="", content=None, **options):
        headers = {"authorization": f"Bearer {token}"}
        return getattr(client, method)(f"/api/replays{path}", content, headers=headers, **options)

    return send


@pytest.fixture
def files(tmp_path) -> dict[str, SimpleUploadedFile]:
    answers, key = write_past(tmp_path, [0.95, 0.9, 0.5, 0.4], 40)
    return {
        "file": SimpleUploadedFile("past.csv", answers.read_bytes()),
        "key": SimpleUploadedFile("key.csv", key.read_bytes()),
    }


def test_replay_is_ordered_polled_kept_and_deleted(call, files, client, token):
    made = call("post", "", files | {"k": 2, "epsilon": 0.2, "delta": 0.1, "price": 0.5})
    assert made.status_code == 202, made.content
    assert made["Location"] == f"/api/replays/{made.json()['id']}"
    assert made.json()["state"] == "waiting"
    path = f"/{made.json()['id']}"
    tasks.work_on_long_job(made.json()["id"])
    with CaptureQueriesContext(connection) as queries:
        shown = call("get", path).json()
    read = " ".join(query["sql"] for query in queries)
    assert '"selection_job"."content"' not in read
    assert (shown["state"], shown["progress"]) == ("done", 1.0)
    assert shown["facts"]["answers"] == 160
    result = shown["result"]
    assert result["headline"] == f"{result['enough']} of 160 answers would have been enough"
    assert result["cost"] == 80.0
    assert [row["algorithm"] for row in result["methods"]] == list(plays.METHODS)
    pool = call("post", f"{path}/pool")
    assert (pool.status_code, Pool.objects.get().pk) == (201, pool.json()["pool"])
    draft = call("post", f"{path}/draft", {"algorithm": "universal"}, content_type=JSON)
    run = Run.objects.get()
    assert draft.json() == {
        "run": run.pk,
        "pool": run.pool_id,
        "question_set": run.question_set_id,
    }
    assert run.algorithm == "universal"
    assert call("delete", path).status_code == 204
    gone = call("get", path)
    assert gone.status_code == 404
    assert gone.json()["error"] == "This has expired; send the request again."


def test_published_results_of_models_need_no_key(call):
    annotations = [
        {
            "instruction": f"Is it {number}?",
            "generator_1": "reference",
            "generator_2": model,
            "preference": 1.0 + (number % 10 < right),
        }
        for model, right in {"best": 10, "good": 9, "poor": 3, "worst": 1}.items()
        for number in range(40)
    ]
    file = SimpleUploadedFile("annotations.json", json.dumps(annotations).encode())
    made = call("post", "", {"file": file, "k": 2, "epsilon": 0.2, "delta": 0.1})
    assert made.status_code == 202, made.content
    tasks.work_on_long_job(made.json()["id"])
    shown = call("get", f"/{made.json()['id']}").json()
    facts = {name: shown["facts"][name] for name in ("workers", "questions", "answers")}
    assert facts == {"workers": 4, "questions": 40, "answers": 160}
    accuracies = {row["worker"]: row["accuracy"] for row in shown["result"]["workers"]}
    assert (accuracies["best"], accuracies["good"]) == (1.0, 0.9)


JSON = "application/json"


def test_scores_are_replayed_by_algorithms_that_take_them(call):
    """Six models with the mean scores .9, .85, .5, .4, .3 and .2 on 400 items."""
    rng = np.random.default_rng(3)
    means = [0.9, 0.85, 0.5, 0.4, 0.3, 0.2]
    samples = [
        {"doc_id": item, "doc_hash": str(item), "model": f"m{i}", "f1": rng.beta(3 * m, 3 - 3 * m)}
        | {"metrics": ["f1"]}
        for i, m in enumerate(means)
        for item in range(400)
    ]
    text = "\n".join(map(json.dumps, samples)).encode()
    file = {"file": SimpleUploadedFile("joined.json", text)}
    made = call("post", "", file | {"k": 2, "epsilon": 0.15, "delta": 0.1})
    assert made.status_code == 202, made.content
    tasks.work_on_long_job(made.json()["id"])
    shown = call("get", f"/{made.json()['id']}").json()
    result = shown["result"]
    assert shown["facts"]["scores"] is True
    assert set(result["refused"]) == {"credible", "universal"}
    assert "right or wrong, and its guarantee does not cover" in result["refused"]["credible"]
    played = {row["algorithm"]: row for row in result["methods"]}
    assert set(played) == set(plays.METHODS) - {"credible", "universal"}
    assert played["certified"]["enough"]
    assert result["enough"] == played["certified"]["answers"] < 2400
    assert set(played["certified"]["selected"]) == {"m0", "m1"}
    assert played["certified"]["untrue"] == 0
    best = result["workers"][0]
    own = [sample["f1"] for sample in samples if sample["model"] == best["worker"]]
    assert (best["right"], best["answers"]) == (pytest.approx(sum(own)), 400)
    assert best["accuracy"] == pytest.approx(np.mean(own), abs=1e-4)
    assert call("post", f"/{made.json()['id']}/pool").status_code == 201
    path = f"/{made.json()['id']}/draft"
    refused = call("post", path, {"algorithm": "certified"}, content_type=JSON)
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("These answers are scores, and a run counts right")


def test_a_run_is_replayed_without_a_file(call):
    refused = call("post", "", {"k": 2, "run": make_run(start=False).pk})
    assert refused.status_code == 422
    assert "has no answers yet" in refused.json()["error"]


@pytest.mark.parametrize(
    ("left_out", "settings", "sentence"),
    [
        ("key", {"k": 2}, "past.csv has no column with the correct answers"),
        ("file", {"k": 2}, "The key needs a file with answers as well."),
        ("", {"k": 4}, "K"),
        ("", {"k": 2, "epsilon": 2}, "epsilon"),
        ("", {"k": 2, "question_set": 987654}, "The object is not in your team."),
    ],
)
def test_a_fault_is_one_sentence(call, files, left_out, settings, sentence):
    files.pop(left_out, None)
    refused = call("post", "", files | settings)
    assert refused.status_code in (404, 422)
    assert sentence in refused.json()["error"]
    assert not Replay.objects.exists()


def test_a_draft_needs_a_method_that_was_tried(call, files):
    path = f"/{call('post', '', files | {'k': 2}).json()['id']}/draft"
    refused = call("post", path, {"algorithm": "guess"}, content_type=JSON)
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("“guess” was not tried: choose one of credible")


def test_rows_are_left_out_and_results_are_chosen_on_request(call, files):
    wanted = {"k": 2, "epsilon": 0.2, "delta": 0.1}
    files["file"] = SimpleUploadedFile("past.csv", files["file"].read() + b"\nw0,t1,\n")
    raw = {name: file.read() for name, file in files.items()}
    for leave_out, status in ((False, 422), (True, 202)):
        sent = {name: SimpleUploadedFile(name, content) for name, content in raw.items()}
        made = call("post", "", sent | wanted | {"leave_out": leave_out})
        assert made.status_code == status, made.content
    assert made.json()["facts"]["rejected_rows"] == 1
    rows = [
        {"doc_id": i, "doc_hash": str(i), "model": m, "metrics": ["acc", "f1"], "acc": 1, "f1": 0}
        for m in "abc"
        for i in range(12)
    ]
    text = "\n".join(map(json.dumps, rows)).encode()
    for chosen, status in (({}, 422), ({"metric": "f1"}, 202)):
        file = {"file": SimpleUploadedFile("joined.json", text)}
        made = call("post", "", file | wanted | chosen)
        assert made.status_code == status, made.content
