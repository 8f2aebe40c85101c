"""The tables of flows."""

from flows.models.favourite import Favourite
from flows.models.flow import Category, Flow, FlowVersion

__all__ = ["Category", "Favourite", "Flow", "FlowVersion"]
