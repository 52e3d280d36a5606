"""Whatever is passed, there is an answer or an ordinary exception, and the filter is whole afterwards."""

import array
import collections
import ctypes
import datetime
import decimal
import fractions
import ipaddress
import itertools
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import guira_filters
from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet


def failing(name, error=ZeroDivisionError):
    """An object one of whose methods fails."""

    def fail(self, *arguments, **keywords):
        raise error

    return type(f"Failing{name}", (), {name: fail})()


def giving(name, value):
    """An object one of whose methods gives something else than it should."""

    def give(self, *arguments, **keywords):
        # What has items at 0, 1, 2 and so on is iterated over until there is none.
        if name == "__getitem__" and isinstance(arguments[0], int) and arguments[0] >= 1000:
            raise IndexError
        return value

    return type(f"Giving{name}", (), {name: give})()


class Text(str):
    def encode(self, *arguments):
        raise ZeroDivisionError

    __str__ = __repr__ = __hash__ = encode


class Number(int):
    def __index__(self):
        raise ZeroDivisionError

    __int__ = __repr__ = __hash__ = __index__


class Endless:
    def __iter__(self):
        return itertools.islice(itertools.cycle(["ani", 3, b"x"]), 100_000)


class LongList(list):
    def __len__(self):
        return 10**9

    def __iter__(self):
        raise ZeroDivisionError


def released():
    view = memoryview(b"ani")
    view.release()
    return view


def moved_out():
    """A capsule whose stream was taken already."""
    capsule = pa.array(["ani"]).__arrow_c_array__()
    pa.Array._import_from_c_capsule(*capsule)
    return giving("__arrow_c_array__", capsule)


METHODS = [
    "__index__", "__int__", "__iter__", "__len__", "__getitem__", "__array__", "__arrow_c_stream__", "__arrow_c_array__",
    "dtype", "tolist", "mask", "ndim", "__buffer__", "bytes", "packed", "items", "__getattr__", "__hash__", "__eq__",
]  # fmt: skip
VALUES = [None, 5, -5, 2**200, "ani", b"ani", 3.5, [], (), {}, object(), object]

OBJECTS = [
    *VALUES,
    *(failing(name) for name in METHODS),
    *(failing(name, MemoryError) for name in METHODS),
    *(failing(name, AttributeError) for name in METHODS),
    *(giving(name, value) for name in METHODS for value in VALUES),
    Text("ani"), Text("\ud800"), Number(5), Endless(), LongList(["ani"]), LongList(), released(), moved_out(),
    True, 0.0, float("nan"), 1j, ..., NotImplemented, type, guira_filters, CuckooFilter(10), CuckooFilter,
    bytearray(), memoryview(b""), memoryview(bytearray(24)).cast("q"), memoryview(bytes(24)).cast("B", (4, 6)),
    memoryview(bytes(8)).cast("d"), (ctypes.c_int64 * 3)(), (ctypes.c_char * 3)(), ctypes.c_int64(3),
    array.array("d", [1.5]), array.array("b", [-1]), array.array("i"), collections.deque(["ani"]),
    range(10**30, 10**30 + 3), range(5), {"ani"}, {"ani": 1}, iter(["ani"]), zip("ab", [1, 2]),
    uuid.UUID(int=1), ipaddress.ip_address("::1"), ipaddress.ip_network("10.0.0.0/8"),
    datetime.datetime(2026, 1, 1), decimal.Decimal(1), fractions.Fraction(1, 2),
    np.array([], dtype="S"), np.array([], dtype="U"), np.zeros(3, "V0"), np.zeros(3, "S0"), np.zeros(0, "f2"),
    np.zeros(3, "f2"), np.zeros(3, "c16"), np.zeros(3, "M8[ns]"), np.zeros(3, "O"), np.zeros((0, 3), "i8"),
    np.zeros(3, "u1")[::-1], np.zeros((3, 3), "i8")[:, 1], np.zeros(3, [("a", "i4")]), np.array(5), np.array("ani"),
    np.ma.array([1], mask=[1]), np.int64(5), np.float32(5), np.void(b"ani"), np.bool_(True), np.datetime64("2026"),
    np.broadcast_to(np.int64(5), 4), np.frombuffer(b"\1" * 17, "u1")[1:].view("<u8"),
    np.rec.array([(1, 2)], dtype=[("a", "i4"), ("b", "i4")]), np.array([2**70, "ani", b"x"], dtype=object),
    pa.array([]), pa.array([1.5]), pa.array([[1]]), pa.array([{"a": 1}]), pa.array([None]), pa.nulls(3),
    pa.array([True]), pa.array([1], pa.date32()), pa.array([1], pa.timestamp("s")), pa.array([1], pa.duration("s")),
    pa.array(["a"]).dictionary_encode(), pa.table({}), pa.table({"a": [1]}), pa.table({"a": [1], "b": [2]}),
    pa.chunked_array([], pa.int64()), pa.record_batch({"a": ["x"]}), pa.schema([]), pa.scalar("ani"),
    pa.RunEndEncodedArray.from_arrays([1, 3], ["a", "b"]), pa.array([{"a": 1}, None]),
    pl.Series([1.5]), pl.Series([[1]]), pl.Series([None]), pl.DataFrame(), pl.DataFrame({"a": [1]}), pl.lit(1),
    pl.Series(["a"], dtype=pl.Enum(["a", "b"])), pl.Series([datetime.date(2026, 1, 1)]), pl.LazyFrame({"a": [1]}),
    pd.Series([1.5]), pd.Series([None, "a"]), pd.Series([1, None], dtype="Int64"), pd.Categorical(["a", "b"]),
    pd.DataFrame({"a": [1]}), pd.NA, pd.NaT, pd.Timestamp("2026-01-01"), pd.MultiIndex.from_tuples([(1, 2)]),
]  # fmt: skip

