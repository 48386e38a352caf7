"""Free text as an answer: without wrappers, without what surrounds it."""

import re

from . import words
from .frames import strip_fence, strip_latex

_WRAPPERS = (
    ("**", "**"),
    ("__", "__"),
    ("`", "`"),
    ("*", "*"),
    ("$", "$"),
    ('"', '"'),
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ("「", "」"),
    ("'", "'"),
    ("‘", "’"),
    ("_", "_"),
)
_SHORTENED = re.compile(
    r"(?:\.\w|\b(?:inc|ltd|jr|sr|dr|mr|mrs|st|co|etc|no|vs|prof|corp|bros|mt|ave|approx|[a-z]))\.$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(
    r"(?<!\b[A-Z])(?<!\b[A-Z][a-z])(?<!\bMrs)[.!?。][\"'”*]*\s+(?=[\"“(*]*[A-Z\u0400-\u04ff\u3400-\u9fff])|[。]"
)
_REASON = re.compile(
    rf",?[ \t]+{words.match_whole('because|since|weil|denn|car|porque|perché|потому')}[ \t]",
    re.IGNORECASE,
)
_COPULA = re.compile(
    r"(?:The|It|This|That|Its|His|Her|Their|La|Le|El|Die|Der|Das|Es|O|A|Il|L'|He|She|They)\b"
    r"[^.!?\n,;:\"]{0,120}?[ \t](?:is|was|are|were|ist|war|sind|est|était|es|é|è|era)[ \t]+"
    r"(?:called[ \t]+|named[ \t]+)?([^.!?\n,;:]{1,60})[.!]?"
)
_VAGUE = re.compile(
    rf"(?:{words.match_whole('a|an|not|no|very|so|one|known|located|the|ein|eine|nicht|un|une|una|pas|uno|um|uma|in|on|at')})",
    re.IGNORECASE,
)
_EXPLAINED = re.compile(rf"\s*\n\s*[*_(]*{words.match_whole(words.EXPLANATIONS)}", re.IGNORECASE)


def unwrap(text: str) -> str:
    """Return the text without marks around it and without its final dot."""
    text = strip_fence(text.strip())
    bare = strip_latex(text) if text.startswith(("$", "\\(", "\\[", "\\text")) else text
    for _ in range(4):
        bare = bare.strip()
        for begin, end in _WRAPPERS:
            inside = bare[len(begin) : -len(end)]
            if (
                bare.startswith(begin)
                and bare.endswith(end)
                and inside
                and end not in inside
                and begin not in inside
            ):
                bare = inside
        bare = strip_dot(bare)
    return bare


def strip_dot(text: str) -> str:
    """Return a short text without its final dot; an abbreviation keeps it."""
    if (
        text[-1:] not in (".", "。")
        or len(text) > 100
        or text.endswith("..")
        or _SHORTENED.search(text)
    ):
        return text
    return text[:-1].rstrip()


def take_sentence(text: str) -> str:
    """Return the part of an announced answer before what is added to it."""
    line = text.strip().split("\n", 1)[0]
    for pattern in (_SENTENCE_END, _REASON):
        found = pattern.search(line)
        line = (
            line[: found.start() + 1]
            if found and pattern is _SENTENCE_END
            else line[: found.start()]
            if found
            else line
        )
    return unwrap(re.sub(r"^[*_\"'`]+(?=\s)", "", line))


def read_text(text: str) -> str:
    """Return the answer of a text that announces none."""
    first, _, rest = text.partition("\n")
    bold = re.fullmatch(r"\*\*([^*]{1,100})\*\*[.:]?", first.strip())
    if rest.strip() and (
        (bold and not first.rstrip("*").endswith(":")) or _EXPLAINED.match("\n" + rest)
    ):
        return unwrap(first) if not first.strip("* ").endswith(":") else text
    stated = _COPULA.fullmatch(text)
    pointing = stated and re.match(r"(?:It|This|That|He|She|They|Es|O|A|Il)[ \t]", text)
    if pointing and stated and not stated[1][:1].isupper():
        stated = None
    if stated and not _VAGUE.match(stated[1]) and len(stated[1].split()) <= 4:
        return unwrap(stated[1])
    return unwrap(text)
