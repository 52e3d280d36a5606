"""Keys that expire: beside a model of what docs/expiring.md promises, at times that are given, and by a clock that tests move."""

import concurrent.futures
import copy
import itertools
import json
import math
import pickle
import time
from datetime import datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import guira_filters
from guira_filters import AdvanceError, ExpiringCuckooFilter

MORNING = datetime(2026, 11, 25, 8, tzinfo=timezone.utc)
DAY = timedelta(hours=24)
# So low a rate that no two of the few keys look the same.
RATE = 1e-6


def by_events(lifetime=DAY, **options):
    return ExpiringCuckooFilter(1000, RATE, lifetime=lifetime, clock=False, **options)


@pytest.fixture
def clock(monkeypatch):
    """The clock of this process, in a list of one."""
    now = [MORNING.timestamp()]
    monkeypatch.setattr(time, "time", lambda: now[0])
    return now


class Promises(RuleBasedStateMachine):
    """A filter beside the times at which keys came.

    A key that came less than a lifetime ago is there; after a lifetime and one resolution, and one more for each merge, it is
    not. In between it may be.
    """

    @initialize(
        lifetime=st.integers(1, 10**6),
        resolutions=st.one_of(st.none(), st.integers(1, 254)),
        growth=st.sampled_from([(20_000, {}), (50, {"max_capacity": 20_000})]),
        seed=st.integers(0, 2**64 - 1),
        start=st.integers(0, 10**12),
    )
    def make(self, lifetime, resolutions, growth, seed, start):
        capacity, options = growth
        if resolutions is not None:
            options = {**options, "resolution": timedelta(milliseconds=math.ceil(lifetime / resolutions))}
        self.filter = ExpiringCuckooFilter(
            capacity, RATE, lifetime=lifetime / 1000, clock=False, now=start / 1000, seed=seed, **options
        )
        self.resolution = self.filter.resolution // timedelta(milliseconds=1)
        self.lifetime = self.filter.lifetime // timedelta(milliseconds=1)
        expected = math.ceil(lifetime / 14) if resolutions is None else math.ceil(lifetime / resolutions)
        assert self.resolution == expected
        assert self.lifetime == math.ceil(lifetime / expected) * expected
        self.time = start
        self.merges = 0
        self.model = {}

    def lives(self, came, now):
        return now - came < self.lifetime

    def may_live(self, came, now):
        return now - came < self.lifetime + (1 + self.merges) * self.resolution

    def count(self, key, now):
        """The fewest and the most copies that the filter may have of a key."""
        times = self.model.get(key, [])
        return sum(self.lives(came, now) for came in times), sum(self.may_live(came, now) for came in times)

    def move(self, ahead):
        """The time of an operation, which the filter goes to."""
        if self.model and ahead >= self.lifetime:
            before = self.filter.copy()
            try:
                self.filter.advance((self.time + ahead) / 1000)
                assert not any(self.lives(came, self.time) for times in self.model.values() for came in times)
            except AdvanceError:
                assert any(self.may_live(came, self.time) for times in self.model.values() for came in times)
                assert self.filter == before
                self.filter.advance((self.time + ahead) / 1000, jump=True)
        self.time = max(self.time, self.time + ahead)
        return (self.time if ahead > 0 else self.time + ahead) / 1000

    # Of a lifetime, mostly a little, at times more, and some come late.
    ahead = st.one_of(st.integers(0, 10**5), st.integers(-100, 3 * 10**6)).map(lambda share: share / 10**6)

    def steps(self, ahead):
        return max(int(ahead * self.lifetime), -self.time)

    @rule(number=st.integers(0, 30), ahead=ahead)
    def add(self, number, ahead):
        now, key = self.move(self.steps(ahead)), f"copies {number}"
        if self.count(key, self.time)[1] < 4:
            self.filter.add(key, now=now)
            self.model.setdefault(key, []).append(self.time)
        else:
            self.filter.advance(now)

    @rule(number=st.integers(0, 30), ahead=ahead)
    def remove(self, number, ahead):
        now, key = self.move(self.steps(ahead)), f"copies {number}"
        fewest, most = self.count(key, self.time)
        if fewest == most > 0:
            self.filter.remove(key, now=now)
            times = self.model[key]
            times.remove(min(came for came in times if self.lives(came, self.time)))
        elif most == 0:
            self.filter.discard(key, now=now)
            with pytest.raises(KeyError):
                self.filter.remove(key, now=now)
        else:
            self.filter.advance(now)

    @rule(number=st.integers(0, 50), ahead=ahead)
    def add_unique(self, number, ahead):
        now, key = self.move(self.steps(ahead)), f"first {number}"
        fewest, most = self.count(key, self.time)
        is_new = self.filter.add_unique(key, now=now)
        assert is_new or most
        if is_new:
            assert not fewest
            self.model[key] = [self.time]

    @rule(number=st.integers(0, 50), ahead=ahead)
    def renew(self, number, ahead):
        now, key = self.move(self.steps(ahead)), f"last {number}"
        fewest, most = self.count(key, self.time)
        is_new = self.filter.add_or_renew(key, now=now)
        assert not fewest if is_new else most
        self.model[key] = [self.time]

    @rule(first=st.integers(0, 50), count=st.integers(0, 200), ahead=ahead, kind=st.sampled_from(["list", "arrow"]))
    def add_batches(self, first, count, ahead, kind):
        now, numbers = self.move(self.steps(ahead)), range(first, first + count)
        of = {"list": list, "arrow": lambda keys: pa.array(keys, pa.string())}[kind]
        keys = [f"first {number}" for number in numbers]
        for key, is_new in zip(keys, self.filter.add_unique_many(of(keys), now=now)):
            fewest, most = self.count(key, self.time)
            assert not fewest if is_new else most
            if is_new:
                self.model[key] = [self.time]
        keys = [f"last {number}" for number in numbers]
        for key, is_new in zip(keys, self.filter.add_or_renew_many(of(keys), now=now)):
            fewest, most = self.count(key, self.time)
            assert not fewest if is_new else most
            self.model[key] = [self.time]

    @rule(count=st.integers(0, 300), ahead=ahead)
    def add_numbers_and_remove_some(self, count, ahead):
        now = self.move(self.steps(ahead))
        new = [number for number in range(count) if number not in self.model]
        self.filter.update(np.array(new, dtype=np.int64), now=now)
        assert self.filter.remove_many(np.array(new[::2], dtype=np.int64), now=now).all()
        self.model.update({number: [self.time] for number in new[1::2]})

    @precondition(lambda self: self.merges < 3)
    @rule(ahead=ahead, keys=st.lists(st.integers(10**6, 10**6 + 50), unique=True, max_size=20))
    def merge(self, ahead, keys):
        other = self.filter.empty_like()
        now = max(self.time + self.steps(ahead), 0)
        other.update(keys, now=now / 1000)
        self.filter |= other
        self.merges += 1
        came = max(now, self.time)
        self.time = came
        for key in keys:
            self.model.setdefault(key, []).append(came)

    @rule(way=st.sampled_from(["copy", "bytes", "pickle", "deepcopy"]))
    def replace(self, way):
        before = self.filter
        self.filter = {
            "copy": before.copy, "deepcopy": lambda: copy.deepcopy(before), "pickle": lambda: pickle.loads(pickle.dumps(before)),
            "bytes": lambda: ExpiringCuckooFilter.from_bytes(before.to_bytes()),
        }[way]()  # fmt: skip
        assert self.filter == before
        assert (self.filter.time, self.filter.clock) == (before.time, before.clock)

    @rule(room=st.integers(0, 2000))
    def make_room_and_undo_it(self, room):
        try:
            self.filter.reserve(room)
        except guira_filters.FilterFullError:
            assert len(self.filter) + room + 100 > self.filter.capacity
        self.filter.shrink_to_fit()

    @rule()
    def clear(self):
        self.filter.clear()
        self.model.clear()
        assert len(self.filter) == 0

    @rule(ahead=ahead)
    def look_ahead(self, ahead):
        before = self.filter.copy()
        now = max(self.time + self.steps(ahead), 0)
        self.check(max(now, self.time), now=now / 1000)
        assert self.filter == before

    @invariant()
    def what_lives_is_there_and_what_is_dead_is_not(self):
        if hasattr(self, "filter"):
            assert round(self.filter.time * 1000) == self.time
            self.check(self.time)

    def check(self, at, **now):
        bounds = [self.count(key, at) for key in self.model]
        keys = list(self.model)
        counts = self.filter.count_many(keys, **now).tolist()
        for key, (fewest, most), count in zip(keys, bounds, counts):
            assert fewest <= count <= most, key
        assert self.filter.contains_many(keys, **now).tolist() == [count > 0 for count in counts]
        assert [self.filter.contains(key, **now) for key in keys[:10]] == [count > 0 for count in counts[:10]]
        assert [self.filter.count(key, **now) for key in keys[:10]] == counts[:10]
        alive = self.filter.count_alive(**now)
        assert sum(fewest for fewest, _ in bounds) <= alive <= sum(most for _, most in bounds)
        if not now:
            assert len(self.filter) == alive
            assert [key in self.filter for key in keys[:10]] == [count > 0 for count in counts[:10]]
        assert not self.filter.contains_many([f"absent {number}" for number in range(50)], **now).any()


