"""Decides when an emulated link delivers each packet of one direction. Pure: the caller passes the time.

A direction is a bounded queue, a transmitter with a rate, and a medium with delay, jitter and loss. Outages interrupt
it. All random numbers come from the seed, so that the same packets at the same times have the same fate.
"""

import random
from collections import deque

# Packets that one direction holds at most, in its queue and in flight. A faster sender loses packets.
MOST_PACKETS = 20_000
BITS_PER_BYTE = 8


class Outages:
    """Computes the times when a link is interrupted: from `first_s` on, every `every_s`, each of a random length."""

    def __init__(self, settings, seed):
        self._settings = settings
        self._random = random.Random(f"{seed}/outages")
        self._begun_s = None
        self._spans = []

    def begin(self, now_s):
        """Starts the schedule. Before, the link works without interruptions."""
        self._begun_s = now_s

    def end_of(self, at_s):
        """Returns the end of the outage at this time; None while the link works."""
        if self._settings is None or self._begun_s is None:
            return None
        while self._next_start_s() <= at_s:
            start_s = self._next_start_s()
            length_s = self._random.uniform(self._settings["least_s"], self._settings["most_s"])
            self._spans.append((start_s, start_s + length_s))
        # The schedule is read forwards, with small steps back: a held packet leaves at the end of an outage.
        for start_s, end_s in reversed(self._spans):
            if start_s <= at_s < end_s:
                return end_s
            if end_s <= at_s:
                break
        return None

    def begun_before(self, at_s):
        """Returns the outages that have begun by this time, as pairs of start and end."""
        self.end_of(at_s)
        return [span for span in self._spans if span[0] <= at_s]

    def _next_start_s(self):
        number = len(self._spans)
        return self._begun_s + self._settings["first_s"] + number * self._settings["every_s"]


class Direction:
    """Schedules the packets of one direction of a link."""

    def __init__(self, settings, seed, name):
        self._settings = settings
        self._random = random.Random(f"{seed}/{name}")
        # Both directions of a link share the seed of the outages, and therefore their times.
        self.outages = Outages(settings.get("outages"), seed)
        # Departures and sizes of the packets that the transmitter has not sent yet.
        self._queue = deque()
        self._queued_bytes = 0
        self._free_s = 0.0
        self._last_due_s = 0.0
        self.held = 0
        self.counts = {
            "received": 0,
            "delivered": 0,
            "lost": 0,
            "lost_in_outage": 0,
            "dropped_by_queue": 0,
            "refused": 0,
        }
        self.most_queued_bytes = 0

    def admit(self, now_s, size):
        """Accepts a packet. Returns when it is due at the other end; None when it does not arrive."""
        self.counts["received"] += 1
        # Every packet takes two numbers, so that the fate of a packet does not depend on earlier queues.
        lost = self._random.random() < self._settings["loss"]
        jitter_s = self._random.uniform(-1, 1) * self._settings["jitter_s"]
        self._forget_departed(now_s)
        if self._full(size):
            self.counts["dropped_by_queue"] += 1
            return None
        outage = self._settings.get("outages")
        start_s = max(now_s, self._free_s)
        end_s = self.outages.end_of(start_s)
        if end_s is not None and outage["packets"] == "lost":
            self.counts["lost_in_outage"] += 1
            return None
        departure_s = (start_s if end_s is None else end_s) + self._transmission_s(size)
        self._enqueue(departure_s, size)
        if lost:
            self.counts["lost"] += 1
            return None
        return self._due(departure_s + max(0.0, self._settings["delay_s"] + jitter_s))

    def delivered(self, accepted):
        """Counts a packet that has left the link, and whether the system accepted it."""
        self.held -= 1
        self.counts["delivered" if accepted else "refused"] += 1

    def _due(self, due_s):
        self.held += 1
        # Jitter does not overtake: a radio link delivers in order unless the profile says otherwise.
        if not self._settings["reorders"]:
            due_s = max(due_s, self._last_due_s)
        self._last_due_s = due_s
        return due_s

    def _full(self, size):
        packets = max(self.held, len(self._queue))
        return packets >= MOST_PACKETS or self._queued_bytes + size > self._settings["queue_bytes"]

    def _transmission_s(self, size):
        rate = self._settings["rate_bps"]
        return 0.0 if rate is None else size * BITS_PER_BYTE / rate

    def _enqueue(self, departure_s, size):
        self._free_s = departure_s
        self._queue.append((departure_s, size))
        self._queued_bytes += size
        self.most_queued_bytes = max(self.most_queued_bytes, self._queued_bytes)

    def _forget_departed(self, now_s):
        while self._queue and self._queue[0][0] <= now_s:
            self._queued_bytes -= self._queue.popleft()[1]
