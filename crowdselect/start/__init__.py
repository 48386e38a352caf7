"""Entry points of the processes, and their local defaults."""
