"""The command ``python -m research same-questions``: models that all meet the same questions."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from topk import LIKE_THESE, THIS_SET, Problem, build_selector
from topk.selector import GUARANTEE_KEPT

from . import tables
from .cells import Floats, Study
from .intervals import mean_interval, share_interval
from .model_replays import OUT, read_answers
from .options import parse_positive
from .validation.rows import ROUNDING
from .validation.suite import UNFINISHED

HELP = "replay tables of models that meet the same questions in one order"
TABLE, PAGE = "same-questions.csv", "same-questions.md"
RULE = "same-questions"
RULES = (RULE, "certified", "universal", "uniform", "sar")
TITLES = {
    "uniform": "Uniform, as many calls",
    "sar": "Successive Accepts and Rejects, as many calls",
}
BUDGETED = tuple(TITLES)
PROBLEMS = ((1, 0.02), (1, 0.05), (3, 0.05))
MODELS, QUESTIONS, DELTA, RUNS = 12, 1000, 0.05, 20
SLOTS, MORE_SLOTS = 200, 1000  # the latter for other rules without an end of questions
MOST = 400_000  # calls of a run
GENERATED = ("item responses", "independent answers")

HEAD = (
    "| rule | runs | calls, mean ± standard error | the mean off by more than ε | 99 % interval "
    "| a model off by more than ε | 99 % interval | guarantee reached |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|\n"
)
ABOUT = f"""# Models that meet the same questions

Made by `python -m research same-questions`, with a recorded table if its file is given. In all
cases δ = {DELTA:g}.
[`same-questions`](../../../../packages/topk/docs/same-questions.md)
guarantees that each selected model
is within ε of the K-th best, `certified` and `universal` that their mean is.

- *Item responses*: {MODELS} models and {QUESTIONS:,} questions, right with the probability
  1 / (1 + exp(−1.3 (ability − difficulty))), abilities of Normal(1, .6), difficulties of
  Normal(0, 1.3).
- *Independent answers*: the same table, with the answers of each model shuffled.
- *twelve_models*: 12 language models on 41,871 questions of 11 benchmarks (Zhou and others: Lost in
  Benchmarks?, arXiv 2505.15055, 2025; their data/combine.csv); *twelve_models_1000*: 1,000 of these
  questions, drawn at random.
- *On questions like these*, columns of the table are drawn again and again, by the other rules
  for each model on its own.

Calls are asked up to {SLOTS} at a time, or a twentieth of those before; on questions like these
`certified` and `universal` ask up to {MORE_SLOTS:,}, which adds some hundred calls. Uniform and
Successive Accepts and Rejects (with K = 1 it is Successive Rejects) get the calls that
`same-questions` made in the same replay, and guarantee nothing. With few runs an interval says
little.

