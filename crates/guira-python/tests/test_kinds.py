"""The set, the filter that counts, and the map."""

import functools
import inspect

import numpy as np
import pytest

import guira_filters
from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, ExpiringCuckooFilter


def test_a_set_says_which_keys_are_new():
    seen = CuckooSet(1000)
    assert [seen.add(word) for word in ("ani", "guira", "ani")] == [True, True, False]
    assert seen.add_many(["koel", "ani", "koel"]).tolist() == [True, False, False]
    seen.update(word for word in ("ani", "hoopoe"))
    assert len(seen) == 4
    assert not hasattr(seen, "remove")


def test_a_full_set_takes_what_it_has_without_end():
    seen = CuckooSet(100)
    with pytest.raises(guira_filters.FilterFullError):
        seen.update(range(10_000))
    stored = [key for key in range(10_000) if key in seen]
    assert not seen.add_many(stored * 10).any()


def test_sets_take_less_space_where_it_is_preferred():
    assert CuckooSet(100_000, prefer="space").nbytes < CuckooSet(100_000).nbytes


def test_a_filter_that_counts_reaches_as_far_as_its_counters():
    seen = CountingCuckooFilter(1000, counter_bits=4)
    assert seen.max_count == 16
    with pytest.raises(guira_filters.CounterFullError) as raised:
        seen.update(["ani"] * 100)
    assert raised.value.index == seen.count("ani") == 16
    seen.update(np.arange(10))
    assert (seen.total(), len(seen)) == (26, 11)
    seen.remove("ani")
    seen.discard("koel")
    assert seen.count("ani") == 15
    with pytest.raises(KeyError):
        seen.remove("koel")
    seen.clear()
    assert (seen.total(), len(seen), "ani" in seen) == (0, 0, False)


def test_a_map_gives_each_key_its_values():
    shards = CuckooMap(1000, 1e-6, value_bits=8)
    shards.update({"ani": 7, "guira": 3})
    shards.update([("ani", 9)])
    shards.add(5, 255)
    assert sorted(shards.get("ani")) == [7, 9]
    assert shards.get("koel") == ()
    assert ("ani" in shards, "koel" in shards, len(shards)) == (True, False, 4)
    assert shards.contains_many(["ani", "koel", 5]).tolist() == [True, False, True]
    shards.remove("ani", 7)
    shards.discard("ani", 7)
    with pytest.raises(KeyError) as raised:
        shards.remove("ani", 7)
    assert raised.value.args == (("ani", 7),) or raised.value.args == ("ani", 7)
    assert shards.get("ani") == (9,)


def test_a_map_refuses_values_that_it_has_no_bits_for():
    shards = CuckooMap(1000, value_bits=4)
    with pytest.raises(guira_filters.ParameterError, match="more than the 4 bits"):
        shards.add("ani", 16)
    for value in (-1, 2**32):
        with pytest.raises(OverflowError):
            shards.add("ani", value)
    with pytest.raises(TypeError):
        shards.add("ani", "seven")
    with pytest.raises(OverflowError):
        shards.update([("ani", 2**32)])
    for pair in ("ani", ["ani", 7]):
        with pytest.raises(ValueError, match="tuples of a key and a value"):
            shards.update([pair])
    with pytest.raises(guira_filters.ParameterError):
        CuckooMap(1000, 1e-9, value_bits=30)
    assert len(shards) == 0


METHODS_OF_ONE_KEY = [
    (CuckooFilter, ["add", "add_unique", "remove", "discard", "count"]),
    (CuckooSet, ["add"]),
    (CountingCuckooFilter, ["add", "remove", "discard", "count"]),
    (functools.partial(CuckooMap, value_bits=8), ["get"]),
    (functools.partial(ExpiringCuckooFilter, lifetime=60, now=0), []),
    (lambda capacity: guira_filters.CuckooFilterView.from_bytes(CuckooFilter(capacity).to_bytes()), ["count"]),
]


@pytest.mark.parametrize(("make", "names"), METHODS_OF_ONE_KEY)
def test_methods_of_one_key_refuse_all_else(make, names):
    seen = make(1000)
    with pytest.raises(TypeError, match="a key is bytes"):
        1.5 in seen
    with pytest.raises(TypeError, match="'int'"):
        type(seen).__contains__(5, "ani")
    for name in names:
        method, of_class = getattr(seen, name), getattr(type(seen), name)
        assert str(inspect.signature(method)) == "(key, /)"
        assert of_class.__doc__.strip()
        for call in (method, lambda: method("ani", "koel"), lambda: method(key="ani"), lambda: of_class(5, "ani")):
            with pytest.raises(TypeError):
                call()
        with pytest.raises(TypeError, match="a key is bytes"):
            method(1.5)
    assert len(seen) == 0


@pytest.mark.parametrize("class_", [CuckooFilter, CuckooSet, CountingCuckooFilter, CuckooMap, ExpiringCuckooFilter])
def test_all_kinds_have_the_same_ways_to_hash(class_):
    make = functools.partial(class_, lifetime=60, now=0) if class_ is ExpiringCuckooFilter else class_
    plain, seeded, secret = make(1000), make(1000, seed=1), make(1000, hash="siphash", key=bytes(16))
    assert plain == make(1000)
    assert plain != seeded
    assert plain != secret
    assert class_.from_bytes(secret.to_bytes(), bytes(16)) == secret
    assert repr(plain).startswith(f"{class_.__name__}(len=0, capacity=1000, rate=")
    with pytest.raises(guira_filters.ParameterError, match="seed is for hash='xxh3'"):
        make(1000, hash="siphash", key=bytes(16), seed=3)
    with pytest.raises(guira_filters.ParameterError):
        make(0)
