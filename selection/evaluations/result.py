"""The result of an evaluation, as text and for programs."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from functools import cached_property
from typing import Any

from selection.model_workers.prices import to_amount
from selection.model_workers.unreadable import EXAMPLE_LENGTH, EXAMPLES, ReplyCount, build_count
from selection.runs import money
from selection.texts import counted

from .runs import GUARANTEE, Evaluation

LINE = "{place:>3}  {name:<40} {accuracy:>8}  {calls:>6} calls  {cost:>12}  {verdict}"
CHECKED = "{name:<40} {read:<20} {tokens:>7} {cost:>12} {seconds:>8}  {problem}"
HEAD = ("model", "reply read as", "tokens", "price", "time", "problem")


class Result:
    """The state of an evaluation. asking: models whose replies wait for a decision."""

    def __init__(self, evaluation: Evaluation, asking: Sequence[str] = ()) -> None:
        self.evaluation, self.asking = evaluation, asking
        self.best, self.sums = evaluation.study.best, evaluation.ledger.sum_calls(evaluation.number)

    @property
    def calls(self) -> int:
        return sum(made for made, _ in self.sums.values())

    @property
    def cost(self) -> Decimal:
        return to_amount(sum(cost for _, cost in self.sums.values()))

    @property
    def guarantee(self) -> str:
        reached = self.evaluation.ending or self.best.complete
        return self.best.guarantee if reached else f"Not reached yet: {self.best.guarantee}"

    @property
    def is_kept(self) -> bool:
        return self.evaluation.ending == GUARANTEE and self.best.complete

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each model: the selected first, then the best."""
        means = {row["candidate"]: row for row in self.best.frame}
        answers = dict(zip(self.evaluation.study.names, self.best.answers.tolist(), strict=True))
        rows = []
        for name in self.evaluation.models:
            row = means.get(name, {"mean": None, "lower": None, "upper": None})
            known = answers[name] and row["mean"] is not None
            rows.append(
                {
                    "model": name,
                    "selected": name in self.best.names and bool(answers[name]),
                    "accuracy": round(row["mean"], 4) if known else None,
                    "lower": row["lower"],
                    "upper": row["upper"],
                    "calls": answers[name],
                    "cost": str(to_amount(self.sums.get(name, (0, 0))[1])),
                    "set_aside": name in self.best.set_aside,
                    "problem": self.best.set_aside.get(name, ""),
                }
            )
        return sorted(rows, key=lambda row: (not row["selected"], -(row["accuracy"] or 0)))

    @cached_property
    def replies(self) -> list[ReplyCount]:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        right, examples = Counter[str](), defaultdict[str, list[str]](list)
        for row in self.evaluation.ledger.list_replies(self.evaluation.number):
            name, question = row["model"], self.evaluation.questions[row["question"]]
            counts[name][row["result"]] += 1
            if row["answer"]:
                right[name] += question.grade(row["answer"])
            else:
                examples[name].append((row["reply"].strip() or row["problem"])[:EXAMPLE_LENGTH])
        return [
            build_count(
                name,
                name in self.asking,
                {result: (n, right[name]) for result, n in counts[name].items()},
                examples[name][-EXAMPLES:],
            )
            for name in sorted(counts)
        ]

    # -- as text

    @property
    def lines(self) -> list[str]:
        chosen = [row for row in self.rows if row["selected"]]
        others = [row for row in self.rows if not row["selected"]]
        lines = [self.format_row(row, str(place)) for place, row in enumerate(chosen, 1)]
        lines += ["", *map(self.format_row, others[:10])]
        lines += [f"     … and {len(others) - 10} more"] if len(others) > 10 else []
        return [*lines, "", self.guarantee, self.summary]

    @property
    def summary(self) -> str:
        evaluation = self.evaluation
        everything = len(evaluation.models) * len(evaluation.questions)
        share = f"{counted(self.calls, 'call')} of {everything:,} ({self.calls / everything:.1%})"
        return f"{share}, {self.format_cost()}. Run {evaluation.number}, “{evaluation.name}”."

    def format_cost(self) -> str:
        return str(money.format_call_cost(self.cost, self.evaluation.currency))

    def format_row(self, row: dict[str, Any], place: str = "") -> str:
        return LINE.format(place=place, **self.format_cells(row)).rstrip()

    def format_cells(self, row: dict[str, Any]) -> dict[str, str]:
        return {
            "name": row["model"],
            "accuracy": "" if row["accuracy"] is None else f"{row['accuracy']:.1%}",
            "calls": str(row["calls"]),
            "cost": money.format_call_cost(Decimal(row["cost"]), self.evaluation.currency),
            "verdict": "selected" if row["selected"] else "set aside" if row["set_aside"] else "",
        }

    def format_json(self) -> str:
        document = {
            "run": self.evaluation.number,
            "name": self.evaluation.name,
            "ending": self.evaluation.ending,
            "guarantee": self.guarantee,
            "epsilon_reached": self.best.epsilon,
            "calls": self.calls,
            "cost": str(self.cost),
            "models": self.rows,
            "replies": [asdict(count) | {"advice": count.advice} for count in self.replies],
        }
        return json.dumps(document, indent=2, ensure_ascii=False)


# -- one reply of each model


def describe_replies(rows: Sequence[dict[str, Any]], currency: str) -> list[str]:
    """Write a table of these calls, each a model's: how it was read, and what it took."""
    names = ("name", "read", "tokens", "cost", "seconds", "problem")
    lines = [CHECKED.format(**dict(zip(names, HEAD, strict=True))).rstrip()]
    for row in rows:
        replied = row["state"] in ("replied", "reused")
        cells = {
            "read": (row["answer"][:20] or "unreadable") if replied else "no reply",
            "tokens": str((row["tokens_in"] or 0) + (row["tokens_out"] or 0) or ""),
            "cost": money.format_call_cost(to_amount(row["cost"]), currency) if replied else "",
            "seconds": f"{(row['milliseconds'] or 0) / 1000:.1f} s" if replied else "",
        }
        lines.append(CHECKED.format(name=row["model"], problem=row["problem"], **cells).rstrip())
    return lines


def list_first_replies(evaluation: Evaluation) -> list[dict[str, Any]]:
    """List the first reply of each model in the run; the problem of one that has none."""
    first: dict[str, dict[str, Any]] = {}
    for row in evaluation.ledger.list_replies(evaluation.number):
        first.setdefault(row["model"], dict(row))
    none = {"state": "", "tokens_in": 0, "tokens_out": 0}
    set_aside = evaluation.study.set_aside
    return [
        first.get(name) or none | {"model": name, "problem": set_aside.get(name, "not called yet")}
        for name in sorted(evaluation.models)
    ]
