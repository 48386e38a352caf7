"""The types of replies and requests, of which `make client-types` generates the module.

A checkout without it works: then all are plain dictionaries. The wheel of `make wheel` has it.
"""

from typing import TYPE_CHECKING, Any

try:
    from .reply_types import *  # noqa: F403
except ImportError:
    if not TYPE_CHECKING:

        def __getattr__(name: str) -> type[dict[str, Any]]:
            if name.startswith("__"):
                raise AttributeError(name) from None
            return dict
