"""The contract of every algorithm: design.md, section 3."""

import json
import re

import numpy as np
import pytest

from topk import SELECTORS, Problem, ProblemError, Verdict
from topk.simulate import simulate_run

from .harness import (
    FAMILIES,
    FIXED_BUDGET,
    FIXED_CONFIDENCE,
    NAMES,
    Table,
    again,
    as_if_made,
    build,
    finish,
    places,
    problem,
    steps,
    stored,
    too_many,
)
from .parameters import mostly_slow

MEANS = [0.95, 0.9, 0.85, 0.3, 0.25, 0.2, 0.1, 0.05]
every = pytest.mark.parametrize("name", NAMES)
played = pytest.mark.parametrize("name", mostly_slow(NAMES, FAMILIES))


def means(name):
    return [0.95, *MEANS[3:], 0.3, 0.2] if name == "lil-ucb" else MEANS


def table(name, seed=1, noise=False):
    return Table(means(name), np.random.default_rng(seed), noise)


def test_the_registry_holds_the_names_of_the_issue():
    assert set(NAMES) >= {
        *("adaptive-top-k", "improved-top-k", "lucb", "kl-lucb", "kl-racing", "ugape-c"),
        *("ugape-v", "halving", "clucb-pac", "lil-ucb", "lil-lucb", "lucb-plus-plus"),
        *("lil-rand-lucb", "lil-clucb", "uniform", "sr", "sar", "csar", "gap-e"),
        *("ugape-b", "adaptive-top-k-budget", "opt-mai-budget"),
    }


@played
def test_the_state_does_not_depend_on_batching_or_order(name):
    whole, split, answers = build(name), build(name), table(name)
    rng = np.random.default_rng(0)
    for _ in range(60):
        if whole.stop():
            break
        arms, rewards = answers.next(whole.state.pulls, whole.ask(5, rng=rng))
        whole.tell(arms, rewards)
        for i in rng.permutation(arms.size):
            split.tell([arms[i]], [rewards[i]])
    one, other = stored(whole.state), stored(split.state)
    if SELECTORS[name].path_dependent:
        del one["memory"], other["memory"]
    assert one == other


@played
def test_ask_stays_within_slots_and_room_and_changes_no_state(name):
    selector, rng = build(name), np.random.default_rng(2)
    for number, _ in enumerate(steps(selector, table(name), slots=7)):
        before = stored(selector.state)
        room, pending = rng.integers(0, 4, 8), rng.integers(0, 3, 8)
        slots = int(rng.integers(1, 30))
        asked = selector.ask(slots, pending, room, rng)
        assert (asked >= 0).all()
        assert (asked <= room).all()
        assert asked.sum() <= slots
        assert not asked[selector.state.verdict != Verdict.UNDECIDED].any()
        assert stored(selector.state) == before
        if number > 40:
            break


@played
def test_verdicts_stay_and_at_a_stop_exactly_k_are_accepted(name):
    selector, before = build(name), np.zeros(8, np.int8)
    for _ in steps(selector, table(name), slots=9):
        now = selector.standing().verdict
        assert (now[before != Verdict.UNDECIDED] == before[before != Verdict.UNDECIDED]).all()
        before = now
    verdict = selector.standing().verdict
    assert (verdict == Verdict.ACCEPTED).sum() == places(name)
    assert (verdict == Verdict.UNDECIDED).sum() == 0
    assert np.flatnonzero(verdict == Verdict.ACCEPTED).tolist() == selector.selection().tolist()


@played
def test_a_selector_rebuilt_from_its_state_has_the_same_future(name):
    straight, rebuilt = build(name), build(name)
    for number, (arms, rewards) in enumerate(steps(straight, table(name), slots=6)):
        rebuilt = again(rebuilt)
        rng = np.random.default_rng([0, number])
        assert np.bincount(arms, minlength=8).tolist() == rebuilt.ask(6, rng=rng).tolist()
        rebuilt.tell(arms, rewards)
        if number > 80:
            break
    assert again(rebuilt).selection().tolist() == rebuilt.selection().tolist()


@played
def test_renumbering_the_arms_renumbers_the_result(name):
    order = np.random.default_rng(3).permutation(8)
    one, other = table(name, noise=True), table(name, noise=True)
    one.next(np.zeros(8, int), np.full(8, 3000))
    other.means, other.rewards = one.means[order], one.rewards[order]
    straight, renumbered = finish(build(name), one), finish(build(name), other)
    assert sorted(order[renumbered.selection()]) == straight.selection().tolist()


