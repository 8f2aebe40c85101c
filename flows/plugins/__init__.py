"""Middleware of turns: what is remembered on the way in, and told to others on the way out."""

from flows.plugins.base import Plugin, after_all, before_all

__all__ = ["Plugin", "after_all", "before_all"]
