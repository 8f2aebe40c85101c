"""The find_person node: one, several or none, and which way the flow goes (F2, P6)."""

from dataclasses import dataclass

import pytest

from flows.nodes.base import PersonFound
from tests.flows.fakes import graph, node, output, started, walked

BOB = PersonFound(2, "王小明", "研发中心", "后端工程师", said="小明")
DAN = PersonFound(3, "李小明", said="小明")


@dataclass
class Directory:
    """People by the words that mean them."""

    found: tuple[PersonFound, ...] = ()

    async def people_called(self, name: str) -> tuple[PersonFound, ...]:
        return ()

    async def people_in(self, text: str) -> tuple[PersonFound, ...]:
        return self.found if "小明" in text else ()


FLOW = graph(
    "start -> who -found-> one",
    "who -several-> many",
    "who -none-> nobody",
    who=node("find_person"),
    one=node("answer", text="{{who.user_id}} {{who.display_name}} {{who.department}} {{who.position}}"),
    many=node("answer", text="{{who.count}}: {{who.names}}{{who.user_id}}"),
    nobody=node("answer", text="{{who.count}}{{who.names}}"),
)


@pytest.mark.parametrize(
    ("found", "words", "way", "said"),
    [
        ((BOB,), "找小明", "one", "2 王小明 研发中心 后端工程师"),
        ((DAN, BOB), "找小明", "many", "2: 李小明、王小明"),
        ((BOB,), "找周可", "nobody", "0"),
    ],
)
async def test_the_way_tells_how_many_are_meant(
    found: tuple[PersonFound, ...], words: str, way: str, said: str
) -> None:
    steps = await walked(FLOW, working=Directory(found), input=words)
    assert started(steps)[-1] == way
    assert output(steps) == said