# -- outstanding answers: law 4


def judged(selector):
    standing = vars(selector.standing())
    return (
        selector.stop(),
        selector.selection().tolist(),
        json.dumps(standing, default=lambda value: value.tolist()),
    )


def in_its_middle(name, kind, answered):
    """A selector of this class that has so many answers and is far from its end."""
    known = 2000 if "budget" in kind.needs else None
    selector = kind(Problem(8, places(name), 0.02, 0.1, known))
    close = Table([0.7, *np.linspace(0.65, 0.35, 7)], np.random.default_rng(answered))
    for number, (_, _) in enumerate(steps(selector, close, slots=10)):
        if number == answered // 10:
            return selector
    raise AssertionError("it stopped")


def check_what_is_out_counts_as_made(name, kind):
    """Outstanding answers count in asking as if they had come in and left the means as they are.

    An algorithm of rounds asks nothing beyond the round that these answers would complete.
    """
    within_round = 0
    for seed, answered in enumerate((0, 10, 60, 130, 200)):
        selector, rng = in_its_middle(name, kind, answered), np.random.default_rng(seed)
        pending = rng.binomial(selector.ask(14, rng=rng), 0.6)
        made = as_if_made(selector, pending)
        if made.stop():
            continue
        same_round = getattr(made, "round", 0) == getattr(selector, "round", 0)
        within_round += same_round and pending.any()
        for slots in (None, 1, 9, 300):
            asked = selector.ask(slots, pending, rng=np.random.default_rng(seed))
            wanted = made.ask(slots, rng=np.random.default_rng(seed))
            assert asked.tolist() == (wanted if same_round else 0 * wanted).tolist()
    assert within_round >= 2


def check_first_answers_that_are_out_are_not_asked_again(name, kind):
    """Our algorithms size batches by the answers in, and begin with the first answers of all
    workers.
    """
    selector = kind(Problem(8, 3, 0.1, 0.1))
    for met in (np.arange(8) < 4, np.arange(8) % 2 == 0):
        asked = selector.ask(4, 20 * met, rng=np.random.default_rng(0))
        assert asked.sum() == 4
        assert not asked[met].any()


def check_choosing(name, kind):
    if name in ("certified", "credible", "universal"):
        check_first_answers_that_are_out_are_not_asked_again(name, kind)
    else:
        check_what_is_out_counts_as_made(name, kind)


@played
def test_an_outstanding_answer_counts_as_made_when_choosing(name):
    check_choosing(name, SELECTORS[name])


@played
def test_room_test_fails_for_a_selector_that_ignores_pending_answers(name):
    class Forgetful(SELECTORS[name]):
        def _ask(self, slots, pending, room, rng):
            return super()._ask(slots, np.zeros_like(pending), room, rng)

    with pytest.raises(AssertionError):
        check_choosing(name, Forgetful)


