"""E-mail: an outbox, invitations and reminders for workers, notices for members."""

from .delivery import send_due, sweep_mail
from .invitations import write_reminders
from .notices import (
    followed_runs,
    write_alarm_notices,
    write_alert_notices,
    write_end_notices,
)
