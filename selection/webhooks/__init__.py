"""A team's programs are told what happens: written with what it tells of, sent a moment later."""

from .alerts import attention
from .delivery import drain, sweep
from .outbox import Message, write

__all__ = ["Message", "attention", "drain", "sweep", "write"]
