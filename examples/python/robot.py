#!/usr/bin/env python3
"""A simulated rover. Replace `Motors` with your own; the credentials are CONTROL_URL and ROBOT_TOKEN of the environment."""
import math
import struct
import threading
import time

from wheelhouse import Robot


class Motors(threading.Thread):
    """Two speeds that follow the wanted ones, and the pose that results."""

    x = y = heading = linear = angular = 0.0
    wanted = (0.0, 0.0)

    def run(self):
        while not time.sleep(0.02):
            self.linear, self.angular = (now + max(-0.08, min(0.08, goal - now))
                                         for now, goal in zip((self.linear, self.angular), self.wanted))
            self.heading += self.angular * 0.02
            self.x += math.cos(self.heading) * self.linear * 0.02
            self.y += math.sin(self.heading) * self.linear * 0.02


class Rover(Robot):
    motors = Motors(daemon=True)

    def on_control(self, data):
        self.motors.wanted = float(data["linear_mps"]), float(data["angular_radps"])

    def on_binary_control(self, payload):  # two 32-bit floats: metres and radians per second
        limits = (1.0 * self.limits.speed_scale, 2.0 * self.limits.speed_scale)
        self.motors.wanted = tuple(max(-most, min(most, v)) for v, most in zip(struct.unpack(">ff", payload), limits))

    def on_stop(self, reason):
        self.motors.wanted = 0.0, 0.0

    def halted(self):
        return abs(self.motors.linear) < 0.001 and abs(self.motors.angular) < 0.001

    def battery(self):
        return 0.9

    def telemetry(self):
        m = self.motors
        return {"pose": {"x_m": round(m.x, 4), "y_m": round(m.y, 4), "heading_rad": round(m.heading, 4)},
                "velocity": {"linear_mps": round(m.linear, 4), "angular_radps": round(m.angular, 4)}, "standing": self.halted()}


if __name__ == "__main__":
    Rover.motors.start()
    Rover().run()
