"""The version of all of this: of the core, the app and their files."""

__version__ = "0.3.0"
