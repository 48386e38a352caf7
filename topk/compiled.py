"""Compilation of the inner loops, cached on disk until a file of their folder changes.

numba caches compiled code and recompiles if the function's own file changes; functions and
constants that it copies into it may be in other files. So compiled functions use those of their own
folder and of this file only, and the name of the cache's folder has a hash of all these files: a
change in any of them begins a new folder. numba itself distinguishes its own version, Python's, and
the processor.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache

PREFIX = "compiled-"


@lru_cache
def _sources_hash(folder: Path) -> str:
    """Return a hash of the names and contents of the files of a folder, and of this file."""
    digest = hashlib.sha256()
    for path in [*sorted(folder.glob("*.py")), Path(__file__)]:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


def _cache_locator(locator: type[Any]) -> type[Any]:
    """Return one of numba's cache locators, with a folder of our own appended."""

    class Within(locator):  # type: ignore[misc]
        def get_cache_path(self) -> str:
            sources = Path(self._py_file).parent
            return os.path.join(super().get_cache_path(), PREFIX + _sources_hash(sources))

        def ensure_cache_path(self) -> None:
            """Make the folder, and delete those of earlier versions of the files."""
            path = Path(self.get_cache_path())
            if not path.exists():
                for old in path.parent.glob(f"{PREFIX}*"):
                    shutil.rmtree(old, ignore_errors=True)
            super().ensure_cache_path()

    return Within


class _Results(CompileResultCacheImpl):
    _locator_classes = [_cache_locator(place) for place in CompileResultCacheImpl._locator_classes]


class _Cache(FunctionCache):
    _impl_class = _Results


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Compile at the first call, for each set of types, or load the cached code.

    Dividing by zero gives infinity, as in numpy: a check would keep loops from vectorising.
    """
    dispatcher: Any = njit(error_model="numpy", **options)(function)
    cache: Any = _Cache
    dispatcher._cache = cache(function)  # as cache=True does, but with our folder
    return dispatcher


def compiled_sums(function: Callable[..., Any]) -> Any:
    """Compile; sums may be added up in any order, so that vector instructions can be used."""
    return compiled(function, fastmath={"reassoc", "nsz", "contract"})


@compiled_sums
def dot_product(left, right):  # type: ignore[no-untyped-def]
    """Return the sum of the products of two rows."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total
