"""The cost of many open assignments at once, some of them slow or lost."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from research import tables
from research.cells import Study

from . import latency, report
from .cases import Case
from .rows import Row
from .suite import StudySettings, study_of

OURS = ("certified", "credible")
CASES = ("two-group-n100", "uniform-n100", "beta-6-2-n100-k20-e0.05")
AT_ONCE = (1, 20, 200)
PROMPT, SLOW = (
    latency.CrowdLatency("prompt"),
    latency.CrowdLatency("slow and lost", slow=0.2, lost=0.05),
)
FOLDER, SEPARATOR = "delays", ", "

ABOUT = f"""# Delayed and lost answers

Made by `python -m research validate --delays`; [results.csv](results.csv) has the same figures.

Each worker answers their open assignments, at most {latency.EACH}, one after the other. *Prompt*:
an answer takes an exponential time. *Slow and lost*: {SLOW.slow:.0%} of the answers take
{latency.SLOWER:g} times as long, and {SLOW.lost:.0%} of the assignments are never answered. An
assignment not answered within {latency.DUE:g} mean times counts as wrong, and a worker's answers
count in the order of asking, as in the app: a lost one delays all later answers of its worker.

- **answers**: mean number of paid answers, including assignments open at the stop.
- **against one at a time**: on the same pools and seeds.
- **missed**: runs with a regret above ε, and the exact binomial 99 % interval of their rate.
- The rows of `certified` are of version 0.3.0, which needed more answers.

| pool | algorithm | crowd | out at once | runs | missed | 99 % | answers | against one at a time |
|---|---|---|--:|--:|--:|--:|--:|--:|
"""


def build_study(wanted: StudySettings) -> Study[Row]:
    """Return the study of our algorithms on three pools."""
    pools = [case for case in wanted.cases if case.name in CASES]
    late_pools = [late_case(*each) for each in product(pools, (PROMPT, SLOW), AT_ONCE)]
    ours = [name for name in wanted.algorithms if name in OURS]
    return study_of(
        StudySettings(late_pools, ours, wanted.effort, wanted.out / FOLDER), _print_rows
    )


def late_case(case: Case, manner: latency.CrowdLatency, at_once: int) -> Case:
    """Return the case with a crowd that answers in this manner, at most ``at_once`` assignments."""
    name = SEPARATOR.join([case.name, manner.name, str(at_once)])
    return replace(case, name=name, manner=manner, at_once=at_once)


def _print_rows(folder: Path, rows: Sequence[Row]) -> None:
    report.write_report(folder, ABOUT + "".join(_format_lines(rows)))


def _format_lines(rows: Sequence[Row]) -> Iterator[str]:
    """Yield lines by pool and algorithm, from one open assignment to the most."""
    for row in sorted(rows, key=lambda row: (row.title, row.algorithm)):
        pool, manner, at_once = row.case.rsplit(SEPARATOR, 2)
        alone = SEPARATOR.join([pool, manner, str(AT_ONCE[0])])
        words = (
            row.title,
            f"`{row.algorithm}`",
            manner,
            at_once,
            row.runs,
            report.format_missed(row),
            f"{row.low:.1%} to {row.high:.1%}",
            f"{row.answers:,.0f}",
            ""
            if row.case == alone
            else f"{row.answers / _mean_answers(rows, alone, row) - 1:+.0%}",
        )
        yield tables.markdown_line(words)


def _mean_answers(rows: Sequence[Row], case: str, like: Row) -> float:
    return next(r.answers for r in rows if (r.case, r.algorithm) == (case, like.algorithm))
