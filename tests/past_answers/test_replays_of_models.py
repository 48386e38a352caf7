"""Replays of runs with models count the money and the tokens of their calls."""

from decimal import Decimal

import pytest

from crowdselect.past_answers import plays, replay_requests, result_texts, results
from crowdselect.past_answers.models import Replay
from crowdselect.past_answers.replay_requests import Source
from selection import db_clock
from selection.models import Endpoint, ModelCall, ModelServer, Run, default_team
from selection.outbox import jobs
from tests.worlds import crowd, make_run, play

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

WANTED = {"k": 2, "epsilon": 0.2, "delta": 0.1}


@pytest.fixture(autouse=True)
def few_seeds(monkeypatch):
    monkeypatch.setattr(plays, "SEEDS", 3)


def finish_replay(run: Run) -> Replay:
    replay = replay_requests.request_replay(Source(run=run), WANTED, default_team(), "ann")
    while replay.going:
        jobs.work_on_job(str(replay.pk))
        replay.refresh_from_db()
    return replay


def test_answers_of_models_cost_their_calls():
    run = make_run(n=6, questions=60, epsilon=0.2, currency="$")
    server = ModelServer.objects.create(name="here", url="https://example.org/v1")
    price = {f"w{i}": 0.01 * (i + 1) for i in range(6)}
    for worker in run.pool.workers.all():
        cents = Decimal(str(price[worker.key]))
        Endpoint.objects.create(worker=worker, server=server, model="m", price_call=cents)
    play(run, crowd(3, good=2))
    replay = finish_replay(run)
    result = results.build_result(replay)
    counts = {worker: answers for worker, _, answers in replay.tallies}
    total = sum(price[worker] * answers for worker, answers in counts.items())
    assert result.cost == pytest.approx(total)
    row = result.methods[0]
    assert min(price.values()) * row.answers <= row.cost <= max(price.values()) * row.answers
    assert row.cost not in (0, pytest.approx(0.01 * row.answers))
    texts = result_texts.result_context(replay, result)
    assert texts["total_cost"] == f"{total:.2f} $"
    assert (result.tokens, row.tokens, texts["total_tokens"]) == (None, None, "")
    Endpoint.objects.all().update(price_call=0)
    assert results.build_result(finish_replay(run)).cost is None


def test_answers_of_models_take_the_tokens_of_their_calls():
    run = make_run(n=6, questions=60, epsilon=0.2)
    server = ModelServer.objects.create(name="here", url="https://example.org/v1")
    question, now = run.question_set.questions.first(), db_clock.database_now()
    state, tokens = ModelCall.State.REPLIED, {f"w{i}": 100 * i + 10 for i in range(6)}
    for worker in run.pool.workers.all():
        Endpoint.objects.create(worker=worker, server=server, model="m")
        used = {"tokens_in": tokens[worker.key] - 10, "tokens_out": 10, "state": state}
        ModelCall.objects.create(worker=worker, question=question, sent=now, expires=now, **used)
    play(run, crowd(3, good=2))
    replay = finish_replay(run)
    result = results.build_result(replay)
    assert result.tokens == sum(tokens[worker] * count for worker, _, count in replay.tallies)
    for row in result.methods:
        assert 10 * row.answers < row.tokens <= result.tokens
        assert row.cost is None
    texts = result_texts.result_context(replay, result)
    assert texts["total_tokens"] == f"{result.tokens:,} tokens"
    assert texts["ours"][0].tokens == f"{result.methods[0].tokens:,} tokens"
