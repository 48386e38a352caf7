"""The table of results for people, in Markdown."""

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from research import tables
from topk import Goal

from .measure import BUDGET_PER_WORKER
from .rows import Row

PAGE = "README.md"
HEAD = (
    "| algorithm | promises | runs | missed | 99 % interval | answers, mean | 95 % | "
    "aggregate regret | explore-K regret |\n|---|---|--:|--:|--:|--:|--:|--:|--:|\n"
)

ABOUT = f"""# Does it keep its promise, and what does it cost?

Made by `python -m research validate`; [results.csv](results.csv) has the same figures.

- **promises**: what the algorithm says of its own selection. *aggregate*: the mean accuracy of the
  K selected is within ε of that of the best K; *explore-k*: everybody selected is within ε of the
  K-th best; *exact*: the best K; *none*: no promise. All hold for every pool, but *on average*:
  among pools like this one. On a single fixed pool such an algorithm promises nothing; its misses
  are counted all the same. The goals differ: compare answers only between algorithms that promise
  the same. Algorithms that spend a fixed budget get {BUDGET_PER_WORKER} answers a worker and
  promise nothing; they are judged by their goal all the same.
- **missed**: runs that missed that goal, of those that ended by themselves, and the exact binomial
  99 % interval of their rate. **Bold** where the whole interval lies above δ.
- **answers**: answers used, drawn as the algorithm's paper draws them, so that nobody runs out of
  questions. *over*: some runs were given up at a cap (column `cap` of the CSV; at the end of the
  round), which promises nothing and counts neither as kept nor as missed.
- **regret**: mean over the runs, and the most in parentheses.

Every run draws its pool and its answers from fixed seeds.
"""


def write_report(folder: Path, page: str) -> None:
    """The page that is shown with the folder."""
    (folder / PAGE).write_text(page, encoding="utf-8")


def rows_markdown(rows: Sequence[Row]) -> str:
    parts = [ABOUT, broken_summary(rows), "![Answers](answers.png)\n\n![Missed](missed.png)\n"]
    parts += [section_markdown(list(group)) for _, group in groupby(rows, lambda row: row.case)]
    return "\n".join(parts)


def broken_summary(rows: Iterable[Row]) -> str:
    """Which promises do not hold, or that all do."""
    found = [
        f"- `{row.algorithm}` on {row.case}: {format_missed(row)}" for row in rows if row.broken
    ]
    return (
        "\n".join(["## Where more runs missed than δ and chance allow\n", *(found or ["None."])])
        + "\n"
    )


def section_markdown(rows: Sequence[Row]) -> str:
    one = rows[0]
    asked = f"n = {one.n}, K = {one.k}, ε = {one.epsilon:g}, δ = {one.delta:g}"
    lines = [row_line(row) for row in sorted(rows, key=order_key) if not row.skipped]
    skipped = [f"- `{row.algorithm}`: {row.skipped}" for row in rows if row.skipped]
    left_out = "\n".join(["\nNot run:\n", *skipped, ""]) if skipped else ""
    return "".join([f"## {one.title}: {asked}\n\n", HEAD, *lines, left_out])


def order_key(row: Row) -> tuple[bool, str, bool, float]:
    """Promises first, by goal; whatever ended before whatever did not; then by price."""
    return row.promise == Goal.NONE, row.promise, row.capped > 0, row.answers


def row_line(row: Row) -> str:
    cells = (
        f"`{row.algorithm}`",
        row.promise,
        row.runs,
        format_missed(row),
        "" if math.isnan(row.rate) else f"{row.low:.1%} to {row.high:.1%}",
        f"{'over ' if row.capped else ''}{row.answers:,.0f}",
        f"{'over ' if row.capped else ''}{row.answers_95:,.0f}",
        f"{row.aggregate:.4f} ({row.aggregate_most:.4f})",
        f"{row.explore_k:.4f} ({row.explore_k_most:.4f})",
    )
    return tables.markdown_line(cells)


def format_missed(row: Row) -> str:
    """Runs missed of those ended; how many did not end."""
    if not row.ended:
        return f"all {row.runs} capped"
    if math.isnan(row.rate):
        return "no goal"
    text = f"{row.violations} of {row.ended}"
    return f"**{text}**" if row.broken else text
