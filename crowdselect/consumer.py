"""What a Celery worker does with the messages that it gets, where Redis may break off."""

from contextlib import suppress

from celery.worker import consumer


class Consumer(consumer.Consumer):  # type: ignore[misc]
    """Celery's (5.7) closes a broken connection twice: once it throws the address away, and then
    gives back, to that address, the messages that came by it. The error ended the worker."""

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        with suppress(AttributeError):
            super().on_connection_error_after_connected(exc)
