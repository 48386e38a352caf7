"""Common practice beside our algorithms: cost, and share of runs off by more than ε."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from research import tables
from research.cells import Floats, Study
from research.intervals import share_interval
from topk import simulate

from . import report
from .baselines import ANSWERS_A_QUESTION, HABITS, PASS_MARK, QUESTIONS, SAID, ChosenWorkers
from .cases import Case, population_cases
from .measure import LEAST_RUNS, Effort, build_problem_arguments, processor_clock
from .rows import ROUNDING
from .suite import TABLE, UNFINISHED, StudySettings

OURS = {
    "certified": "how good, in every pool",
    "universal": "how good, in every population",
    "credible": "how good, on average",
    "pair-lucb": "the best K exactly, in every pool",
}
OTHERS, RECORDED = ("two-group-n100", "uniform-n100", "spammers"), "crowd-"
FOLDER = "practice"
LONGER = 10  # factor of the time for our algorithms, whose runs take longer

HEAD = (
    "| what is done | known beforehand | runs | answers, mean | 95 % | off by more than ε | "
    "99 % interval | loss, mean | taken | of them deserve it |\n"
    "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
)
ABOUT = f"""# Common practice compared

Made by `python -m research validate --practice`; [results.csv](results.csv) has the same figures.
The app offers only the rules that have a guarantee; the others are here for comparison.

- **questions each, then the best K**: all workers answer equally many gold questions, and the K
  with the most right answers are selected; ties at random.
- **pass mark {SAID}**: all workers with at least that share right are selected, regardless of K.
  **Wilson's lower bound**: all workers with a 95 % interval above that mark.
- **not gold**: {ANSWERS_A_QUESTION} workers answer each question, yes or no, without a key.
  The K that agree most often with the majority are selected, or those with the greatest skill by
  the model of Dawid and Skene (one number per worker). These answers are paid work in addition.
- **Stop and drop by Wilson's bounds**: a rule without proof that many use. After ten answers
  per worker, those surely in or out by 95 % intervals are not asked again, and the run ends
  when the worst swaps within the intervals lose no more than ε.

