"""U9: a mobile game: a team that pops 500 bubbles within one minute is rewarded, whenever the news of it comes.

A player's phone in a tunnel keeps its bursts and sends them afterwards. By the clock of the server they would count for
nothing; by event time they count for the minute in which they were popped. A round is open for five minutes after its
end; what comes even later goes to a side output.

    penstock run examples/bubble_game.py
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from penstock.common import Configuration, Duration, Types, WatermarkStrategy
from penstock.datastream import DataStream, KeyedProcessFunction, OutputTag, RuntimeContext, StreamExecutionEnvironment
from penstock.datastream.state import MapStateDescriptor, ValueStateDescriptor

GOAL, MINUTE_MS = 500, 60_000
ROUND_MS, OPEN_MS = 10 * MINUTE_MS, 5 * MINUTE_MS
REPRODUCIBLE = Configuration().set_boolean("penstock.watermark.per-record", True)


class Burst(NamedTuple):
    team: str
    player: str
    bubbles: int
    at_ms: int


class Reward(NamedTuple):
    team: str
    round: int
    thanks_to: str
    late: bool


def generated(teams: int = 6, rounds: int = 3, seed: int = 9) -> list[Burst]:
    """Three players a team; now and then one is in a tunnel for some minutes, and sends all at its end."""
    random, made = Random(seed), []
    for team, player in ((f"team-{t}", f"player-{t}{p}") for t in range(teams) for p in "abc"):
        at_ms, arrives_ms = 0, 0
        while at_ms < rounds * ROUND_MS:
            arrives_ms = max(arrives_ms, at_ms + random.randint(0, 2_000))
            if random.random() < 0.02:
                arrives_ms = at_ms + random.choices([1, 3, 17], [10, 5, 1])[0] * MINUTE_MS
            made.append((arrives_ms, Burst(team, player, random.randint(5, 39), at_ms)))
            at_ms += random.randint(5_000, 15_000)
    return [burst for _, burst in sorted(made, key=lambda pair: pair[0])]


TOO_LATE: OutputTag[Burst] = OutputTag("too late")


class Rounds(KeyedProcessFunction[tuple[str, int], Burst, Reward]):
    """By team and round: the first burst that completes a minute with enough bubbles wins the reward."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.bursts = runtime_context.get_map_state(MapStateDescriptor("bursts", Types.LONG(), Types.INT()))
        self.won = runtime_context.get_state(ValueStateDescriptor("won", Types.BOOLEAN()))

    def process_element(
        self, burst: Burst, ctx: KeyedProcessFunction.Context[tuple[str, int]]
    ) -> Iterator[Reward | tuple[OutputTag[Burst], Burst]]:
        timers, (team, number) = ctx.timer_service(), ctx.get_current_key()
        closes_ms = (number + 1) * ROUND_MS + OPEN_MS
        if timers.current_watermark() >= closes_ms:
            yield TOO_LATE, burst
            return
        timers.register_event_time_timer(closes_ms)
        self.bursts.put(burst.at_ms, (self.bursts.get(burst.at_ms) or 0) + burst.bubbles)
        if not self.won.value() and self._best_minute(burst.at_ms) >= GOAL:
            self.won.update(True)
            yield Reward(team, number, burst.player, burst.at_ms <= timers.current_watermark())

    def _best_minute(self, at_ms: int) -> int:
        """The most bubbles of a minute that this moment is part of. Such minutes begin with a burst."""
        near = {at: bubbles for at, bubbles in self.bursts.items() if abs(at - at_ms) < MINUTE_MS}
        return max(sum(n for at, n in near.items() if 0 <= at - first < MINUTE_MS) for first in near if first <= at_ms)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext[tuple[str, int]]) -> None:
        self.bursts.clear()
        self.won.clear()


def rewards(bursts: DataStream[Burst]) -> DataStream[Reward]:
    """Rewards, at most one per team and round; bursts that nobody waits for any more are in TOO_LATE."""
    event_time = WatermarkStrategy[Burst].for_bounded_out_of_orderness(Duration.of_seconds(5))
    event_time = event_time.with_timestamp_assigner(lambda burst, _: burst.at_ms)
    timed = bursts.assign_timestamps_and_watermarks(event_time).set_parallelism(1)
    return timed.key_by(lambda burst: (burst.team, burst.at_ms // ROUND_MS)).process(Rounds()).name("rounds")


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(REPRODUCIBLE)
    rewarded = rewards(env.from_collection(generated()))
    rewarded.print()
    rewarded.get_side_output(TOO_LATE).print("too late")
    env.execute("bubble game")


if __name__ == "__main__":
    main()
