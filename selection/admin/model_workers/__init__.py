"""Pages of models as workers: their servers, their settings, their calls and money."""
