"""The part of Unfold's stylesheet that a run's page needs, so that the page loads fast.

    python -m tests.slim_styles

writes it anew after an update of Unfold or of the templates. A rule stays if every class in its
selector is a word of a template behind the page; the dynamic ones are words in them, too.
"""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
UNFOLD = Path(str(find_spec("unfold").origin)).parent  # type: ignore[union-attr]
THEME = UNFOLD / "static/unfold/css/styles.css"
SLIM = ROOT / "static/selection/run_theme.css"
FOLDERS = (ROOT / "templates", UNFOLD / "templates")
PAGE = "selection/run.html"
# Included under a name that a setting or a variable gives.
HIDDEN = ("unfold/helpers/header_title.html", "unfold/helpers/field.html")
WORD = re.compile(r"[^\s\"'`<>{}=]+")
CLASS = re.compile(r"\.((?:\\.|[\w-])+)")
_REFERENCE = re.compile(r"{%\s*(?:extends|include)\s*[\"']([^\"']+)[\"']")


def read_templates(name: str, read: dict[str, str]) -> dict[str, str]:
    """Return the text of a template and of all that it extends or includes, by name."""
    path = next((folder / name for folder in FOLDERS if (folder / name).is_file()), None)
    if path is None or name in read:
        return read
    read[name] = path.read_text()
    for used in _REFERENCE.findall(read[name]):
        read_templates(used, read)
    return read


def known_words() -> set[str]:
    """Return the words of the templates and scripts behind the page, classes among them."""
    texts = read_templates(PAGE, {})
    for name in HIDDEN:
        read_templates(name, texts)
    live = (ROOT / "templates/selection/live").glob("*.html")
    code = [*(UNFOLD / "templatetags").glob("*.py"), UNFOLD / "static/unfold/js/app.js", *live]
    return {
        word
        for text in [*texts.values(), *(path.read_text() for path in code)]
        for word in WORD.findall(text)
    }


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
    """Return the stylesheet for the page."""
    return slim_styles(THEME.read_text(), known_words())


if __name__ == "__main__":
    SLIM.write_text(write_slim())
