"""A circuit breaker: after a failure a dead store is left alone for a while, so that nobody waits for it twice."""

import threading
import time


class Breaker:
    """Closed while calls succeed; open for `hold` seconds after `threshold` failures in a row.

    When the hold is over one caller is let through to try; its success closes the breaker for all.
    """

    def __init__(self, *, threshold: int = 2, hold: float = 2.0) -> None:
        self._threshold, self._hold = threshold, hold
        self._failures = 0
        self._open_until = 0.0
        self._lock = threading.Lock()

    def allows(self) -> bool:
        """Whether a call may be made now."""
        if self._failures < self._threshold:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._open_until:
                return False
            self._open_until = now + self._hold  # this caller tries, the others go on waiting
            return True

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            self._open_until = time.monotonic() + self._hold

    @property
    def is_open(self) -> bool:
        return self._failures >= self._threshold
