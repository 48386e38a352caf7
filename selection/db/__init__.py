"""Fast reads and writes of many rows, and prepared statements."""
