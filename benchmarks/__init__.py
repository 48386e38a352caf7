"""What it costs: ``make bench`` prints every table."""
