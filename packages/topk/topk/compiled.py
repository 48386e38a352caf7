"""Inner loops that are compiled at their first call.

numba takes a fifth of a second and 40 MB to load, and most processes that import the algorithms
only describe them. So numba is loaded by the first compiled function that is called.
"""

from collections.abc import Callable
from functools import cached_property, update_wrapper
from importlib import import_module
from typing import Any


class Compiled:
    """A function, or an operation of the processor, that is built when it is first needed."""

    def __init__(
        self,
        build: Callable[[Any], Any],
        function: Callable[..., Any] | None,
        plain: Callable[..., Any] | None = None,
    ) -> None:
        self._build, self._function, self._plain = build, function, plain or function
        if function is not None:
            update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        return self._dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._dispatcher, name)

    @cached_property
    def _dispatcher(self) -> Any:
        """Numba's dispatcher. Functions called within become dispatchers first: numba asks that."""
        if self._function is not None:
            names = self._function.__globals__
            for name in self._function.__code__.co_names:
                if isinstance(names.get(name), Compiled):
                    names[name] = names[name]._dispatcher
        try:
            return self._build(import_module("topk.compiling"))
        except ModuleNotFoundError:  # without numba, as in a browser: Python's own loops
            return self._plain


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Compile at the first call, for each set of types, or load the cached code."""
    return Compiled(lambda numba: numba.compile_function(function, options), function)


def compiled_sums(function: Callable[..., Any]) -> Any:
    """Compile; sums may be added up in any order, so that vector instructions can be used."""
    return compiled(function, fastmath={"reassoc", "nsz", "contract"})


def compiled_extreme(operation: str) -> Any:
    """Minimum ("minnum") or maximum ("maxnum") in a form that numba's vectoriser recognises."""
    plain = {"minnum": min, "maxnum": max}[operation]
    return Compiled(lambda numba: numba.compile_extreme(operation), None, plain)


@compiled_sums
def dot_product(left, right):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total
