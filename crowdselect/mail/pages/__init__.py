"""Pages of e-mail: of a run, of the account, of the system, and the one to unsubscribe."""
