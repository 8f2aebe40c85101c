"""The command; see the package."""

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from tests.chaos.crowd import Chatter, Said
from tests.chaos.site import Site
from tests.doubles import Answer, ModelServer, echo


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tacit-chaos-") as folder, ModelServer() as model:
        Path(folder).chmod(0o755)
        model.default = lambda body: Answer(echo(body).text, delay=0.05)
        site = Site(Path(folder), model.base_url)
        try:
            site.start()
            return run(site, options)
        finally:
            site.stop()


def run(site: Site, options: argparse.Namespace) -> int:
    os.environ.update({**site.environment, "DJANGO_SETTINGS_MODULE": "config.settings"})
    crowd = people(site, options.people, options.seed)
    faults = asyncio.run(storm(site, crowd, options))
    from memory.models import Turn  # Django is set up by now
    from tests.chaos.invariants import broken

    said: list[Said] = [message for person in crowd for message in person.said]
    print(f"{len(said)} messages of {len(crowd)} people, {Turn.objects.count()} turns, faults: {dict(faults)}")
    print(f"how they ended: {dict(Counter(message.end or 'never acknowledged' for message in said))}")
    problems = list(broken(said))
    print(*problems[:50], f"{len(problems)} broken invariants", sep="\n")
    return bool(problems)


def people(site: Site, count: int, seed: int) -> list[Chatter]:
    """Users with keys, in a database that is empty but for the shipped flows."""
    import django

    django.setup()
    from django.contrib.auth.models import User
    from knox.models import AuthToken

    from flows import shipped
    from flows.models import Flow

    shipped.install()
    flow_id = Flow.objects.earliest("pk").pk
    crowd = []
    for number in range(count):
        user = User.objects.create(username=f"person{number}")
        key = AuthToken.objects.create(user=user, expiry=timedelta(days=1))[1]
        addresses = [site.address(name) for name in site.ports]
        crowd.append(Chatter(user.pk, key, flow_id, addresses, random.Random(seed + number)))  # noqa: S311
    return crowd


async def storm(site: Site, crowd: list[Chatter], options: argparse.Namespace) -> Counter[str]:
    """Lets people chat while things break, then gives the last turns the time to end."""
    over = asyncio.Event()
    chats = [asyncio.create_task(person.chat(over)) for person in crowd]
    faults: Counter[str] = Counter()
    chance, end = random.Random(options.seed), time.monotonic() + 60 * options.minutes  # noqa: S311
    while time.monotonic() < end:
        await asyncio.sleep(chance.uniform(2, 6))
        name, fault = chance.choice(list(_faults(site).items()))
        faults[name] += 1
        await asyncio.to_thread(fault)
        for chat in chats:
            if chat.done() and chat.exception():
                raise chat.exception()  # type: ignore[misc]  # just asked
    over.set()
    await asyncio.wait_for(asyncio.gather(*chats), 120)
    return faults


def _faults(site: Site) -> dict[str, Callable[[], None]]:
    return {
        "kill -9 web0": lambda: site.restart("web0", signal.SIGKILL),
        "kill -9 web1": lambda: site.restart("web1", signal.SIGKILL),
        "SIGTERM web0": lambda: site.restart("web0", signal.SIGTERM),
        "kill -9 worker": lambda: site.restart("worker", signal.SIGKILL),
        "kill -9 redis": site.restart_redis,
        "FLUSHALL": lambda: _flush(site),
    }


def _flush(site: Site) -> None:
    import redis

    with redis.Redis.from_url(site.redis.url) as client:
        client.flushall()


if __name__ == "__main__":
    sys.exit(main())
