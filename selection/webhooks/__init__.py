"""Webhooks: messages stored in the transaction that they report, and sent a moment later."""

from .alerts import notify_new_alerts
from .delivery import send_due, sweep_deliveries
from .messages import Message, write_messages

__all__ = [
    "Message",
    "notify_new_alerts",
    "send_due",
    "sweep_deliveries",
    "write_messages",
]
