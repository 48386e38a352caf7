"""Entries in the core's registries: sweeps, alerts, password links, personal data."""

from selection import extensions

from . import delivery, invitations, notices, passwords, privacy
from .models import has_server

extensions.SWEEPS.extend(
    [
        invitations.write_reminders,
        notices.write_end_notices,
        notices.write_alarm_notices,
        delivery.sweep_mail,
    ]
)
extensions.ALERT_LISTENERS.append(
    extensions.AlertListener(notices.followed_runs, notices.write_alert_notices)
)
extensions.INVITED.append(invitations.invited_keys)
extensions.PASSWORD_MAIL.append(extensions.PasswordMail(has_server, passwords.request_mail))
extensions.PERSONAL_DATA.append(
    extensions.PersonalData(privacy.forget_workers, privacy.list_messages)
)
