"""The next question and its time leak a bounded amount about an answer."""

import numpy as np
import pytest

from selection import engine
from selection.answers import recording
from selection.models import Assignment, Candidate, Run
from tests.worlds import make_run, open_of
from topk import Problem, build_selector

pytestmark = pytest.mark.django_db

EACH = 4  # answers between two steps
# Epsilon, and a limit of the area under the curve: docs/threat-model.md.
ALGORITHMS = {"certified": (0.02, 0.58), "credible": (0.01, 0.55), "lucb": (0.05, 0.55)}


def followed(algorithm: str, epsilon: float, answers: int, seed: int) -> tuple[list[int], ...]:
    """(after right answers, after wrong ones): how many questions came in the step that counted."""
    rng = np.random.default_rng(seed)
    run = make_run(
        n=24, k=6, algorithm=algorithm, epsilon=epsilon, slots=40, questions=600, seed=seed
    )
    accuracy = np.clip(rng.normal(0.7, 0.15, 24), 0.05, 0.98)
    found: tuple[list[int], list[int]] = ([], [])
    engine.advance(run.pk)
    while sum(map(len, found)) < answers:
        heads: dict[int, Assignment] = {}
        for slip in open_of(run):
            heads.setdefault(slip.candidate_id, slip)
        chosen = rng.permutation(list(heads))[:EACH].tolist()
        before, said = asked(chosen), {}
        for one in chosen:
            said[one] = rng.random() < accuracy[int(heads[one].candidate.worker.key[1:])]
            recording.record_many(run, [(heads[one], "yes" if said[one] else "no")])
        engine.advance(run.pk)
        run.refresh_from_db()
        assert run.status == Run.Status.RUNNING
        after = asked(chosen)
        for one in chosen:
            found[not said[one]].append(after[one] - before[one])
    return found


def asked(candidates: list[int]) -> dict[int, int]:
    return dict(Candidate.objects.filter(pk__in=candidates).values_list("pk", "asked"))


def area(right: list[int], wrong: list[int]) -> float:
    """The chance that more questions follow a right answer than a wrong one; ties are even."""
    difference = np.array(right)[:, None] - np.array(wrong)[None, :]
    return float((difference > 0).mean() + (difference == 0).mean() / 2)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_question_follows_a_right_answer_as_a_wrong_one(algorithm, sample):
    epsilon, wanted = ALGORITHMS[algorithm]
    found = area(*followed(algorithm, epsilon, sample(300, 1000), seed=5))
    # Of fewer answers the area is known less well: two standard errors more, about.
    assert found <= wanted + sample(0.06, 0)


def test_worker_with_an_open_question_gets_no_other():
    run = make_run(slots=100, slots_per_worker=3)
    engine.advance(run.pk)
    own = [slip for slip in open_of(run) if slip.candidate.arm == 0]
    assert len(own) == 3
    for left, slip in zip((2, 1, 3), own, strict=True):
        recording.record_many(run, [(slip, "yes")])
        engine.advance(run.pk)
        assert len([slip for slip in open_of(run) if slip.candidate.arm == 0]) == left


def test_a_tell_would_be_found():
    assert area([1, 1, 1, 0], [0, 0, 0, 1]) == 0.75


# -- a worker certain of two answers of a hand of three

HAND, KNOWING, NEVER = 3, 6, 10**6


def waits_after_third_answers(epsilon: float, seed: int) -> tuple[list[int], ...]:
    """Return (after right, after wrong): steps until the next hand, two of three known.

    Hands are filled as the engine does, without a database: only when empty. Six of 24 workers give
    two right answers in each whole hand and guess the third.
    """
    rng = np.random.default_rng(seed)
    accuracy = np.clip(rng.normal(0.7, 0.15, 24), 0.05, 0.98)
    knows = np.isin(np.arange(24), rng.permutation(24)[:KNOWING])
    selector = build_selector("credible", Problem(24, 6, epsilon, 0.1))
    hand, held, ended_at = np.zeros(24, int), np.zeros(24, int), np.full(24, -1)
    was_right, step = np.zeros(24, bool), 0
    waits: tuple[list[int], list[int]] = ([], [])
    while not selector.stop():
        counts = selector.ask(
            slots=60 - held.sum(),
            pending=held.copy(),
            room=np.where(held > 0, 0, HAND),
            rng=np.random.default_rng([seed, step]),
        )
        for arm in np.flatnonzero(counts):
            if ended_at[arm] >= 0:
                waits[not was_right[arm]].append(step - ended_at[arm])
                ended_at[arm] = -1
            hand[arm] = held[arm] = counts[arm]
        for arm in rng.permutation(np.flatnonzero(held))[:EACH]:
            last = held[arm] == 1 and hand[arm] == HAND
            chance = (0.5 if last else 1.0) if knows[arm] else accuracy[arm]
            right = rng.random() < chance
            selector.tell([arm], [float(right)])
            held[arm] -= 1
            if last and knows[arm]:
                ended_at[arm], was_right[arm] = step, right
        step += 1
    for arm in np.flatnonzero(ended_at >= 0):
        waits[not was_right[arm]].append(NEVER)
    return waits


def test_next_assignment_leaks_one_answer_as_the_threat_model_states(sample):
    runs = [waits_after_third_answers(0.05, seed) for seed in range(sample(6, 40))]
    right, wrong = ([wait for run in runs for wait in run[i]] for i in (0, 1))
    # Sooner after a right answer; 0.575 in full, and some 0.06 of chance in few runs.
    assert area(wrong, right) == pytest.approx(0.575, abs=sample(0.12, 0.05))
