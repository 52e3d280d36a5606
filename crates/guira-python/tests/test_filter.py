"""The filter as a user of sets would try it."""

import copy
import functools
import gc
import operator
import signal
import threading
import time
import uuid
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import guira_filters
from guira_filters import (
    CorruptFileError,
    CountingCuckooFilter,
    CuckooFilter,
    CuckooMap,
    CuckooSet,
    MergeError,
    ParameterError,
    SecretKeyError,
)


def test_a_filter_has_what_was_added_until_it_is_removed():
    seen = CuckooFilter(1000)
    seen.add("ani")
    assert "ani" in seen
    assert "koel" not in seen
    assert len(seen) == 1
    seen.remove("ani")
    assert "ani" not in seen
    assert len(seen) == 0


def test_remove_raises_the_key_that_is_not_there_and_discard_does_not():
    seen = CuckooFilter(1000)
    with pytest.raises(KeyError) as raised:
        seen.remove(("ani").encode())
    assert raised.value.args == (b"ani",)
    seen.discard("ani")


def test_copies_are_counted_and_removed_one_by_one():
    seen = CuckooFilter(1000)
    for _ in range(3):
        seen.add("ani")
    assert seen.count("ani") == 3
    seen.discard("ani")
    assert (seen.count("ani"), len(seen)) == (2, 2)


def test_add_unique_stores_a_key_once():
    seen = CuckooFilter(1000)
    assert [seen.add_unique("ani") for _ in range(3)] == [True, False, False]
    assert len(seen) == 1


def test_a_copy_is_equal_and_shares_nothing():
    seen = CuckooFilter(1000, seed=7)
    seen.update(["ani", "guira"])
    for other in (seen.copy(), copy.copy(seen), copy.deepcopy(seen)):
        assert other == seen
        other.add("koel")
        assert other != seen
    assert len(seen) == 2


def test_clear_leaves_an_empty_filter():
    seen = CuckooFilter(1000)
    seen.update(range(500))
    seen.clear()
    assert len(seen) == 0
    assert seen == CuckooFilter(1000)


def test_filters_are_unhashable_and_never_equal_to_other_things():
    seen = CuckooFilter(10)
    with pytest.raises(TypeError):
        hash(seen)
    assert seen != {1}
    assert seen != CuckooFilter(10, seed=1)


def test_merging_adds_all_keys_and_copies():
    monday, tuesday = CuckooFilter(1000), CuckooFilter(1000)
    monday.update(["ani", "guira"])
    tuesday.update(["guira", "koel"])
    monday.merge(tuesday)
    assert all(word in monday for word in ("ani", "guira", "koel"))
    assert monday.count("guira") == 2
    same = monday
    monday |= tuesday
    assert monday is same
    assert len(monday) == 6


def test_a_filter_can_be_merged_with_itself():
    seen = CuckooFilter(1000)
    seen.update(range(10))
    seen |= seen
    assert len(seen) == 20


@pytest.mark.parametrize(
    "other",
    [
        CuckooFilter(1000, seed=1),
        CuckooFilter(2000),
        CuckooFilter(1000, 0.1),
        CuckooFilter(1000, max_capacity=10_000),
        CuckooFilter(1000, hash="siphash", key=bytes(16)),
    ],
    ids=["seed", "capacity", "rate", "growing", "hash"],
)
def test_filters_that_were_made_otherwise_are_not_merged(other):
    for ours, theirs in ((CuckooFilter(1000), other), (other, CuckooFilter(1000))):
        before = ours.copy()
        with pytest.raises(guira_filters.MergeError, match="differ in"):
            ours.merge(theirs)
        assert ours == before


def test_properties_are_what_was_asked_for():
    seen = CuckooFilter(100_000, 0.01)
    assert seen.capacity == 100_000
    assert seen.max_capacity is None
    assert 0.005 < seen.rate <= 0.01
    assert seen.expected_rate == 0
    assert seen.load_factor == 0
    assert seen.nbytes * 8 == pytest.approx(seen.bits_per_key * 100_000, rel=0.01)
    seen.update(range(100_000))
    assert seen.expected_rate == pytest.approx(seen.rate)
    assert 0.9 < seen.load_factor < 1
    assert repr(seen).startswith("CuckooFilter(len=100000, capacity=100000, rate=")


def test_the_rate_that_was_asked_for_holds():
    seen = CuckooFilter(200_000, 0.01)
    seen.update(range(200_000))
    found = sum(key in seen for key in range(1_000_000, 1_200_000))
    # The expected number is at most 2000; six standard deviations above it.
    assert found < 2000 + 6 * 2000**0.5


def test_a_plan_says_what_the_filter_takes():
    plan = guira_filters.plan(100_000, 0.01)
    assert plan.nbytes == CuckooFilter(100_000, 0.01).nbytes
    assert guira_filters.plan(100_000, 0.001, prefer="space").nbytes < guira_filters.plan(100_000, 0.001).nbytes
    assert plan.layout == "packed"


def test_less_space_is_taken_where_it_is_preferred():
    small = CuckooFilter(100_000, 0.001, prefer="space")
    small.update(range(100_000))
    assert small.nbytes < CuckooFilter(100_000, 0.001).nbytes
    assert all(key in small for key in range(100_000))


