"""A simulated robot in one command: python3 -m wheelhouse https://hub.example 7KQ4M-XW9PD"""
from __future__ import annotations

import argparse
import math
import os
import time
from typing import Any

from .errors import WheelhouseError
from .pairing import STORE
from .robot import Robot

MAX_CHANGE_PER_S = 4.0
"""How fast the simulated speeds change, per second."""


class SimulatedRover(Robot):
    """Two speeds that follow the wanted ones, and the pose that results. It is computed when it is asked for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._pose = (0.0, 0.0, 0.0)
        self._speeds = (0.0, 0.0)
        self._wanted = (0.0, 0.0)
        self._at_s = time.monotonic()

    def _step(self) -> None:
        seconds, self._at_s = time.monotonic() - self._at_s, time.monotonic()
        most = MAX_CHANGE_PER_S * seconds
        linear, angular = (now + max(-most, min(most, goal - now)) for now, goal in zip(self._speeds, self._wanted))
        x_m, y_m, heading = self._pose
        heading += angular * seconds
        self._speeds = linear, angular
        self._pose = x_m + math.cos(heading) * linear * seconds, y_m + math.sin(heading) * linear * seconds, heading

    def on_control(self, data: Any) -> None:
        wanted = float(data["linear_mps"]), float(data["angular_radps"])
        self._step()
        self._wanted = wanted

    def on_stop(self, reason: str) -> None:
        self._wanted = (0.0, 0.0)

    def halted(self) -> bool:
        self._step()
        return all(abs(speed) < 0.001 for speed in self._speeds)

    def battery(self) -> float:
        return 0.9

    def telemetry(self) -> Any:
        self._step()
        x_m, y_m, heading_rad = (round(value, 4) for value in self._pose)
        linear_mps, angular_radps = (round(value, 4) for value in self._speeds)
        pose = {"x_m": x_m, "y_m": y_m, "heading_rad": heading_rad}
        return {"pose": pose, "velocity": {"linear_mps": linear_mps, "angular_radps": angular_radps}, "standing": self.halted()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m wheelhouse", description="Runs a simulated robot.")
    parser.add_argument("platform", nargs="?", help="the address of the platform; without it, CONTROL_URL and ROBOT_TOKEN count")
    parser.add_argument("code", nargs="?", help=f"a pairing code of the console; the next start uses {STORE}")
    arguments = parser.parse_args()
    try:
        if arguments.platform is None:
            SimulatedRover().run()
        else:
            SimulatedRover.pair(arguments.platform, arguments.code or os.environ.get("PAIRING_CODE")).run()
    except (WheelhouseError, ValueError) as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