"""


@dataclass(frozen=True)
class Row:
    """A line: a rule on a table; ``mean_off`` and ``one_off`` count losses above epsilon."""

    case: str
    accuracy: str
    k: int
    epsilon: float
    rule: str
    runs: int
    calls: float
    error: float
    mean_off: int
    one_off: int
    kept: int


@dataclass(frozen=True)
class Cell:
    """A rule on a table, to be played."""

    case: str
    accuracy: str
    k: int
    epsilon: float
    rule: str
    runs: int

    @property
    def title(self) -> str:
        return f"{self.rule}, K = {self.k}, {Path(self.case).stem} {self.accuracy}"

    @property
    def key(self) -> str:
        return f"same questions: {self.title}, {self.epsilon}, {self.runs}"

    def play(self) -> list[Row]:
        """Return one row."""
        table = find_table(self.case)
        runs = [self._replay(table, seed) for seed in range(self.runs)]
        means = table.mean(axis=1)
        order, limit = np.sort(means)[::-1], self.epsilon + ROUNDING
        mean, error, *_ = mean_interval([calls for _, calls, _ in runs])
        return [
            Row(
                *(Path(self.case).stem, self.accuracy, self.k, self.epsilon, self.rule, self.runs),
                calls=mean,
                error=error,
                mean_off=sum(
                    bool(order[: self.k].mean() - means[a].mean() > limit) for a, *_ in runs
                ),
                one_off=sum(bool(order[self.k - 1] - means[a].min() > limit) for a, *_ in runs),
                kept=sum(kept for *_, kept in runs),
            )
        ]

    def _replay(self, table: Floats, seed: int) -> tuple[Any, int, bool]:
        if self.rule not in BUDGETED:
            return replay_table(table, self.rule, self, seed)
        calls = replay_table(table, RULE, self, seed)[1]
        return replay_table(table, self.rule, self, seed, calls)


@cache
def find_table(case: str) -> Floats:
    """Return (models, questions) 1 for each right answer. Raises Refused."""
    if case not in GENERATED:
        return read_answers(Path(case))
    rng = np.random.default_rng(1)
    ability, difficulty = rng.normal(1, 0.6, (MODELS, 1)), rng.normal(0, 1.3, QUESTIONS)
    right = rng.random((MODELS, QUESTIONS)) < 1 / (1 + np.exp(-1.3 * (ability - difficulty)))
    table: Floats = right.astype(np.float64)
    return table if case == GENERATED[0] else rng.permuted(table, axis=1)


def replay_table(
    table: Floats, rule: str, cell: Cell, seed: int, budget: int | None = None
) -> tuple[Any, int, bool]:
    """Replay in a random order; return models, calls, and True if the guarantee was reached."""
    rng, (n, questions) = np.random.default_rng(seed), table.shape
    place, on_set = rng.permutation(n), cell.accuracy == THIS_SET
    options = {"accuracy": THIS_SET, "questions": questions} if on_set and not budget else {}
    problem = Problem(n, cell.k, 0.0 if budget else cell.epsilon, DELTA, budget)
    selector, met = build_selector(rule, problem, **options), np.zeros(n, np.int64)
    order = rng.permutation(questions) if on_set else rng.integers(questions, size=MOST // n)
    decks = [order if rule == RULE else rng.permutation(order) for _ in range(n)]
    room = np.full(n, order.size)
    while not selector.stop() and met.sum() < MOST:
        slots = max(SLOTS if on_set or rule == RULE else MORE_SLOTS, int(met.sum()) // 20)
        counts = selector.ask(None if budget else slots, room=room - met, rng=rng)
        if not counts.any():
            break
        for arm in np.flatnonzero(counts):
            column = decks[arm][met[arm] : met[arm] + counts[arm]]
            selector.tell(np.full(column.size, arm), table[place[arm], column])
        met += counts
    return place[selector.selection()], int(met.sum()), GUARANTEE_KEPT in selector.stop()


# -- the command


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    say = parser.add_argument
    say("answers", type=Path, nargs="*", help="recorded tables, as of the command models")
    say("--runs", type=parse_positive, default=RUNS, help="of a rule (default: %(default)s)")
    say("--only", nargs="+", choices=RULES, default=RULES, metavar="NAME", help="these rules")
    say("--accuracy", nargs="+", choices=(THIS_SET, LIKE_THESE), default=(THIS_SET, LIKE_THESE))
    say("--out", type=Path, default=OUT, metavar="FOLDER", help="folder for the results")


def build_study(options: argparse.Namespace) -> Study[Row]:
    """Return the study that the options describe. Raises Refused for an unreadable file."""
    cells = [
        Cell(case, accuracy, k, epsilon, rule, options.runs)
        for case in map(str, options.answers or GENERATED)
        for accuracy in options.accuracy
        for k, epsilon in PROBLEMS
        for rule in options.only
    ]
    return Study(cells, Row, options.out / UNFINISHED, partial(_write_results, options.out))


def _write_results(folder: Path, new: Sequence[Row]) -> list[str]:
    """Write the table; rows of other rules and problems stay in it. Return a summary."""
    rows = {_name_row(row): row for row in [*tables.read_table(folder / TABLE, Row), *new]}
    order = sorted(rows.values(), key=lambda row: (_name_row(row)[:4], RULES.index(row.rule)))
    text = rows_markdown(tables.keep_rows(folder / TABLE, order, Row))
    (folder / PAGE).write_text(ABOUT + text, encoding="utf-8")
    return [*text.splitlines(), f"Written to {folder}."]


def _name_row(row: Row) -> tuple[Any, ...]:
    return row.case, row.accuracy, row.k, row.epsilon, row.rule


def rows_markdown(rows: Sequence[Row]) -> str:
    """Return a section for each problem."""
    return "\n".join(
        f"## {case}, {accuracy}, K = {k}, ε = {epsilon:g}\n\n{HEAD}"
        + "".join(map(_format_line, group))
        for (case, accuracy, k, epsilon), group in groupby(rows, lambda row: _name_row(row)[:4])
    )


def _format_line(row: Row) -> str:
    off = (row.mean_off, row.one_off)
    spans = [" to ".join(f"{100 * end:.1f} %" for end in share_interval(x, row.runs)) for x in off]
    return tables.markdown_line(
        (
            TITLES.get(row.rule, f"`{row.rule}`"),
            row.runs,
            f"{row.calls:,.0f} ± {row.error:,.0f}",
            *(f"{off[0]} of {row.runs}", spans[0], f"{off[1]} of {row.runs}", spans[1]),
            "" if row.rule in BUDGETED else f"{row.kept} of {row.runs}",
        )
    )
