"""A client of CrowdSelect's JSON API: choose the best K workers of a crowd from a program of yours.

It needs httpx alone. docs/client.md has the whole job.
"""

from .client import Client
from .connection import ApiError
from .file import File
from .run import Run

__all__ = ["ApiError", "Client", "File", "Run"]
