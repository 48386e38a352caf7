"""The version of all of this: of the core, the app and what they write."""

__version__ = "0.3.0"
