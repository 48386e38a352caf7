"""Plain language, in figures that may only be tightened: names, docstrings, documentation."""

import ast
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.project.houses import HOUSES, TOP

PACKAGES = tuple(HOUSES.values())
TESTS = (TOP / "tests", *TOP.glob("packages/*/tests"))
# Theory, experiments and generated tables use the words of their proofs.
THEORY = {
    *("certified.md", "credible.md", "universal.md", "each-good.md", "same-questions.md"),
    *("absence.md", "drift.md", "mean-accuracy.md", "pass-mark.md", "good-arms.md"),
}
NOTES = {"validation", "reproduction", "research"}

MOST_LED_NAMES = 1.5  # % of functions
MOST_LED_DOCSTRINGS = 2  # %
MOST_RETURNS = 17  # % of the docstrings of functions that begin with Return
MOST_PARTICIPLES = 1.1  # % of the names assigned in functions
MOST_PRONOUNS = 3.4  # in 1,000 words of docstrings
MOST_PRONOUNS_IN_DOCS = 4.2  # in 1,000 words of README and docs
MOST_LED_TESTS = 0.5  # % of tests
MOST_PRONOUNS_IN_TESTS = 1.5  # in 1,000 words of their names
MOST_PRONOUNS_IN_COMMENTS = 2  # in 1,000 words of comments and docstrings of tests
ADVICE = "Begin with the subject, then a verb and the result: test_unseen_assignment_returns_…"

PARTICIPLES_TEXT = """
left right given told said found made kept known seen asked wanted shown named held passed
taken lost done gone came went happened meant lived begun begins goes stands holds lasted
hidden counted put
"""
LEADING_TEXT = """
of over among within here there apart ahead behind besides by as at for from in into on
onto out so such that those this to what when where which who whom whoever whether why
with without every each all any some one none nobody everybody other others own again else
still once near like
"""
PARTICIPLES = set(PARTICIPLES_TEXT.split())
LEADING = set(LEADING_TEXT.split()) | PARTICIPLES
PRONOUNS = {
    *("who", "whom", "whoever", "whose", "nobody", "somebody", "everybody", "whatever", "what"),
    "whether",
}
LEADING_WORDS = LEADING | {
    *("not", "only", "also", "because", "these", "somebody", "whatever", "whose", "how"),
}
VAGUE = PRONOUNS | {"so", "such", "those", "none", "else", "whichever"}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
DOCUMENTED = FUNCTIONS | ast.ClassDef | ast.Module


Texts = list[tuple[Path, list[str]]]


@cache
def read_trees(*packages: Path) -> list[tuple[Path, ast.Module]]:
    return [(path, ast.parse(path.read_text())) for path in modules(*packages)]


def read_functions(*packages: Path) -> Iterator[tuple[str, ast.AST]]:
    for path, tree in read_trees(*packages):
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS):
                yield f"{path}:{node.lineno} {node.name}", node


@cache
def read_names_and_docstrings(*packages: Path) -> tuple[list[tuple[Path, str]], Texts]:
    names, docstrings = [], []
    for path, tree in read_trees(*packages):
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
                docstrings.append((path, words_of(text)))
            if isinstance(node, FUNCTIONS) and not node.name.startswith("__"):
                names.append((path, node.name))
    return names, docstrings


def modules(*packages: Path) -> Iterator[Path]:
    for package in packages:
        yield from (p for p in package.rglob("*.py") if "migrations" not in p.parts)


def read_comments(*packages: Path) -> Texts:
    found = []
    for path in modules(*packages):
        with path.open("rb") as source:
            tokens = tokenize.tokenize(source.readline)
            found += [(path, words_of(t.string)) for t in tokens if t.type == tokenize.COMMENT]
    return found


def per_thousand(texts: Texts, vague: set[str] = PRONOUNS) -> float:
    words = [word for _, text in texts for word in text]
    return 1000 * sum(word in vague for word in words) / max(1, len(words))


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


@pytest.fixture
def docstrings() -> Texts:
    return read_names_and_docstrings(*PACKAGES)[1]


@pytest.fixture
def tests() -> Texts:
    names, _ = read_names_and_docstrings(*TESTS)
    return [(path, name.split("_")[1:]) for path, name in names if name.startswith("test_")]


def test_names_of_functions_begin_with_a_verb_or_a_noun():
    functions, _ = read_names_and_docstrings(*PACKAGES)
    led = [(path, name) for path, name in functions if name.strip("_").split("_")[0] in LEADING]
    assert 100 * len(led) / len(functions) <= MOST_LED_NAMES, led


def test_docstrings_begin_with_a_verb_or_a_noun(docstrings):
    led = [(path, words[:8]) for path, words in docstrings if words and words[0] in LEADING_WORDS]
    assert 100 * len(led) / len(docstrings) <= MOST_LED_DOCSTRINGS, led


def test_docstrings_of_functions_say_more_than_return():
    functions = ((place, ast.get_docstring(node)) for place, node in read_functions(*PACKAGES))
    firsts = [(place, words_of(text)[0]) for place, text in functions if text]
    returns = [place for place, word in firsts if word in ("return", "returns")]
    advice = "Say what it computes (Count …, Find …), or delete what the name says:"
    assert 100 * len(returns) / len(firsts) <= MOST_RETURNS, (advice, returns)


def test_locals_are_nouns():
    names = [
        (place, name)
        for place, function in read_functions(*PACKAGES)
        for name in {node.id for node in ast.walk(function) if is_assigned(node)}
    ]
    led = [pair for pair in names if pair[1].strip("_").split("_")[0] in PARTICIPLES]
    assert 100 * len(led) / len(names) <= MOST_PARTICIPLES, ("Name the value:", led)


def is_assigned(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def test_docstrings_have_few_pronouns(docstrings):
    assert per_thousand(docstrings) <= MOST_PRONOUNS


def test_names_of_tests_begin_with_their_subject(tests):
    led = [f"{path}: {'_'.join(words)}" for path, words in tests if words[0] in LEADING]
    assert 100 * len(led) / len(tests) <= MOST_LED_TESTS, (ADVICE, led)


def test_names_of_tests_have_few_pronouns(tests):
    vague = [f"{path}: {'_'.join(words)}" for path, words in tests if PRONOUNS & set(words)]
    assert per_thousand(tests) <= MOST_PRONOUNS_IN_TESTS, (ADVICE, vague)


def test_comments_and_docstrings_of_tests_have_few_pronouns():
    texts = read_comments(*TESTS) + read_names_and_docstrings(*TESTS)[1]
    vague = [f"{path}: {' '.join(words)}" for path, words in texts if PRONOUNS & set(words)]
    assert per_thousand(texts) <= MOST_PRONOUNS_IN_COMMENTS, ("Name the subject:", vague)


def test_documentation_has_few_pronouns():
    pages = [
        page
        for page in (TOP / "README.md", *(TOP / "docs").rglob("*.md"))
        if page.name not in THEORY and not NOTES & set(page.relative_to(TOP).parts)
    ]
    text = " ".join(re.sub(r"`[^`]*`|<[^>]+>", " ", page.read_text()) for page in pages)
    assert per_thousand([(TOP, words_of(text))], VAGUE) <= MOST_PRONOUNS_IN_DOCS
