"""Connects robots, operators and observers to Wheelhouse, an open teleoperation hub."""
from .control import Limits, Session, Stop
from .errors import ApiError, CommandError, EpisodeRefused, FrameError, GatewayError, LinkEnded, WheelhouseError
from .hub import Hub
from .operator import Observer, Operator, SessionState, StopState
from .rest import Api, every_entry
from .robot import Robot

__version__ = "0.1.0"
__all__ = [
    "Api",
    "ApiError",
    "CommandError",
    "EpisodeRefused",
    "FrameError",
    "GatewayError",
    "Hub",
    "Limits",
    "LinkEnded",
    "Observer",
    "Operator",
    "Robot",
    "Session",
    "SessionState",
    "Stop",
    "StopState",
    "WheelhouseError",
    "__version__",
    "every_entry",
]
