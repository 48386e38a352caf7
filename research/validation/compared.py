"""Our algorithms, ``kl-lucb`` and common practice in one table, with a line per pool."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from research import tables
from research.cells import Floats, Study
from research.intervals import share_interval

from . import report
from .cases import Case
from .measure import LEAST_RUNS, Effort, processor_clock
from .practice import RuleOnCase, choose_workers, judge_choice
from .rows import ROUNDING
from .suite import TABLE, UNFINISHED, StudySettings

PROMISED = {
    rule: f"`{rule}`" for rule in ("certified", "universal", "credible", "pair-lucb", "kl-lucb")
}
TODAY = {
    "best-10": "10 each, best K",
    "best-20": "20 each, best K",
    "best-50": "50 each, best K",
    "pass-10": "10 each, pass mark 80 %",
    "stop-and-drop": "drop by Wilson",
}
RULES = {**PROMISED, **TODAY}
EFFORT = Effort(runs=200, seconds=math.inf, cap=3_000_000)
# A fifth of the runs in pools that are not small: a run takes seconds there.
SLOW, FIFTH, SMALL = ("certified", "universal", "pair-lucb", "kl-lucb", "stop-and-drop"), 5, 30
FOLDER = "compared"
FIRST_RUN = 1_000_000  # nothing was tuned on these seeds

ABOUT = f"""# Algorithms and practice in one table

Made by `python -m research validate --compare`; [results.csv](results.csv) has the same figures.

Each field has the mean number of paid answers (± its standard error), then the runs that were
**off**: the mean accuracy of the selected workers lay more than ε below that of the best K, or the
selection was empty; and the exact 99 % interval of that rate. **Bold**: the whole interval lies
above δ. All rules see the same pools, on seeds not used for tuning. A rule measured again has
fewer runs, as its field says: 25 in pools of up to 30 workers, 5 in others.

- `certified` guarantees δ for every pool, `universal` for every population that workers are drawn
  from, `credible` on average over pools like these. `kl-lucb` is the best public algorithm with a
  similar guarantee: *each* worker selected is within ε of the K-th best, for every pool, which is
  stronger. `pair-lucb` wants exactly the K best, whatever ε is, which nearly equal workers put out
  of reach.
- **Each, best K**: all workers answer equally many gold questions, and the K with the most right
  answers are selected. **Pass mark**: all workers with eight of ten right are selected. **Drop by
  Wilson**: workers surely in or out by 95 % intervals are not asked again, and the run ends when
  the worst swaps within the intervals lose no more than ε; it has no proof.
- A fixed number of questions has a known price and an unknown quality; with a guarantee it is the
  other way round. [More rules](../practice/README.md).
- *over*: at least one run was given up at {EFFORT.cap:,} answers (in all, if it says so); it counts
  neither as kept nor as off. An empty field was not measured.
