"""Hot items and alerts over a live click stream (U2 in small; U4's cousin).

Clicks of a web shop come in, a little out of order. Every five seconds of event time the most viewed
items of the last minute are ranked; a user who clicks much too fast, or whose login fails again and
again, raises an alert. Run it with `penstock demo`; run it again and it goes on where it stopped.
A program like any user's: it knows the public names only.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock.common import Configuration, Duration, JobClient, JobExecutionResult, Types, WatermarkStrategy
from penstock.common.errors import CheckpointError, PenstockError
from penstock.datastream import (
    DataStream,
    KeyedProcessFunction,
    OutputTag,
    RuntimeContext,
    Source,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor

CLICKS_PER_SECOND = 2_000
PANE_MS, WINDOW_MS, DELAY_MS, TOP = 5_000, 60_000, 2_000, 5
VIEW, LOGIN, FAILED_LOGIN = "view", "login", "failed login"
LIMITS = {VIEW: 40, FAILED_LOGIN: 3}
ALERTS = OutputTag("alerts")

# -- the clicks: each a function of its index alone, so that any stretch of them can be read again ------

START_MS = 1_767_258_000_000  # 2026-01-01 09:00
USERS = 5_000
ITEMS = [
    f"{quality} {thing}"
    for quality in (
        "red",
        "blue",
        "woollen",
        "oak",
        "folding",
        "vintage",
        "tiny",
        "copper",
        "linen",
        "quiet",
        "striped",
    )
    for thing in ("kettle", "lamp", "scarf", "bicycle", "notebook", "teapot", "jacket", "radio", "chair", "backpack")
]


@dataclass(frozen=True, slots=True)
class Click:
    """What a user did, and when."""

    user: int
    action: str
    item: str
    at_ms: int


class Clicks:
    """Click number i. Users are even, items skewed, one of them in fashion; now and then somebody misbehaves."""

    def __init__(self, per_second: int = CLICKS_PER_SECOND) -> None:
        self._per_second = per_second

    def __call__(self, i: int) -> Click:
        now_ms = i * 1000 // self._per_second
        at_ms = START_MS + now_ms - int(DELAY_MS * _chance(i, 0) ** 4)
        user, action = int(USERS * _chance(i, 1)), VIEW
        if _chance(i, 2) < 0.02:
            action = FAILED_LOGIN if _chance(i, 3) < 0.03 else LOGIN
        if now_ms % 15_000 < 3_000 and _chance(i, 4) < 0.04:
            user, action = int(USERS * _chance(now_ms // 15_000, 5)), VIEW
        elif 8_000 < now_ms % 20_000 < 9_500 and _chance(i, 6) < 0.003:
            user, action = int(USERS * _chance(now_ms // 20_000, 7)), FAILED_LOGIN
        return Click(user, action, "" if action != VIEW else self._item(i, now_ms), at_ms)

    def _item(self, i: int, now_ms: int) -> str:
        in_fashion = _chance(i, 8) < 0.1
        place = _chance(now_ms // 20_000, 9) if in_fashion else _chance(i, 10) ** 1.6
        return ITEMS[int(len(ITEMS) * place) * 37 % len(ITEMS)]


def _chance(i: int, salt: int) -> float:
    """A number in [0, 1) that looks random and depends on its arguments alone."""
    x = (i * 0x9E3779B97F4A7C15 + salt * 0xD1B54A32D192ED03 + 1) & 0xFFFFFFFFFFFFFFFF
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return ((x ^ (x >> 31)) >> 11) / (1 << 53)


# -- the job ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Alert:
    """Somebody did something too often."""

    user: int
    action: str
    pane_end_ms: int

    def __str__(self) -> str:
        text = f"user {self.user}: {LIMITS[self.action]} {self.action}s within {PANE_MS // 1000} s"
        return _styled("1;31", f"{_clock(self.pane_end_ms - PANE_MS)}  ! {text}")


@dataclass(frozen=True, slots=True)
class ItemViews:
    """How often an item was viewed in the window that ends here."""

    item: str
    end_ms: int
    views: int


@dataclass(frozen=True, slots=True)
class HotItems:
    """The most viewed items of a window."""

    end_ms: int
    views: int
    top: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        most = self.top[0][1]
        head = f"{_clock(self.end_ms)}  most viewed in the last {WINDOW_MS // 1000} s, of {self.views:,} views"
        lines = (
            f"   {place}  {item:<18} {_styled('36', BAR * round(30 * views / most))} {views:,}"
            for place, (item, views) in enumerate(self.top, 1)
        )
        return "\n".join((_styled("1", head), *lines))


def pane_end(timestamp_ms: int) -> int:
    """The end of the five seconds that a moment belongs to."""
    return timestamp_ms - timestamp_ms % PANE_MS + PANE_MS


class Guard(KeyedProcessFunction):
    """By user: lets views pass, and sends an alert to the side when an action reaches its limit within a pane."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.counts = runtime_context.get_map_state(
            MapStateDescriptor("counts", Types.PICKLED_BYTE_ARRAY(), Types.INT())
        )

    def process_element(self, click: Click, ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        if click.action == VIEW:
            yield click
        if click.action in LIMITS:
            end_ms = pane_end(click.at_ms)
            count = (self.counts.get((click.action, end_ms)) or 0) + 1
            self.counts.put((click.action, end_ms), count)
            ctx.timer_service().register_event_time_timer(end_ms - 1)
            if count == LIMITS[click.action]:
                yield ALERTS, Alert(click.user, click.action, end_ms)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> None:
        for action in LIMITS:
            self.counts.remove((action, timestamp + 1))


class CountViews(KeyedProcessFunction):
    """By item: counts views per pane and, whenever a pane ends, tells how many the last minute had."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.panes = runtime_context.get_map_state(MapStateDescriptor("panes", Types.LONG(), Types.INT()))

    def process_element(self, click: Click, ctx: KeyedProcessFunction.Context) -> None:
        end_ms = pane_end(click.at_ms)
        self.panes.put(end_ms, (self.panes.get(end_ms) or 0) + 1)
        ctx.timer_service().register_event_time_timer(end_ms - 1)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[ItemViews]:
        end_ms = timestamp + 1
        panes = dict(self.panes.items())
        for old in [pane for pane in panes if pane <= end_ms - WINDOW_MS]:
            self.panes.remove(old)
            del panes[old]
        views = sum(count for pane, count in panes.items() if pane <= end_ms)
        if panes:
            ctx.timer_service().register_event_time_timer(end_ms + PANE_MS - 1)
        if views:
            yield ItemViews(ctx.get_current_key(), end_ms, views)


class Rank(KeyedProcessFunction):
    """By window: gathers the items' counts and ranks them once all are there."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.items = runtime_context.get_list_state(ListStateDescriptor("items", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, counted: ItemViews, ctx: KeyedProcessFunction.Context) -> None:
        self.items.add((counted.item, counted.views))
        ctx.timer_service().register_event_time_timer(counted.end_ms - 1)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[HotItems]:
        items = list(self.items.get())
        self.items.clear()
        top = sorted(items, key=lambda pair: (-pair[1], pair[0]))[:TOP]
        yield HotItems(timestamp + 1, sum(views for _, views in items), tuple(top))


def guarded(env: StreamExecutionEnvironment, clicks: Source) -> tuple[DataStream[Click], DataStream[Alert]]:
    """Views, and the alerts that were raised on the way."""
    event_time = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DELAY_MS))
    event_time = event_time.with_timestamp_assigner(lambda click, _: click.at_ms)
    stream = env.from_source(clicks, event_time, "clicks").uid("clicks")
    views = stream.key_by(lambda click: click.user).process(Guard()).name("guard").uid("guard")
    return views, views.get_side_output(ALERTS)