Promises.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestPromises = Promises.TestCase


def test_the_clock_counts_where_no_time_is_told(clock):
    seen = ExpiringCuckooFilter(1000, RATE, lifetime=DAY)
    assert (seen.time, seen.clock) == (clock[0], True)
    # A fourteenth, in whole milliseconds.
    assert (seen.lifetime, seen.resolution) == (timedelta(milliseconds=86_400_006), timedelta(milliseconds=6_171_429))
    assert seen.add_unique("ani")
    seen.update(["guira", "koel"])
    clock[0] += 23 * 3600
    assert not seen.add_unique("ani")
    assert seen.add_or_renew("hoopoe")
    assert ("ani" in seen, len(seen), seen.count("koel")) == (True, 4, 1)
    before = seen.copy()
    clock[0] += 3 * 3600
    # Nothing moved the time on, and nothing is found that has expired.
    assert ("ani" in seen, "hoopoe" in seen, len(seen), seen.count("koel")) == (False, True, 1, 0)
    assert seen.contains_many(["ani", "hoopoe"]).tolist() == [False, True]
    assert seen.count_many(["ani", "hoopoe"]).tolist() == [0, 1]
    assert seen == before
    assert repr(seen).startswith("ExpiringCuckooFilter(len=1, capacity=1000, ")
    assert repr(seen).endswith(", lifetime=86400.006 s)")
    with pytest.raises(KeyError):
        seen.remove("ani")
    assert seen.time == clock[0]
    seen.remove("hoopoe")
    # However long nobody looked at the clock.
    seen.add("hoopoe")
    clock[0] += 10**7
    assert len(seen) == 0
    assert seen.add_unique("hoopoe")
    # A clock that was set back.
    clock[0] -= 3600
    assert not seen.add_unique("hoopoe")
    assert seen.time == clock[0] + 3600


