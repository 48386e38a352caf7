"""What it costs to have many assignments out at once, some of them slow or lost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import product

from . import late, tables
from .cases import Case
from .figures import Row, row_of
from .journal import Journal
from .measure import Run, asked, score
from .suite import Plan, Told, cells, together

OURS = ("certified", "credible")
CASES = ("two-group-n100", "uniform-n100", "beta-6-2-n100-k20-e0.05")
AT_ONCE = (1, 20, 200)
PROMPT, SLOW = late.Manner("prompt"), late.Manner("slow and lost", slow=0.2, lost=0.05)
FOLDER, SEPARATOR = "delays", ", "

ABOUT = f"""# What do many assignments out at once cost?

Made by `python manage.py validate --delays`; [results.csv](results.csv) has the same figures.

Every worker answers the questions it holds, {late.EACH} at most, one after the other. *Prompt*: an
answer takes an exponential time. *Slow and lost*: {SLOW.slow:.0%} of them take {late.SLOWER:g}
times as long, and {SLOW.lost:.0%} of the assignments are never answered. An assignment that is not
answered within {late.DUE:g} mean times counts as not right, and a worker's answers count in the
order of asking, as in the app. So a lost one holds up all that its worker answers after it.

- **answers**: paid, on average; the ones still out at the stop included.
- **against one at a time**: on the same pools and seeds.
- **missed**: runs whose selection missed ε, and the exact binomial 99 % interval of their rate.

| pool | algorithm | crowd | out at once | runs | missed | 99 % | answers | against one at a time |
|---|---|---|--:|--:|--:|--:|--:|--:|
"""


@dataclass(frozen=True)
class Late(Case):
    """A case whose crowd answers in this manner, with so many assignments out at most."""

    manner: late.Manner
    at_once: int

    @classmethod
    def of(cls, case: Case, manner: late.Manner, at_once: int) -> "Late":
        known = {field.name: getattr(case, field.name) for field in fields(case)}
        known["name"] = SEPARATOR.join([case.name, manner.name, str(at_once)])
        return cls(**known, manner=manner, at_once=at_once)


def plan(wanted: Plan) -> Plan:
    """As was asked for, by our own algorithms and on the pools this is about."""
    pools = [case for case in wanted.cases if case.name in CASES]
    late_pools = [Late.of(*each) for each in product(pools, (PROMPT, SLOW), AT_ONCE)]
    ours = [name for name in wanted.algorithms if name in OURS]
    return Plan(late_pools, ours, wanted.effort, wanted.out / FOLDER)


def run(plan: Plan, told: Told = print) -> list[Row]:
    """Measure, and write the table; rows of algorithms and pools left out stay."""
    plan.out.mkdir(parents=True, exist_ok=True)
    journal = Journal(plan.out, plan.effort)
    new = [row_of(cell, case) for cell, case in cells(plan, journal, told, _played)]
    rows = together(new, tables.read(plan.out))
    tables.write_csv(plan.out, rows)
    (plan.out / tables.MARKDOWN).write_text(ABOUT + "".join(_lines(rows)), encoding="utf-8")
    journal.forget({(row.case, row.algorithm) for row in new})
    return rows


def _played(case: Case, algorithm: str, number: int, cap: int) -> Run:
    assert isinstance(case, Late)
    means = case.means(number)
    outcome = late.play(
        algorithm, means, case.manner, case.at_once, cap, number, **asked(case, algorithm)
    )
    return score(outcome, case.manner.in_time(means))


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    """By pool and algorithm, each crowd from one at a time to the most at once."""
    for row in sorted(rows, key=lambda row: (row.title, row.algorithm)):
        pool, manner, at_once = row.case.rsplit(SEPARATOR, 2)
        alone = SEPARATOR.join([pool, manner, str(AT_ONCE[0])])
        words = (
            row.title,
            f"`{row.algorithm}`",
            manner,
            at_once,
            row.runs,
            tables.share(row),
            f"{row.low:.1%} to {row.high:.1%}",
            f"{row.answers:,.0f}",
            "" if row.case == alone else f"{row.answers / _answers(rows, alone, row) - 1:+.0%}",
        )
        yield f"| {' | '.join(map(str, words))} |\n"


def _answers(rows: Sequence[Row], case: str, like: Row) -> float:
    return next(r.answers for r in rows if (r.case, r.algorithm) == (case, like.algorithm))