ANYTHING = st.one_of(
    st.sampled_from(range(len(OBJECTS))).map(OBJECTS.__getitem__),
    st.lists(st.sampled_from(range(len(OBJECTS))).map(OBJECTS.__getitem__), max_size=4),
    st.binary(max_size=300),
    st.text(max_size=10),
    st.integers(),
    st.floats(),
)

CLASSES = [CuckooFilter, CuckooSet, CountingCuckooFilter, CuckooMap]


def attempt(call, *arguments, **keywords):
    """Calls something, which may raise what is an Exception: a panic is none."""
    try:
        return call(*arguments, **keywords)
    except Exception:
        return None


@settings(max_examples=3000, deadline=None)
@given(class_=st.sampled_from(CLASSES), arguments=st.lists(ANYTHING, min_size=1, max_size=3), data=st.data())
def test_methods_take_anything_and_never_panic(class_, arguments, data):
    filter_ = class_(500)
    filter_.update({"here": 1} if class_ is CuckooMap else ["here"])
    name = data.draw(st.sampled_from([name for name in dir(filter_) if name not in ("__class__", "__init__", "clear", "save")]))
    method = getattr(filter_, name)
    if callable(method):
        attempt(method, *arguments)
    # Only `remove_many`, which was told to remove what is there, may have removed it.
    assert "here" in filter_ or "remove" in name or "discard" in name
    assert class_.from_bytes(filter_.to_bytes()) == filter_


@settings(max_examples=2000, deadline=None)
@given(
    class_=st.sampled_from([*CLASSES, guira_filters.plan, guira_filters.open]),
    arguments=st.lists(ANYTHING, max_size=3),
    data=st.data(),
)
def test_constructors_take_anything_and_never_panic(class_, arguments, data):
    names = ["max_capacity", "prefer", "hash", "key", "seed", "value_bits", "counter_bits", "rate"]
    keywords = data.draw(st.dictionaries(st.sampled_from(names), ANYTHING, max_size=3))
    # What would be a filter of many gigabytes is of no interest.
    arguments = [value for value in arguments if not (isinstance(value, int) and 10**7 < value < 2**62)]
    keywords = {name: value for name, value in keywords.items() if not (isinstance(value, int) and value > 10**7)}
    attempt(class_, *arguments, **keywords)


@settings(max_examples=2000, deadline=None)
@given(class_=st.sampled_from(CLASSES), data=st.data())
def test_damaged_files_never_panic(class_, data):
    filter_ = class_(30, hash="siphash", key=bytes(16)) if data.draw(st.booleans()) else class_(30)
    whole = bytearray(filter_.to_bytes())
    for place, value in data.draw(st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=5)):
        whole[place] = value
    whole = whole[: data.draw(st.integers(0, len(whole)))] if data.draw(st.booleans()) else whole
    for other in CLASSES:
        attempt(other.from_bytes, whole, data.draw(st.sampled_from([None, bytes(16), bytes(15)])))
