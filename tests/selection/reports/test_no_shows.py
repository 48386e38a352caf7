"""At the end, workers without a counted answer are out of the pool that the guarantee is about."""

import json

import numpy as np
import pytest

from packages.topk.tests.parameters import mostly_slow
from selection import engine, reports
from selection.models import Run
from selection.runs import changes, lifecycle
from tests.pages import admin_url, text_of
from tests.selection.runs.test_cautious import answer_smoothly
from tests.worlds import answer_all, crowd, make_run, play
from topk.registry import SELECTORS
from topk.roster import RunStart, drop_no_shows
from topk.verify import verify_dump

pytestmark = pytest.mark.django_db

SOME = {"n": 30, "k": 5, "algorithm": "credible", "epsilon": 0.15, "delta": 0.1}
ABSENT = ("w2", "w6", "w9")


def without(absent, respond):
    def answer(assignment):
        return None if assignment.candidate.worker.key in absent else respond(assignment)

    return answer


def verified(run: Run) -> bool:
    document = json.loads(json.dumps(reports.dump_run(run)))
    found = verify_dump(document)
    assert found.same, [str(each) for each in found.findings]
    return bool(found.epsilon == reports.guarantee_of_run(run).epsilon)


def play_early(algorithm: str, rounds: int = 12, **fields: object) -> Run:
    """Return a run that was stopped, and in which three of twelve workers never came."""
    run = make_run(n=12, algorithm=algorithm, slots=200, slots_per_worker=10, **fields)
    respond = without(ABSENT, crowd(1, 2))
    for _ in range(rounds):
        engine.advance(run.pk)
        answer_all(run, respond)
    engine.advance(run.pk)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    return run


def test_result_with_no_shows_is_green_and_names_them(requester):
    run = make_run(**SOME, slots=60, slots_per_worker=10)
    run = play(run, without(ABSENT, answer_smoothly))
    assert run.ended_by_guarantee
    guaranteed = reports.guarantee_of_run(run)
    assert guaranteed.verdict == "kept"
    assert "the best 5 of the 27 who took part" in guaranteed.text
    assert guaranteed.facts.no_shows == ABSENT
    assert "3 workers without a counted answer are not covered." in guaranteed.text
    response = requester.get(admin_url("run_page", run.pk))
    assert "cs-note good" in response.content.decode()
    text = text_of(response)
    assert "3 workers without a counted answer are not covered (“w2”, “w6”, “w9”)" in text
    assert "Keep them in…" in text
    assert verified(run)


def test_requester_may_keep_no_shows_in(requester):
    run = make_run(**SOME, slots=60, slots_per_worker=10)
    run = play(run, without(ABSENT, answer_smoothly))
    url = admin_url("run_do_change", run.pk)
    form = requester.get(url).context["form"]
    sent = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    sent |= {"keep_no_shows": "True", "confirm": "1"}
    assert "no-shows included" in text_of(requester.post(url, sent, follow=True))
    run.refresh_from_db()
    guaranteed = reports.guarantee_of_run(run)
    assert guaranteed.facts.no_shows == ()
    assert "who took part" not in guaranteed.text
    assert verified(run)


@pytest.mark.parametrize(
    "algorithm",
    mostly_slow(
        ["lucb", "universal", "credible", "certified", "pair-lucb"], ("certified", "pair-lucb")
    ),
)
def test_early_end_is_judged_without_no_shows_and_its_dump_agrees(algorithm):
    run = play_early(algorithm, epsilon=0.01)
    guaranteed = reports.guarantee_of_run(run)
    assert verified(run)
    if algorithm == "pair-lucb":  # its bounds are by rank: no proof for absences after answers
        return
    assert guaranteed.facts.no_shows == ABSENT
    less = guaranteed.epsilon
    changes.apply_changes(run, {"keep_no_shows": True})
    run.refresh_from_db()
    kept = reports.guarantee_of_run(run).epsilon
    assert less is not None
    assert kept is None or kept >= less
    assert verified(run)


def test_level_of_an_early_end_is_that_of_the_whole_roster():
    gone, pulls = np.array([False] * 9), np.array([3, 0, 2, 0, 5, 1, 4, 4, 4])

    def drop(name, k=4, epsilon=0.1):
        anew = RunStart(SELECTORS[name], 9, [k], (epsilon, 0.1), {}).judges_anew
        return drop_no_shows(SELECTORS[name], gone, pulls, np.arange(9), [k], False, anew)

    for name in ("lucb", "kl-lucb", "universal"):
        dropped, counted = drop(name)
        assert np.flatnonzero(dropped).tolist() == [1, 3]
        assert (counted > 0).all()
    assert drop("credible")[1].tolist() == pulls.tolist()
    for name in ("halving", "pair-lucb", "lil-rand-lucb"):
        assert not drop(name)[0].any()
    assert not drop("lucb", k=7)[0].any()
    assert not drop("universal", epsilon=0.01)[0].any()  # swaps certify: they are about the roster
