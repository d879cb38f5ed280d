"""Twenty coders in browsers on one machine: key to paint, start, memory, processor.

Run from the repository: ``python benchmarks/browser.py``. It takes about five minutes, prints what it measures and
writes ``docs/benchmarks/browser.md``. A real ``annotate serve``; coders are connections that speak the protocol of the
page and label at a steady pace, started evenly over a minute, and in the end a headless Chromium beside nineteen of
them. One coder alone comes first, as the peer: the machine is shared, so that ratios within the run count more than
milliseconds.
"""

from __future__ import annotations

import asyncio
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import aiohttp  # noqa: E402

from tests.serving.conftest import CONTROL, labels_of, quietly  # noqa: E402
from tests.serving.real import CHROMIUM, QUIET, RealServer  # noqa: E402

CODERS, START_OVER, WORK, ALONE, PACE = 20, 60.0, 60.0, 90.0, 2.0
UNITS = 150
PAINT = """
  const sent = []; window.paints = [];
  addEventListener("keydown", () => sent.push(performance.now()), true);
  const Native = window.WebSocket;
  window.WebSocket = class extends Native {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", (event) => {
        if (sent.length && typeof event.data !== "string" && event.data.byteLength > 400) {
          const at = sent.shift();
          requestAnimationFrame(() => setTimeout(() => window.paints.push(performance.now() - at)));
        }
      });
    }
  };
"""


@dataclass
class Coder:
    """One connection; times in seconds."""

    name: str
    link: str
    started: float = 0.0
    keys: list[tuple[float, float]] = field(default_factory=list)

    async def work(self, url: str, delay: float, until: float) -> None:
        await asyncio.sleep(delay)
        async with aiohttp.ClientSession(url, cookie_jar=aiohttp.CookieJar(unsafe=True)) as web:
            headers = {"Origin": url}
            answer = await web.post("/enter", data={"link": urlsplit(self.link).fragment}, headers=headers)
            assert answer.status == 204, answer.status
            begun = time.perf_counter()
            socket = await web.ws_connect("/ws?tab=one&width=130&height=40", headers=headers)
            done = await self._wait(socket, r"(\d+) done")
            self.started = time.perf_counter() - begun
            await asyncio.sleep(1)
            while time.perf_counter() < until:
                await asyncio.sleep(random.uniform(0.5, 1.5) * PACE)
                done += 1
                begun = time.perf_counter()
                await socket.send_json(["stdin", random.choice("ha")])
                await self._wait(socket, rf"\b({done}) done")
                self.keys.append((begun, time.perf_counter() - begun))

    async def _wait(self, socket: aiohttp.ClientWebSocketResponse, pattern: str) -> int:
        seen = ""
        async with asyncio.timeout(60):
            while not (found := re.search(pattern, seen)):
                message = await socket.receive()
                assert message.type is aiohttp.WSMsgType.BINARY, message
                seen = seen[-400:] + CONTROL.sub("", message.data.decode("utf-8", "replace"))
        return int(found[1])


def processor(pids: list[int]) -> float:
    """Seconds of processor time that these processes have used."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> tuple[float, float]:
    """(own, resident) megabytes: own is what would be free without this process (PSS)."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    pss, rss = (int(re.search(rf"^{name}:\s+(\d+)", text, re.M)[1]) / 1024 for name in ("Pss", "Rss"))  # type: ignore[index]
    return pss, rss


@dataclass
class Measured:
    coders: list[Coder]
    cores: float
    own: list[float]
    resident: list[float]
    server: float

    def keys(self, since: float = 0.0) -> list[float]:
        return [took for coder in self.coders for begun, took in coder.keys if begun >= since]


async def together(server: RealServer, names: list[str], over: float, seconds: float) -> tuple[Measured, float]:
    """Start these coders evenly over ``over`` seconds, let all work on for ``seconds``, measure that last part."""
    coders = [Coder(name, server.links[name]) for name in names]
    began = time.perf_counter()
    until = began + over + seconds
    tasks = [
        asyncio.create_task(coder.work(server.url, over * number / len(coders), until))
        for number, coder in enumerate(coders)
    ]
    await asyncio.sleep(over + 2)
    pids = [server.process.pid, *server.children()]
    since, before = time.perf_counter(), processor(pids)
    await asyncio.sleep(seconds - 4)
    cores = (processor(pids) - before) / (time.perf_counter() - since)
    sizes = [memory(pid) for pid in pids[1:]]
    found = Measured(coders, cores, [own for own, _ in sizes], [rss for _, rss in sizes], memory(server.process.pid)[1])
    await asyncio.gather(*tasks)
    return found, since