- The fields of `universal` with K = 1 or 2 are out of date: they were measured when populations
  certified, and
  [swaps](../../../../packages/topk/docs/universal.md#7-swaps-where-they-are-cheaper)
  do now. Expect about
  as many answers as `certified` needs.

"""


@dataclass(frozen=True)
class Row:
    """A field of the table: a rule on a case.

    capped   runs given up at the cap
    off      other runs with a loss above epsilon or an empty selection; low and high: the exact
             99 % interval of their rate
    answers  mean of all runs; error is its standard error
    """

    case: str
    title: str
    n: int
    k: int
    epsilon: float
    delta: float
    rule: str
    runs: int
    capped: int
    answers: float
    error: float
    off: int
    low: float
    high: float


@dataclass(frozen=True)
class Cell(RuleOnCase):
    @property
    def key(self) -> str:
        return f"compared: {self.title}, {self.effort}"

    def play(self) -> list[Row]:
        """Return one row; stop early if the first runs are all given up."""
        over, runs = processor_clock(self.effort.seconds), []
        for number in range(self.effort.runs):
            runs.append(self._play_run(FIRST_RUN + number))
            hopeless = all(capped for _, _, capped in runs)
            if number + 1 >= LEAST_RUNS and (over() or hopeless):
                break
        return [self._build_row(*np.array(runs, float).T)]

    def _play_run(self, number: int) -> tuple[int, float, bool]:
        """Return answers, loss (nan for an empty selection), and True if given up."""
        means, cap = self.case.means(number), self.effort.cap
        chosen = choose_workers(self.case, self.rule, number, cap)
        surrender = self.rule in PROMISED and chosen.answers >= cap
        return chosen.answers, judge_choice(means, self.case.k, chosen.arms)[0], surrender

    def _build_row(self, answers: Floats, loss: Floats, capped: Floats) -> Row:
        """Return the row of (r,) runs."""
        case, ended = self.case, capped == 0
        off = int((~(loss[ended] <= case.epsilon + ROUNDING)).sum())
        low, high = share_interval(off, int(ended.sum()))
        error = answers.std(ddof=1) / math.sqrt(answers.size) if answers.size > 1 else math.nan
        return Row(
            *(case.name, case.title, case.n, case.k, case.epsilon, case.delta),
            rule=self.rule,
            runs=answers.size,
            capped=int(capped.sum()),
            answers=float(answers.mean()),
            error=float(error),
            off=off,
            low=low,
            high=high,
        )


def build_study(wanted: StudySettings) -> Study[Row]:
    """Return the study of all rules; of our algorithms only if some are left out."""
    ours = [rule for rule in PROMISED if rule in wanted.algorithms]
    rules = [*RULES] if len(ours) == len(PROMISED) else ours
    cells = [
        Cell(case, rule, _limit_effort(case, rule, wanted))
        for case in wanted.cases
        for rule in rules
    ]
    folder = wanted.out / FOLDER
    return Study(cells, Row, folder / UNFINISHED, partial(_write_results, folder))


def _limit_effort(case: Case, rule: str, wanted: StudySettings) -> Effort:
    few = rule in SLOW and case.n > SMALL
    return replace(wanted.effort, runs=-(-wanted.effort.runs // FIFTH)) if few else wanted.effort


def _write_results(folder: Path, new: Sequence[Row]) -> list[str]:
    """Write the table; rows of other pools and rules stay in it. Return a summary."""
    replaced = {(row.case, row.rule) for row in new}
    old = tables.read_table(folder / TABLE, Row)
    rest = [row for row in old if (row.case, row.rule) not in replaced]
    places = {case: i for i, case in enumerate(dict.fromkeys(row.case for row in [*old, *new]))}
    rules = {rule: i for i, rule in enumerate(RULES)}
    together = sorted([*rest, *new], key=lambda row: (places[row.case], rules[row.rule]))
    table = rows_markdown(tables.keep_rows(folder / TABLE, together, Row))
    report.write_report(folder, ABOUT + table)
    return [*table.splitlines(), f"Written to {folder}."]


def rows_markdown(rows: Sequence[Row]) -> str:
    """Return the table: a line per pool, a column per rule."""
    head = tables.markdown_line(["pool", "n, K, ε, δ", *RULES.values()])
    line = "|---|---|" + "---|" * len(RULES) + "\n"
    pools = [list(group) for _, group in groupby(rows, lambda row: row.case)]
    return head + line + "".join(map(_pool_line, pools))


def _pool_line(pool: Sequence[Row]) -> str:
    one, texts = pool[0], {row.rule: format_field(row) for row in pool}
    goal = f"{one.n}, {one.k}, {one.epsilon:g}, {one.delta:g}"
    return tables.markdown_line([one.title, goal, *(texts.get(rule, "") for rule in RULES)])


def format_field(row: Row) -> str:
    ended = row.runs - row.capped
    about = f" ± {row.error:,.0f}" if row.error > 0 else ""
    paid = f"{'over ' if row.capped else ''}{row.answers:,.0f}{about}"
    if not ended:
        return f"{paid}<br>all {row.runs} given up"
    off = f"{row.off} of {ended}: {row.low:.1%} to {row.high:.1%}".replace("%", " %")
    return f"{paid}<br>{f'**{off}**' if row.low > row.delta else off}"
