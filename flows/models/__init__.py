"""The tables of flows."""

from flows.models.flow import Category, Flow, FlowVersion

__all__ = ["Category", "Flow", "FlowVersion"]
