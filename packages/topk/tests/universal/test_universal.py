"""The rule as a whole: errors are as rare as guaranteed with any crowd and any questions."""

import numpy as np
import pytest

from topk import Problem, ProblemError, State, build_selector, select_early
from topk.simulate import simulate_run
from topk.universal.certificate import Tally
from topk.universal.outstanding import worst_slices

from ..harness import DELTAS, too_many
from ..parameters import mostly_slow

FAMILIES = {
    "bell": lambda rng: (rng.beta(6, 2, 12), 3),
    "even": lambda rng: (rng.random(10), 2),
    "two groups": lambda rng: (np.where(rng.random(20) < 0.3, 0.9, 0.6), 5),
    "a star": lambda rng: (np.where(rng.random(12) < 1 / 12, 0.95, 0.6), 1),
    "Dirichlet process": lambda rng: (rng.choice(rng.beta(6, 2, 4), 15), 4),
    "spammers": lambda rng: (np.where(rng.random(12) < 0.5, 0.5, rng.beta(12, 3, 12)), 3),
    "alike": lambda rng: (np.full(8, 0.8), 2),
}


def regret(truth, arms):
    return float(np.sort(truth)[-len(arms) :].mean() - truth[arms].mean())


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("family", mostly_slow(FAMILIES, ordinary=("a star", "alike")))
def test_errors_are_as_rare_as_guaranteed(sample, family, delta):
    """Fails at a count that has probability below 1e-4 at the guaranteed rate, exactly. With 40
    runs at .05 that is 10: power .5 against an error rate of 25 %."""
    failures, runs = 0, sample(15, 60)
    for seed in range(runs):
        truth, k = FAMILIES[family](np.random.default_rng([7, seed]))
        outcome = simulate_run(
            "universal", truth, k=k, epsilon=0.15, delta=delta, seed=seed, max_pulls=50_000
        )
        assert outcome.reasons == ("guarantee",)
        failures += regret(truth, outcome.selection) > 0.15
    assert not too_many(failures, runs, delta)


def told(truth, rng, most, choose, **problem):
    """Ask the workers of ``choose``, four at a time, and yield the selector after each step."""
    selector = build_selector("universal", Problem(truth.size, **problem))
    for _ in range(most):
        arms = choose(selector, rng)
        selector.tell(arms, rng.random(len(arms)) < truth[arms])
        yield selector


def unlucky(selector, rng):
    """Ask workers just wrong, so that good workers stay underrated."""
    state = selector.state
    if state.pulls.min() < 2:
        return np.argsort(state.pulls, kind="stable")[:4]
    return np.argsort(-state.rewards / state.pulls + 1e-3 * rng.random(state.pulls.size))[:4]


def test_certificate_survives_adversarial_questions_and_stops(sample):
    """Allocation by an adversary: ask the unlucky, and stop at the first chance."""
    failures, stops, runs = 0, 0, sample(15, 60)
    for seed in range(runs):
        rng = np.random.default_rng([8, seed])
        truth = np.where(rng.random(8) < 0.5, 0.9, 0.6)
        for selector in told(truth, rng, 60, unlucky, k=2, epsilon=0.2, delta=0.5):
            if selector.stop():
                stops += 1
                failures += regret(truth, selector.selection()) > 0.2
                break
    assert stops
    assert not too_many(failures, stops, 0.5)


def test_early_end_reports_the_certified_gap(sample):
    """One stopping time, here a number of answers that is drawn: regret is above the reported
    epsilon in at most delta of the runs."""
    failures, runs = 0, sample(15, 60)
    for seed in range(runs):
        rng = np.random.default_rng([9, seed])
        truth = rng.beta(6, 2, 10)
        selector = build_selector("universal", Problem(10, 3, 0.01, 0.5))
        while selector.state.pulls.sum() < rng.integers(100, 1000):
            asked = np.flatnonzero(counts := selector.ask(20, rng=rng))
            selector.tell(asked, rng.binomial(counts[asked], truth[asked]), counts[asked])
        named = select_early(selector)
        assert named.guarantee.at_the_stop
        if named.epsilon is not None:
            failures += regret(truth, named.arms) > named.epsilon
    assert not too_many(failures, runs, 0.5)


def a_run(seed=0, n=12, each=30, gone=((), (), ())):
    rng = np.random.default_rng(seed)
    truth = np.sort(rng.beta(6, 2, n))
    state = State.fresh(n)
    state.gone = np.array(gone, float)
    selector = build_selector("universal", Problem(n, 3, 0.05, 0.1), state)
    selector.tell(np.arange(n), rng.binomial(each, truth), each)
    return selector


