"""Client of CrowdSelect's JSON API: select the best K workers of a crowd from your own program.

Its only dependency is httpx. See docs/client.md.
"""

from .client import Client
from .connection import ApiError
from .file import File
from .models import Models
from .run import Run
from .watch import Watch

__all__ = ["ApiError", "Client", "File", "Models", "Run", "Watch"]
