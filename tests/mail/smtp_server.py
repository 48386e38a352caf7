"""A real SMTP server in this process that stores letters and replies as configured."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller

from tests.processes import free_port

OK = "250 OK"
# The server is no part of the program: its log of the conversation is not the program's.
logging.getLogger("mail.log").setLevel(logging.CRITICAL)


class Mailbox:
    """The letters that arrived, and the server's behaviour.

    recipients  replies to recipients, by address
    data        replies to the coming letters, in order; then OK
    on_letter   called with each letter before the reply
    breaks      number of coming letters during which the connection is cut
    """

    def __init__(self) -> None:
        self.letters: list[EmailMessage] = []
        self.recipients: dict[str, str] = {}
        self.data: list[str] = []
        self.on_letter: Callable[[EmailMessage], object] = lambda letter: None
        self.breaks = 0
        self.connections = 0

    @property
    def addresses(self) -> list[str]:
        return [str(letter["To"]) for letter in self.letters]

    # -- called by aiosmtpd

    async def handle_EHLO(
        self, server: Any, session: Any, envelope: Any, hostname: str, replies: list[str]
    ) -> list[str]:
        self.connections += 1
        session.host_name = hostname
        return replies

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        reply = self.recipients.get(address, OK)
        if reply == OK:
            envelope.rcpt_tos.append(address)
        return reply

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.breaks:
            self.breaks -= 1
            server.transport.abort()
            return OK
        reply = self.data.pop(0) if self.data else OK
        letter = message_from_bytes(envelope.content, policy=policy.default)
        self.on_letter(letter)
        if reply == OK:
            self.letters.append(letter)
        return reply


@contextmanager
def smtp_server(port: int = 0) -> Iterator[tuple[Mailbox, int]]:
    """Run the server at a port of this machine."""
    mailbox, port = Mailbox(), port or free_port()
    controller = Controller(mailbox, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield mailbox, port
    finally:
        controller.stop()
