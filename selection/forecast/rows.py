"""The table of a forecast: of simulated runs, what each algorithm costs and whether it ends."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from topk import rounded_up

from .bands import band
from .contenders import Contender
from .plan import Plan
from .plays import Ending, Need, Play

ENDS = 0.9  # of the simulated runs must keep the promise for a plan to be called feasible


@dataclass
class Ledger:
    """What was simulated of one algorithm; ``seconds`` of processor time it took."""

    contender: Contender
    plays: list[Play] = field(default_factory=list)
    need: Need | None = None
    seconds: float = 0.0

    def share(self, ending: Ending) -> float:
        return sum(play.ending is ending for play in self.plays) / len(self.plays)

    @property
    def feasible(self) -> bool:
        """Whether it comes to the end it is meant to have."""
        wanted = Ending.BUDGET if self.contender.fixed_budget else Ending.PROMISE
        return self.share(wanted) >= ENDS

    @property
    def epsilon(self) -> float | None:
        """What is promised in the end, in the middle of the runs that were cut short."""
        cut = [play.epsilon for play in self.plays if play.ending is not Ending.PROMISE]
        return None if self.contender.fixed_budget or not cut else float(np.median(cut))


@dataclass(frozen=True)
class Forecast:
    """What to expect of one algorithm. Shares are of simulated runs.

    options             where they are not the algorithm's defaults
    promise             in words, as it is if the run comes to its end
    keeps               what matters to the requester is what is promised
    fixed_budget        it spends the budget whatever it finds
    answers             low, median, high: four runs of five lie between low and high
    cost                the same in money; None without a price
    answers_per_worker  mean; of the worker asked most: in the middle of the runs, and at most
    feasible            questions and budget last to the end in nine runs of ten
    out_of_questions    share of runs that end for want of questions
    out_of_budget       share of runs that end for want of money
    epsilon_at_end      what holds in the middle of the runs that were cut short; None if none was
    loss                what the selection really loses, in the middle of the runs
    why                 one sentence
    runs                simulated
    """

    algorithm: str
    title: str
    options: dict[str, Any]
    promise: str
    keeps: bool
    fixed_budget: bool
    answers: tuple[int, int, int]
    cost: tuple[float, float, float] | None
    answers_per_worker: dict[str, float]
    feasible: bool
    out_of_questions: float
    out_of_budget: float
    epsilon_at_end: float | None
    loss: float
    why: str
    recommended: bool
    runs: int

    def as_numbers(self) -> dict[str, Any]:
        return asdict(self)


def table(plan: Plan, ledgers: Sequence[Ledger]) -> list[Forecast]:
    """One row for each that was simulated, the recommended one first, then by price."""
    rows = [_row(plan, ledger) for ledger in ledgers if ledger.plays]
    if not rows:
        return []
    chosen = rows.index(min(rows, key=_merit))
    best = rows[chosen]
    played = [ledger for ledger in ledgers if ledger.plays]
    told = [
        replace(row, recommended=row is best, why=_why(plan, ledger, row, best))
        for row, ledger in zip(rows, played, strict=True)
    ]
    return sorted(told, key=lambda row: (not row.recommended, _merit(row)))


def _merit(row: Forecast) -> tuple[bool, bool, float, int]:
    """The least is recommended: the cheapest that keeps what matters; if none ends, the closest."""
    reached = (row.epsilon_at_end or 0.0) if not row.feasible else 0.0
    return not row.keeps, not row.feasible, reached, row.answers[1]


def _row(plan: Plan, ledger: Ledger) -> Forecast:
    one, plays = ledger.contender, ledger.plays
    answers = band([play.answers for play in plays], plan.most_answers)
    asked = [play.most for play in plays]
    return Forecast(
        algorithm=one.name,
        title=one.title,
        options=one.options,
        promise=one.promise.sentence(plan.problem()),
        keeps=one.fits,
        fixed_budget=one.fixed_budget,
        answers=answers,
        cost=money(plan, answers),
        answers_per_worker={
            "mean": round(answers[1] / plan.workers, 1),
            "most": int(np.median(asked)),
            "at_most": max(asked),
        },
        feasible=ledger.feasible,
        out_of_questions=round(ledger.share(Ending.QUESTIONS), 3),
        out_of_budget=0.0 if one.fixed_budget else round(ledger.share(Ending.BUDGET), 3),
        epsilon_at_end=None if ledger.epsilon is None else rounded_up(ledger.epsilon),
        loss=round(float(np.median([play.loss for play in plays])), 4),
        why="",
        recommended=False,
        runs=len(plays),
    )


def money(plan: Plan, answers: tuple[int, int, int]) -> tuple[float, float, float] | None:
    if plan.price is None:
        return None
    low, median, high = (round(plan.price * many, 4) for many in answers)
    return low, median, high


# -- reasons


def _why(plan: Plan, ledger: Ledger, row: Forecast, best: Forecast) -> str:
    if ledger.contender.fixed_budget:
        return f"Spends the budget whatever it finds, and promises nothing{_loss(row)}."
    if not row.feasible:
        return _cut(plan, ledger, row, best)
    if row is best:
        return f"The cheapest that promises what matters and ends: {_ends(plan, row)}."
    if not row.keeps:
        return f"It ends, but promises something else than what matters: {_ends(plan, row)}."
    return f"It promises what matters, {_compare(row, best)}: {_ends(plan, row)}."


def _compare(row: Forecast, best: Forecast) -> str:
    if not row.answers[1]:
        return f"without any answers, as {best.title}"
    if not best.answers[1]:
        return f"with about {row.answers[1]:,} answers, where {best.title} needs none"
    return f"at {row.answers[1] / best.answers[1]:.1f} times the answers of {best.title}"


def of_runs(share: float, runs: int) -> str:
    """Counted, because a share of few would sound surer than it is."""
    return f"{round(share * runs):,} of {runs:,} simulated runs"


def _loss(row: Forecast) -> str:
    return f"; what it selects is mostly about {row.loss:.2f} below the best"


def _ends(plan: Plan, row: Forecast) -> str:
    most = row.answers_per_worker["at_most"]
    kept = 1 - row.out_of_questions - row.out_of_budget
    return (
        f"the promise is kept in {of_runs(kept, row.runs)}, and nobody needs more than {most} of "
        f"the {plan.questions} questions"
    )


def _cut(plan: Plan, ledger: Ledger, row: Forecast, best: Forecast) -> str:
    """Why it does not end, what holds by then, and the ways out."""
    short = row.out_of_questions >= row.out_of_budget
    share, what = max((row.out_of_questions, "questions"), (row.out_of_budget, "money"))
    held = row.epsilon_at_end or 1.0
    promised = f"ε = {held:g} is promised by then" if held < 1 else "nothing is promised by then"
    ways = [f"take {best.title}"] if best.feasible and best is not row else []
    ways += [f"allow an ε of {held:g} or more"] if plan.epsilon < held < 1 else []
    ways += ["have more questions" if what == "questions" else "pay for more answers"]
    return (
        f"In {of_runs(share, row.runs)} the {what} would run out"
        f"{_needed(plan, ledger) if short else ''}, and {promised}; ways out: {', or '.join(ways)}."
    )


def _needed(plan: Plan, ledger: Ledger) -> str:
    need = ledger.need
    if need is None or need.most <= plan.questions:
        return ""
    about = "about" if need.ended else "more than"
    return f" (it would ask one worker {about} {need.most:,}, of {plan.questions:,} that there are)"