def test_every_method_without_now_follows_the_clock(clock):
    changes = {
        "add": lambda seen: seen.add("ani"),
        "add_unique": lambda seen: seen.add_unique("ani"),
        "add_or_renew": lambda seen: seen.add_or_renew("ani"),
        "discard": lambda seen: seen.discard("ani"),
        "update": lambda seen: seen.update(["ani"]),
        "add_many": lambda seen: seen.add_many(np.arange(3)),
        "add_unique_many": lambda seen: seen.add_unique_many(["ani"]),
        "add_or_renew_many": lambda seen: seen.add_or_renew_many(["ani"]),
        "remove_many": lambda seen: seen.remove_many(["ani"]),
        "advance": lambda seen: seen.advance(),
        "reserve": lambda seen: seen.reserve(10),
        "shrink_to_fit": lambda seen: seen.shrink_to_fit(),
    }
    for name, change in changes.items():
        seen = ExpiringCuckooFilter(1000, lifetime=60)
        clock[0] += 10
        change(seen)
        assert seen.time == clock[0], name
    asked = {"contains", "count", "count_alive", "contains_many", "count_many"}
    with_now = {name for name in dir(seen) if "now=None" in (getattr(getattr(seen, name), "__text_signature__", "") or "")}
    with_now.remove("__class__")
    assert with_now == set(changes) - {"reserve", "shrink_to_fit"} | asked | {"remove"}


