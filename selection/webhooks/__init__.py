"""Webhooks: messages stored in the transaction that they report, and sent a moment later."""

from .alerts import notify_new_alerts
from .delivery import retry_time, send_due, sweep_deliveries
from .messages import Message, mark_task_received, request_task, write_messages

__all__ = [
    "Message",
    "mark_task_received",
    "notify_new_alerts",
    "request_task",
    "retry_time",
    "send_due",
    "sweep_deliveries",
    "write_messages",
]
