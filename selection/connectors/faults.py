"""Faults of calls to the other side: each decides on what follows."""


class Fault(Exception):
    """A failed call; its message is a sentence for people, with the remedy if there is one.

    code  HTTP status of the reply; None without one
    """

    def __init__(self, sentence: str, code: int | None = None) -> None:
        super().__init__(sentence)
        self.code = code


class Outage(Fault):
    """No usable reply, or an overload: the same call is made again, later and later.

    retry_after  seconds that the other side asks to wait
    """

    def __init__(self, sentence: str, code: int | None = None, retry_after: float = 0.0) -> None:
        super().__init__(sentence, code)
        self.retry_after = retry_after


class Denied(Fault):
    """A token or an address is wrong: calls wait until somebody changes the connection."""


class Missing(Fault):
    """What the call is about does not exist any more."""


class Rejected(Fault):
    """A call that is refused for good; others may succeed."""


class NotAuthentic(Exception):
    """A message that the other side did not send."""
