"""Known groups of workers, each with a population of its own (docs/universal.md, section 3.6)."""

import math
from itertools import product

import numpy as np
import pytest

from topk import Problem, ProblemError, State, build_selector, select
from topk.groups import check_groups, number_groups
from topk.roster import restrict_options
from topk.simulate import simulate_run
from topk.universal.certificate import Tally, certified

from ..harness import restored, stored, too_many
from ..parameters import mostly_slow
from .test_certificate import chosen_of, log_reference_at

POOL = np.random.default_rng(3).beta(6, 2, 30)


@pytest.mark.parametrize("groups", [["all"] * 30, [7] * 30, np.zeros(30, int)])
def test_single_group_is_the_same_run_to_the_last_bit(groups):
    plain, grouped = (
        build_selector("universal", Problem(30, 6, 0.08), **options)
        for options in ({}, {"groups": groups})
    )
    rng = np.random.default_rng(5)
    for _ in range(5):
        counts = plain.ask(60)
        assert (grouped.ask(60) == counts).all()
        right = rng.binomial(counts, POOL).astype(float)
        for selector in (plain, grouped):
            selector.tell(np.arange(30), right, counts)
            selector.state.gone = np.array([[3.0, 20.0], [4.0, 30.0], [2.0, 0.0]])
            selector.state.gone_groups = (groups[0], groups[0])
            selector.wait_for(np.arange(30) % 3)
        assert plain.standing().gap == grouped.standing().gap
        assert plain.shortfall(np.arange(6)) == grouped.shortfall(np.arange(6))
        assert (plain.standing().mean == grouped.standing().mean).all()


def test_the_names_of_groups_do_not_matter_and_a_stored_run_goes_on_alike():
    names = ["late", "early"] * 15
    first, other = (
        build_selector("universal", Problem(30, 6, 0.08), groups=labels)
        for labels in (names, [0, 1] * 15)
    )
    right = np.random.default_rng(2).binomial(10, POOL).astype(float)
    for selector in (first, other):
        selector.tell(np.arange(30), right, 10)
    assert first.standing().gap == other.standing().gap
    again = build_selector(
        "universal", first.problem, restored(stored(first.state)), **first.options
    )
    assert (again.ask(60) == first.ask(60)).all()
    assert (other.ask(60) == first.ask(60)).all()


def test_a_number_and_the_same_digit_as_text_are_two_groups():
    labels = [1, "1", "x", 1]
    assert check_groups(labels, 4) == labels
    assert restrict_options({"groups": labels}, [0, 1, 3], 1)["groups"] == [1, "1", 1]
    assert number_groups(labels, ["1"])[0].tolist() == [0, 1, 2, 0]


def wrong_and_seen(tally, chosen, k, epsilon, populations):
    """P(answers and regret above epsilon), by summing over all accuracies of all workers."""
    total = 0.0
    groups, gone_groups = tally.groups
    present = [populations[group] for group in groups]
    for places in product(range(3), repeat=tally.right.size):
        theta = np.array([points[j] for j, (points, _) in zip(places, present, strict=True)])
        if np.sort(theta)[-k:].mean() - theta[chosen].mean() <= epsilon + 1e-12:
            continue
        mass = math.prod(mass[j] for j, (_, mass) in zip(places, present, strict=True))
        total += mass * float((theta**tally.right * (1 - theta) ** tally.wrong).prod())
    for group, right, wrong in zip(gone_groups, tally.gone_right, tally.gone_wrong, strict=True):
        points, mass = populations[group]
        total *= float(mass @ (points**right * (1 - points) ** wrong))
    return total


@pytest.mark.parametrize("delta", [0.05, 0.5, 0.9])
def test_no_populations_of_two_groups_break_the_certificate(delta):
    """Power: with a tenth of the certified epsilon some populations break it."""
    rng, broken = np.random.default_rng(1), 0
    for _ in range(30):
        n, gone = int(rng.integers(2, 5)), int(rng.integers(0, 3))
        answers = rng.integers(0, 60, n + gone)
        right = rng.binomial(answers, rng.random(n + gone)).astype(float)
        wrong, groups = answers - right, rng.integers(0, 2, n + gone)
        tally = Tally(
            *(right[:n], wrong[:n], right[n:], wrong[n:]),
            groups=(groups[:n], groups[n:]),
        )
        chosen = chosen_of(n, [int(np.argmax((right[:n] + 1) / (answers[:n] + 2)))])
        bound = certified(tally, chosen, 1, delta)
        epsilon = bound.epsilon(*(part.reference.slices for part in tally.parts))
        numbers = np.unique(groups)
        for _ in range(8):
            populations = {
                group: (
                    np.clip((right[rng.integers(0, n, 3)] + 1) / 60 + rng.normal(0, 0.1, 3), 0, 1),
                    rng.dirichlet(np.full(3, 0.5)),
                )
                for group in numbers
            }
            logs = [
                log_reference_at(part, float(points @ mass))
                for part, (points, mass) in zip(tally.parts, populations.values(), strict=True)
            ]
            allowed = delta * math.exp(sum(logs))
            assert wrong_and_seen(tally, chosen, 1, epsilon, populations) <= allowed * (1 + 1e-9)
            broken += wrong_and_seen(tally, chosen, 1, epsilon / 10, populations) > allowed
    assert broken


