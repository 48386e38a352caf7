"""The command ``python -m research models``: replays of a recorded table of models' answers."""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import topk

from . import tables
from .cells import Floats, Study
from .intervals import share_interval
from .options import ROOT, above_zero, parse_positive
from .validation import crowds, report
from .validation.rows import ROUNDING
from .validation.suite import TABLE, UNFINISHED

Counts = NDArray[np.int64]

HELP = "replay recorded answers of models: calls and errors of our rules and of usual ones"
OUT = ROOT / "research" / "docs" / "validation" / "models"
KS, EPSILON, DELTA, RUNS = (1, 10), 0.02, 0.05, 200
SLOW, FEWER = ("kl-lucb",), 20  # rules with a twentieth of the runs
BUDGETS = (0.05, 0.1, 0.2)  # of all calls
NONE = "none"
GUARANTEED = {
    "certified": "the mean of the K, for every pool",
    "universal": "the mean of the K, for every population",
    "credible": "the mean of the K, on average over pools like this",
    "each-good": "each of the K, for every pool",
    "kl-lucb": "each of the K, for every pool",
}
BUDGETED = {
    "uniform": "Uniform",
    "sr": "Successive Rejects",
    "sar": "Successive Accepts and Rejects",
    "ucb-e": "UCB-E",
}
UCB_E_EXPLORATION = 1.0

HEAD = (
    "| rule | guarantee | runs | calls, mean | 95 % | of all | off by more than ε | 99 % interval "
    "| guarantee reached |\n|---|---|--:|--:|--:|--:|--:|--:|--:|\n"
)
ABOUT = f"""# Models replayed

Made by `python -m research models NAME.csv`, with the known answers in `NAME_gold.csv`;
[results.csv](results.csv) has the same figures. The accuracy is that on the questions of the file,
each asked of a model at most once; a missing answer counts as wrong. Every run draws its own order
of the questions for each model.

**Off**: the mean accuracy of the selected models lies more than ε below that of the best K. The
interval is exact. **Guarantee reached**: the share of runs that ended with the guarantee; the
others used up all questions. `kl-lucb` and `credible` guarantee accuracy on questions like these.

Rules with a fixed number of calls say nothing of the error:

- Uniform: all models answer equally many questions.
- Successive Rejects: Audibert, Bubeck, Munos: Best arm identification in multi-armed bandits, COLT
  2010. Successive Accepts and Rejects: Bubeck, Wang, Viswanathan: Multiple identifications in
  multi-armed bandits, ICML 2013.
- UCB-E: Audibert, Bubeck, Munos 2010, as in [banditeval](https://github.com/kilian-group/banditeval)
  of Zhou et al.: On speeding up language model evaluation, ICLR 2025. The model with the largest
  mean + √(a / calls) is called next, with banditeval's a = {UCB_E_EXPLORATION:g}, call by call.
  The K best means are selected. The low-rank variant is in
  [public matrices](public-matrices.md).
"""


@dataclass(frozen=True)
class Row:
    """A line of the table: a rule on a table of answers.

    budget  share of all calls, of a rule with a fixed number; 0 for others
    calls   mean; calls_95 the 95 % quantile; share the mean as a part of all calls
    off     runs with a loss above epsilon; low and high: the exact 99 % interval of their rate
    kept    runs that ended with the guarantee of the rule
    """

    case: str
    n: int
    questions: int
    k: int
    epsilon: float
    delta: float
    rule: str
    budget: float
    runs: int
    calls: float
    calls_95: float
    share: float
    off: int
    low: float
    high: float
    kept: int


@dataclass(frozen=True)
class Replay:
    """The result of a run: the workers selected, the calls, True if the guarantee was reached."""

    workers: Counts
    calls: int
    kept: bool = False


@dataclass(frozen=True)
class Cell:
    """A rule on the answers of a file, to be played.

    budget  share of all calls; 0 for a rule that stops by itself
    """

    answers: Path
    k: int
    epsilon: float
    rule: str
    budget: float
    runs: int

    @property
    def title(self) -> str:
        return f"{self.rule} on {self.answers.stem}, K = {self.k}"

    @property
    def key(self) -> str:
        return f"models: {self.title}, {self.epsilon}, {self.budget}, {self.runs}"

    def play(self) -> list[Row]:
        """Return one row."""
        table = read_answers(self.answers)
        means = table.mean(axis=1)
        best = float(np.sort(means)[-self.k :].mean())
        play = choose_rule(self.rule, self.k, self.epsilon, round(self.budget * table.size))
        runs = [play(table, seed) for seed in range(self.runs)]
        loss = np.array([best - means[run.workers].mean() for run in runs])
        calls = np.array([run.calls for run in runs])
        return [self._build_row(table, calls, loss, sum(run.kept for run in runs))]

    def _build_row(self, table: Floats, calls: Counts, loss: Floats, kept: int) -> Row:
        off = int((loss > self.epsilon + ROUNDING).sum())
        low, high = share_interval(off, self.runs)
        n, questions = table.shape
        return Row(
            *(self.answers.stem, n, questions, self.k, self.epsilon, DELTA),
            rule=self.rule,
            budget=self.budget,
            runs=self.runs,
            calls=float(calls.mean()),
            calls_95=float(np.quantile(calls, 0.95)),
            share=float(calls.mean() / table.size),
            off=off,
            low=low,
            high=high,
            kept=kept,
        )


