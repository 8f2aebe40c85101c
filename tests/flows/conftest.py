from collections.abc import Mapping

import pytest

from flows.nodes import NODE_TYPES
from flows.nodes.base import NodeType
from tests.flows.fakes import Ask, Fork, Hang, Meet, Say


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> Mapping[str, NodeType]:
    """Node types of the tests beside the product's own, by name."""
    kinds = {kind.name: kind for kind in (Say(), Fork(), Meet(), Hang(), Ask())}
    for name, kind in kinds.items():
        monkeypatch.setitem(NODE_TYPES, name, kind)
    return kinds