def test_a_filter_grows_up_to_its_largest_capacity():
    seen = CuckooFilter(1000, 0.001, max_capacity=100_000)
    assert seen.max_capacity >= 100_000
    before = seen.nbytes
    seen.update(range(100_000))
    assert seen.nbytes > before
    assert all(key in seen for key in range(100_000))
    for key in range(99_000):
        seen.remove(key)
    assert all(key in seen for key in range(99_000, 100_000))
    with pytest.raises(guira_filters.FilterFullError):
        seen.update(range(100_000, 400_000))


def test_growing_filters_of_different_sizes_are_merged():
    small = CuckooFilter(1000, max_capacity=100_000)
    large = CuckooFilter(1000, max_capacity=100_000)
    small.add("ani")
    large.update(range(20_000))
    small |= large
    assert "ani" in small
    assert all(key in small for key in range(20_000))


def test_a_full_filter_says_so_and_keeps_what_it_has():
    seen = CuckooFilter(100)
    with pytest.raises(guira_filters.FilterFullError, match="the filter is full: it holds") as raised:
        seen.update(list(range(1000)))
    stored = raised.value.index
    assert stored == len(seen) >= 100
    assert all(key in seen for key in range(stored))
    before = seen.copy()
    with pytest.raises(guira_filters.FilterFullError) as raised:
        for key in range(1000, 2000):
            seen.add(key)
    assert raised.value.index == 0
    assert before.to_bytes() != b""


def test_one_copy_too_many_has_an_error_of_its_own():
    seen = CuckooFilter(1000)
    with pytest.raises(guira_filters.TooManyCopiesError, match="copies of this key") as raised:
        seen.update(["ani"] * 100)
    assert raised.value.index == len(seen) == seen.count("ani") == 8
    assert isinstance(raised.value, guira_filters.FilterFullError)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"capacity": 0}, "capacity"),
        ({"capacity": 10, "rate": 0}, "rate"),
        ({"capacity": 10, "rate": 1}, "rate"),
        ({"capacity": 10, "rate": float("nan")}, "rate"),
        ({"capacity": 10, "rate": 1e-18}, "rate"),
        ({"capacity": 2**63}, "capacity"),
        ({"capacity": 10, "max_capacity": 5}, "capacity"),
        ({"capacity": 10, "prefer": "luck"}, "'speed' or 'space'"),
        ({"capacity": 10, "max_capacity": 100, "prefer": "space"}, "not both"),
        ({"capacity": 10, "hash": "md5"}, "'xxh3' or 'siphash'"),
        ({"capacity": 10, "hash": "siphash"}, "16 secret bytes"),
        ({"capacity": 10, "hash": "siphash", "key": b"short"}, "16 bytes, not 5"),
        ({"capacity": 10, "key": bytes(16)}, "hash='siphash'"),
        ({"capacity": 10, "hash": "siphash", "key": bytes(16), "seed": 3}, "seed is for hash='xxh3'"),
    ],
)
def test_parameters_that_there_is_no_filter_for_are_refused(arguments, words):
    with pytest.raises(guira_filters.ParameterError, match=words):
        CuckooFilter(**arguments)


def test_numbers_that_are_too_large_or_negative_are_refused_by_the_name_of_their_argument():
    expiring = functools.partial(guira_filters.ExpiringCuckooFilter, lifetime=60)
    classes = [CuckooFilter, guira_filters.CuckooSet, CountingCuckooFilter, CuckooMap, expiring, guira_filters.plan]
    calls = [(make, name, 64) for make in classes for name in ("capacity", "max_capacity", "seed")]
    calls += [(CountingCuckooFilter, "counter_bits", 32), (CuckooMap, "value_bits", 32)]
    map_ = CuckooMap(10)
    calls += [(lambda value, method=method, **_: method("ani", value), "value", 32) for method in (map_.add, map_.remove, map_.discard)]
    calls += [(lambda value, **_: map_.update({"ani": value}), "value", 32)]
    calls += [(make(10).reserve, "additional", 64) for make in classes[:-1]]
    for call, name, bits in calls:
        others = {} if getattr(call, "__name__", "") == "reserve" else {"capacity": 10}
        for number, shown in ((-1, "-1"), (2**bits, str(2**bits)), (-(10**5000), "this one")):
            with pytest.raises(OverflowError) as raised:
                call(**others | {name: number})
            assert str(raised.value) == f"{name} is an integer from 0 to 2**{bits} - 1, not {shown}"
        with pytest.raises(TypeError):
            call(**others | {name: "ten"})
    assert len(map_) == 0
    assert CuckooFilter(np.int64(10), max_capacity=None, seed=np.uint64(2**64 - 1)).capacity == 10


def test_exceptions_have_the_bases_that_one_would_catch():
    for error in (CorruptFileError, MergeError, ParameterError, SecretKeyError):
        assert issubclass(error, guira_filters.GuiraError)
        assert issubclass(error, ValueError)
    for error in (guira_filters.TooManyCopiesError, guira_filters.CounterFullError):
        assert issubclass(error, guira_filters.FilterFullError)


