"""Copy everything from one database into another."""

from .tables import Copied, copy

__all__ = ["Copied", "copy"]
