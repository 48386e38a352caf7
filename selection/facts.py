"""Values that one template shows, named where they are computed."""

from types import SimpleNamespace


class Facts(SimpleNamespace):
    """Values of a template's context; a function builds them in one place."""
