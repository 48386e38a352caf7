"""Webhooks: messages stored in the transaction that they report, and sent a moment later."""

from .delivery import send_due, sweep_deliveries
from .messages import Message, notify_new_alerts, write_messages, write_team_messages
