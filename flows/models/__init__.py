"""The tables of flows."""

from flows.models.action import Action, ActionStatus
from flows.models.favourite import Favourite
from flows.models.flow import Category, Flow, FlowVersion

__all__ = ["Action", "ActionStatus", "Category", "Favourite", "Flow", "FlowVersion"]
