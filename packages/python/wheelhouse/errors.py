"""The errors that this package raises and reports."""
from __future__ import annotations


class WheelhouseError(Exception):
    """Base class of the errors of this package."""


class FrameError(WheelhouseError, ValueError):
    """A frame that cannot be sent: a number that is not finite, a value that JSON does not have, or too many bytes."""


class GatewayError(WheelhouseError):
    """An `error` frame of the gateway: it did not accept a frame of this program."""


class CommandError(WheelhouseError):
    """A command that the control schema does not allow. The robot has refused it and braked."""


class EpisodeRefused(WheelhouseError):
    """The platform does not accept an episode, now or later."""


class LinkEnded(WheelhouseError):
    """The connection is over for good: another attempt would not change the answer.

    `close_code` is the close code of the gateway, `status` the HTTP status of the refused request, else None.
    """

    def __init__(self, reason: str, *, close_code: int | None = None, status: int | None = None) -> None:
        super().__init__(f"given up: {reason}")
        self.close_code = close_code
        self.status = status


class ApiError(WheelhouseError):
    """A response of the REST API or of the hub that is no success.

    `status` is the HTTP status, 0 if there was no response; `code` the machine-readable code; `message` the reason in plain words.
    """

    def __init__(self, status: int, code: str, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(f"{status} {code}: {message}" if status else message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s
