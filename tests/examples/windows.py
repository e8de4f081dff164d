"""The examples that count and compare in windows: each against sums over its whole input (U1, U2, U8, U9, U11–U17)."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from typing import Any

from examples import (
    bubble_game,
    crossings,
    daily_revenue,
    hashtags,
    hot_items,
    late_records,
    page_views,
    sessions,
    vehicle_speed,
    word_count,
)
from tests.examples.case import Case, Results, histories, with_watermarks

__all__ = ["WINDOWS"]

MINUTE_MS = 60_000


def hours(views: list[Any]) -> Results:
    """U1: all views of an hour, and the set of their visitors."""
    by_hour: dict[int, list[str]] = defaultdict(list)
    for view in views:
        by_hour[view.at_ms // 3_600_000].append(view.visitor)
    return {"found": [page_views.Figures(hour, len(who), len(set(who))) for hour, who in by_hour.items()]}


def rankings(views: list[Any]) -> Results:
    """U2: every window that has a view is counted anew."""
    last = max(at_ms for _, at_ms in views)
    found = []
    for end in range(5, last // MINUTE_MS + 66, 5):
        counts = Counter(item for item, at_ms in views if end - 60 <= at_ms // MINUTE_MS < end)
        top = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:3]
        if top:
            found.append(hot_items.Ranking(f"{end // 60:02}:{end % 60:02}", tuple(top)))
    return {"found": found}


def _seconds(readings: list[Any], delay_ms: int) -> dict[tuple[str, int], Any]:
    """The averages of a stream, without readings that came when their second had been closed for 30 s."""
    taken: dict[tuple[str, int], list[float]] = defaultdict(list)
    for reading, mark in zip(readings, with_watermarks([r.at_ms for r in readings], delay_ms), strict=True):
        second = reading.at_ms // 1_000
        if mark < (second + 1) * 1_000 - 1 + vehicle_speed.LATENESS_MS:
            taken[reading.vehicle, second].append(reading.kmh)
    assert sum(map(len, taken.values())) < len(readings), "no reading was too late"
    return {k: vehicle_speed.Average(*k, round(sum(v) / len(v), 2), len(v)) for k, v in taken.items()}


def speeds(unit: list[Any], phone: list[Any]) -> Results:
    """U8: the last averages of both, where both know a second."""
    units, phones = _seconds(unit, 30_000), _seconds(phone, 540_000)
    return {"found": [vehicle_speed.Comparison(*key, units[key], phones[key]) for key in units.keys() & phones.keys()]}


def _last_comparisons(sent: list[Any]) -> list[Any]:
    """What is left when later comparisons replace earlier ones."""
    last: dict[Any, Any] = {}
    for comparison in sent:
        key = comparison.vehicle, comparison.second
        before = last.get(key)
        if before is None or _size(comparison) > _size(before):
            last[key] = comparison
    return list(last.values())


def _size(comparison: Any) -> int:
    return int(comparison.unit.readings + comparison.phone.readings)


def won(bursts: list[Any]) -> Results:
    """U9: after every burst, look at all minutes of its round that begin with a burst."""
    rounds: dict[Any, list[Any]] = defaultdict(list)
    rewarded: dict[Any, Any] = {}
    late = []
    for burst, mark in zip(bursts, with_watermarks([b.at_ms for b in bursts], 5_000), strict=True):
        key = burst.team, burst.at_ms // bubble_game.ROUND_MS
        if mark >= (key[1] + 1) * bubble_game.ROUND_MS + 5 * MINUTE_MS:
            late.append(burst)
            continue
        rounds[key].append(burst)
        near = [b for b in rounds[key] if abs(b.at_ms - burst.at_ms) < MINUTE_MS]
        minutes = [[b.bubbles for b in near if 0 <= b.at_ms - a.at_ms < MINUTE_MS] for a in near]
        if key not in rewarded and max(map(sum, minutes)) >= 500:
            rewarded[key] = bubble_game.Reward(*key, burst.player, burst.at_ms <= mark)
    assert any(reward.late for reward in rewarded.values()), "no team owes its reward to the tunnel"
    assert len(rewarded) < len(rounds), "every team is rewarded in every round"
    return {"found": list(rewarded.values()), "late": late}


def _game(stream: Any) -> dict[str, Any]:
    found = bubble_game.rewards(stream)
    return {"found": found, "late": found.get_side_output(bubble_game.TOO_LATE)}


def tags(posts: list[Any]) -> Results:
    """U11: words that begin with #, without regard to case, once a post."""
    counts = Counter(
        (at_ms // (10 * MINUTE_MS) * 10, word)
        for text, at_ms in posts
        for word in {word.lower() for word in text.split() if word[0] == "#"}
    )
    return {"found": [(*key, count) for key, count in counts.items()]}


def traffic(cars: list[Any], accidents: list[Any]) -> Results:
    """U12: every car, and every pair of a car and an accident."""
    counts = Counter((car.crossing, car.at_ms // (5 * MINUTE_MS) * 5) for car in cars)
    ahead = [
        (car.crossing, car.what, (car.at_ms - accident.at_ms) // 1_000)
        for car in cars
        for accident in accidents
        if car.crossing == accident.crossing and 0 <= car.at_ms - accident.at_ms <= 10 * MINUTE_MS
    ]
    return {"cars": [(*key, count) for key, count in counts.items()], "ahead": ahead}


def _traffic(cars: Any, accidents: Any) -> dict[str, Any]:
    return {"cars": crossings.counts(cars), "ahead": crossings.warnings(cars, accidents)}


def words(lines: list[str]) -> Results:
    """U14: each word's counts run from 1 to its total."""
    counts = Counter(" ".join(lines).split())
    return {"found": [(word, number + 1) for word, total in counts.items() for number in range(total)]}


def visits(actions: list[Any]) -> Results:
    """U15: a user's actions in order, cut where the pause is longer than the gap (W4: equal is one session)."""
    found = []
    for user, history in histories(actions, "user").items():
        number, numbered = 0, []
        for place, action in enumerate(history):
            number += place > 0 and action.at_ms - history[place - 1].at_ms > sessions.GAP_MS
            numbered.append((number, action))
        for _, group in groupby(numbered, key=lambda pair: pair[0]):
            acts = [action for _, action in group]
            found.append(sessions.Session(user, acts[0].at_ms, acts[-1].at_ms, tuple(a.page for a in acts)))
    return {"found": found}


def days(orders: list[Any]) -> Results:
    """U16: at every tenth second of a shop's day what had come before the watermark reached it."""
    found: list[Any] = []
    marks = [*list(with_watermarks([o.at_ms for o in orders], daily_revenue.DELAY_MS))[1:], 2**63 - 1]
    day_of = [(o.at_ms + daily_revenue.AHEAD_MS) // daily_revenue.DAY_MS for o in orders]
    for shop, day in sorted({(o.shop, d) for o, d in zip(orders, day_of, strict=True)}):
        mine = [o.shop == shop and d == day for o, d in zip(orders, day_of, strict=True)]
        shown = None
        for tick in _ticks(orders[mine.index(True)].at_ms, (day + 1) * daily_revenue.DAY_MS - daily_revenue.AHEAD_MS):
            known = next(place for place, mark in enumerate(marks) if mark >= tick) + 1
            cents = [o.cents for o, is_mine in zip(orders[:known], mine, strict=False) if is_mine]
            if (len(cents), sum(cents)) != shown:
                shown = len(cents), sum(cents)
                found.append(daily_revenue.Today(shop, day, *shown))
    return {"found": found}


def _ticks(first_ms: int, end_ms: int) -> list[int]:
    return [*range(first_ms - first_ms % 10_000 + 10_000, end_ms, 10_000), end_ms - 1]


def lateness(moments: list[int]) -> Results:
    """U17: a record is late if it is further behind the newest one before it than the delay."""
    behind: dict[int, list[int]] = defaultdict(list)
    for place, at_ms in enumerate(moments):
        behind[at_ms // late_records.DAY_MS].append(max([0, *(m - at_ms for m in moments[:place])]))
    delays = late_records.DELAYS_MS
    return {
        "found": [
            late_records.Day(day, len(all_), tuple((d, sum(b > d for b in all_)) for d in delays))
            for day, all_ in behind.items()
        ]
    }


WINDOWS = [
    Case("page_views", lambda: [page_views.generated()], lambda s: {"found": page_views.figures(s)}, hours),
    Case("hot_items", lambda: [hot_items.generated()], lambda s: {"found": hot_items.hot_items(s)}, rankings),
    Case(
        "vehicle_speed",
        lambda: list(vehicle_speed.generated()),
        lambda *s: {"found": vehicle_speed.compared(*s)},
        speeds,
        settle=_last_comparisons,
    ),
    Case("bubble_game", lambda: [bubble_game.generated()], _game, won),
    Case("hashtags", lambda: [hashtags.generated()], lambda s: {"found": hashtags.counted(s)}, tags),
    Case("crossings", lambda: list(crossings.generated()), _traffic, traffic),
    Case("word_count", lambda: [word_count.LINES], lambda s: {"found": word_count.word_count(s)}, words),
    Case("sessions", lambda: [sessions.generated()], lambda s: {"found": sessions.sessions(s)}, visits),
    Case("daily_revenue", lambda: [daily_revenue.generated()], lambda s: {"found": daily_revenue.today(s)}, days),
    Case(
        "late_records", lambda: [late_records.generated()], lambda s: {"found": late_records.late_records(s)}, lateness
    ),
]
