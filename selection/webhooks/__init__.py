"""A team's programs are told what happens: written with what it tells of, sent a moment later."""

from .attention import attention
from .outbox import Message, write
from .sending import drain, sweep

__all__ = ["Message", "attention", "drain", "sweep", "write"]
