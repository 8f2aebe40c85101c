"""What memory tells packages above it, without knowing them."""

from django.dispatch import Signal

session_changed = Signal()
"""Sent with `user_id` and `session_id` when a session got another title behind its owner's back."""

turns_erased = Signal()
"""Sent with `turn_ids` once erased turns are gone from PostgreSQL, so that copies of their text go as well."""
