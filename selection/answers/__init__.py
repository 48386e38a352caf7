"""Recording of answers, presence of workers, outages of the web."""
