"""Table of a forecast, from simulated runs: the cost of each algorithm, and if it ends."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from selection.models import ForecastFigures
from selection.runs.settings.guarantee_texts import word_plan
from selection.texts import counted
from selection.viewer_locale import format_figure
from topk import rounded_up

from .bands import MANY, prediction_band
from .candidates import Contender, unsuitable_contenders
from .plan import Plan
from .selected_quality import describe_selected, median_of
from .simulations import AnswerNeed, SimulatedEnding, SimulatedRun

ENDS = 0.9  # share of the simulated runs that must keep the guarantee of a feasible plan
RARE_SHARE = 0.1  # at most this share of the simulated runs ends in a bad plan


@dataclass
class SimulationLedger:
    """Simulated runs of one algorithm.

    seconds  of processor time they took
    cannot   why it cannot be simulated; empty if it can
    """

    contender: Contender
    plays: list[SimulatedRun] = field(default_factory=list)
    need: AnswerNeed | None = None
    seconds: float = 0.0
    cannot: str = ""

    def share(self, ending: SimulatedEnding) -> float:
        return sum(play.ending is ending for play in self.plays) / len(self.plays)

    @property
    def finished(self) -> int:
        """Number of runs that come to the end the algorithm is meant to have."""
        ending = (
            SimulatedEnding.BUDGET if self.contender.fixed_budget else SimulatedEnding.GUARANTEE
        )
        return sum(play.ending is ending for play in self.plays)

    @property
    def feasible(self) -> bool:
        """True if enough runs come to the end the algorithm is meant to have."""
        return self.finished / len(self.plays) >= ENDS

    @property
    def epsilon(self) -> float | None:
        """Median of the ε guaranteed at the end of the runs that were cut short."""
        cut = [play.epsilon for play in self.plays if play.ending is not SimulatedEnding.GUARANTEE]
        return None if self.contender.fixed_budget or not cut else float(np.median(cut))


@dataclass(frozen=True, kw_only=True)
class Forecast(ForecastFigures):
    """Forecast for an algorithm. Shares are of simulated runs."""

    algorithm: str
    title: str
    options: Annotated[dict[str, Any], "Options that differ from the algorithm's defaults."]
    guarantee: Annotated[str, "The guarantee if the run reaches its target."] = ""
    keeps: Annotated[bool, "True if the guarantee covers the goal."] = False
    fixed_budget: Annotated[bool, "True if the algorithm always spends the whole budget."] = False
    answers_per_worker: dict[str, float] | None = None
    feasible: Annotated[bool, "Questions and budget last in nine runs of ten."] = False
    out_of_questions: Annotated[float, "Share of runs that run out of questions."] = 0.0
    out_of_budget: Annotated[float, "Share of runs that run out of budget."] = 0.0
    loss: Annotated[float | None, "Actual loss, median of the runs."] = None
    why: Annotated[str, "One sentence."] = ""
    recommended: bool = False
    cannot: Annotated[str, "Reason if no simulation is possible; usually empty."] = ""

    @property
    def few(self) -> bool:
        """True if there are too few simulated runs for more than their median."""
        return self.runs < MANY

    @property
    def ends(self) -> str:
        """Number of simulated runs that finish. A share of few would sound surer than it is."""
        return f"finished in {_share_of_runs(self.finished, self.runs)}"

    @property
    def verdict(self) -> str:
        """Class of the row's reason on a page: good, warn or bad."""
        if self.few and not self.cannot:
            return "warn"
        if self.feasible and self.keeps:
            return "good"
        return "bad" if self.finished <= RARE_SHARE * self.runs else "warn"


def forecast_table(plan: Plan, ledgers: Sequence[SimulationLedger]) -> list[Forecast]:
    """Make one row for each simulated algorithm: the recommended one first, then by price.

    Last are those that cannot be simulated on this plan, with the reason.
    """
    played = [ledger for ledger in ledgers if ledger.plays and not ledger.cannot]
    failed = [_failed_row(ledger.contender, ledger.cannot) for ledger in ledgers if ledger.cannot]
    failed += [_failed_row(contender, reason) for contender, reason in unsuitable_contenders(plan)]
    if not played:  # nothing to show while something is still to be simulated
        return failed if all(ledger.cannot for ledger in ledgers) else []
    rows = [build_row(plan, ledger) for ledger in played]
    best = min(rows, key=_merit_key)
    explained = [
        replace(
            row,
            recommended=row is best,
            why=" ".join(
                filter(None, (_explain_row(plan, ledger, row, best), _describe_quality(plan, row)))
            ),
        )
        for row, ledger in zip(rows, played, strict=True)
    ]
    return [*sorted(explained, key=lambda row: (not row.recommended, _merit_key(row))), *failed]


def _merit_key(row: Forecast) -> tuple[bool, bool, float, int]:
    """Sort first the cheapest that guarantees the goal; if none ends, the closest."""
    reached = (row.epsilon_at_end or 0.0) if not row.feasible else 0.0
    return not row.keeps, not row.feasible, reached, row.median or 0


