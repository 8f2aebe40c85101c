"""L9, L5, M11: a person sees what is remembered, corrects it, deletes it, and turns remembering off."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from memory.models import (
    Conversation,
    Entity,
    Episode,
    ForgetfulFlow,
    JobKind,
    MemoryOwner,
    Relation,
    TokenUse,
    Tombstone,
    Turn,
)
from memory.remembering import remember
from tests.factories import ConversationFactory, TurnFactory
from tests.journeys.conftest import OpenPage
from tests.journeys.test_every_page import looked_at
from tests.people import Person
from tests.waiting import eventually

pytestmark = pytest.mark.browser
LOOKS = [(width, scheme) for width in (1280, 360) for scheme in ("light", "dark")]
PLACES = ("深圳", "上海", "成都", "杭州")
FAMILIES, GIVEN = "王李张刘陈杨黄赵吴周", "伟芳娜敏静丽强磊军洋"


@pytest.fixture
def remembered(bob: Person, flow: Any) -> Conversation:
    """Three memories of Bob's, one of them from a conversation."""
    conversation: Conversation = ConversationFactory(user=bob.user, flow_id=flow.pk, title="北斗上线")
    turn = TurnFactory(conversation=conversation, input="北斗项目五月三日上线，由李娜负责。")
    remember(bob.user, "北斗项目五月三日上线，由李娜负责。", turn=turn, pinned=False)
    remember(bob.user, "李娜每周二在深圳主持例会。", pinned=False)
    remember(bob.user, "周报写三段，周五四点发出。")
    today = timezone.now().date()
    TokenUse.objects.create(user=bob.user, day=today, kind=JobKind.EPISODE, calls=3, prompt_tokens=900)
    return conversation


def told(page: Page) -> list[str]:
    return [" ".join(line.split()) for line in page.locator(".memory .told").all_inner_texts()]


def opened(page: Page, words: str) -> Any:
    """The memory with these words, unfolded."""
    memory = page.locator(".memory", has=page.locator(".told", has_text=words))
    memory.locator("summary").click()
    return memory


def test_somebody_finds_corrects_deletes_and_turns_memory_off(
    open_page: OpenPage, bob: Person, remembered: Conversation
) -> None:
    page = open_page(bob, "/")
    page.get_by_role("link", name="记忆").click()
    expect(page.locator(".memory")).to_have_count(3)

    memory = opened(page, "五月三日")
    expect(memory.locator(".sources a").first).to_have_attribute(
        "href", f"/flows/{remembered.flow_id}/{remembered.pk}/?at={Turn.objects.get().pk}"
    )
    memory.locator("[data-edit]").click()
    memory.locator("textarea").fill("北斗项目五月十日上线，由王芳负责。")
    memory.locator(".correct .primary").click()
    expect(page.locator(".memory", has_text="五月十日").locator(".told")).to_be_visible()
    assert Episode.objects.get(edited=True).summary == "北斗项目五月十日上线，由王芳负责。"

    opened(page, "周报写三段").locator("[data-delete]").click()
    expect(page.locator(".is-deleted")).to_be_visible()
    expect(page.locator(".is-deleted button")).to_be_focused()
    assert Episode.objects.of(bob.user).count() == 2

    page.locator(".switches > summary").click()
    expect(page.locator(".spent")).to_contain_text("900")
    page.get_by_role("switch", name="通用助手").click()
    eventually(lambda: ForgetfulFlow.objects.of(bob.user).filter(flow_id=remembered.flow_id).exists())

    page.locator("[data-switch=memory_enabled]").click()
    expect(page.locator(".switches > summary")).to_contain_text("记忆已关闭")
    eventually(lambda: not MemoryOwner.objects.get(user=bob.user).memory_enabled)


def test_a_deletion_is_taken_back_in_its_place(open_page: OpenPage, bob: Person, remembered: Conversation) -> None:
    page = open_page(bob, "/memory/")
    before = told(page)
    opened(page, "深圳").locator("[data-delete]").click()
    page.locator(".is-deleted button").click()
    expect(page.locator(".is-deleted")).to_have_count(0)
    expect(page.locator(".memory")).to_have_count(3)
    assert told(page) == before
    assert not Tombstone.objects.exists()


def test_memories_are_sifted_pinned_and_added(open_page: OpenPage, bob: Person, remembered: Conversation) -> None:
    page = open_page(bob, "/memory/")
    page.locator("#memory-search").fill("李娜 深圳")
    expect(page.locator(".memory")).to_have_count(1)
    page.locator("#memory-search").fill("没有这样的事")
    expect(page.locator("#list-view .empty")).to_be_visible()
    page.locator("#memory-search").fill("")
    expect(page.locator(".memory")).to_have_count(3)
    memory = opened(page, "深圳")
    memory.locator("[data-pin]").click()
    expect(memory.locator("[data-pin]")).to_have_attribute("aria-pressed", "true")
    page.locator("[name=which]").select_option("pinned")
    expect(page.locator(".memory")).to_have_count(2)
    page.locator("#new-memory").fill("午饭不吃辣。")
    page.locator(".add button").click()
    expect(page.locator(".memory").first).to_contain_text("午饭不吃辣")
    expect(page.locator("#new-memory")).to_have_value("")
    assert Episode.objects.filter(origin="manual", summary="午饭不吃辣。").exists()