**Off by more than ε**: the mean accuracy of the selected workers lies more than ε below that of the
best K, or the selection is empty. The interval is exact. **Known beforehand**: a fixed number of
questions has a known price and an unknown quality; a guarantee has a known quality and an unknown
price. **Deserve it**: the share of selected workers with a true accuracy of {SAID} or more. Every
rule sees the same pools, in as many runs as its line says. `pair-lucb` is given up at 3,000,000
answers, where nearly equal workers keep it from an end.
"""


@dataclass(frozen=True)
class Row:
    """A line of the table: a rule on a case.

    off        runs with a loss above epsilon or an empty selection; low and high: the exact 99 %
               interval of their rate
    answers    mean; answers_95 the 95 % quantile
    loss       mean accuracy of the best k less that of the selected, at least 0; mean over runs
               with a selection
    taken      mean size of the selection; deserving: the share above the pass mark
    """

    case: str
    title: str
    n: int
    k: int
    epsilon: float
    delta: float
    rule: str
    runs: int
    answers: float
    answers_95: float
    off: int
    low: float
    high: float
    loss: float
    taken: float
    deserving: float


@dataclass(frozen=True)
class RuleOnCase:
    """A rule on a case, to be played."""

    case: Case
    rule: str
    effort: Effort

    @property
    def title(self) -> str:
        return f"{self.rule} on {self.case.name}"


@dataclass(frozen=True)
class Cell(RuleOnCase):
    @property
    def key(self) -> str:
        return f"practice: {self.title}, {self.effort}"

    def play(self) -> list[Row]:
        over, case = processor_clock(self.effort.seconds), self.case
        runs = []
        for number in range(self.effort.runs):
            means = case.means(number)
            chosen = choose_workers(case, self.rule, number, self.effort.cap)
            runs.append((chosen.answers, *judge_choice(means, case.k, chosen.arms)))
            if over() and number + 1 >= LEAST_RUNS:
                break
        return [self._build_row(np.array(runs))]

    def _build_row(self, runs: Floats) -> Row:
        """Return the row of (r, 4) answers, loss, taken and deserving of each run."""
        case, (answers, loss, times, deserving) = self.case, runs.T
        off = int((~(loss <= case.epsilon + ROUNDING)).sum())
        anybody = times > 0
        low, high = share_interval(off, answers.size)
        return Row(
            *(case.name, case.title, case.n, case.k, case.epsilon, case.delta),
            rule=self.rule,
            runs=answers.size,
            answers=float(answers.mean()),
            answers_95=float(np.quantile(answers, 0.95)),
            off=off,
            low=low,
            high=high,
            loss=float(loss[anybody].mean()) if anybody.any() else float("nan"),
            taken=float(times.mean()),
            deserving=float(deserving.sum() / times.sum()) if anybody.any() else float("nan"),
        )


def choose_workers(case: Case, rule: str, number: int, cap: int) -> ChosenWorkers:
    """Return the selection of a rule in this run; algorithms are given up at the cap."""
    means = case.means(number)
    if rule in HABITS:
        rng = np.random.default_rng([zlib.crc32(rule.encode()), number])
        return HABITS[rule].play(means, case.k, case.epsilon, rng)
    outcome = simulate.simulate_run(
        rule, means, seed=number, max_pulls=cap, **build_problem_arguments(case, rule)
    )
    return ChosenWorkers(outcome.selection, outcome.pulls)


def judge_choice(means: Floats, k: int, arms: Any) -> tuple[float, int, int]:
    """Return the loss against the best k (nan if empty), the size, and how many deserve it."""
    own = means[arms]
    if not own.size:
        return float("nan"), 0, 0
    loss = max(0.0, float(np.sort(means)[-k:].mean() - own.mean()))
    return loss, own.size, int((own >= PASS_MARK - ROUNDING).sum())


def build_study(wanted: StudySettings) -> Study[Row]:
    """Return the study of the usual pools: of habits and our algorithms, or of some of these."""
    usual = {*(case.name for case in population_cases()), *OTHERS}
    ours = [name for name in OURS if name in wanted.algorithms]
    rules = ours if 0 < len(ours) < len(OURS) else [*HABITS, *ours]
    longer = replace(wanted.effort, seconds=wanted.effort.seconds * LONGER)
    cells = [
        Cell(case, rule, longer if rule in OURS else wanted.effort)
        for case in wanted.cases
        if case.name in usual or case.name.startswith(RECORDED)
        for rule in rules
    ]
    folder = wanted.out / FOLDER
    return Study(cells, Row, folder / UNFINISHED, partial(_write_results, folder))


def _write_results(folder: Path, new: Sequence[Row]) -> list[str]:
    """Write the table; rows of other pools stay in it. Return a summary."""
    replaced = {(row.case, row.rule) for row in new}
    old = [r for r in tables.read_table(folder / TABLE, Row) if (r.case, r.rule) not in replaced]
    rows = tables.keep_rows(folder / TABLE, [*new, *old], Row)
    by_pool = [list(group) for _, group in groupby(_order_rows(rows), lambda row: row.case)]
    page = [ABOUT, "".join(questions_enough(by_pool)), *map(section_markdown, by_pool)]
    report.write_report(folder, "\n".join(page))
    return [*"\n".join(map(section_markdown, by_pool)).splitlines(), f"Written to {folder}."]


def _order_rows(rows: Sequence[Row]) -> list[Row]:
    """By pool as they come; within one as people know them, ours last."""
    pools = {case: i for i, case in enumerate(dict.fromkeys(row.case for row in rows))}
    rules = {name: i for i, name in enumerate([*HABITS, *OURS])}
    return sorted(rows, key=lambda row: (pools[row.case], rules[row.rule]))


def section_markdown(rows: Sequence[Row]) -> str:
    one = rows[0]
    goal = f"n = {one.n}, K = {one.k}, ε = {one.epsilon:g}, δ = {one.delta:g}"
    return "".join([f"## {one.title}: {goal}\n\n", HEAD, *map(_format_line, rows)])


def _format_line(row: Row) -> str:
    habit = HABITS.get(row.rule)
    marked = habit is not None and habit.marked
    return tables.markdown_line(
        (
            habit.words if habit else f"`{row.rule}`",
            habit.known if habit else OURS[row.rule],
            row.runs,
            f"{row.answers:,.0f}",
            f"{row.answers_95:,.0f}",
            format_share(row.off / row.runs),
            f"{row.low:.1%} to {row.high:.1%}",
            "" if np.isnan(row.loss) else f"{row.loss:.4f}",
            f"{row.taken:.0f}",
            format_share(row.deserving) if marked and not np.isnan(row.deserving) else "",
        )
    )


def format_share(share: float) -> str:
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


def questions_enough(by_pool: Sequence[Sequence[Row]]) -> Iterator[str]:
    """Yield the table of the questions per worker that would have been enough."""
    yield (
        "## How many questions each would have been enough\n\n"
        f"The fewest, of {', '.join(map(str, QUESTIONS))}, after which the best K were off by more "
        "than ε in no more than δ of the pools. It depends on the pool, on K and on ε, so nobody "
        "knows it beforehand.\n\n"
        "| pool | questions each | answers | `credible`, answers | `universal`, answers | "
        "`certified`, answers |\n"
        "|---|--:|--:|--:|--:|--:|\n"
    )
    for rows in by_pool:
        one = {row.rule: row for row in rows}
        sizes = [
            each for each in QUESTIONS if (row := one.get(f"best-{each}")) and _has_enough(row)
        ]
        cells = [f"{rows[0].title}, n = {rows[0].n}, K = {rows[0].k}, ε = {rows[0].epsilon:g}"]
        cells += [str(sizes[0]), f"{sizes[0] * rows[0].n:,}"] if sizes else ["more", ""]
        guaranteed = ("credible", "universal", "certified")
        cells += [f"{one[rule].answers:,.0f}" if rule in one else "" for rule in guaranteed]
        yield tables.markdown_line(cells)
    yield "\n"


def _has_enough(row: Row) -> bool:
    return row.off <= row.delta * row.runs
