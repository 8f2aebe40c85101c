"""The tables of people."""

from profiles.models.people import UserProfile

__all__ = ["UserProfile"]
