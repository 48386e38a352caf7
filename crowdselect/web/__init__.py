"""Middleware, health checks and logging of the web processes."""
