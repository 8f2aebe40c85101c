"""The people of the demo organisation."""

from dataclasses import dataclass

PASSWORD = "tacit-demo"  # noqa: S105  # printed at every start of the demo


@dataclass(frozen=True, slots=True)
class DemoPerson:
    username: str
    name: str
    position: str
    department: str
    manager: str = ""


PEOPLE = (
    DemoPerson("grace", "顾蕾", "研发副总裁", "研发中心"),
    DemoPerson("alice", "张岚", "技术主管", "研发中心", "grace"),
    DemoPerson("bob", "王小明", "后端工程师", "研发中心", "alice"),
    DemoPerson("dan", "李小明", "测试工程师", "研发中心", "alice"),
    DemoPerson("erin", "陈晓", "前端工程师", "研发中心", "alice"),
    DemoPerson("carol", "周可", "市场专员", "市场部"),
    DemoPerson("frank", "方恺", "流程设计师", "信息部"),
    DemoPerson("admin", "管理员", "系统管理员", "信息部"),
)
