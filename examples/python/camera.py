#!/usr/bin/env python3
"""Publishes a camera beside a robot: camera.py front /dev/video0, or an rtsp:// address; without one, a moving pattern.

WHIP_URL (of the robot's welcome) and ROBOT_TOKEN are in the environment. A robot in Python calls `publish_camera` instead.
"""
import logging
import os
import signal
import sys
import threading
import time

import numpy

from wheelhouse.camera import Camera


def pattern():
    """Draws a dark bar that moves across the picture."""
    picture = numpy.full((360, 640), 200, numpy.uint8)
    left = int(time.time() * 200) % 560
    picture[:, left:left + 80] = 90
    return picture


logging.basicConfig(level=logging.INFO, format="%(message)s")
name, source = sys.argv[1] if len(sys.argv) > 1 else "front", sys.argv[2] if len(sys.argv) > 2 else pattern
camera = Camera(name, source, address=lambda: (os.environ["WHIP_URL"], os.environ["ROBOT_TOKEN"])).start()
ending = threading.Event()
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: ending.set())
while camera.state != "closed" and not ending.wait(0.1):
    pass
camera.close()
sys.exit(0 if ending.is_set() else 1)