def test_withdrawn_workers_stay_in_the_likelihood():
    """Leaving out bad-looking workers, or good ones, would choose the evidence."""
    plain = a_run().standing().gap
    usual = a_run(gone=([22, 24], [30, 30], [0, 0])).standing().gap
    odd = a_run(gone=([0, 0, 0], [30, 30, 30], [0, 0, 0])).standing().gap
    assert usual == pytest.approx(plain, rel=0.1)
    assert odd > plain
    assert a_run(gone=([0], [0], [0])).standing().gap == pytest.approx(plain, rel=0.02)


def test_outstanding_answers_of_withdrawn_workers_count_at_their_worst():
    """Their arrival in time may depend on their content."""
    usual = a_run(gone=([22], [30], [0])).standing().gap
    waiting = a_run(gone=([22], [30], [1])).standing().gap
    assert waiting > usual
    silent = a_run(gone=([0], [0], [2])).standing().gap
    worst = max(a_run(gone=([s], [2], [0])).standing().gap for s in range(3))
    assert silent >= worst * (1 - 1e-6)


@pytest.mark.parametrize("waiting", [2, 5, 10])
def test_bound_with_first_answers_out_is_below_every_outcome(waiting):
    """A worker without answers becomes one of the ordinary: its factor 1 - u counts."""
    right = np.r_[np.zeros(4), [54.0, 45, 36, 30], np.zeros(waiting)]
    wrong = np.r_[np.full(4, 30.0), [6.0, 15, 24, 30], np.zeros(waiting)]
    out = np.r_[np.zeros(8), np.ones(waiting)].astype(np.int64)
    nobody = np.zeros(0)
    bound = worst_slices(Tally(right, wrong, nobody, nobody), out)
    for given in range(waiting + 1):
        new = np.r_[np.zeros(8), np.arange(waiting) < given]
        after = Tally(right + new, wrong + out - new, nobody, nobody)
        assert (bound <= after.reference.slices + 1e-9).all()


def test_errors_stay_rare_if_leading_workers_are_withdrawn(sample):
    """Withdrawing the worker in the lead, again and again, gains nothing."""
    failures, stops, runs = 0, 0, sample(10, 50)
    for seed in range(runs):
        rng = np.random.default_rng([10, seed])
        truth, gone = rng.beta(6, 2, 10), np.zeros((3, 0))
        pulls, right = np.zeros(10, np.int64), np.zeros(10)
        for step in range(40):
            state = State(pulls.copy(), right.copy(), np.zeros(truth.size, np.int8), gone=gone)
            selector = build_selector("universal", Problem(truth.size, 2, 0.2, 0.5), state)
            if selector.stop():
                stops += 1
                failures += regret(truth, selector.selection()) > 0.2
                break
            counts = selector.ask(20, rng=rng)
            pulls += counts
            right += rng.binomial(counts, truth)
            if step in (4, 9, 14):
                leader = int(np.argmax(right / pulls))
                gone = np.c_[gone, [right[leader], pulls[leader], 0]]
                truth, pulls, right = (np.delete(a, leader) for a in (truth, pulls, right))
    assert stops
    assert not too_many(failures, stops, 0.5)


def test_k_epsilon_and_the_roster_may_change_after_looking():
    """The certificate is a function of the tallies and of the claim at the stop."""
    selector = a_run()
    other = build_selector("universal", Problem(12, 5, 0.3, 0.1), selector.state)
    assert other.standing().gap < 1
    assert other.standing().gap != selector.standing().gap
    joined = build_selector("universal", Problem(13, 3, 0.05, 0.1))
    joined.tell(np.arange(12), selector.state.rewards, selector.state.pulls)
    assert joined.standing().gap >= selector.standing().gap - 0.01


def test_answers_that_are_out_count_at_their_worst():
    selector = a_run(each=300)
    before = selector.standing().gap
    selector.wait_for(np.arange(12) == 3)
    one = selector.standing().gap
    selector.wait_for(np.full(12, 2))
    assert before < one < selector.standing().gap
    for reward in (0, 1):
        later = a_run(each=300)
        later.tell([3], [reward])
        assert later.standing().gap <= one + 1e-3


def test_selector_awaiting_decisive_answers_asks_no_question():
    selector = a_run(each=600)
    problem = Problem(12, 3, selector.standing().gap * 1.01, 0.1)
    relaxed = build_selector("universal", problem, selector.state, tuned_for=0.05)
    assert relaxed.stop()
    out = np.full(12, 3)
    relaxed.wait_for(out)
    assert not relaxed.stop()
    assert relaxed.is_held_up()
    assert relaxed.ask(10, pending=out).sum() == 0
    assert select_early(relaxed).epsilon > relaxed.problem.epsilon


