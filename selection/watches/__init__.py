"""Gold during the work: watches of workers, their gold answers, alarms, and their consequences."""
