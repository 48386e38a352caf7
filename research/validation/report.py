"""The table of results for people, in Markdown."""

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median

from research import tables
from topk import Goal

from .measure import BUDGET_PER_WORKER
from .rows import Row

PAGE = "README.md"
HEAD = (
    "| algorithm | guarantee | pools | runs | missed | answers, least | median | most |\n"
    "|---|---|--:|--:|--:|--:|--:|--:|\n"
)

ABOUT = f"""# Validation

Every algorithm, simulated on pools with known accuracies and on recorded crowds: how often is its
selection worse than guaranteed, and how many answers does it need? Run `python -m research
validate` to repeat it, from fixed seeds. [results.csv](results.csv) has each algorithm on each
pool, with exact 99 % intervals and both regrets.

- **Guarantee**: *aggregate*: mean accuracy within ε of the best K; *explore-k*: each worker
  within ε of the K-th best; *exact*: the best K. It holds for every pool, of `universal` for every
  population; *on average*: among pools like these. *none*: a fixed budget of
  {BUDGET_PER_WORKER} answers per worker, judged by its goal all the same.
- **Missed**: runs that missed the goal, of those that ended. **Bold**: on some pool, the 99 %
  interval lies above δ.
- **Answers**: mean per pool, over the pools. *over*: some runs reached a cap, and count neither
  as kept nor as missed. Compare algorithms only under the same guarantee.
- The most answers of `universal`, with one worker 1.01 ε above the rest and K = 1, are out of date:
  [swaps](../../../packages/topk/docs/universal.md#7-swaps-where-they-are-cheaper)
  certify there now, as in `certified`.
"""


def write_report(folder: Path, page: str) -> None:
    """Write the page of the folder."""
    (folder / PAGE).write_text(page, encoding="utf-8")


def rows_markdown(rows: Sequence[Row]) -> str:
    """Return the page: a summary and a table with one line per algorithm."""
    by_algorithm = sorted((row for row in rows if not row.skipped), key=lambda row: row.algorithm)
    groups = [list(group) for _, group in groupby(by_algorithm, lambda row: row.algorithm)]
    lines = [algorithm_line(group) for group in sorted(groups, key=order_key)]
    return "\n".join([ABOUT, "".join([HEAD, *lines]), broken_summary(rows)])


def broken_summary(rows: Iterable[Row]) -> str:
    """Return the list of guarantees that failed more often than chance explains."""
    broken = [
        f"- `{row.algorithm}` on {row.case}: {format_missed(row)}" for row in rows if row.broken
    ]
    heading = "## Pools with more misses than δ and chance allow\n"
    return "\n".join([heading, *(broken or ["None."])]) + "\n"


def order_key(rows: Sequence[Row]) -> tuple[bool, str, bool, float]:
    """Sort by guarantee; algorithms that always end first; then by cost."""
    capped = any(row.capped for row in rows)
    return rows[0].promise == Goal.NONE, rows[0].promise, capped, median(r.answers for r in rows)


def algorithm_line(rows: Sequence[Row]) -> str:
    """Return the line of one algorithm, over all its pools."""
    judged = [row for row in rows if row.ended and not math.isnan(row.rate)]
    missed, ended = sum(row.violations for row in judged), sum(row.ended for row in judged)
    share = f"{missed} of {ended}" if judged else "–"
    answers = sorted((row.answers, row.capped > 0) for row in rows)
    chosen = (answers[0], answers[(len(answers) - 1) // 2], answers[-1])
    return tables.markdown_line(
        (
            f"`{rows[0].algorithm}`",
            rows[0].promise,
            len(rows),
            sum(row.runs for row in rows),
            f"**{share}**" if any(row.broken for row in rows) else share,
            *(f"{'over ' if capped else ''}{number:,.0f}" for number, capped in chosen),
        )
    )


def format_missed(row: Row) -> str:
    """Return the numbers of runs that missed the goal and that ended."""
    if not row.ended:
        return f"all {row.runs} capped"
    if math.isnan(row.rate):
        return "no goal"
    text = f"{row.violations} of {row.ended}"
    return f"**{text}**" if row.broken else text
