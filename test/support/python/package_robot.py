"""A robot that pairs, drives, and has a camera of numpy pictures: package_robot.py <platform> <pairing code>"""
import sys

import numpy

from wheelhouse import Robot


class Rover(Robot):
    x_m = speed_mps = 0.0

    def on_control(self, data):
        self.speed_mps = data["linear_mps"]
        self.x_m += self.speed_mps * 0.05

    async def on_stop(self, reason):
        self.speed_mps = 0.0

    def battery(self):
        return numpy.float32(0.5)

    def telemetry(self):
        return {"x_m": numpy.float64(self.x_m), "stop": self.stop_in_force and self.stop_in_force.reason}

    def on_session(self, session):
        if session is not None:
            self.log("info", f"session {session.status}")


def picture():
    return numpy.full((240, 320, 3), 90, numpy.uint8)


robot = Rover.pair(sys.argv[1], sys.argv[2])
robot.publish_camera("front", picture)
robot.run()