def test_what_belongs_together_leads_to_each_other(open_page: OpenPage, bob: Person, remembered: Conversation) -> None:
    page = open_page(bob, "/memory/")
    memory = opened(page, "深圳")
    memory.locator("[data-show]").first.click()
    expect(page.locator(".memory")).to_have_count(1)
    expect(page.locator(".memory .told")).to_contain_text("五月三日")
    page.locator("[data-all]").click()
    expect(page.locator(".memory")).to_have_count(3)


def test_the_map_leads_to_the_memories_of_a_name(open_page: OpenPage, bob: Person, remembered: Conversation) -> None:
    page = open_page(bob, "/memory/")
    ready(page)
    page.locator(".as-list > summary").click()
    page.locator("[data-map-names] button", has_text="李娜").click()
    expect(page.locator("[data-chosen] h2")).to_have_text("李娜")
    page.locator("[data-relation]").first.click()
    expect(page.locator(".bonds .is-over")).to_have_count(1)
    assert Relation.objects.exclude(invalid_at=None).count() == 1
    page.locator("[data-chosen-show]").click()
    expect(page.locator(".memory")).to_have_count(2)


def test_kinds_are_shown_and_hidden(open_page: OpenPage, bob: Person, remembered: Conversation) -> None:
    page = open_page(bob, "/memory/")
    whole = ready(page)
    page.locator("[data-kind=place]").click()
    expect(page.locator("[data-map]")).to_have_attribute(
        "data-ready", str(whole - Entity.objects.filter(kind="place").count())
    )


def test_nothing_remembered_teaches_by_an_example(open_page: OpenPage, bob: Person) -> None:
    page = open_page(bob, "/memory/")
    expect(page.locator(".example")).to_be_visible()
    expect(page.locator("[data-map-state=empty]")).to_be_visible()


def test_what_the_map_shows_is_on_its_way_before_its_scripts_are(
    open_page: OpenPage, bob: Person, remembered: Conversation
) -> None:
    """It is asked for with the page, once, and the script takes that answer."""
    page = open_page(bob, "/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/api/memory/graph" in request.url else None)
    page.goto("/memory/")
    assert ready(page) > 0
    assert len(asked) == 1


def test_a_map_that_is_away_says_so(open_page: OpenPage, bob: Person, remembered: Conversation) -> None:
    page = open_page(bob, "/")
    page.route("**/api/memory/graph", lambda route: route.abort())
    page.goto("/memory/")
    expect(page.locator("[data-map-state=failed]")).to_be_visible()
    page.unroute("**/api/memory/graph")
    page.locator("[data-map-again]").click()
    ready(page)


def test_somebody_else_sees_none_of_it(open_page: OpenPage, carol: Person, remembered: Conversation) -> None:
    page = open_page(carol, f"/memory/?memory={Episode.objects.first().pk}")  # type: ignore[union-attr]
    assert "五月三日" not in page.content()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("size", [10, 500])
def test_the_map_is_worth_looking_at(
    open_page: OpenPage, bob: Person, remembered: Conversation, size: int, width: int, scheme: str
) -> None:
    peopled(bob, size)
    page = open_page(bob, "/", width=width)
    page.emulate_media(color_scheme=scheme)
    page.goto("/memory/")
    opened(page, "李娜每周二")
    barriers = looked_at(page, f"memory-{size}-{width}-{scheme}")
    if width < 1000:
        page.get_by_role("tab", name="图谱").click()
    ready(page)
    page.wait_for_timeout(1500)  # for the picture alone: the layout comes to rest
    barriers += looked_at(page, f"memory-map-{size}-{width}-{scheme}")
    assert barriers == []


def ready(page: Page) -> int:
    """Waits for the map; how many names it shows."""
    page.wait_for_selector("[data-map][data-ready]", state="attached")
    return int(page.locator("[data-map]").get_attribute("data-ready") or 0)


def peopled(person: Person, size: int) -> None:
    """So many names, as somebody's memory would have them: a few that many things hang on, and many that few do."""
    kinds = ("person", "project", "organisation", "place", "code", "product", "other")
    rows = [
        Entity(
            user=person.user,
            name=f"{FAMILIES[at % 10]}{GIVEN[at // 10 % 10]}{at // 100 or ''}",
            key=f"e{at}",
            kind=kinds[at * 3 % 7],
        )
        for at in range(size)
    ]
    made = Entity.objects.bulk_create(rows)
    episode = Episode.objects.of(person.user).first()
    assert episode
    episode.entities.add(*made)
    others = [
        remember(person.user, f"第 {at} 次例会在{PLACES[at % 4]}，单号 AB-{1000 + at}。") for at in range(min(size, 12))
    ]
    for at, other in enumerate(others):
        other.entities.add(*made[: max(2, size // 40)], *made[at::17])
    hubs = max(2, size // 16)
    links = [
        Relation(
            user=person.user,
            source=made[at],
            target=made[at % hubs if at >= hubs else at // 2],
            relation="负责",
            valid_from=timezone.now() - timedelta(days=at % 60),
            invalid_at=timezone.now() if at % 9 == 0 else None,
        )
        for at in range(1, size)
    ]
    episode.relations.add(*Relation.objects.bulk_create(links))
