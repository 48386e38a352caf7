"""Steps of a run: the only writer of verdicts, steps and assignments."""

from .step import advance
