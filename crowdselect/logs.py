"""What is logged, without the secrets that are in addresses: whoever has a link is that worker."""

import logging
import re

# A link's token, which Django tells with every page that was not found, or is gone; an API token.
SECRETS = re.compile(r"(?<=/work/)[^/\s?\"']+|(?<=/join/)[^/\s?\"']+|\bcs_[\w-]{16,}")


class Discreet(logging.Formatter):
    """Also of tracebacks: it looks at the whole text."""

    def format(self, record: logging.LogRecord) -> str:
        return SECRETS.sub("…", super().format(record))