@cache
def read_answers(path: Path) -> Floats:
    """Return (models, questions) 1 for each right answer. Raises Refused."""
    return crowds.recorded_table(path).astype(np.float64)


# -- the rules


def choose_rule(rule: str, k: int, epsilon: float, budget: int) -> Callable[[Floats, int], Replay]:
    """Return a function that plays a run of this rule on a table, by its seed."""
    if rule == "ucb-e":
        return partial(play_ucb_e, k, budget)
    return partial(play_selector, rule, k, epsilon, budget or None)


def play_selector(
    rule: str, k: int, epsilon: float, budget: int | None, table: Floats, seed: int
) -> Replay:
    """Play an algorithm of topk; on this question set if it distinguishes that."""
    accuracy = topk.THIS_SET if topk.SELECTORS[rule].says_accuracy else None
    settings: dict[str, Any] = {"algorithm": rule, "budget": budget, "accuracy": accuracy}
    result = topk.select(
        table, k=k, epsilon=epsilon, delta=DELTA, seed=seed, rows="candidates", **settings
    )
    return Replay(result.workers, int(result.cost), result.complete)


def play_ucb_e(k: int, budget: int, table: Floats, seed: int) -> Replay:
    """Call the model of largest mean + sqrt(a / calls) until the budget is spent."""
    rng = np.random.default_rng(seed)
    (n, questions), answers = table.shape, rng.permuted(table, axis=1)
    calls, hits = np.zeros(n, np.int64), np.zeros(n)
    bounds = np.full(n, math.inf)
    for _ in range(min(budget, table.size)):
        model = int(bounds.argmax())
        hits[model] += answers[model, calls[model]]
        calls[model] += 1
        count = calls[model]
        bounds[model] = hits[model] / count + math.sqrt(UCB_E_EXPLORATION / count)
        if count == questions:
            bounds[model] = -math.inf
    means = hits / np.maximum(calls, 1)
    return Replay(np.argsort(-means, kind="stable")[:k], int(calls.sum()))


# -- the command


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    say = parser.add_argument
    say("answers", type=Path, help=f"worker, task, label as CSV, with NAME{crowds.GOLD} beside it")
    say(
        "--k", type=parse_positive, nargs="+", default=KS, help="how many to select (default: 1 10)"
    )
    say("--epsilon", type=above_zero, default=EPSILON, help="how far off (default: %(default)g)")
    say("--runs", type=parse_positive, default=RUNS, help="of a rule (default: %(default)s)")
    names = [*GUARANTEED, *BUDGETED]
    say("--only", nargs="+", choices=names, default=names, metavar="NAME", help="these rules")
    say("--out", type=Path, default=OUT, metavar="FOLDER", help="folder for the results")


def build_study(options: argparse.Namespace) -> Study[Row]:
    """Return the study that the options describe. Raises Refused for an unreadable file."""
    answers: Path = options.answers.resolve()
    read_answers(answers)
    cells = [
        Cell(answers, k, options.epsilon, rule, budget, _count_runs(rule, options.runs))
        for k in options.k
        for rule in options.only
        for budget in (BUDGETS if rule in BUDGETED else (0.0,))
    ]
    out: Path = options.out
    return Study(cells, Row, out / UNFINISHED, partial(_write_results, out))


def _count_runs(rule: str, runs: int) -> int:
    return -(-runs // FEWER) if rule in SLOW else runs


def _write_results(folder: Path, new: Sequence[Row]) -> list[str]:
    """Write the table; rows of other rules and problems stay in it. Return a summary."""
    old = tables.read_table(folder / TABLE, Row)
    rules = [*GUARANTEED, *BUDGETED]
    rows = {_name_row(row): row for row in [*old, *new]}.values()
    order = sorted(rows, key=lambda row: (row.case, row.k, rules.index(row.rule), row.budget))
    text = rows_markdown(tables.keep_rows(folder / TABLE, order, Row))
    report.write_report(folder, f"{ABOUT}\n{text}")
    return [*text.splitlines(), f"Written to {folder}."]


def _name_row(row: Row) -> tuple[object, ...]:
    return row.case, row.k, row.epsilon, row.rule, row.budget


def rows_markdown(rows: Sequence[Row]) -> str:
    """Return a section for each problem."""
    sections = groupby(rows, lambda row: (row.case, row.n, row.questions, row.k, row.epsilon))
    return "\n".join(
        f"## {case}: {n} models, {questions} questions, K = {k}, ε = {epsilon:g}, δ = {DELTA:g}\n\n"
        + HEAD
        + "".join(map(_format_line, group))
        for (case, n, questions, k, epsilon), group in sections
    )


def _format_line(row: Row) -> str:
    ours = row.rule in GUARANTEED
    return tables.markdown_line(
        (
            f"`{row.rule}`"
            if ours
            else f"{BUDGETED[row.rule]}, {row.budget:.0%}".replace("%", " %"),
            GUARANTEED.get(row.rule, NONE),
            row.runs,
            f"{row.calls:,.0f}",
            f"{row.calls_95:,.0f}",
            _percent(row.share),
            f"{row.off} of {row.runs}",
            f"{_percent(row.low)} to {_percent(row.high)}",
            _percent(row.kept / row.runs, 0) if ours else "",
        )
    )


def _percent(share: float, digits: int = 1) -> str:
    return f"{share:.{digits}%}".replace("%", " %")
