"""Workers that are right and wrong on the same questions, distinguished from chance."""

import numpy as np

from topk.dependence import FALSE_ALARM, same_questions

from .harness import too_many


def answers(rng, chance, part=0.7):
    """Return answers of (n, m), each given or not, and right with its probability."""
    workers, questions = np.nonzero(rng.random(chance.shape) < part)
    return workers, questions, rng.random(workers.size) < chance[workers, questions]


def test_an_alarm_without_reason_is_as_rare_as_said():
    alarms, runs = 0, 300
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        chance = np.repeat(rng.beta(6, 2, (12, 1)), 15, axis=1)
        alarms += same_questions(*answers(rng, chance))
    assert alarms > 0
    assert not too_many(alarms, runs, FALSE_ALARM)


def test_two_topics_each_known_to_half_of_the_crowd_are_found():
    rng = np.random.default_rng(1)
    knows = np.arange(40)[:, None] % 2 == rng.integers(0, 2, 60)
    assert same_questions(*answers(rng, np.where(knows, 0.85, 0.55)))


def test_questions_that_all_find_hard_are_found():
    rng = np.random.default_rng(2)
    chance = np.tile(np.where(rng.random(60) < 0.3, 0.4, 0.9), (30, 1))
    assert same_questions(*answers(rng, chance))


def test_stopping_after_a_wrong_answer_is_no_sign_of_dependence():
    """A worker may go on depending on its answers: the order of the questions does not depend on
    them.
    """
    alarms = 0
    for seed in range(200):
        rng, found = np.random.default_rng([3, seed]), []
        for worker in range(12):
            for question in rng.permutation(15):
                found.append((worker, question, rng.random() < 0.7))
                if not found[-1][2]:
                    break
        alarms += same_questions(*np.array(found).T)
    assert not too_many(alarms, 200, FALSE_ALARM)


def test_the_order_of_the_answers_does_not_matter():
    rng = np.random.default_rng(4)
    found = answers(rng, np.tile(np.linspace(0.2, 0.95, 40), (20, 1)))
    order = rng.permutation(found[0].size)
    assert same_questions(*found)
    assert same_questions(*(x[order] for x in found))


def test_empty_or_flawless_answers_show_no_dependence():
    assert not same_questions([], [], [])
    assert not same_questions([0, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1])
