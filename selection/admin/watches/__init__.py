"""Pages of watches: gold answers during the work, and alarms."""
