"""Connects robots, operators and observers to Wheelhouse, an open teleoperation hub."""
from .control import Limits, Session, Stop
from .errors import ApiError, CommandError, EpisodeRefused, FrameError, GatewayError, LinkEnded, WheelhouseError
from .robot import Robot

__version__ = "0.1.0"
__all__ = [
    "ApiError",
    "CommandError",
    "EpisodeRefused",
    "FrameError",
    "GatewayError",
    "Limits",
    "LinkEnded",
    "Robot",
    "Session",
    "Stop",
    "WheelhouseError",
    "__version__",
]