def test_a_generator_sees_what_was_added_before_it_is_asked_again():
    seen = CuckooFilter(1000)
    seen.update(word for word in ["ani", "ani", "guira"] if word not in seen)
    assert len(seen) == 2


def test_what_came_before_a_bad_key_is_kept():
    for keys in (["ani", 3.5, "koel"], iter(["ani", 3.5, "koel"])):
        seen = CuckooFilter(1000)
        with pytest.raises(TypeError):
            seen.update(keys)
        assert "ani" in seen
        assert len(seen) == 1


def test_an_iterator_that_fails_hands_its_error_on():
    def keys():
        yield "ani"
        raise ZeroDivisionError

    seen = CuckooFilter(1000)
    with pytest.raises(ZeroDivisionError):
        seen.update(keys())
    assert "ani" in seen


def test_an_interrupt_stops_a_long_update():
    class Interrupt(Exception):
        pass

    def interrupt(*_):
        raise Interrupt

    def forever():
        while True:
            yield "ani"

    old = signal.signal(signal.SIGALRM, interrupt)
    seen = guira_filters.CountingCuckooFilter(1000, counter_bits=20)
    try:
        for keys in (forever(), ["ani"] * 30_000_000):
            seen.clear()
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises((Interrupt, guira_filters.CounterFullError)) as raised:
                seen.update(keys)
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert raised.type is Interrupt or seen.count("ani") == 2**20
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def test_an_interrupt_stops_a_long_stream_of_arrow_before_a_key_is_added():
    class Interrupt(Exception):
        pass

    def interrupt(*_):
        raise Interrupt

    column = pa.chunked_array([pa.nulls(1_000_000)] * 1_000_000)
    seen, returned = CuckooFilter(1000), []
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Interrupt):
            # The interpreter, which looks for signals, does nothing between these two.
            [*map(operator.call, [functools.partial(seen.update, column), functools.partial(returned.append, None)])]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert returned == []


def test_filters_can_be_referred_to_weakly():
    seen = CuckooFilter(10)
    reference = weakref.ref(seen)
    del seen
    gc.collect()
    assert reference() is None


def test_threads_share_a_filter_and_lose_no_key():
    seen = CuckooFilter(1000, max_capacity=100_000)
    failures = []

    def work(first):
        try:
            for start in range(first, 40_000, 8_000):
                keys = list(range(start, start + 1000))
                seen.update(keys)
                for key in keys[:100]:
                    seen.remove(key)
                    seen.add(key)
                if not seen.contains_many(keys).all():
                    failures.append(start)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(0, 8000, 1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(seen) == 40_000
    assert all(key in seen for key in range(40_000))


def runs_beside(call):
    """Whether another thread runs during a call of what is compiled."""
    state, states = [0], set()

    def look():
        while state[0] != 2:
            states.add(state[0])
            time.sleep(0)

    thread = threading.Thread(target=look)
    thread.start()
    # The interpreter, which has threads take turns, does nothing between these three.
    steps = [functools.partial(operator.setitem, state, 0, 1), call, functools.partial(operator.setitem, state, 0, 2)]
    try:
        [*map(operator.call, steps)]
    finally:
        state[0] = 2
        thread.join()
    return 1 in states


NUMBERS = range(500_000)
TEXTS = [str(number) for number in NUMBERS]
IDS = [str(uuid.UUID(int=number)) for number in NUMBERS]


@pytest.mark.parametrize(
    "keys",
    [
        TEXTS, tuple(TEXTS), set(TEXTS), dict.fromkeys(TEXTS), NUMBERS, np.arange(5_000_000), np.array(TEXTS, dtype=object),
        pa.array(TEXTS * 10), pd.Series(TEXTS, dtype=object),
    ],
    ids=lambda keys: f"{type(keys).__module__}.{type(keys).__name__}",
)  # fmt: skip
def test_other_threads_run_while_many_keys_are_added(keys):
    seen = CuckooSet(1000, max_capacity=100_000_000)
    # One try is enough, unless the machine lets the other thread wait all the while.
    assert any(runs_beside(functools.partial(seen.update, keys)) for _ in range(20))


@pytest.mark.parametrize("pairs", [dict.fromkeys(TEXTS, 1), [(text, 1) for text in TEXTS]], ids=lambda pairs: type(pairs).__name__)
def test_other_threads_run_while_many_pairs_are_added(pairs):
    map_ = CuckooMap(4_000_000)
    assert any(runs_beside(functools.partial(map_.update, pairs)) for _ in range(6))


@pytest.mark.parametrize(
    "ids",
    [IDS, tuple(IDS), np.array(IDS), pa.array(IDS).dictionary_encode(), pl.Series(IDS), pd.Series(IDS, dtype=object)],
    ids=lambda ids: f"{type(ids).__module__}.{type(ids).__name__}",
)
def test_other_threads_run_while_text_is_read_as_uuids(ids):
    assert any(runs_beside(functools.partial(guira_filters._guira_filters.uuids, ids)) for _ in range(20))