FAMILIES = {
    "proven and new": (
        lambda rng: np.r_[np.full(3, 0.95), rng.uniform(0.6, 0.8, 15)],
        ["proven"] * 3 + ["new"] * 15,
    ),
    "newcomers ahead": (
        lambda rng: np.r_[rng.uniform(0.5, 0.8, 12), rng.beta(12, 2, 4)],
        ["old"] * 12 + ["new"] * 4,
    ),
    "alike": (lambda rng: rng.beta(6, 2, 14), [0, 1] * 7),
    "one alone": (lambda rng: np.r_[0.9, rng.beta(6, 2, 11)], [0] + [1] * 11),
}


@pytest.mark.parametrize("delta", mostly_slow((0.2, 0.5), ordinary=(0.5,)))
@pytest.mark.parametrize("family", mostly_slow(FAMILIES, ordinary=("newcomers ahead",)))
def test_errors_are_as_rare_as_guaranteed_if_each_group_is_a_population(sample, family, delta):
    draw, groups = FAMILIES[family]
    failures, runs = 0, sample(15, 60)
    for seed in range(runs):
        truth = draw(np.random.default_rng([12, seed]))
        outcome = simulate_run(
            "universal",
            truth,
            k=3,
            epsilon=0.2,
            delta=delta,
            seed=seed,
            max_pulls=50_000,
            groups=groups,
        )
        assert outcome.reasons == ("guarantee",)
        failures += np.sort(truth)[-3:].mean() - truth[outcome.selection].mean() > 0.2
    assert not too_many(failures, runs, delta)


def a_run(groups=("a",) * 6 + ("b",) * 6, gone=((), (), ()), gone_groups=(), each=200):
    rng = np.random.default_rng(0)
    truth = np.r_[np.full(6, 0.6), np.full(6, 0.9)]
    state = State.fresh(12)
    state.gone, state.gone_groups = np.array(gone, float), gone_groups
    selector = build_selector("universal", Problem(12, 3, 0.05, 0.1), state, groups=list(groups))
    selector.tell(np.arange(12), rng.binomial(each, truth), each)
    return selector


def test_a_withdrawn_worker_counts_in_the_group_that_they_belong_to():
    """A worker of .6 is expected in the first group, and a surprise in the second."""
    gone = ([120.0], [200.0], [0.0])
    plain, odd, usual, alone = (
        a_run(gone=gone if group else ((), (), ()), gone_groups=group).standing().gap
        for group in ((), ("b",), ("a",), ("c",))
    )
    assert usual == pytest.approx(plain, rel=0.1)
    assert plain < odd
    assert plain < alone < 1


def test_answers_that_are_out_count_in_their_group():
    before = a_run().standing().gap
    waiting = a_run(gone=([120.0], [200.0], [2.0]), gone_groups=("a",))
    told = a_run(gone=([120.0], [200.0], [0.0]), gone_groups=("a",))
    assert waiting.standing().gap > told.standing().gap
    waiting.wait_for(np.arange(12) == 3)
    assert waiting.standing().gap > before


def test_group_may_be_empty_or_unanswered():
    left = a_run(groups=["a"] * 12, gone=([150.0], [200.0], [1.0]), gone_groups=("b",))
    assert 0 < left.standing().gap <= 1
    assert left.ask(10).sum() == 10
    fresh = build_selector("universal", Problem(6, 2, 0.1), groups=list("aabbcc"))
    assert fresh.standing().gap == 1
    assert (fresh.ask(18) == 3).all()


def test_groups_work_on_a_question_set():
    options = {"accuracy": "on this question set", "questions": 60}
    selector = build_selector("universal", Problem(12, 3, 0.1), groups=["a", "b"] * 6, **options)
    rng = np.random.default_rng(4)
    selector.tell(np.arange(12), rng.binomial(40, np.linspace(0.5, 0.95, 12)), 40)
    plain = build_selector("universal", Problem(12, 3, 0.1), selector.state, **options)
    assert plain.standing().gap < selector.standing().gap < 1


def test_guarantee_states_the_assumption_about_groups():
    selector = a_run()
    assert "whatever population each group of workers comes from" in selector.guarantee.sentence(
        selector.problem
    )
    assumes = selector.guarantee.assumes
    assert "distinguished the good workers of a group from the others of the group" in assumes
    plain = build_selector("universal", Problem(12, 3, 0.05)).guarantee.assumes
    assert "good workers from the others:" in plain


def test_select_takes_groups():
    rng = np.random.default_rng(1)
    table = rng.random((8, 400)) < np.r_[np.full(4, 0.95), np.full(4, 0.6)][:, None]
    chosen = select(table, k=4, epsilon=0.2, algorithm="universal", groups=["x"] * 4 + ["y"] * 4)
    assert chosen.workers.tolist() == [0, 1, 2, 3]
    assert chosen.complete
    assert "each group of workers" in chosen.guarantee


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], "one for each of the 3 workers, not 2"),
        ("abc", "a list of texts or whole numbers"),
        ([0.5, 1, 2], "a list of texts or whole numbers"),
        ([["a"], ["b"], ["c"]], "a list of texts or whole numbers"),
        ([], "a list of texts or whole numbers"),
    ],
)
def test_labels_must_match_the_number_of_workers(groups, message):
    for build in (build_selector, simulate_with):
        with pytest.raises(ProblemError, match=message):
            build("universal", Problem(3, 1, 0.1), groups=groups)


def simulate_with(name, problem, groups):
    simulate_run(name, np.full(problem.n, 0.5), k=problem.k, epsilon=0.1, groups=groups)


@pytest.mark.parametrize("algorithm", ["certified", "credible", "lucb"])
def test_rules_without_groups_refuse_them(algorithm):
    with pytest.raises(ProblemError, match="no option named groups"):
        build_selector(algorithm, Problem(3, 1, 0.1), groups=["a", "b", "b"])
