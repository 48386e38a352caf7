"""Things brought from another server or another database: a run from its dump, or everything."""

from .loading import Loaded, load
from .tables import Copied, copy

__all__ = ["Copied", "Loaded", "copy", "load"]
