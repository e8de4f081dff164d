"""A matcher that is obviously right and slow: writes out every way to read a pattern, tries every choice of events.

It knows nothing of automata. A *word* is one way to read a pattern: so many repetitions here, that optional part left
out. It is a list of marks; what a mark demands is checked by looking at the events that were passed over. Which partial
matches are alive when, which run out of time, and what the skip strategy makes of it is then played through moment by
moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.core.cep.patterns import Contiguity, NotStep, PatternSpec, Step, names_of

NEVER = 10**15


@dataclass(frozen=True)
class Gap:
    """What may be passed over on the way to the next event; `why` tells readings apart that demand the same."""

    why: str
    contiguity: Contiguity | None
    limit_ms: int = NEVER
    untils: tuple[Any, ...] = ()
    nots: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Take:
    name: str
    where: Any
    untils: tuple[Any, ...]


@dataclass(frozen=True)
class Not:
    where: Any
    direct: bool
    limit_ms: int


@dataclass(frozen=True)
class Greedy:
    """A loop that takes all it can ended here."""

    where: Any
    until: Any


Word = tuple[Any, ...]
CUT = "…"
"""Ends a reading that takes more events than there are: how it begins is all that matters."""


# -- all ways to read a pattern ------------------------------------------------------------------------


def words(steps: Any, most: int, untils: tuple[Any, ...] = (), loop_nots: tuple[Any, ...] = ()) -> Iterator[Word]:
    """Readings of a sequence; those that take more than `most` events are cut."""
    if not steps:
        yield ()
        return
    *before, last = steps
    if isinstance(last, NotStep):
        nots = loop_nots if last.direct else (last.where, *loop_nots)
        for word in words(before, most, untils, nots):
            if _cut(word):
                yield word
                continue
            yield (*word, Not(last.where, last.direct, NEVER if last.gap_ms is None else last.gap_ms))
        return
    for word in words(before, most, untils):
        if _cut(word):
            yield word
            continue
        for more in step_words(last, most - _takes(word), untils, loop_nots):
            yield word + (_inside(more, untils) if _takes(word) else more)


def step_words(step: Step, most: int, untils: tuple[Any, ...], nots: tuple[Any, ...]) -> Iterator[Word]:
    how = step.quantifier
    inside = untils if step.until is None else (*untils, step.until)
    end: Word = (Greedy(step.where, step.until),) if how.greedy and how.most != how.least else ()
    if how.optional:
        yield end
    upto = max(most + 1, how.least) if how.most is None else how.most
    for count in range(how.least, upto + 1):
        for word in repeated(step, count, most, inside, nots):
            if _takes(word) or not how.optional:
                entered = _entered(word, step.name, step.contiguity, step.gap_ms)
                yield entered if _cut(word) else (*entered, *end)


def repeated(step: Step, count: int, most: int, untils: tuple[Any, ...], nots: tuple[Any, ...]) -> Iterator[Word]:
    if count == 0:
        yield ()
        return
    how = step.quantifier
    between = how.gap_ms if how.gap_ms is not None else step.gap_ms
    for word in repeated(step, count - 1, most, untils, nots):
        if _cut(word):
            yield word
            continue
        for more in once(step, most - _takes(word), untils, nots):
            if count > 1:
                more = _inside(_entered(more, f"{step.name} again", how.inner, between), untils, nots)
            yield word + more


def once(step: Step, most: int, untils: tuple[Any, ...], nots: tuple[Any, ...]) -> Iterator[Word]:
    if step.body:
        yield from words(step.body, most, untils, nots)
    elif most > 0:
        yield Gap("", None), Take(step.name, step.where, untils)
    else:
        yield (CUT,)


def _cut(word: Word) -> bool:
    return bool(word) and word[-1] == CUT


def _takes(word: Word) -> int:
    return sum(isinstance(mark, Take) for mark in word)


def _first_gap(word: Word) -> int | None:
    return next((i for i, mark in enumerate(word) if isinstance(mark, Gap)), None)


def _entered(word: Word, why: str, contiguity: Contiguity | None, limit_ms: int | None) -> Word:
    """The first gap of a step: how it follows is said by the step if it is not said inside."""
    place = _first_gap(word)
    if place is None:
        return word
    gap = word[place]
    limit = gap.limit_ms if limit_ms is None else min(gap.limit_ms, limit_ms)
    changed = replace(gap, why=f"{why}/{gap.why}", contiguity=gap.contiguity or contiguity, limit_ms=limit)
    return (*word[:place], changed, *word[place + 1 :])


def _inside(word: Word, untils: tuple[Any, ...], nots: tuple[Any, ...] = ()) -> Word:
    """The first gap lies within a repetition that ends with `untils`, and where `nots` may not come."""
    place = _first_gap(word)
    if place is None:
        return word
    changed = replace(word[place], untils=untils, nots=nots)
    return (*word[:place], changed, *word[place + 1 :])


# -- all ways to place a reading on events -----------------------------------------------------------------


@dataclass
class Context:
    events: dict[str, list[Any]]

    def get_events_for_pattern(self, name: str) -> list[Any]:
        return self.events.get(name, [])


@dataclass(frozen=True)
class Path:
    """Events taken so far: the marks of the reading up to the last one taken, and where."""

    marks: Word
    places: tuple[int, ...]

    @property
    def names(self) -> list[str]:
        return [mark.name for mark in self.marks if isinstance(mark, Take)]


@dataclass
class Option:
    """A way to go on: it is closed by the event at `dies`, or when `limit_ms` have passed since the last one taken."""

    dies: int
    limit_ms: int
    pending: bool = False


@dataclass
class Life:
    options: dict[Any, Option] = field(default_factory=dict)


class Oracle:
    def __init__(self, spec: PatternSpec, events: list[tuple[Any, int]]) -> None:
        self.spec, self.events, self.names = spec, events, names_of(spec.steps)
        self.within = NEVER if spec.within_ms is None else spec.within_ms
        self.lives: dict[Path, Life] = {}
        self.complete: dict[int, list[Path]] = {}
        cut: set[Word] = set()
        for word in words(spec.steps, len(events) + 1):
            if _takes(word) and word not in cut:
                self._place(word, 0, Path((), ()))
                cut |= {word} if _cut(word) else set()

    def _place(self, word: Word, at: int, path: Path) -> None:
        """Take the marks from `at` on, in all ways."""
        demands: list[Any] = []
        while at < len(word) and not isinstance(word[at], Take) and word[at] != CUT:
            demands.append(word[at])
            at += 1
        if at == len(word):
            self._end(tuple(demands), path)
            return
        take = word[at]
        if take == CUT:
            return
        context = self._context(path)
        if path.places:
            dies = self._dies(demands, take, path, context)
            option = Option(dies, _limit(demands))
            self.lives[path].options[(*demands, take)] = option
        for place in self._candidates(demands, take, path, context):
            longer = Path((*path.marks, *demands, take), (*path.places, place))
            self.lives.setdefault(longer, Life())
            self._place(word, at + 1, longer)

    def _candidates(self, demands: list[Any], take: Take, path: Path, context: Context) -> Iterator[int]:
        start = path.places[-1] + 1 if path.places else 0
        for place in range(start, len(self.events)):
            value = self.events[place][0]
            if not holds(take.where, value, context) or any(holds(u, value, context) for u in take.untils):
                continue
            if path.places and not self._reaches(demands, take, path, place, context):
                continue
            if not path.places and self._greedy_broken(demands, place, place + 1, context):
                continue
            yield place

    def _reaches(self, demands: list[Any], take: Take, path: Path, place: int, context: Context) -> bool:
        first, last = path.places[0], path.places[-1]
        stamps = [stamp for _, stamp in self.events]
        in_time = stamps[place] - stamps[first] < self.within and stamps[place] - stamps[last] < _limit(demands)
        passed = all(self._may_pass(demands, take, path, between, context) for between in range(last + 1, place))
        return (
            in_time
            and passed
            and self._directly(demands, path, context)
            and not self._greedy_broken(demands, last + 1, place + 1, context)
        )

    def _dies(self, demands: list[Any], take: Take, path: Path, context: Context) -> int:
        """The first event that cannot be passed over."""
        last = path.places[-1]
        for place in range(last + 1, len(self.events)):
            direct = place > last + 1 or self._directly(demands, path, context)
            greedy = self._greedy_broken(demands, last + 1, place + 1, context)
            if not direct or greedy or not self._may_pass(demands, take, path, place, context):
                return place
        return NEVER

    def _directly(self, demands: list[Any], path: Path, context: Context) -> bool:
        place = path.places[-1] + 1
        nots = [d for d in demands if isinstance(d, Not) and d.direct]
        return place >= len(self.events) or not any(holds(n.where, self.events[place][0], context) for n in nots)

    def _may_pass(self, demands: list[Any], take: Take, path: Path, place: int, context: Context) -> bool:
        value = self.events[place][0]
        (gap,) = [d for d in demands if isinstance(d, Gap)]
        if gap.contiguity is Contiguity.STRICT:
            return False
        if gap.contiguity is not Contiguity.ANY and holds(take.where, value, context):
            return False
        nots = [d.where for d in demands if isinstance(d, Not) and not d.direct]
        return not any(holds(w, value, context) for w in (*nots, *gap.nots, *gap.untils))

    def _greedy_broken(self, demands: list[Any], start: int, stop: int, context: Context) -> bool:
        """Whether an event came that a greedy loop would have taken, had its until not come before."""
        for greedy in (d for d in demands if isinstance(d, Greedy)):
            for place in range(start, stop):
                value = self.events[place][0]
                if greedy.until is not None and holds(greedy.until, value, context):
                    break
                if holds(greedy.where, value, context):
                    return True
        return False

    def _end(self, demands: Word, path: Path) -> None:
        nots = [d for d in demands if isinstance(d, Not)]
        last, context = path.places[-1], self._context(path)
        if not nots:
            self.complete.setdefault(last, []).append(path)
        elif all(n.direct for n in nots):
            place = last + 1
            ok = self._directly(list(demands), path, context)
            self.lives[path].options[demands] = Option(place, NEVER)
            if ok and place < len(self.events) and self._in_time(path, place):
                self.complete.setdefault(place, []).append(path)
        else:
            forbidden = [n.where for n in nots if not n.direct]
            dies = next((p for p in range(last + 1, len(self.events)) if self._comes(forbidden, p, context)), NEVER)
            if not self._directly(list(demands), path, context):
                dies = last + 1
            limit = min(n.limit_ms for n in nots)
            self.lives[path].options[demands] = Option(dies, limit, pending=True)

    def _in_time(self, path: Path, place: int) -> bool:
        return self.events[place][1] - self.events[path.places[0]][1] < self.within

    def _comes(self, forbidden: list[Any], place: int, context: Context) -> bool:
        return any(holds(where, self.events[place][0], context) for where in forbidden)

    def _context(self, path: Path) -> Context:
        return Context(self.events_of(path))

    def events_of(self, path: Path) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for name, place in zip(path.names, path.places, strict=True):
            found.setdefault(name, []).append(self.events[place][0])
        return found

    # -- moment by moment ---------------------------------------------------------------------------------

    def run(self, end_ms: int) -> list[tuple[bool, dict[str, list[Any]], int]]:
        """Everything that is found until the time is `end_ms`: (timed out?, events, timestamp)."""
        self.found: list[Any] = []
        self.finished: list[tuple[int, int, Path]] = []
        self.floor = 0
        now = -NEVER
        for place, (_, stamp) in enumerate(self.events):
            now = self._pass_time(place - 1, now, stamp)
            done = [p for p in self.complete.get(place, []) if p.places[0] >= self.floor]
            self._finish(place, stamp, done, stamp)
        self._pass_time(len(self.events) - 1, now, end_ms)
        return self.found

    def _pass_time(self, seen: int, before: int, until: int) -> int:
        """Let time pass after event `seen`, from one deadline to the next."""
        moments = {self._deadline(path, option) for path, option in self._all_options() if path.places[-1] <= seen}
        for moment in sorted(m for m in moments if before < m <= until):
            done, over = [], []
            for path in self.lives:
                if self._open(path, seen, moment - 1):
                    pending = [o for o in self._open(path, seen, moment - 1) if o.pending]
                    up = [o for o in pending if self._deadline(path, o) <= moment]
                    done += [path] * len(up)
                    if not self._open(path, seen, moment) and not up:
                        over.append(path)
            for path in sorted(over, key=self._rank):
                self.found.append((True, self.events_of(path), moment))
            self._finish(seen, moment, done, moment)
        return until

    def _all_options(self) -> Iterator[tuple[Path, Option]]:
        return ((path, option) for path, life in self.lives.items() for option in life.options.values())

    def _deadline(self, path: Path, option: Option) -> int:
        first, last = self.events[path.places[0]][1], self.events[path.places[-1]][1]
        return min(first + self.within, last + option.limit_ms)

    def _open(self, path: Path, seen: int, now: int) -> list[Option]:
        """The ways to go on that are open after event `seen` at a time."""
        if path.places[-1] > seen or path.places[0] < self.floor:
            return []
        options = self.lives[path].options.values()
        return [o for o in options if o.dies > seen and self._deadline(path, o) > now]

    def _finish(self, seen: int, now: int, done: list[Path], stamp: int) -> None:
        self.finished += [(path.places[0], stamp, path) for path in sorted(done, key=self._rank)]
        self.finished.sort(key=lambda match: match[0])
        skip = self.spec.skip
        while self.finished:
            start, finished_at, path = self.finished[0]
            if skip.is_skip_strategy() and any(p.places[0] < start and self._open(p, seen, now) for p in self.lives):
                return
            self.finished.pop(0)
            self.found.append((False, self.events_of(path), finished_at))
            kept = self._first_kept(path)
            if kept is not None:
                self.floor = max(self.floor, kept)
                self.finished = [match for match in self.finished if match[0] >= self.floor]

    def _rank(self, path: Path) -> Any:
        return path.places[0], -len(path.places), path.places, [self.names.index(name) for name in path.names]

    def _first_kept(self, path: Path) -> int | None:
        skip = self.spec.skip
        if skip.kind == "skip_to_next":
            return path.places[0] + 1
        if skip.kind == "skip_past_last_event":
            return path.places[-1] + 1
        named = [place for name, place in zip(path.names, path.places, strict=True) if name == skip.get_pattern_name()]
        if not named:
            return None
        return named[0] if skip.kind == "skip_to_first" else named[-1]


def holds(where: Any, value: Any, context: Context) -> bool:
    return where is None or where.test(value, context)


def _limit(demands: list[Any]) -> int:
    return min((d.limit_ms for d in demands if isinstance(d, Gap)), default=NEVER)
