"""What Tacit adds to a model's stream: over WebSocket and over SSE against the bare model server, in one run.

    python -m config.local_servers exec -- python -m bench.streaming [--chats 1 50 200] [--report]

The model writes 20 pieces a second. Chats start as a Poisson process, five a second on average, and last long enough
for all of them to be under way at once. Overhead is the difference to the bare model's median, in the same round.
The web process is started as `make run` does, and as in production without DEBUG. Model, clients and servers share
its cores: where `busy` comes near their number, times tell of the machine, and CPU alone of the product.
Exit code 1 when a target is missed, unless --report.
"""

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.chats import Figures, Site, bare, by_socket, by_sse
from config.supervisor import answers, web_command
from tests.waiting import eventually

ARRIVALS, RATE = 5.0, 20
PEOPLE = 20
OVERHEAD_MS_AT_50, CPU_PER_1000 = 30.0, 1.0
Chat = Callable[[Site, int, Figures], Awaitable[None]]
WAYS: dict[str, Chat] = {"bare model": bare, "WebSocket": by_socket, "SSE": by_sse}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--chats", type=int, nargs="+", default=[1, 50, 200])
    parser.add_argument("--report", action="store_true", help="print the figures and judge nothing")
    options = parser.parse_args()
    missed: list[str] = []
    print(f"{os.cpu_count()} cores, {RATE} pieces a second, {ARRIVALS:.0f} starts a second")
    print("chats  way          first ms p50     p95  total s p50  errors  CPU s/1000   busy")
    for chats in options.chats:
        tokens = round((chats / ARRIVALS + 5) * RATE)
        with model(len(WAYS) * chats + 1, tokens) as model_url, web(model_url) as (site, process):
            baseline: Figures | None = None
            for way, chat in WAYS.items():
                before, began, at = cpu_seconds(process), busy_seconds(), time.monotonic()
                figures = asyncio.run(round_of(chat, site, chats))
                spent = (cpu_seconds(process) - before) / max(figures.pieces, 1) * 1000
                row(chats, way, figures, spent if baseline else None)
                print(f"{(busy_seconds() - began) / (time.monotonic() - at):>7.1f}", *figures.errors[:1], flush=True)
                baseline = baseline or figures
                if figures is not baseline:
                    missed += verdicts(chats, way, figures, baseline, spent)
    print(*(f"MISSED: {line}" for line in missed), sep="\n")
    return bool(missed) and not options.report


async def round_of(chat: Chat, site: Site, chats: int) -> Figures:
    """Starts the chats one by one and waits for all."""
    figures, chance = Figures(), random.Random(7)  # noqa: S311  # the same arrivals for every way
    await chat(site, 0, Figures()) if chats == 1 else None  # the first chat of a process warms it up
    tasks = []
    for number in range(chats):
        tasks.append(asyncio.create_task(chat(site, number, figures)))
        await asyncio.sleep(chance.expovariate(ARRIVALS))
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, BaseException):
            figures.errors.append(repr(outcome))
    return figures


def row(chats: int, way: str, figures: Figures, cpu: float | None) -> None:
    first = [seconds * 1000 for seconds in figures.first] or [float("nan")]
    p95 = statistics.quantiles(first, n=20)[-1] if len(first) > 1 else first[0]
    total = statistics.median(figures.total or [float("nan")])
    spent = "" if cpu is None else f"{cpu:.2f}"
    print(
        f"{chats:>5}  {way:<11}{statistics.median(first):>14.1f}{p95:>8.1f}{total:>13.2f}"
        f"{len(figures.errors):>8}{spent:>12}",
        end="",
    )


def verdicts(chats: int, way: str, figures: Figures, baseline: Figures, cpu: float) -> Iterator[str]:
    """The targets that this round misses."""
    overhead = (statistics.median(figures.first or [float("inf")]) - statistics.median(baseline.first)) * 1000
    print(f"{'':>7}overhead to the first piece {overhead:.1f} ms")
    if figures.errors:
        yield f"{len(figures.errors)} errors with {chats} chats over {way}"
    if chats == 50 and overhead > OVERHEAD_MS_AT_50:
        yield f"first-piece overhead {overhead:.1f} ms over {way}, target {OVERHEAD_MS_AT_50:.0f}"
    if chats >= 50 and cpu > CPU_PER_1000:  # of a single chat most is the process's own second
        yield f"{cpu:.2f} CPU s per 1,000 pieces over {way}, target {CPU_PER_1000}"


@contextmanager
def model(answers: int, tokens: int) -> Iterator[str]:
    """The scripted model in a process of its own."""
    command = [sys.executable, "-m", "bench.model", str(answers * 2), str(tokens), str(RATE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout
        assert process.stdin
        yield process.stdout.readline().strip()
        process.stdin.close()


@contextmanager
def web(model_url: str) -> Iterator[tuple[Site, int]]:
    """The product's web process with people to log in as; gives its process id too."""
    port = 8900 + os.getpid() % 1000
    environment = os.environ | {
        "DEBUG": "0",  # which would keep every statement
        "ALLOWED_HOSTS": "127.0.0.1",
        "LLM_BASE_URL": model_url,
        "LLM_API_KEY": "bench",
        "LLM_MODEL": "bench",
        "LOG_LEVEL": "WARNING",
        "SECRET_KEY": "bench",
    }
    environment.pop("SECRET_KEY_FILE", None)
    made = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "bench.people", str(PEOPLE)], env=environment, capture_output=True, text=True, check=True
    )
    flow_id, *keys = made.stdout.split()
    command = [sys.executable, *web_command(port, drain=5)]
    with subprocess.Popen(command, env=environment) as process:  # noqa: S603
        address = f"http://127.0.0.1:{port}"
        try:
            eventually(lambda: answers(port), within=30)
            yield Site(address, model_url, keys, int(flow_id)), process.pid
        finally:
            process.terminate()


def cpu_seconds(process: int) -> float:
    """User and system time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy_seconds() -> float:
    """Time that the cores of this machine were not idle, whoever kept them busy."""
    times = [int(field) for field in Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]]
    return (sum(times) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
