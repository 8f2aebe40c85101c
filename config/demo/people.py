"""The people of the demo organisation."""

from dataclasses import dataclass

PASSWORD = "tacit-demo"  # noqa: S105  # printed at every start of the demo

DEPARTMENTS = ("研发中心", "市场部", "信息部")


@dataclass(frozen=True, slots=True)
class DemoPerson:
    username: str
    name: str
    position: str
    department: str
    manager: str = ""
    aliases: tuple[str, ...] = ()


PEOPLE = (
    DemoPerson("grace", "顾蕾", "研发副总裁", "研发中心", aliases=("顾总",)),
    DemoPerson("alice", "张岚", "技术主管", "研发中心", "grace", ("岚姐",)),
    DemoPerson("bob", "王小明", "后端工程师", "研发中心", "alice", ("小明",)),
    DemoPerson("dan", "李小明", "测试工程师", "研发中心", "alice", ("大明",)),
    DemoPerson("erin", "陈晓", "前端工程师", "研发中心", "alice", ("晓晓",)),
    DemoPerson("carol", "周可", "市场专员", "市场部", aliases=("可可",)),
    DemoPerson("frank", "方恺", "流程设计师", "信息部"),
    DemoPerson("admin", "管理员", "系统管理员", "信息部"),
)
MANAGERS = ("grace", "alice")
"""Staff of the admin, in the group whose members see their reports there."""
