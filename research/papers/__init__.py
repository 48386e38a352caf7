"""The papers' experiments, played again, and what they claimed, judged by the numbers.

A tool beside the app, for ``manage.py reproduce``: nothing of the app imports it.
"""

from .studies import STUDIES, Plan, reproduce, size

__all__ = ["STUDIES", "Plan", "reproduce", "size"]
