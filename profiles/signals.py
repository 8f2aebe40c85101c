"""What profiles tells packages above it, without knowing them."""

from django.dispatch import Signal

task_assigned = Signal()
"""Sent with `user_id` and `task_id` once a task that somebody else gave to the user is committed."""

report_ready = Signal()
"""Sent with `user_id` and `report_id`: to whoever asked once it is made, to its subject once it is shared."""

task_overdue = Signal()
"""Sent with `user_id` and `task_ids` once they are overdue: to those who do these tasks, and to those who gave them."""