async def in_chromium(server: RealServer, name: str, seconds: float) -> list[float]:
    """Seconds from a key to the frame after its answer, as Chromium counts them."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        await page.add_init_script(PAINT)
        await page.goto(server.links[name])
        await page.wait_for_selector("body.-first-byte", timeout=60_000)
        await asyncio.sleep(3)
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            await page.keyboard.press(random.choice("ha"))
            await asyncio.sleep(random.uniform(0.5, 1.5) * PACE)
        found = [each / 1000 for each in await page.evaluate("window.paints")]
        await browser.close()
    return found


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def told(values: list[float]) -> str:
    return f"{statistics.median(values) * 1000:.0f} / {percentile(values, 0.95) * 1000:.0f} (n {len(values):,})"


HEAD = """# Twenty coders in browsers

Measured {date} at commit {commit} by `benchmarks/browser.py`: {machine}, Python {python},
{cores} cores, load before the run {load:.1f}. A real `annotate serve`; each coder is a connection that speaks the
page's protocol at 130x40 and labels every {pace:.0f} s; they start evenly over a minute. All of it, the coders and
Chromium included, shares the cores with whatever else runs on the machine: the ratios count, the milliseconds show the
order of magnitude.

| what | measured |
|---|---|
"""


def page(alone: Measured, crowd: Measured, since: float, painted: list[float], load: float) -> str:
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    head = HEAD.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=git.stdout.strip(),
        machine=platform.platform(),
        python=platform.python_version(),
        cores=os.cpu_count(),
        load=load,
        pace=PACE,
    )
    single, many = alone.keys(), crowd.keys(since)
    starts = [coder.started for coder in crowd.coders]
    own, resident = statistics.median(crowd.own), statistics.median(crowd.resident)
    rows = [
        ("key to the next item's paint at the client, save included, 1 coder: p50 / p95 ms", told(single)),
        (f"the same, {CODERS} coders", told(many)),
        ("the ratio of the two, p50 and p95", ratios(single, many)),
        (f"the same in Chromium, key to frame, beside {CODERS - 1} others", told(painted) if painted else "not run"),
        (f"connection to first item, {CODERS} started over {START_OVER:.0f} s: p50 / p95 ms", told(starts)),
        ("memory of a session: its own / resident", f"{own:.0f} MB / {resident:.0f} MB"),
        ("memory of the server", f"{crowd.server:.0f} MB"),
        (f"processor for {CODERS} coders, server and sessions", f"{crowd.cores:.2f} of {os.cpu_count()} cores"),
        ("the same for each label", f"{crowd.cores * (WORK - 4) / len(many) * 1000:.0f} ms"),
    ]
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def ratios(single: list[float], many: list[float]) -> str:
    half = statistics.median(many) / statistics.median(single)
    return f"{half:.2f} and {percentile(many, 0.95) / percentile(single, 0.95):.2f} times"


def study(folder: Path) -> Path:
    """A study of the EHQ sample in which each coder has ``UNITS`` responses."""
    path, run = folder / "study.db", ROOT / "samples" / "ehq-run"
    quietly("init", path, "--protocol", "ehq")
    quietly("import", path, "--items", run / "EHQ-120.json.gz", "--records", run / "records.jsonl.gz")
    quietly("sample", path, "--n", UNITS, "--seed", 1, "--anyway")
    names = ",".join(f"coder {number:02}" for number in range(1, CODERS + 1))
    quietly("assign", path, "--coders", names, "--overlap", "1.0")
    return path


def main() -> None:
    random.seed(1)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        path = study(Path(name))
        server = RealServer(path, "--quiet")
        names = [link for link in server.links if link != "lead"]
        try:
            alone, _ = asyncio.run(together(server, names[:1], 0.0, ALONE))
            time.sleep(2)
            crowd, since = asyncio.run(together(server, names, START_OVER, WORK))
            time.sleep(2)

            async def beside() -> list[float]:
                others = asyncio.create_task(together(server, names[1:], 20.0, 40.0))
                await asyncio.sleep(20)
                painted = await in_chromium(server, names[0], 30.0)
                await others
                return painted

            painted = asyncio.run(beside()) if CHROMIUM else []
        finally:
            server.end()
        pressed = sum(len(coder.keys) for coder in (*alone.coders, *crowd.coders))
        assert sum(len(labels_of(path, each)) for each in names) >= pressed, "labels were lost"
    text = page(alone, crowd, since, painted, load)
    print(text)
    (ROOT / "docs" / "benchmarks" / "browser.md").write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
