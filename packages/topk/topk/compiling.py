"""Compilation with numba, cached on disk until the function or what it uses changes.

numba caches compiled code and recompiles if the function's file changes; functions and constants
that it copies into it may be in other files. So compiled functions use those of their own folder
and of compiled.py only, and the code on disk is stamped with a hash: of the functions that this one
reaches, and of all that these files have besides functions. An edit of one function throws the code
of its callers away, and no other. numba itself distinguishes its own version, Python's, and the
processor.
"""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.extending import intrinsic

from .compiled import Compiled

SHARED = (Path(__file__).with_name("compiled.py"), Path(__file__))


@lru_cache
def _split_functions(path: Path) -> tuple[str, dict[str, str]]:
    """Split a file into what stands outside of functions, and its functions by name."""
    rest, functions, decorators = list[str](), dict[str, list[str]](), list[str]()
    lines = rest
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            decorators.append(line)
            lines = decorators
        elif line.startswith("def "):
            lines = functions[line[4:].split("(")[0]] = [*decorators, line]
            decorators = []
        elif line[:1].strip() and line[0] not in ")]}#":
            rest += decorators  # of a class
            decorators, lines = [], rest
            rest.append(line)
        else:
            lines.append(line)
    texts = {name: "\n".join(text).rstrip() for name, text in functions.items()}
    return "\n".join(filter(None, rest)), texts


@lru_cache
def _outside_functions(folder: Path) -> str:
    parts = [f"{path.name} {_split_functions(path)[0]}" for path in sorted(folder.glob("*.py"))]
    return "\n".join([*parts, *(path.read_text(encoding="utf-8") for path in SHARED)])


def _reach_functions(function: Any, reached: dict[Any, str]) -> None:
    """Collect the texts of this function and of the compiled ones that it calls, in any depth."""
    code = function.__code__
    if code in reached:
        return
    reached[code] = _split_functions(Path(code.co_filename))[1].get(function.__name__, "")
    for name in code.co_names:
        other = function.__globals__.get(name)
        other = getattr(other, "py_func", other._function if isinstance(other, Compiled) else None)
        if other is not None:
            _reach_functions(other, reached)


def hash_sources(function: Any) -> str:
    """Hash all that the compiled code of a function depends on."""
    reached: dict[Any, str] = {}
    _reach_functions(function, reached)
    texts = [_outside_functions(Path(function.__code__.co_filename).parent), *reached.values()]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _stamp_locator(locator: type[Any]) -> type[Any]:
    """Stamp the code in one of numba's places with the hash, in place of the file's time."""

    class Stamped(locator):  # type: ignore[misc]
        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            place = super().from_function(py_func, py_file)
            if place is not None:
                place._hash = hash_sources(py_func)
            return place

        def get_source_stamp(self) -> str:
            return str(self._hash)

        def get_disambiguator(self) -> str:
            """Name no line: functions are told apart by their names, wherever they move."""
            return ""

    return Stamped


class _Results(CompileResultCacheImpl):
    _locator_classes = [_stamp_locator(place) for place in CompileResultCacheImpl._locator_classes]


class _Cache(FunctionCache):
    _impl_class = _Results


def compile_function(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Wrap a function in numba's dispatcher: it compiles for each set of types, or loads code.

    Dividing by zero gives infinity, as in numpy: a check would keep loops from vectorising.
    """
    dispatcher: Any = njit(error_model="numpy", **options)(function)
    cache: Any = _Cache
    dispatcher._cache = cache(function)  # as cache=True does, but with our stamp
    return dispatcher


def compile_extreme(operation: str) -> Any:
    """Build the minimum (maximum) of two numbers that are not nan, as vectorisers recognise it."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double, double])
        function = builder.module.declare_intrinsic(f"llvm.{operation}", [double], kind)
        return builder.call(function, arguments, fastmath=("nnan", "nsz"))

    def typed(typing_context: Any, a: Any, b: Any) -> Any:
        return types.float64(types.float64, types.float64), build

    return intrinsic(typed)
