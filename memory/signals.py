"""What memory tells packages above it, without knowing them."""

from django.dispatch import Signal

session_changed = Signal()
"""Sent with `user_id` and `session_id` when a session got another title behind its owner's back."""

turns_erased = Signal()
"""Sent with `user_id`, `session_ids` and `turn_ids` once erased sessions are gone from PostgreSQL.

Copies of their text go then as well, and open pages that show them learn of it.
"""

exporting = Signal()
"""Sent with `user` when somebody fetches all that is held about them; each receiver gives `{section: JSON value}`."""