def test_keys_of_an_iterator_come_when_they_are_yielded(clock):
    seen = ExpiringCuckooFilter(1000, RATE, lifetime=60)

    def slowly():
        for number in range(10):
            yield number
            clock[0] += 10

    seen.update(slowly())
    assert seen.contains_many(range(10)).tolist()[5:] == [True] * 5
    assert not seen.contains_many(range(3)).any()


def test_an_iterator_without_keys_moves_the_time_on():
    seen = ExpiringCuckooFilter(1000, RATE, lifetime=60, clock=False)
    for keys in ([], iter([])):
        seen.add("ani", now=seen.time)
        seen.update(keys, now=seen.time + 59)
        assert "ani" in seen
        seen.update(keys, now=seen.time + 50)
        assert "ani" not in seen
    with pytest.raises(guira_filters.AdvanceError):
        seen.add("ani")
        seen.update(iter([]), now=seen.time + 1000)


def test_what_was_dead_before_a_long_sleep_does_not_come_to_life(clock):
    # All sixteen generations have keys, and so many buckets are swept in parts.
    seen, start = ExpiringCuckooFilter(1_000_000, RATE, lifetime=14, resolution=1), clock[0]
    for second in range(16):
        clock[0] = start + second
        seen.update(f"{second} {number}" for number in range(100))
    clock[0] = start + 115
    assert "15 0" not in seen
    assert seen.add_unique("15 0")
    assert "15 0" in seen and "15 1" not in seen and len(seen) == 1


@pytest.mark.parametrize(
    "now",
    [
        MORNING, MORNING.astimezone(timezone(timedelta(hours=-5))), MORNING.timestamp(), int(MORNING.timestamp()),
        np.float64(MORNING.timestamp()), np.int64(MORNING.timestamp()),
    ],
)  # fmt: skip
def test_times_are_datetimes_with_a_zone_or_seconds(now):
    seen = by_events(now=now)
    assert seen.time == MORNING.timestamp()
    other = by_events()
    other.add("ani", now=now)
    assert other.time == MORNING.timestamp()
    assert other.contains("ani", now=MORNING + timedelta(hours=23, minutes=59, seconds=59, milliseconds=999))
    assert not other.contains("ani", now=MORNING + timedelta(hours=26))


@pytest.mark.parametrize("milliseconds", [1, 123, 999, 1001, 1_795_600_800_123, 99_999_999_999_999])
def test_times_are_exact_to_a_millisecond(milliseconds):
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=milliseconds)
    for now in (moment, milliseconds / 1000):
        seen = by_events(now=now)
        assert round(seen.time * 1000) == milliseconds
        assert seen.to_bytes() == by_events(now=moment).to_bytes()


