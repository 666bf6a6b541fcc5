#!/usr/bin/env python3
"""The rover of robot.py drives to goals by itself: click on the map of the cockpit. It knows no obstacles."""
import math
import threading

from robot import LIMITS, Rover
from wheelhouse import GoalState

NEAR_M, NEAR_RAD, TURN_RAD = 0.05, 0.05, 0.3


class Navigator(Rover):
    goal, commanded = None, (0.0, 0.0)

    @property
    def wanted(self):  # decided anew in each step, so that no speed of a canceled goal remains
        goal = self.goal
        return self.commanded if goal is None else self.steer(goal)

    @wanted.setter
    def wanted(self, speeds):
        self.commanded = speeds

    def on_goal(self, goal):
        self.commanded, self.goal = (0.0, 0.0), goal

    def on_goal_canceled(self, goal_id, reason):
        goal, self.goal = self.goal, None
        if goal is not None:
            self.tell(goal, "canceled")

    def steer(self, goal):
        x, y = goal.x - self.x, goal.y - self.y
        distance_m = math.hypot(x, y)
        there = distance_m < NEAR_M
        turn_rad = math.remainder((goal.heading if there else math.atan2(y, x)) - self.heading, math.tau)
        if there and abs(turn_rad) < NEAR_RAD:
            self.goal = None
            self.tell(goal, "reached")
            return (0.0, 0.0)
        self.tell(goal, "active", distance_m=distance_m)
        most = [limit * self.limits.speed_scale for limit in LIMITS]
        forward = 0.0 if there or abs(turn_rad) > TURN_RAD else min(most[0], distance_m)
        return forward, max(-most[1], min(most[1], 2 * turn_rad))

    def tell(self, goal, status, **progress):
        state = GoalState(goal.goal_id, status, goal.x, goal.y, goal.heading, **progress)
        self.autonomy("autonomous" if status == "active" else "manual", "odom", state)


if __name__ == "__main__":
    robot = Navigator()
    robot.autonomy("manual", "odom")
    threading.Thread(target=robot.simulate, daemon=True).start()
    robot.run()
