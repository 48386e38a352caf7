"""The only writer of verdicts, steps and assignments: ``advance`` takes a run one step further."""

from .step import advance

__all__ = ["advance"]