def build_row(plan: Plan, ledger: SimulationLedger) -> Forecast:
    contender, plays = ledger.contender, ledger.plays
    answers, median = _summarise(plan, plays)
    most_per_run = [play.most for play in plays]
    return Forecast(
        algorithm=contender.name,
        title=contender.title,
        options=contender.options,
        guarantee=word_plan(contender.guarantee, plan.problem(), plan.mark),
        keeps=contender.fits,
        fixed_budget=contender.fixed_budget,
        answers=answers,
        median=median,
        cost=_cost_in_money(plan, answers),
        answers_per_worker={
            "mean": round(median / plan.workers, 1),
            "most": int(np.median(most_per_run)),
            "at_most": max(most_per_run),
        },
        feasible=ledger.feasible,
        out_of_questions=round(ledger.share(SimulatedEnding.QUESTIONS), 3),
        out_of_budget=0.0
        if contender.fixed_budget
        else round(ledger.share(SimulatedEnding.BUDGET), 3),
        epsilon_at_end=None if ledger.epsilon is None else rounded_up(ledger.epsilon),
        loss=round(float(np.median([play.loss for play in plays])), 4),
        accuracy=median_of([play.mean for play in plays]),
        mean_at_least=median_of([play.stated for play in plays]),
        passing=median_of([play.passing for play in plays], 0),
        runs=len(plays),
        finished=ledger.finished,
    )


def _failed_row(contender: Contender, reason: str) -> Forecast:
    return Forecast(
        algorithm=contender.name,
        title=contender.title,
        options=contender.options,
        fixed_budget=contender.fixed_budget,
        why=reason,
        cannot=reason,
    )


def _summarise(
    plan: Plan, plays: Sequence[SimulatedRun]
) -> tuple[tuple[int, int, int] | None, int]:
    """Summarise (low, median, high) of the answers, or None with too few runs, and the median."""
    answers = [play.answers for play in plays]
    if len(answers) < MANY:
        return None, round(float(np.median(answers)))
    band = prediction_band(answers, plan.most_answers)
    return band, band[1]


def _cost_in_money(
    plan: Plan, answers: tuple[int, int, int] | None
) -> tuple[float, float, float] | None:
    if plan.price is None or answers is None:
        return None
    low, median, high = (round(plan.price * many, 4) for many in answers)
    return low, median, high


# -- reasons


def _explain_row(plan: Plan, ledger: SimulationLedger, row: Forecast, best: Forecast) -> str:
    if ledger.contender.fixed_budget:
        return _spending_sentence(plan, row)
    if not row.feasible:
        return _describe_cut(plan, ledger, row, best)
    if row is best:
        return f"Cheapest method that meets your goal: {_describe_end(plan, row)}."
    if not row.keeps:
        return f"It does not meet your goal: {_describe_end(plan, row)}."
    return f"It meets your goal, {_compare(row, best)}: {_describe_end(plan, row)}."


def _compare(row: Forecast, best: Forecast) -> str:
    if not row.median:
        return f"without any answers, like {best.title}"
    if not best.median:
        return f"with about {counted(row.median, 'answer')}; {best.title} needs no answers"
    return f"at {row.median / best.median:.1f} times the answers of {best.title}"


def _describe_quality(plan: Plan, row: Forecast) -> str:
    return describe_selected(row.accuracy, row.mean_at_least, row.passing, plan.k)


def _share_of_runs(many: int, runs: int) -> str:
    return f"{many:,} of {counted(runs, 'simulation')}"


def _spending_sentence(plan: Plan, row: Forecast) -> str:
    """Word an algorithm that spends its budget: if it can, and the loss."""
    loss = f"The selection is usually about {row.loss:.2f} below the best"
    if row.feasible:
        return f"It always uses the whole budget, without a guarantee. {loss}."
    return (
        f"It cannot spend the budget of {counted(plan.budget or 0, 'answer')}: with "
        f"{counted(plan.questions, 'question')} "
        f"it takes {row.median:,}. It has no guarantee. {loss}."
    )


def _describe_end(plan: Plan, row: Forecast) -> str:
    if row.few or row.answers_per_worker is None:
        return row.ends
    most = row.answers_per_worker["at_most"]
    return (
        f"{row.ends}, and no worker was asked more than {most} of "
        f"{counted(plan.questions, 'question')}"
    )


def _describe_cut(plan: Plan, ledger: SimulationLedger, row: Forecast, best: Forecast) -> str:
    short = row.out_of_questions >= row.out_of_budget
    share, resource = max((row.out_of_questions, "questions"), (row.out_of_budget, "budget"))
    reached = row.epsilon_at_end or 1.0
    guaranteed = f"ε = {format_figure(reached)}" if reached < 1 else "none"
    ways = [f"use {best.title}"] if best.feasible and best is not row else []
    ways += [f"allow ε = {format_figure(reached)} or more"] if plan.epsilon < reached < 1 else []
    ways += ["add questions" if resource == "questions" else "raise the budget"]
    advice = ", or ".join(ways)
    return (
        f"In {_share_of_runs(round(share * row.runs), row.runs)} the {resource} would run out. "
        f"{_describe_need(plan, ledger) if short else ''}Guarantee by then: {guaranteed}. "
        f"{advice[:1].upper()}{advice[1:]}."
    )


def _describe_need(plan: Plan, ledger: SimulationLedger) -> str:
    need = ledger.need
    if need is None or need.most <= plan.questions:
        return ""
    about = "about" if need.ended else "more than"
    return (
        f"A worker would need {about} {counted(need.most, 'question')}; you have "
        f"{plan.questions:,} "
        "questions. "
    )