@played
def test_an_outstanding_answer_does_not_count_when_judging(name):
    selector = in_its_middle(name, SELECTORS[name], 60)
    before, pending = judged(selector), np.full(8, 1000)
    rebuilt = again(selector)
    for slots in (None, 20):
        for asking in (selector, rebuilt):  # one has judged before it is asked, the other has not
            asking.ask(slots, pending // (1 if "budget" not in selector.needs else 100))
            assert judged(asking) == before


@played
def test_the_standing_is_within_its_ranges(name):
    selector = build(name)
    for number, _ in enumerate(steps(selector, table(name), slots=11)):
        standing = selector.standing()
        seen = selector.state.pulls > 0
        assert (standing.lower >= 0).all()
        assert (standing.upper <= 1).all()
        assert (standing.lower[seen] <= standing.mean[seen] + 1e-12).all()
        assert (standing.upper[seen] >= standing.mean[seen] - 1e-12).all()
        assert 0 <= standing.gap <= 1
        size = selector.selection().size
        assert size <= places(name) if selector.takes_mark else size == places(name)
        if number > 30:
            break


@pytest.mark.parametrize("name", mostly_slow(FIXED_CONFIDENCE, FAMILIES))
def test_errors_are_as_rare_as_guaranteed(sample, name):
    """No power against a bound that is merely too narrow: proved methods hardly ever err.

    The radii, pull counts and violation rates are tested on their own. This one would see a bound
    that is not there at all. 20 runs: fails at 9, exact chance 6 in 100,000 at the guaranteed 10 %,
    power 0.94 against 60 %. 100 in full: fails at 24, 4 in 100,000, power 0.92 against 30 %.
    """
    k, failures, runs = places(name), 0, sample(20, 100)
    truth = np.array(means(name))
    for seed in range(runs):
        outcome = simulate_run(
            name, truth, k=k, epsilon=0.25, delta=0.1, seed=seed, max_pulls=400_000
        )
        best = np.sort(truth)[::-1][:k].mean()
        failures += best - truth[outcome.selection].mean() > 0.25 or outcome.reasons != (
            "guarantee",
        )
    assert not too_many(failures, runs, 0.1)


@pytest.mark.parametrize("name", FIXED_BUDGET)
def test_a_fixed_budget_is_never_exceeded(name):
    for budget in (50, 101, 400, 1999):
        outcome = simulate_run(name, means(name), k=3, delta=0.1, budget=budget, seed=budget)
        assert outcome.pulls <= budget
        assert outcome.reasons == ("budget",)
        assert outcome.selection.size == 3


@pytest.mark.parametrize("name", FIXED_BUDGET)
def test_a_fixed_budget_algorithm_needs_a_budget(name):
    with pytest.raises(ProblemError, match="budget"):
        SELECTORS[name](Problem(8, 3))


@pytest.mark.parametrize("name", mostly_slow(FIXED_CONFIDENCE, FAMILIES))
def test_a_budget_also_bounds_algorithms_of_fixed_confidence(name):
    means_ = [0.795 if SELECTORS[name].takes_mark else 0.5] * 8
    outcome = simulate_run(name, means_, k=places(name), epsilon=0.01, delta=0.1, budget=333)
    assert outcome.pulls == 333
    assert outcome.reasons == ("budget",)


@played
def test_simulating_and_asking_pull_by_pull_are_the_same(name):
    from_kernel = build(name)
    from_asking = build(name)
    truth = np.array(means(name))
    cap = 3000
    rng = np.random.default_rng(11)
    first = from_kernel.simulate(truth, cap, False, rng)
    rng = np.random.default_rng(11)
    while not (second := from_asking.stop()) and from_asking.state.pulls.sum() < cap:
        counts = from_asking.ask(rng=rng)
        arms = np.flatnonzero(counts)
        if counts.max() == 1:
            rewards = rng.random(arms.size) < truth[arms]
        else:
            rewards = rng.binomial(counts[arms], truth[arms])
        from_asking.tell(arms, rewards, counts[arms])
    assert first == second
    assert stored(from_kernel.state) == stored(from_asking.state)


# -- options and guarantees


@every
def test_options_are_described_and_checked(name):
    for option in SELECTORS[name].known_options:
        assert option.about.endswith(".")
        json.dumps(option.default)
        option.check(option.default)
        with pytest.raises(ProblemError, match=option.name):
            build(name, **{option.name: "nonsense"})


@every
def test_an_unknown_option_is_an_error(name):
    with pytest.raises(ProblemError, match="no option named colour"):
        build(name, colour="red")


@every
def test_selectors_declare_their_needs_and_guarantee(name):
    kind = SELECTORS[name]
    assert set(kind.needs) <= {"epsilon", "delta", "budget"}
    assert kind.guarantee.citation
    assert kind.guarantee.sentence(problem(name)).endswith(".")


@every
def test_guarantee_of_one_worker_reads_in_the_singular(name):
    one = Problem(n=8, k=1, epsilon=0.2, delta=0.1)
    sentence = build(name).guarantee.sentence(one)
    assert not re.search(r"\b1 (workers|best)|workers selected|1st best", sentence), sentence


def test_an_unknown_name_is_an_error_that_lists_the_names():
    with pytest.raises(KeyError, match="lil-rand-lucb"):
        simulate_run("lucb2", [0.5, 0.6], k=1)


@pytest.mark.parametrize("name", ["lil-lucb", "lucb-plus-plus", "lil-rand-lucb", "lil-clucb"])
def test_heuristic_parameters_guarantee_nothing(name):
    assert "no guarantee" in build(name, parameters="heuristic").guarantee.sentence(problem(name))
    assert "no guarantee" not in build(name).guarantee.sentence(problem(name))


def test_stand_ins_are_named_as_ours():
    citation = SELECTORS["improved-top-k"].guarantee.citation
    assert citation.startswith("Ours")
    assert "not the paper's" in citation