def hot_items(views: DataStream[Click]) -> DataStream[HotItems]:
    """The most viewed items of the last minute, every five seconds."""
    counted = views.key_by(lambda click: click.item).process(CountViews()).name("count views").uid("count-views")
    ranked: DataStream[HotItems] = counted.key_by(lambda views: views.end_ms).process(Rank()).name("rank").uid("rank")
    ranked.set_parallelism(1)
    return ranked


# -- running it -------------------------------------------------------------------------------------------


def play(
    seconds: float | None, rate: int = CLICKS_PER_SECOND, checkpoint: str | None = None, fresh: bool = False
) -> int:
    """Run the demo for a time, or until Ctrl-C; the exit code."""
    folder = _folder(checkpoint, rate)
    if fresh and (folder / "penstock" / "job.json").exists():
        shutil.rmtree(folder)
    print(_styled("1", f"Clicks of a web shop, {rate:,} a second, on an embedded Spark."))
    print(_opening(folder), flush=True)
    try:
        result = _run_for(_start(folder, rate), seconds, folder)
    except PenstockError as error:
        print(f"{error}\n(--fresh starts over)" if isinstance(error, CheckpointError) else error)
        return 1
    except KeyboardInterrupt:
        print("\nStopped before anything ran.")
        return 130
    print(_summary(result, folder))
    return 0