def test_more_certainty_takes_more():
    gaps = [
        build_selector("universal", Problem(12, 3, 0.05, delta), a_run().state).standing().gap
        for delta in (0.5, 0.1, 0.001)
    ]
    assert gaps == sorted(gaps)
    assert gaps[0] < gaps[2]


def test_guarantee_states_its_workers_and_assumptions():
    selector = a_run()
    sentence = selector.guarantee.sentence(selector.problem)
    assert "whatever population the workers come from" in sentence
    assert "nothing distinguished the good workers" in selector.guarantee.assumes
    assert "how fast they answer" in selector.guarantee.assumes


def test_universal_needs_an_epsilon():
    with pytest.raises(ProblemError, match="epsilon above 0"):
        build_selector("universal", Problem(4, 2))


# -- accuracy on the question set


def on_a_set(seed, questions, delta, epsilon=0.1):
    """Play on shuffled decks with questions that each worker knows."""
    rng = np.random.default_rng([11, seed])
    truth = rng.integers(questions // 2, questions + 1, 10) / questions
    decks = np.stack([rng.permutation(np.arange(questions) < t * questions - 0.5) for t in truth])
    options = {"accuracy": "on this question set", "questions": questions}
    selector = build_selector("universal", Problem(10, 3, epsilon, delta), **options)
    while not selector.stop():
        counts = selector.ask(10, rng=rng)
        assert counts.sum() > 0
        pulls = selector.state.pulls.copy()
        rewards = [decks[i, pulls[i] : pulls[i] + counts[i]].sum() for i in range(10)]
        selector.tell(np.arange(10), rewards, counts)
    return selector, truth


def test_errors_on_a_question_set_are_as_rare_as_guaranteed(sample):
    failures, runs = 0, sample(10, 60)
    for seed in range(runs):
        selector, truth = on_a_set(seed, 40, 0.5)
        failures += regret(truth, selector.selection()) > 0.1 + 1e-9
    assert not too_many(failures, runs, 0.5)


def test_a_question_set_takes_fewer_answers_than_questions_like_these():
    asked = [on_a_set(seed, 30, 0.05)[0].state.pulls.sum() for seed in range(3)]
    assert max(asked) <= 10 * 30
    selector, _ = on_a_set(0, 30, 0.05)
    usual = build_selector("universal", selector.problem, selector.state)
    assert selector.standing().gap < usual.standing().gap


def test_a_question_is_answered_once():
    options = {"accuracy": "on this question set", "questions": 5}
    selector = build_selector("universal", Problem(3, 1, 0.1), **options)
    assert selector.ask(100).max() <= 5
    with pytest.raises(ValueError, match="each of the 5 questions once"):
        selector.tell([0], [6], 6)
    with pytest.raises(ProblemError, match="number of questions"):
        build_selector("universal", Problem(3, 1, 0.1), accuracy="on this question set")


def test_no_worker_like_the_others_is_asked_alone_while_a_star_hides():
    """To know one of the equals better and better never ends a run."""
    truth = np.r_[0.95, np.full(299, 0.7)]
    outcome = simulate_run("universal", truth, k=1, epsilon=0.1, seed=0, max_pulls=4000)
    assert outcome.pulls_per_arm[1:].max() < 400
    assert outcome.reasons == ("guarantee",)


@pytest.mark.parametrize("n", [2, 4, 30])
def test_selector_always_knows_the_next_question(n):
    """Also before the first answers, where the reference measure is spread over many terms."""
    for pulls in (np.zeros(n, int), np.arange(n), np.full(n, 5), np.full(n, 1000)):
        for right in (0 * pulls, pulls, pulls // 2):
            selector = build_selector("universal", Problem(n, 1, 0.01, 0.1))
            selector.tell(np.arange(n), right, pulls)
            standing = selector.standing()
            for values in (standing.mean, standing.lower, standing.upper, [standing.gap]):
                assert np.isfinite(values).all()
            if not selector.stop():
                assert selector.ask(3 * n).sum() > 0


@pytest.mark.parametrize("odd", [[0.0], [1.0], [0.0] * 4])
def test_few_answers_go_to_workers_who_are_always_wrong_or_always_right(odd):
    """They took two fifths of all, and made a run up to nine times longer."""
    truth = np.r_[np.linspace(0.9, 0.5, 16), odd]
    outcomes = [
        simulate_run("universal", truth, k=4, epsilon=0.08, seed=seed, max_pulls=5000)
        for seed in (1, 2)
    ]
    asked = sum(outcome.pulls_per_arm[16:].sum() for outcome in outcomes)
    total = sum(outcome.pulls for outcome in outcomes)
    assert total < 4000
    assert asked < 0.2 * total
