"""A replay's numbers as text: percentages and points, answers and money."""

from decimal import Decimal
from typing import Any

from selection.facts import Facts
from selection.runs import money
from selection.runs.roster.worker_prices import format_price
from selection.texts import count_noun, count_points
from selection.viewer_locale import format_count, format_percent

from .models import Replay
from .results import MethodResult, ReplayResult


def result_context(replay: Replay, result: ReplayResult) -> dict[str, Any]:
    texts = [_method_text(replay, row) for row in result.methods]
    ours = [text for text in texts if text.row.ours]
    names = [text.row.algorithm for text in ours]
    best = result.enough
    return {
        "result": result,
        "ours": ours,
        "others": [text for text in texts if not text.row.ours],
        "best": next((text for text in ours if text.row == best), None),
        "reach": min((t for t in ours if t.row.reach is not None), key=_reach_of, default=None),
        "goal": describe_goal(replay),
        "total_cost": _format_cost(replay, result.answers, result.cost),
        "total_tokens": _format_tokens(result.tokens),
        "left_out": _describe_left_out(replay.facts),
        "workers": [
            Facts(
                row=row,
                accuracy=format_share(row.accuracy),
                marks=[name in row.methods for name in names],
            )
            for row in result.workers
            if row.best or set(names) & set(row.methods)
        ],
    }


def _reach_of(text: Facts) -> float:
    return 1.0 if text.row.reach is None else text.row.reach


def describe_goal(replay: Replay) -> str:
    goal, workers = replay.goal, replay.facts.get("workers", 0)
    return (
        f"the best {format_count(goal['k'])} of {count_noun(workers, 'worker')}, within "
        f"{count_points(goal['epsilon'])} of the best, with {format_share(1 - goal['delta'])} "
        "confidence"
    )


def format_share(share: float) -> str:
    return format_percent(share, 1 if 0 < share < 0.0995 else 0)


def format_points(loss: float) -> str:
    return count_points(round(loss, 3))


def _method_text(replay: Replay, row: MethodResult) -> Facts:
    return Facts(
        row=row,
        answers=format_count(row.answers),
        band="" if row.low == row.high else f"{format_count(row.low)} to {format_count(row.high)}",
        share=format_share(row.share),
        cost=_format_cost(replay, row.answers, row.cost),
        tokens=_format_tokens(row.tokens),
        below=format_points(row.loss),
        below_mean=format_points(row.loss_mean),
        holds=_describe_ending(replay, row),
        reach=f"within {count_points(row.reach)}" if row.reach is not None else "",
    )


def _describe_ending(replay: Replay, row: MethodResult) -> str:
    if row.enough:
        untrue = f"; guarantee not met in {row.untrue} of {row.runs} question orders"
        return f"reached the target{untrue if row.untrue else ''}"
    end = "budget" if replay.goal.get("budget") else "answers"
    achieved = (
        "no guarantee" if row.epsilon is None else f"guarantee: within {count_points(row.epsilon)}"
    )
    return f"ran out of {end}; {achieved}"


def _format_cost(replay: Replay, answers: int, cost: float | None) -> str:
    if cost is not None and "prices" in replay.facts:
        return money.format_call_cost(Decimal(str(cost)), replay.facts["currency"])
    price = replay.goal.get("price")
    amount = None if price is None else Decimal(str(price))
    return format_price(answers, amount, replay.goal.get("currency") or "")


def _format_tokens(tokens: int | None) -> str:
    return "" if tokens is None else count_noun(tokens, "token")


def _describe_left_out(facts: dict[str, Any]) -> str:
    """Describe the answers that do not count and the columns not read; empty if all do."""
    parts = [
        f"{format_count(facts[name])} {words}"
        for name, words in (
            ("left_out", "to questions without a correct answer in the key"),
            ("repeated", "repeated answers of a worker to a question"),
            ("bad", "in rows with an error"),
        )
        if facts.get(name)
    ]
    idle = facts.get("idle", 0)
    more = (
        f" {format_count(idle)} worker{'s have' if idle > 1 else ' has'} no other answers."
        if idle
        else ""
    )
    text = f"Answers left out: {'; '.join(parts)}.{more}" if parts else ""
    unread = facts.get("unread") or []
    return f"{text} Columns not read: {', '.join(unread)}.".strip() if unread else text
