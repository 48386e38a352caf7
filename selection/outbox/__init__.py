"""One durable-job mechanism: rows in the database, messages to Celery, leases, retries, sweeps."""
