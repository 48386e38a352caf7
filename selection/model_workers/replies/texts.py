"""Free text as an answer: without wrappers and surroundings."""

import re

from . import words
from .frames import strip_fence, strip_latex

_BEGINS = ("**", "__", *"`*$\"“„«「'‘_")
_WRAPPERS = [*zip(_BEGINS, ("**", "__", *"`*$\"”“»」'’_"), strict=True)]
_SHORTENED = re.compile(
    r"(?:\.\w|\b(?:inc|ltd|jr|sr|dr|mr|mrs|st|co|etc|no|vs|prof|corp|bros|mt|ave|approx|[a-z]))\.$",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(
    r"(?<!\b[A-Z])(?<!\b[A-Z][a-z])(?<!\bMrs)[.!?。][\"'”*]*\s+(?=[\"“(*]*[A-Z\u0400-\u04ff\u3400-\u9fff])|[。]"
)
_REASON = re.compile(
    rf"(?:,|(?<![ \t]))[ \t]++"
    rf"{words.match_whole('because|since|weil|denn|car|porque|perché|потому')}[ \t]",
    re.IGNORECASE,
)
_COPULA = re.compile(
    r"(?:The|It|This|That|Its|His|Her|Their|La|Le|El|Die|Der|Das|Es|O|A|Il|L'|He|She|They)\b"
    r"[^.!?\n,;:\"]{0,120}?[ \t](?:is|was|are|were|ist|war|sind|est|était|es|é|è|era)[ \t]+"
    r"(?:called[ \t]+|named[ \t]+)?"
    # a comma or dot within a date, a time or a number goes on
    r"((?:[^.!?\n,;:]|(?<=\d)[.,:](?=\d)|(?<=\d),(?= \d{4}(?!\d))|"
    r"(?<=\d)\.(?= (?:Jan|Feb|M[aä]r|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz]))){1,60})[.!]?"
)
# A heading, or a label, that announces a typed answer; and marks of a list or a quotation.
_HEADING = re.compile(
    rf"[#>*_ \t]*(?:(?:the|my|die|la|el|a|{words.join_words(words.QUALITIES)})[ \t]+){{0,3}}"
    rf"{words.join_words(words.ANSWERS, words.ANSWERS_JOINED, 'response|output|solution')}"
    r"(?:[*_]*[ \t]*[:：][*_]*[ \t]*\n?|[*_]*[ \t]*\n)\s*(?=\S)",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"(?:#{1,6}|[-*•>])[ \t]+(?=[^\s*])")
_VAGUE = re.compile(
    rf"(?:{words.match_whole('a|an|not|no|very|so|one|known|located|the|ein|eine|nicht|un|une|una|pas|uno|um|uma|in|on|at')})",
    re.IGNORECASE,
)
_EXPLAINED = re.compile(
    rf"[^\S\n]*+\n\s*+[*_(]*{words.match_whole(words.EXPLANATIONS)}", re.IGNORECASE
)


def unwrap(text: str) -> str:
    bare = _LIST_MARK.sub("", strip_fence(text.strip()), count=1)
    if bare.startswith(("$", "\\(", "\\[", "\\text")):
        bare = strip_latex(bare)
    for _ in range(4):
        bare = bare.strip()
        for begin, end in _WRAPPERS:
            inside = bare[len(begin) : -len(end)]
            marked = bare.startswith(begin) and bare.endswith(end)
            if marked and inside and end not in inside and begin not in inside:
                bare = inside
        bare = _strip_dot(bare)
    return bare


def _strip_dot(text: str) -> str:
    """Strip the final dot of a short text; an abbreviation keeps it."""
    ends = text[-1:] in (".", "。") and len(text) <= 100 and not text.endswith("..")
    return text[:-1].rstrip() if ends and not _SHORTENED.search(text) else text


def take_sentence(text: str) -> str:
    """Take the part of an announced answer before additions."""
    line = text.strip().split("\n", 1)[0]
    if match := _SENTENCE_END.search(line):
        line = line[: match.start() + 1]
    if match := _REASON.search(line):
        line = line[: match.start()]
    return unwrap(re.sub(r"^[*_\"'`]+(?=\s)", "", line))


def read_text(text: str) -> str:
    if heading := _HEADING.match(text):
        text = text[heading.end() :]
    first, _, rest = text.partition("\n")
    announces = first.rstrip("* ").endswith(":")
    bold = re.fullmatch(r"\*\*([^*]{1,100})\*\*[.:]?", first.strip())
    if rest.strip() and not announces and (bold or _EXPLAINED.match("\n" + rest)):
        return unwrap(first)
    stated = _COPULA.fullmatch(text)
    if stated and not _VAGUE.match(stated[1]) and len(stated[1].split()) <= 4:
        pointing = re.match(r"(?:It|This|That|He|She|They|Es|O|A|Il)[ \t]", text)
        if not pointing or stated[1][:1].isupper():
            return unwrap(stated[1])
    return unwrap(text)
