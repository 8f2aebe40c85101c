"""What profiles tells packages above it, without knowing them."""

from django.dispatch import Signal

task_assigned = Signal()
"""Sent with `user_id` and `task_id` once a task that somebody else gave to the user is committed."""
