"""The claims of a paper with their verdicts, as a table for machines and one for people."""

import csv
from collections.abc import Sequence
from pathlib import Path

from .claims import RULE, Claim, Outcome

COLUMNS = ("claim", "reading", "for", "against", "open", "verdict")


def write(stem: Path, title: str, claims: Sequence[Claim]) -> list[Path]:
    """stem-claims.csv and stem-claims.md."""
    table, page = (stem.with_name(f"{stem.name}-claims.{kind}") for kind in ("csv", "md"))
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *map(line, claims)])
    page.write_text(f"# Claims of {title}\n\n{markdown(claims)}\n{RULE}", encoding="utf-8")
    return [table, page]


def line(claim: Claim) -> tuple[str, ...]:
    counts = (str(claim.count(outcome)) for outcome in Outcome)
    return claim.said, claim.reading, *counts, str(claim.verdict)


def markdown(claims: Sequence[Claim]) -> str:
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(line(claim) for claim in claims)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def summary(claims: Sequence[Claim]) -> list[str]:
    """A line for each claim, for a terminal."""
    return [
        f"{claim.verdict:15} {claim.said} [{claim.reading}: {claim.count(Outcome.FOR)} for, "
        f"{claim.count(Outcome.AGAINST)} against, {claim.count(Outcome.OPEN)} open]"
        for claim in claims
    ]
