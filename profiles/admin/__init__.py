"""The admin of people: importing a module registers its pages."""

from profiles.admin import accounts, organisation, reports, work

__all__ = ["accounts", "organisation", "reports", "work"]
