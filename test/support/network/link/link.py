"""Copies IPv4 packets between two TUN devices in two network namespaces, as a slow and lossy link would.

    link.py NAMESPACE_A NAMESPACE_B DEVICE

Creates DEVICE in both namespaces. Reads one JSON object a line from standard input and answers each with one line:

    {"command": "configure", "a_to_b": {...}, "b_to_a": {...}, "seed": "7"}    drops all packets and starts again
    {"command": "begin"}                                                      starts the schedule of outages
    {"command": "report"}                                                     returns counts and outages

Ends at the end of its input. Times in answers are milliseconds of the system's monotonic clock.
"""

import ctypes
import fcntl
import heapq
import json
import os
import select
import signal
import struct
import sys
import time

from schedule import Direction

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
NAMESPACES = "/run/netns"
# Larger than any packet of a TUN device, whose MTU is 1,500 bytes.
READ_BYTES = 65_536
# Packets read from one device before the other one's turn.
READS_PER_TURN = 64
MOST_COMMAND_BYTES = 65_536
IPV4 = 4
NICENESS = -10
# A packet that the link delivers this late was delayed by the machine, and not by the profile.
PAUSE_S = 0.06
MOST_PAUSES = 10_000
UNLIMITED = {
    "delay_s": 0,
    "jitter_s": 0,
    "reorders": False,
    "loss": 0,
    "rate_bps": None,
    "queue_bytes": 1_000_000,
}


def open_tun(namespace, device):
    """Creates a TUN device in a network namespace and returns its file descriptor."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = os.open(os.path.join(NAMESPACES, namespace), os.O_RDONLY)
    try:
        if libc.setns(handle, CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), namespace)
    finally:
        os.close(handle)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
    return tun


class Link:
    """Owns both devices and the packets between them."""

    def __init__(self, devices):
        self._devices = devices
        self.configure(UNLIMITED, UNLIMITED, "0")

    def configure(self, a_to_b, b_to_a, seed):
        """Replaces the settings of both directions. Drops the packets on the way."""
        a, b = self._devices
        self._ways = {
            a: (Direction(a_to_b, seed, "a_to_b"), b),
            b: (Direction(b_to_a, seed, "b_to_a"), a),
        }
        self._due = []
        self._number = 0
        self._latest_s = 0.0
        self._pauses = []

    def begin(self):
        """Starts the schedules of outages and returns the time."""
        now_s = time.monotonic()
        for direction, _ in self._ways.values():
            direction.outages.begin(now_s)
        return now_s

    def report(self):
        """Returns the counts of both directions."""
        now_s = time.monotonic()
        a_to_b, b_to_a = [direction for direction, _ in self._ways.values()]
        return {
            "a_to_b": report_of(a_to_b, now_s),
            "b_to_a": report_of(b_to_a, now_s),
            "latest_ms": self._latest_s * 1_000,
            "pauses_ms": [[due_s * 1_000, at_s * 1_000] for due_s, at_s in self._pauses],
        }

    def receive(self, device):
        """Reads the packets that a device has now, within a limit."""
        direction, other = self._ways[device]
        for _ in range(READS_PER_TURN):
            try:
                packet = os.read(device, READ_BYTES)
            except BlockingIOError:
                return
            # The kernel's own IPv6 announcements would use the link of the measurement.
            if packet[0] >> 4 != IPV4:
                continue
            due_s = direction.admit(time.monotonic(), len(packet))
            if due_s is not None:
                self._number += 1
                heapq.heappush(self._due, (due_s, self._number, direction, other, packet))

    def deliver(self):
        """Writes the packets that are due. Returns the time until the next one; None without one."""
        while self._due:
            now_s = time.monotonic()
            if self._due[0][0] > now_s:
                return self._due[0][0] - now_s
            due_s, _, direction, device, packet = heapq.heappop(self._due)
            direction.delivered(written(device, packet))
            self._record_lateness(due_s, now_s)
        return None

    def _record_lateness(self, due_s, now_s):
        self._latest_s = max(self._latest_s, now_s - due_s)
        if now_s - due_s < PAUSE_S or len(self._pauses) >= MOST_PAUSES:
            return
        if self._pauses and due_s <= self._pauses[-1][1]:
            self._pauses[-1] = (self._pauses[-1][0], now_s)
        else:
            self._pauses.append((due_s, now_s))


def written(device, packet):
    """Writes a packet and returns whether the system accepted it."""
    try:
        return os.write(device, packet) == len(packet)
    except OSError:
        # The device is down, or its queue is full.
        return False


def report_of(direction, now_s):
    spans = direction.outages.begun_before(now_s)
    return {
        **direction.counts,
        "held": direction.held,
        "most_queued_bytes": direction.most_queued_bytes,
        "outages_ms": [[start_s * 1_000, end_s * 1_000] for start_s, end_s in spans],
    }


def answer(link, command):
    """Runs one command and returns its answer."""
    name = command["command"]
    if name == "configure":
        link.configure(command["a_to_b"], command["b_to_a"], command["seed"])
        return {}
    if name == "begin":
        return {"begun_ms": link.begin() * 1_000}
    if name == "report":
        return link.report()
    raise ValueError(f"unknown command {name}")


def say(message):
    print(json.dumps(message), flush=True)


def run(devices):
    """Copies packets and answers commands until the end of the input."""
    link = Link(devices)
    commands = b""
    while True:
        readable, _, _ = select.select([*devices, sys.stdin], [], [], link.deliver())
        for device in devices:
            if device in readable:
                link.receive(device)
        if sys.stdin not in readable:
            continue
        chunk = os.read(sys.stdin.fileno(), MOST_COMMAND_BYTES)
        if not chunk or len(commands) > MOST_COMMAND_BYTES:
            return
        *lines, commands = (commands + chunk).split(b"\n")
        for line in lines:
            say(answer(link, json.loads(line)))


def main():
    # Ctrl-C reaches the whole terminal. The lab ends this process by closing its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    namespace_a, namespace_b, device = sys.argv[1:]
    try:
        devices = [open_tun(namespace_a, device), open_tun(namespace_b, device)]
    except OSError as error:
        say({"error": str(error)})
        sys.exit(2)
    try:
        os.nice(NICENESS)
    except OSError:
        pass  # only a privileged process may have a higher priority
    say({"ready": True})
    run(devices)


if __name__ == "__main__":
    main()
