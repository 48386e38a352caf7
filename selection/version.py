"""The version of the application, which its files state."""

__version__ = "0.4.0"
