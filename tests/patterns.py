"""All regular expressions of the code, and texts on which a slow one shows itself."""

import ast
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import regex

ROOT = Path(__file__).parents[1]
# Folders with code that meets text from outside, and where their packages begin.
SOURCES = {
    "selection": ROOT,
    "crowdselect": ROOT,
    "packages/topk/topk": ROOT / "packages/topk",
    "packages/crowdselect-client/crowdselect_client": ROOT / "packages/crowdselect-client",
}
METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
ENGINES = {"re": re, "regex": regex}
Pattern = re.Pattern[Any]


@dataclass(frozen=True)
class Place:
    """A call like ``re.sub(expression, …)``. scope: its function, empty at the top of a module."""

    module: str
    scope: str
    line: int
    call: ast.Call
    name: str  # of the variable that keeps the compiled pattern

    def __str__(self) -> str:
        return f"{self.module}:{self.line}"

    @property
    def method(self) -> str:
        assert isinstance(self.call.func, ast.Attribute)
        return self.call.func.attr


def read_sources() -> Iterator[tuple[str, ast.Module]]:
    for folder, root in SOURCES.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            if "migrations" not in parts:
                yield ".".join(parts).removesuffix(".__init__"), ast.parse(path.read_bytes())


class _Finder(ast.NodeVisitor):
    def __init__(self, module: str) -> None:
        self.module, self.scope, self.name = module, "", ""
        self.places: list[Place] = []
        self.uses: set[tuple[str, str]] = set()  # a variable, and the method called on it

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before, self.scope = self.scope, self.scope or node.name
        self.generic_visit(node)
        self.scope = before

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        values = (
            zip(target.elts, node.value.elts, strict=False)
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            else [(target, node.value)]
        )
        for one, value in values:
            self.name = _last_name(one)
            self.visit(value)
            self.name = ""

    def visit_keyword(self, node: ast.keyword) -> None:
        before, self.name = self.name, node.arg or ""
        self.generic_visit(node)
        self.name = before

    def visit_Call(self, node: ast.Call) -> None:
        func = node.func
        if isinstance(func, ast.Attribute):
            called = func.value.id if isinstance(func.value, ast.Name) else ""
            if called in ENGINES and func.attr in (*METHODS, "compile"):
                self.places.append(Place(self.module, self.scope, node.lineno, node, self.name))
            name = _last_name(func.value)
            if func.attr in METHODS and (func.attr != "split" or name.isupper()):
                self.uses.add((f"{self.module}.{name}" if name[:1] == "_" else name, func.attr))
        self.generic_visit(node)


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


@dataclass(frozen=True)
class Found:
    place: str
    pattern: Pattern
    methods: frozenset[str]


def find_patterns(samples: dict[str, Any]) -> tuple[list[Found], list[str]]:
    """All patterns, and the places at which the pattern is not known before the code runs."""
    places, uses = [], defaultdict(set)
    for module, tree in read_sources():
        finder = _Finder(module)
        finder.visit(tree)
        places += finder.places
        for name, method in finder.uses:
            uses[name].add(method)
    found, unknown = [], []
    for place in places:
        patterns = _evaluate(place, samples)
        if not patterns and place.scope:
            unknown.append(f"{place.module}.{place.scope}")
        own = place.name if place.name[:1] != "_" else f"{place.module}.{place.name}"
        methods = uses[own] if place.method == "compile" else {place.method}
        found += [Found(str(place), one, frozenset(methods)) for one in patterns]
    for module in sorted({place.module for place in places}):
        for pattern in walk(vars(importlib.import_module(module))):
            if all(pattern is not one.pattern and pattern != one.pattern for one in found):
                found.append(Found(module, pattern, frozenset(["search"])))
    return found, unknown


def _evaluate(place: Place, samples: dict[str, Any]) -> list[Pattern]:
    """Evaluate the first argument, with the flags, in its module and each sample of variables."""
    names = vars(importlib.import_module(place.module))
    engine = names[place.call.func.value.id]  # type: ignore[attr-defined]
    patterns = []
    for variables in samples.get(f"{place.module}.{place.scope}", [{}]):
        try:
            pattern = _value(place.call.args[0], names | variables)
        except NameError:
            continue
        patterns.append(engine.compile(pattern, _flags(place.call)))
    return patterns


def _flags(call: ast.Call) -> int:
    arguments = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
    texts = [text for text in map(ast.unparse, arguments) if re.fullmatch(r"re\.[A-Z |re.]+", text)]
    return int(eval(texts[0], {"re": re})) if texts else 0


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "pattern", "eval"), dict(names))


def walk(value: Any, depth: int = 4) -> Iterator[Pattern]:
    """Yield the compiled patterns in a value, at any depth."""
    if isinstance(value, re.Pattern):
        yield value
    if depth == 0 or isinstance(value, ModuleType):
        return
    parts: Any = ()
    if isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        parts = value
    elif isinstance(value, type) or hasattr(value, "__dataclass_fields__"):
        parts = vars(value).values() if hasattr(value, "__dict__") else ()
    for part in list(parts):
        yield from walk(part, depth - 1)
