"""Tables of a paper's claims and their verdicts, in CSV and Markdown."""

from collections.abc import Sequence
from pathlib import Path

from research import tables

from .claims import RULE, Claim, Outcome

COLUMNS = ("claim", "reading", "for", "against", "open", "verdict")
ENDS = "\r\n"  # of lines in these tables


def write_claims(stem: Path, title: str, claims: Sequence[Claim]) -> list[Path]:
    """Write stem-claims.csv and stem-claims.md; return their paths."""
    table, page = (stem.with_name(f"{stem.name}-claims.{kind}") for kind in ("csv", "md"))
    tables.write_table(table, COLUMNS, map(claim_cells, claims), ENDS)
    page.write_text(f"# Claims of {title}\n\n{claims_markdown(claims)}\n{RULE}", encoding="utf-8")
    return [table, page]


def claim_cells(claim: Claim) -> tuple[str, ...]:
    counts = (str(claim.count(outcome)) for outcome in Outcome)
    return claim.said, claim.reading, *counts, str(claim.verdict)


def claims_markdown(claims: Sequence[Claim]) -> str:
    lines = [COLUMNS, ("---",) * len(COLUMNS), *(claim_cells(claim) for claim in claims)]
    return "".join(map(tables.markdown_line, lines))


def summarise_claims(claims: Sequence[Claim]) -> list[str]:
    """Return a line per claim, for a terminal."""
    return [
        f"{claim.verdict:15} {claim.said} [{claim.reading}: {claim.count(Outcome.FOR)} for, "
        f"{claim.count(Outcome.AGAINST)} against, {claim.count(Outcome.OPEN)} open]"
        for claim in claims
    ]
