"""Texts that people read: those of templates, and messages in modules."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

TOP = Path(__file__).parents[2]
# Modules whose texts people read on pages, in e-mails and in the API's errors.
MESSAGE_ROOMS = ("selection", "crowdselect")
NO_MESSAGES = {"replies", "migrations", "management", "simulation"}
# Ends of a sentence without a full stop: a block, and a branch of a template.
_BLOCK_TAGS = (
    r"p|li|ul|ol|div|h\d|t[rdh]|table|thead|tbody|dt|dd|section|figure|figcaption|form|label|"
    r"legend|summary|details|button|option|select|nav|small|br|title|fieldset|main|header|footer|text"
)
_BLOCKS = rf"</?(?:{_BLOCK_TAGS})\b[^>]*>"
_BRANCHES = r"\{%\s*(?:else|elif|endif|empty|endfor|for|if|include|block|endblock|plural)\b.*?%\}"
_MARKUP = r"\{#.*?#\}|<[^>]+>|\{%.*?%\}"
_SHOWN = re.compile(r'(?:aria-label|title|placeholder|alt)="([^"<>]*)"')


@cache
def templates() -> dict[str, str]:
    folder = TOP / "templates"
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*.html"))}


def template_sentences(source: str) -> list[str]:
    """Return the sentences of a template, a value as one word."""
    source = re.sub(r"<(script|style)\b.*?</\1>", " ", source, flags=re.DOTALL)
    attributes = ". ".join(_SHOWN.findall(source))
    text = re.sub(r"\{#.*?#\}", " ", f"{source}. {attributes}", flags=re.DOTALL)
    text = re.sub(r"""\{%\s*translate\s+["']([^"']*)["'].*?%\}""", r"\1", text)
    text = re.sub(r"""\{%\s*term\s+"[^"]*"\s+"([^"]*)"\s*%\}""", r"\1", text)
    text = re.sub(_BRANCHES, "\n", text)
    text = re.sub(r"\{\{.*?\}\}", "N", text)
    text = re.sub(_BLOCKS, "\n", text)
    return split_sentences(re.sub(_MARKUP, " ", text, flags=re.DOTALL))


def split_sentences(text: str) -> list[str]:
    parts = re.split(r"(?<=[.!?])[\s)”]+|\n\s*", text)
    return [" ".join(part.split()) for part in parts if re.search(r"[A-Za-z]{2}", part)]


@cache
def message_modules() -> dict[str, ast.Module]:
    return {
        str(path.relative_to(TOP)): ast.parse(path.read_text())
        for room in MESSAGE_ROOMS
        for path in sorted((TOP / room).rglob("*.py"))
        if not NO_MESSAGES & set(path.parts)
    }


def message_sentences(tree: ast.Module) -> list[str]:
    """Return the sentences of the texts of a module, without docstrings."""
    return [sentence for text in _texts(tree) for sentence in split_sentences(text)]


def _texts(tree: ast.Module) -> Iterator[str]:
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))  # a docstring
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in ast.walk(node) if part is not node)
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "N" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if id(node) not in skipped and len(text.split()) >= 4:  # not a name or a key
            yield text