@pytest.mark.parametrize(
    ("now", "error", "says"),
    [
        (datetime(2026, 11, 25), ValueError, "time zone.*timezone.utc"),
        (MORNING.timestamp() * 1000, ValueError, "divide it by 1000"),
        (-1, ValueError, "since 1970, and not -1"),
        (datetime(1969, 1, 1, tzinfo=timezone.utc), ValueError, "since 1970"),
        (float("nan"), ValueError, "since 1970"),
        (float("inf"), ValueError, "since 1970"),
        ("2026-11-25", TypeError, "datetime with a time zone.*not str"),
        (MORNING.date(), TypeError, "not date"),
        (DAY, TypeError, "not timedelta"),
        # Its float is the number of its units.
        (np.datetime64(10, "ns"), TypeError, "not datetime64"),
    ],
)
def test_what_is_no_time_is_refused(now, error, says):
    seen = by_events(now=MORNING)
    seen.add("ani")
    before = seen.copy()
    calls = [
        lambda: seen.add("koel", now=now), lambda: seen.update(["koel"], now=now), lambda: seen.contains("ani", now=now),
        lambda: seen.contains_many(["ani"], now=now), lambda: seen.advance(now), lambda: seen.advance(now, jump=True),
        lambda: by_events(now=now),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(error, match=says):
            call()
    assert seen == before


def test_what_is_no_span_is_refused():
    for span in (0, -1, timedelta(0), timedelta(days=-1), float("nan"), 1e12):
        with pytest.raises(ValueError, match="more than 0 seconds"):
            by_events(lifetime=span)
        with pytest.raises(ValueError, match="more than 0 seconds"):
            by_events(resolution=span)
    for span in ("24h", None, MORNING, np.timedelta64(1, "M"), np.timedelta64(10**9, "ns"), np.timedelta64(1, "h")):
        with pytest.raises(TypeError, match="timedelta, or a number of seconds"):
            by_events(lifetime=span)
    with pytest.raises(guira_filters.ParameterError):
        by_events(resolution=timedelta(hours=25))
    with pytest.raises(guira_filters.ParameterError):
        by_events(resolution=DAY / 255)
    assert by_events(resolution=DAY / 254).lifetime >= DAY
    with pytest.raises(TypeError, match="lifetime"):
        ExpiringCuckooFilter(1000)
    assert by_events(timedelta(days=3650)).lifetime == timedelta(days=3650, milliseconds=4)


def test_a_time_at_which_nothing_would_be_left_is_refused_unless_it_is_meant():
    seen = by_events(now=MORNING)
    seen.advance(MORNING + timedelta(days=500))  # nothing is in it
    start = MORNING + timedelta(days=500)
    seen.add("ani", now=start)
    before = seen.copy()
    far = start + DAY + timedelta(minutes=1)
    calls = [
        lambda: seen.add("koel", now=far), lambda: seen.add_unique("koel", now=far), lambda: seen.remove("ani", now=far),
        lambda: seen.update(["koel"], now=far), lambda: seen.add_unique_many(["koel"], now=far), lambda: seen.advance(far),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(AdvanceError, match=r"now is 86\d\d\d(\.\d+)? s after .*jump=True"):
            call()
        assert seen == before
    assert issubclass(AdvanceError, (guira_filters.GuiraError, ValueError))
    assert not seen.contains("ani", now=far + timedelta(hours=2))
    seen.advance(far + timedelta(hours=2), jump=True)
    assert len(seen) == 0
    assert seen.add_unique("ani")


def test_without_a_clock_time_stands_still_between_events(clock):
    seen = by_events(now=MORNING)
    seen.add("ani")
    clock[0] += 10**7
    assert ("ani" in seen, len(seen), seen.time) == (True, 1, MORNING.timestamp())
    assert seen.contains_many(["ani", "koel"]).tolist() == [True, False]
    seen.advance()
    seen.add("koel")
    seen.reserve(3)
    assert seen.time == MORNING.timestamp()
    # What comes late is taken as if it came at the time that was reached.
    seen.add("hoopoe", now=MORNING - timedelta(days=3))
    assert ("hoopoe" in seen, seen.time) == (True, MORNING.timestamp())


def test_filters_of_the_clock_and_of_events_are_not_merged(clock):
    by_clock, other = ExpiringCuckooFilter(1000, RATE, lifetime=DAY), by_events(now=MORNING)
    # They may answer the next question differently.
    assert ExpiringCuckooFilter(1000, RATE, lifetime=DAY, now=MORNING) != other
    with pytest.raises(guira_filters.MergeError, match="time of one is that of the clock"):
        by_clock |= other
    with pytest.raises(guira_filters.MergeError, match="lifetime"):
        by_events() | by_events(lifetime=3600)
    with pytest.raises(guira_filters.MergeError, match="resolution"):
        by_events(resolution=3600) | by_events(resolution=1800)
    other.add("ani")
    assert ("ani" in (by_events() | other), (by_events() | other).time) == (True, MORNING.timestamp())
    assert (by_clock.empty_like().clock, other.empty_like().clock, other.copy().clock) == (True, False, False)


def test_the_file_says_where_the_time_comes_from(clock, tmp_path):
    for seen in (ExpiringCuckooFilter(1000, lifetime=DAY), by_events(now=MORNING)):
        seen.add("ani")
        seen.save(tmp_path / "seen")
        loaded = ExpiringCuckooFilter.load(tmp_path / "seen")
        assert (loaded == seen, loaded.clock, loaded.to_bytes()) == (True, seen.clock, seen.to_bytes())
        assert json.dumps({"time_source": "clock" if seen.clock else "data"}, separators=(",", ":")).encode() in seen.to_bytes()
        assert pickle.loads(pickle.dumps(seen)).clock == seen.clock


def test_other_classes_say_which_one_reads_the_file(tmp_path):
    path = tmp_path / "seen"
    by_events().save(path)
    for read in (guira_filters.CuckooFilter.load, guira_filters.CuckooSet.load, guira_filters.open):
        with pytest.raises(guira_filters.WrongKindError, match="ExpiringCuckooFilter.load"):
            read(path)
    guira_filters.CuckooMap(10).save(path)
    with pytest.raises(guira_filters.WrongKindError, match="CuckooMap.load"):
        ExpiringCuckooFilter.load(path)


def test_a_steady_stream_stays_within_its_memory_and_its_rate():
    """A key each second for ten lifetimes, in batches of a minute."""
    seen = ExpiringCuckooFilter(6000, 0.01, lifetime=6000, clock=False)
    size = seen.nbytes
    for minute in range(1000):
        keys = np.arange(minute * 60, minute * 60 + 60)
        seen.update(keys, now=minute * 60)
    assert seen.nbytes == size
    alive = np.arange(60_000 - 5940, 60_000)
    assert seen.contains_many(alive).all()
    # 500 are expected at most of 50,000; 620 or more have a probability below 1e-6, by Chernoff's bound.
    assert seen.contains_many(np.arange(-50_000, 0)).sum() < 620
    assert seen.contains_many(np.arange(0, 60_000 - 6500)).sum() < 660


def test_a_filter_grows_with_what_lives_and_shrinks_when_it_is_dead():
    seen = ExpiringCuckooFilter(100, lifetime=60, clock=False, max_capacity=200_000)
    small = seen.nbytes
    seen.update(np.arange(100_000), now=1000)
    # Keys that come all at once may also take the room for dead ones, which is one part in 15.
    assert (seen.contains_many(np.arange(100_000)).all(), seen.capacity >= 100_000 * 14 / 15) == (True, True)
    assert seen.nbytes > 100 * small
    seen.advance(2000, jump=True)
    seen.shrink_to_fit()
    assert (seen.nbytes, len(seen)) == (small, 0)


def test_batches_and_single_operations_give_the_same_bytes():
    one, many = by_events(), by_events()
    for minute, number in itertools.product(range(50), range(10)):
        one.add_unique(number * minute, now=minute * 60)
    for minute in range(50):
        many.add_unique_many([number * minute for number in range(10)], now=minute * 60)
    assert one.to_bytes() == many.to_bytes()


def test_threads_share_a_filter_whose_keys_expire():
    """Each thread stores keys of its own and asks for them, while the time that they bring goes on for all of them."""
    seen = ExpiringCuckooFilter(100, RATE, lifetime=1000, clock=False, max_capacity=100_000)

    def work(thread):
        missing = 0
        for step in range(200):
            keys = np.arange(step * 10, step * 10 + 10) + thread * 10_000
            seen.update(keys, now=step)
            missing += (~seen.contains_many(keys)).sum()
        return missing

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(work, range(4))) == 0
    assert len(seen) == 4 * 2000
    assert seen.time == 199


@pytest.mark.parametrize("notes", [b'{"time_source":"other"}', b'{"time_source":null}', b'{"note":"clock"}'])
def test_a_file_that_does_not_say_where_its_time_comes_from_has_none_of_the_clock(notes):
    assert not ExpiringCuckooFilter.from_bytes(with_notes(notes)).clock


@pytest.mark.parametrize("notes", [b"[]", b'{"time_source":', b"\xff", b'"clock"'])
def test_notes_that_are_none_are_refused(notes):
    with pytest.raises(guira_filters.CorruptFileError, match="notes"):
        ExpiringCuckooFilter.from_bytes(with_notes(notes))


def with_notes(notes):
    """A file with other notes, of as many bytes, and with their checksum."""
    file = bytearray(ExpiringCuckooFilter(100, lifetime=60, now=0).to_bytes())
    start = file.index(b"NOTE")
    data = notes.ljust(len(file) - start - 24)
    file[start + 16 :] = xxhash.xxh3_64_intdigest(file[start : start + 16] + data).to_bytes(8, "little") + data
    return bytes(file)
