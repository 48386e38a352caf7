"""A verification as lines of text."""

from topk.version import __version__

from .verdict import Verification

MOST_SELECTED = 50


def describe_verification(verification: Verification) -> list[str]:
    names = ", ".join(verification.selection[:MOST_SELECTED]) or "nobody"
    more = len(verification.selection) - MOST_SELECTED
    lines = [f"Selected by the answers: {names}{f', and {more} more' if more > 0 else ''}."]
    lines.append(verification.guarantee or "There is no guarantee for them.")
    if verification.same:
        return [*lines, "All that the dump says was recomputed and is the same."]
    origin = f"It was written by {verification.written_by}, and recomputed by topk {__version__}."
    return [
        *lines,
        origin,
        "The dump says otherwise:",
        *(f"- {finding}" for finding in verification.findings),
    ]
