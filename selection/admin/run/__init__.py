"""Admin of runs: list, form, a run's pages, changes and downloads."""
