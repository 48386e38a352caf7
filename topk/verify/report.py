"""A verification in lines for people."""

from topk.version import __version__

from .verdict import Verification

MOST_SELECTED = 50


def describe_verification(found: Verification) -> list[str]:
    named = ", ".join(found.selection[:MOST_SELECTED]) or "nobody"
    more = len(found.selection) - MOST_SELECTED
    lines = [f"Selected by the answers: {named}{f', and {more} more' if more > 0 else ''}."]
    lines.append(found.promise or "Nothing is promised of them.")
    if found.same:
        return [*lines, "All that the dump says was recomputed and is the same."]
    written = f"It was written by {found.written_by}, and recomputed by CrowdSelect {__version__}."
    return [*lines, written, "The dump says otherwise:", *(f"- {one}" for one in found.findings)]