def _folder(checkpoint: str | None, rate: int) -> Path:
    """Event time follows from index and rate, so another rate is another stream."""
    name = "demo" if rate == CLICKS_PER_SECOND else f"demo-{rate}"
    return Path(checkpoint or f".penstock/{name}")


def _last_batch(folder: Path) -> int:
    """The last batch that is durable; -1 if there is none."""
    return max((int(path.name) for path in folder.glob("commits/*") if path.name.isdigit()), default=-1)


def _opening(folder: Path) -> str:
    done = _last_batch(folder)
    begun = f"Resuming from {folder} after batch {done} (--fresh starts over). " if done >= 0 else ""
    return f"{begun}Starting Spark takes about ten seconds ..."


def _start(folder: Path, rate: int) -> JobClient:
    conf = Configuration().set_string("execution.checkpointing.dir", str(folder))
    env = StreamExecutionEnvironment.get_execution_environment(conf).set_parallelism(2)
    source = DataGeneratorSource(Clicks(rate), rate_limiter_strategy=RateLimiterStrategy.per_second(rate))
    views, alerts = guarded(env, source)
    alerts.print().name("alerts").uid("alerts").set_parallelism(1)
    hot_items(views).print().uid("rankings").set_parallelism(1)
    return env.execute_async("hot items")


def _run_for(client: JobClient, seconds: float | None, folder: Path) -> JobExecutionResult:
    """Wait until the time since the first batch is up, the job failed, or Ctrl-C; stop between two batches."""
    before, end = _last_batch(folder), float("inf")
    try:
        while time.monotonic() < end and not client.status.is_globally_terminal_state():
            time.sleep(0.1)
            if end == float("inf") and seconds is not None and _last_batch(folder) > before:
                end = time.monotonic() + seconds
    except KeyboardInterrupt:
        print("\nStopping after this batch ...", flush=True)
    client.close()
    return client.wait()


def _summary(result: JobExecutionResult, folder: Path) -> str:
    def records(name: str) -> int:
        return sum(task["in"] for task in result.metrics["subtasks"] if task["name"].startswith(name))

    seconds = result.get_net_runtime() / 1000
    return "\n".join(
        (
            "",
            _styled("1", f"Stopped after {seconds:.0f} s. The same command goes on from {folder}."),
            f"  clicks    {records('guard'):>9,}   {records('guard') / seconds:,.0f} a second, start included",
            f"  alerts    {records('alerts'):>9,}",
            f"  batches   {result.batches:>9,}   each a checkpoint; median {_median(result):.2f} s",
            f"  restarts  {result.restarts:>9,}",
        )
    )


def _median(result: JobExecutionResult) -> float:
    return float(statistics.median(result.metrics["batch_ms"] or [0])) / 1000


def _clock(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%H:%M:%S")


def _styled(code: str, text: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if sys.stdout.isatty() else text


BAR = "█" if (sys.stdout.encoding or "").lower().startswith("utf") else "#"
