"""A dump written by hand, from docs/dumps.md and nothing else."""

from typing import Any

import numpy as np
import pytest

import topk
from topk import Problem, build_selector, question_order
from topk.verify import (
    FORMAT,
    VERSION,
    DumpError,
    describe_verification,
    digest_of,
    read_record,
    verify_dump,
)

SEED, WORKERS, DECK = 5, 4, 400
GOOD = (0.95, 0.3, 0.35, 0.3)


def played() -> dict[str, Any]:
    """Play LUCB on four workers, the first being the best, with a step for every twelve answers."""
    arm_of = np.random.default_rng(SEED).permutation(WORKERS)
    selector = build_selector("lucb", Problem(WORKERS, 1, 0.3, 0.1))
    answers: list[list[list[Any]]] = [[] for _ in range(WORKERS)]
    steps, rng = [], np.random.default_rng(1)
    while not selector.stop():
        number = len(steps) + 1
        arms = np.repeat(np.arange(WORKERS), selector.ask(slots=12))
        right = rng.random(arms.size) < np.array(GOOD)[np.argsort(arm_of)][arms]
        for arm, good in zip(arms.tolist(), right.tolist(), strict=True):
            position = len(answers[arm])
            (question,) = question_order.questions_at(SEED, [arm], [position], DECK).tolist()
            answers[arm].append([question, position, good, False, number])
        selector.tell(arms, right)
        steps.append(
            {
                "number": number,
                "applied": arms.size,
                "gap": selector.standing().gap,
                "wanted": 0.3,
            }
        )
    chosen = selector.selection().tolist()
    return document(arm_of, answers, steps, chosen)


def document(arm_of: Any, answers: Any, steps: Any, chosen: list[int]) -> dict[str, Any]:
    made = {
        "format": FORMAT,
        "version": VERSION,
        "run": {
            "algorithm": "lucb",
            "epsilon": 0.3,
            "delta": 0.1,
            "budget": None,
            "options": {},
            "pass_mark": None,
            "keep_no_shows": False,
            "seed": SEED,
            "joined": 0,
            "recorded": False,
            "enrolling": False,
            "one_kind_each": False,
            "status": "ended",
            "ending": "guarantee",
        },
        "kinds": [{"k": 1, "deck": DECK}],
        "workers": [{"worker": name} for name in ("ada", "ben", "cid", "dot")],
        "answer_columns": ["question", "position", "right", "void", "counted"],
        "candidates": [
            {
                "arm": int(arm),
                "worker": worker,
                "kind": 0,
                "gone": "",
                "asked": len(answers[arm]),
                "pulls": len(answers[arm]),
                "void": 0,
                "rewards": sum(answer[2] for answer in answers[arm]),
                "verdict": 1 if arm in chosen else -1,
                "answers": answers[arm],
            }
            for worker, arm in enumerate(arm_of)
        ],
        "steps": steps,
        "events": [],
        "memory": {},
        "best_guarantee": {},
        "result": {
            "selection": chosen,
            "by": "algorithm",
            "epsilon": 0.3,
            "guarantee": "With probability at least 90%, the selected one is at most 30 points "
            "less accurate than the best.",
            "among": "",
        },
    }
    return made | {"digest": digest_of(made)}


def test_handwritten_record_is_recomputed():
    found = verify_dump(played())
    assert found.same, found.findings
    assert (found.selection, found.epsilon) == (("ada",), 0.3)
    assert describe_verification(found)[-1].endswith("is the same.")


def test_differences_are_listed_line_by_line():
    made = played()
    made["candidates"][0]["rewards"] -= 1
    found = verify_dump(made)
    assert not found.same
    lines = describe_verification(found)
    assert "The dump says otherwise:" in lines
    assert any(line.startswith("- Worker ada: ") for line in lines)


@pytest.mark.parametrize(
    ("part", "name", "value", "said"),
    [
        ("run", "algorithm", "guess", "'guess' is missing or not known"),
        ("run", "seed", -1, "its seed is no whole number"),
        ("result", "selection", [9], "names an arm that is not in it"),
    ],
)
def test_inconsistent_record_is_refused_in_a_sentence(part, name, value, said):
    made = played()
    made[part][name] = value
    with pytest.raises(DumpError, match=said):
        read_record(made)


def test_an_unknown_version_is_refused():
    """The message names the program that would read it."""
    said = f"by version 9.1 of the application in version 2 of its format; topk {topk.__version__} "
    with pytest.raises(DumpError, match=said):
        read_record(played() | {"version": 2, "software": "9.1"})
