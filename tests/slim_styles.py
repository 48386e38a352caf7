"""The part of Unfold's stylesheet that our pages need: a third of it.

    python -m tests.slim_styles

writes it anew after an update of Unfold or of the templates. A rule stays if every class in its
selector is a word of a template or a widget; the dynamic ones are words in them, too.
"""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNFOLD = Path(str(find_spec("unfold").origin)).parent  # type: ignore[union-attr]
ADMIN = Path(str(find_spec("django.contrib.admin").origin)).parent  # type: ignore[union-attr]
THEME = UNFOLD / "static/unfold/css/styles.css"
SLIM = ROOT / "static/unfold/css/styles.css"
FOLDERS = (
    UNFOLD / "templates",
    UNFOLD / "templatetags",
    ADMIN / "templates",
    ROOT / "templates",
    ROOT / "static/selection",
)
FILES = (UNFOLD / "static/unfold/js/app.js", UNFOLD / "widgets.py", UNFOLD / "sites.py")
WORD = re.compile(r"[^\s\"'`<>{}=]+")
UNUSED = {"prose"}  # of an editor that no page has
CLASS = re.compile(r"\.((?:\\.|[\w-])+)")


def known_words() -> set[str]:
    """Return the words of the templates, modules and scripts behind the pages."""
    inside = [
        path
        for folder in FOLDERS
        for kind in ("html", "py", "js")
        for path in folder.rglob(f"*.{kind}")
    ]
    return {word for path in (*FILES, *inside) for word in WORD.findall(path.read_text())} - UNUSED


def split_rules(text: str) -> Iterator[tuple[str, str]]:
    """Yield (head, body) of each rule, and (statement, "") of each without a body."""
    start = depth = opened = 0
    for place, sign in enumerate(text):
        if sign == "{":
            opened = opened if depth else place
            depth += 1
        elif sign == "}":
            depth -= 1
            if not depth:
                yield text[start:opened], text[opened + 1 : place]
                start = place + 1
        elif sign == ";" and not depth:
            yield text[start : place + 1], ""
            start = place + 1


def slim_styles(text: str, words: set[str]) -> str:
    """Return the rules with all their classes among the words."""
    kept = []
    for head, body in split_rules(text):
        if not body:
            kept.append(head)
        elif head.startswith(("@layer", "@media", "@supports")):
            inside = slim_styles(body, words)
            kept += [f"{head}{{{inside}}}"] if inside else []
        elif _is_used(head, words):
            kept.append(f"{head}{{{body}}}")
    return "".join(kept)


def _is_used(head: str, words: set[str]) -> bool:
    """Return True if one of the selectors has only classes that occur."""
    if head.startswith("@"):
        return True
    return any(
        all(re.sub(r"\\(.)", r"\1", name) in words for name in CLASS.findall(selector))
        for selector in re.split(r"(?<!\\),(?![^(]*\))", head)
    )


def write_slim() -> str:
    """Return the stylesheet for the pages."""
    return slim_styles(THEME.read_text(), known_words())


if __name__ == "__main__":
    SLIM.write_text(write_slim())
