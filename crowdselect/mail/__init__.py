"""E-mail: an outbox, invitations and reminders for workers, notices for members."""
