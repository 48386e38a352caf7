"""The table of runs with events: how often the guarantee is wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from research import tables
from research.cells import Study
from research.intervals import share_interval

from . import event_simulation as life
from . import report
from .cases import Case, beta_case, fixed_case
from .event_simulation import StudyResult
from .measure import Effort, processor_clock
from .relabelled import EARLY, WRONG_GOLD
from .suite import TABLE, UNFINISHED, StudySettings

FOLDER = "life"
N, K, EPSILON, DELTA = 20, 4, 0.2, 0.1
CAP, LEAST = 20_000, 3
ALGORITHMS = (
    "certified",
    "universal",
    "credible",
    "lucb",
    "pair-lucb",
    "kl-lucb",
    "ugape-c",
    "adaptive-top-k",
    "lil-clucb",
)

ABOUT = f"""# Events during a run

Made by `python -m research validate --life`; [results.csv](results.csv) has the same figures. The
theory is in [absence.md](../../../../packages/topk/docs/absence.md).

{N} workers, K = {K}, ε = {EPSILON:g}, δ = {DELTA:g}, at most {life.AT_ONCE} open assignments.
{life.NEVER:.0%} of the workers never come, and are withdrawn one by one. Of the answers 20 % are
slow and 5 % never come: these count as wrong. {WRONG_GOLD} of the first {EARLY} questions have a
wrong key until it is corrected in mid-run and all answers are regraded. The budget is raised before
it is spent. ε is relaxed to {EPSILON * life.RELAXED:g} after that. Answers count, the roster
shrinks and δ is shared as in the app. An event after a stop reopens the run if the guarantee does
not hold any more.

- **{life.LIVES[0]}**: in addition, one worker drawn at random is withdrawn, then the one with the
  worst results.
- **{life.LIVES[1]}**: seven in ten of the workers with at most two of their first {life.FIRST}
  answers right leave; **{life.LIVES[2]}**: of the workers with all of them right. The reason
  depends on the answers.
- **{life.LIVES[3]}**: as the first, and the {WRONG_GOLD} questions of the least share right
  are retired because of the answers. No proof covers that.

**Ended**: with the guarantee; the others were given up at {CAP:,} answers, algorithms for the exact
best K at a sixth of that, and state the ε reached. **False**: the final statement, the guarantee or
that ε, was not true of the workers that stayed; and the exact binomial 99 % interval of the rate.
**Bold**: the whole interval lies above δ. `credible` has a guarantee on average.

| algorithm | pool | what happens | runs | ended | false | 99 % | answers |
|---|---|---|--:|--:|--:|--:|--:|
"""


@dataclass(frozen=True)
class Row:
    """A line of the table: ``false`` of ``runs``, and the exact 99 % interval of the rate."""

    algorithm: str
    pool: str
    life: str
    runs: int
    ended: int
    reopened: int
    false: int
    low: float
    high: float
    answers: float


@dataclass(frozen=True)
class Cell:
    algorithm: str
    case: Case
    life: str
    effort: Effort

    @property
    def title(self) -> str:
        return f"{self.algorithm} on {self.case.name}, {self.life}"

    @property
    def key(self) -> str:
        return f"{self.title}, {self.effort}"

    def play(self) -> list[Row]:
        lives = list(self._play_lives())
        false = sum(run.false for run in lives)
        return [
            Row(
                self.algorithm,
                self.case.title,
                self.life,
                len(lives),
                sum(run.ended for run in lives),
                sum(run.reopened > 0 for run in lives),
                false,
                *share_interval(false, len(lives)),
                sum(run.answers for run in lives) / len(lives),
            )
        ]

    def _play_lives(self) -> Iterator[StudyResult]:
        over, case = processor_clock(self.effort.seconds), self.case
        for number in range(self.effort.runs):
            means = case.means(number)
            yield life.play_study(
                self.algorithm,
                means,
                self.life,
                self.effort.cap_for(self.algorithm),
                number,
                k=case.k,
                epsilon=case.epsilon,
                delta=case.delta,
            )
            if over() and number + 1 >= LEAST:
                return


def study_pools() -> list[Case]:
    two = [0.7] * K + [0.3] * (N - K)
    groups = fixed_case("two-group-life", "TwoGroup, .7 and .3", np.array(two), K, EPSILON, DELTA)
    return [groups, *(beta_case(a, b, N, K, EPSILON, DELTA) for a, b in ((6, 2), (12, 3)))]


def build_study(wanted: StudySettings) -> Study[Row]:
    """Return the study of these algorithms, on pools of its own."""
    out, effort = wanted.out / FOLDER, replace(wanted.effort, cap=min(wanted.effort.cap, CAP))
    names = [name for name in wanted.algorithms if name in ALGORITHMS]
    cells = [
        Cell(name, pool, each, effort)
        for name in names
        for pool in study_pools()
        for each in life.LIVES
    ]

    def write(new: Sequence[Row]) -> list[str]:
        rows = tables.keep_rows(out / TABLE, _merge_rows(out, new), Row)
        report.write_report(out, ABOUT + "".join(map(_format_line, rows)) + _sum_line(rows))
        return [*_broken_lines(rows), f"Written to {out}."]

    return Study(cells, Row, Path(out / UNFINISHED), write)


def _merge_rows(folder: Path, new: Sequence[Row]) -> list[Row]:
    """Return the new rows and those of other algorithms in the table, by algorithm."""
    measured = {row.algorithm for row in new}
    old = [row for row in tables.read_table(folder / TABLE, Row) if row.algorithm not in measured]
    return sorted([*new, *old], key=lambda row: ALGORITHMS.index(row.algorithm))


def _format_line(row: Row) -> str:
    words = (
        f"`{row.algorithm}`",
        row.pool,
        row.life,
        row.runs,
        row.ended,
        f"**{row.false}**" if row.low > DELTA else row.false,
        f"{row.low:.1%} to {row.high:.1%}",
        f"{row.answers:,.0f}",
    )
    return tables.markdown_line(words)


def _sum_line(rows: Sequence[Row]) -> str:
    """Return the sums over all runs with the same events, except those of ``credible``."""
    lines = ["\nAll together, without `credible`:\n\n"]
    for each in life.LIVES:
        own = [row for row in rows if row.life == each and row.algorithm != "credible"]
        runs, false = sum(row.runs for row in own), sum(row.false for row in own)
        low, high = share_interval(false, runs)
        lines.append(f"- {each}: {false} of {runs} false ({low:.1%} to {high:.1%}).\n")
    return "".join(lines)


def _broken_lines(rows: Sequence[Row]) -> list[str]:
    over = [row for row in rows if row.low > DELTA]
    return [f"Broken: {row.algorithm} on {row.pool}, {row.life}: {row.false}." for row in over]
