"""The worker's page in other languages: its sentences, and the files of their translations.

    python -m tests.translations

brings selection/locale/*/LC_MESSAGES/django.po up to date with the page's texts and compiles
them, without gettext being installed. An empty translation is left to be written.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import polib
from django.utils.translation.template import templatize

ROOT = Path(__file__).parents[1]
LOCALE = ROOT / "selection" / "locale"
PLAIN = ROOT / "crowdselect" / "locale"  # plain words for texts of Django, written by hand
SOURCES = [
    *(ROOT / "templates/work").glob("*.html"),
    *(ROOT / "selection/worker").glob("*.py"),
    *(ROOT / "crowdselect/mail").glob("*.py"),
    ROOT / "templates/mail/unsubscribe.html",
    ROOT / "selection/questions/sanitize.py",
]
NAMES = {"gettext", "gettext_lazy", "gettext_noop", "_", "ngettext"}
# A call as Django writes it for gettext when it reads a template.
_TEXT = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_CALL = re.compile(rf"\b(?:n?gettext|_)\(({_TEXT}(?:,\s*{_TEXT})?)")

Message = tuple[str, str]


def said() -> dict[Message, str]:
    """(words, words of many or nothing) of all that the page says, and the file it is in."""
    found: dict[Message, str] = {}
    for path in sorted(SOURCES):
        for message in _template(path) if path.suffix == ".html" else _module(path):
            found.setdefault(message, str(path.relative_to(ROOT)))
    return found


def _template(path: Path) -> Iterator[Message]:
    for arguments in _CALL.findall(templatize(path.read_text())):
        texts = ast.literal_eval(f"({arguments},)")
        yield texts[0], texts[1] if len(texts) > 1 else ""


def _module(path: Path) -> Iterator[Message]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
            texts = [arg.value for arg in node.args[:2] if isinstance(arg, ast.Constant)]
            if texts:
                yield str(texts[0]), str(texts[1]) if node.func.id == "ngettext" else ""


def files() -> list[Path]:
    return sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))


def update(path: Path) -> None:
    old = polib.pofile(str(path))
    known = {(entry.msgid, entry.msgid_plural): entry for entry in old}
    new = polib.POFile(wrapwidth=100)
    new.metadata = old.metadata
    forms = int(re.search(r"nplurals=(\d+)", old.metadata["Plural-Forms"])[1])
    for (one, many), where in said().items():
        entry = known.get((one, many)) or polib.POEntry(
            msgid=one,
            msgid_plural=many,
            msgstr_plural=dict.fromkeys(range(forms), "") if many else {},
        )
        entry.occurrences = [(where, "")]
        if "%(" in one:
            entry.flags = ["python-format"]
        new.append(entry)
    new.save(str(path))
    new.save_as_mofile(str(path.with_suffix(".mo")))


if __name__ == "__main__":
    for each in files():
        update(each)
    for each in PLAIN.glob("*/LC_MESSAGES/django.po"):
        polib.pofile(str(each)).save_as_mofile(str(each.with_suffix(".mo")))
