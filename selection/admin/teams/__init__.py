"""Admin of teams: logins, API tokens, webhooks and the audit log."""
