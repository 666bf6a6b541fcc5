"""When to try again: after a random delay that grows, and not before a server wants it."""
from __future__ import annotations

import math
import random
from typing import Any


class Backoff:
    """Exponential backoff with full jitter, which spreads the reconnects of a fleet that lost its gateway."""

    def __init__(self, base_s: float = 0.25, max_s: float = 10.0) -> None:
        self._base_s, self._max_s = base_s, max_s
        self.attempts = 0

    def next_s(self, at_least_s: float = 0.0, max_s: float = math.inf) -> float:
        """Returns the delay before the next attempt: a random one, in addition to the one that the peer asks for."""
        ceiling_s = min(self._max_s, max_s, self._base_s * 2 ** min(self.attempts, 32))
        self.attempts += 1
        return at_least_s + random.uniform(0, ceiling_s)

    def reset(self) -> None:
        """Begins again with the shortest delays, after a success."""
        self.attempts = 0


def retry_after_s(headers: Any) -> float | None:
    """Returns the seconds of a `Retry-After` header; None without one, or if it is a date."""
    text = (headers.get("Retry-After") or "") if headers is not None else ""
    return float(text) if text.isascii() and text.isdigit() else None
