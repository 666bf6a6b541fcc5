#!/usr/bin/env python3
"""A simulated rover: replace `simulate` by your motors. CONTROL_URL and ROBOT_TOKEN are in the environment."""
import math
import struct
import threading
import time

from wheelhouse import Robot

LIMITS, STEP_S = (1.0, 2.0), 0.02  # metres and radians per second; seconds


class Rover(Robot):
    x = y = heading = 0.0
    speeds = wanted = (0.0, 0.0)

    def simulate(self):
        while True:
            time.sleep(STEP_S)
            self.speeds = tuple(v + max(-0.08, min(0.08, w - v)) for v, w in zip(self.speeds, self.wanted))
            self.heading += self.speeds[1] * STEP_S
            self.x += math.cos(self.heading) * self.speeds[0] * STEP_S
            self.y += math.sin(self.heading) * self.speeds[0] * STEP_S

    def on_control(self, data):
        self.wanted = float(data["linear_mps"]), float(data["angular_radps"])

    def on_binary_control(self, payload):  # two 32-bit floats, which nobody else can slow down
        most = [limit * self.limits.speed_scale for limit in LIMITS]
        self.wanted = tuple(max(-m, min(m, v)) for m, v in zip(most, struct.unpack(">ff", payload)))

    def on_stop(self, reason):
        self.wanted = (0.0, 0.0)

    def halted(self):
        return all(abs(speed) < 0.001 for speed in self.speeds)

    def telemetry(self):
        pose = {"x_m": round(self.x, 4), "y_m": round(self.y, 4), "heading_rad": round(self.heading, 4)}
        velocity = {"linear_mps": round(self.speeds[0], 4), "angular_radps": round(self.speeds[1], 4)}
        return {"pose": pose, "velocity": velocity, "standing": self.halted()}


if __name__ == "__main__":
    robot = Rover()
    threading.Thread(target=robot.simulate, daemon=True).start()
    robot.run()
