"""Connects robots, operators and observers to Wheelhouse, an open teleoperation hub."""
from .autonomy import Autonomy, Goal, GoalState
from .control import Holder, Lease, Limits, Session, Stop
from .errors import ApiError, CommandError, EpisodeRefused, FrameError, GatewayError, LinkEnded, WheelhouseError
from .hub import Hub
from .operator import Observer, Operator, SessionState, StopState
from .policy import Policy
from .rest import Api, every_entry
from .robot import Robot

__version__ = "0.1.0"
__all__ = [
    "Api",
    "ApiError",
    "Autonomy",
    "CommandError",
    "EpisodeRefused",
    "FrameError",
    "GatewayError",
    "Goal",
    "GoalState",
    "Holder",
    "Hub",
    "Lease",
    "Limits",
    "LinkEnded",
    "Observer",
    "Operator",
    "Policy",
    "Robot",
    "Session",
    "SessionState",
    "Stop",
    "StopState",
    "WheelhouseError",
    "__version__",
    "every_entry",
]
