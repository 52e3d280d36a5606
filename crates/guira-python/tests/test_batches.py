"""Many keys at once: every kind of array, list and column gives what its keys give one by one."""

import array
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import guira_filters
from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooSet, ExpiringCuckooFilter

WORDS = ["ani", "guira", "", "żółw", "a longer word that no view has inside itself", "ani"]
BYTES = [word.encode() for word in WORDS]
NUMBERS = [0, 1, 7, 100, 127]
INTEGERS = "u1 i1 u2 i2 u4 i4 u8 i8 <u2 >u2 <i2 >i2 <u4 >u4 <i4 >i4 <u8 >u8 <i8 >i8".split()


def bytes_array(kind):
    return np.array(BYTES, dtype=kind)


BATCHES = {
    "list of str": (WORDS, WORDS),
    "list of bytes": (BYTES, BYTES),
    "tuple": (tuple(WORDS), WORDS),
    "mixed list": ([*WORDS, *NUMBERS, -3], [*WORDS, *NUMBERS, -3]),
    "dict": (dict.fromkeys(WORDS), list(dict.fromkeys(WORDS))),
    "generator": (lambda: (word for word in WORDS), WORDS),
    "range": (range(5), list(range(5))),
    "empty list": ([], []),
    "numpy str": (np.array(WORDS), WORDS),
    "numpy str, big-endian": (np.array(WORDS).astype(">U50"), WORDS),
    "numpy bytes": (np.array(BYTES), BYTES),
    "numpy objects": (np.array([*WORDS, 7], dtype=object), [*WORDS, 7]),
    "numpy strings of any length": (np.array(WORDS, dtype=np.dtypes.StringDType()), WORDS),
    "numpy void": (np.array(NUMBERS, dtype="<u4").view("V4"), [n.to_bytes(4, "little") for n in NUMBERS]),
    "numpy with a stride": (np.arange(20)[::3], list(range(20))[::3]),
    "numpy backwards": (np.arange(20, dtype=np.int32)[::-1], list(range(20))[::-1]),
    "numpy bytes with a stride": (np.array(BYTES)[::2], BYTES[::2]),
    "numpy that can't be written": (np.broadcast_to(np.int64(7), 5), [7] * 5),
    "numpy empty": (np.array([], dtype=np.uint64), []),
    "array.array": (array.array("Q", NUMBERS), NUMBERS),
    "arrow string": (pa.array(WORDS), WORDS),
    "arrow large string": (pa.array(WORDS, pa.large_string()), WORDS),
    "arrow string view": (pa.array(WORDS, pa.string_view()), WORDS),
    "arrow binary": (pa.array(BYTES), BYTES),
    "arrow large binary": (pa.array(BYTES, pa.large_binary()), BYTES),
    "arrow binary view": (pa.array(BYTES, pa.binary_view()), BYTES),
    "arrow bytes of one length": (pa.array([b"abcd", b"efgh"], pa.binary(4)), [b"abcd", b"efgh"]),
    "arrow dictionary": (pa.array(WORDS).dictionary_encode(), WORDS),
    "arrow dictionary of integers": (pa.array(NUMBERS).dictionary_encode(), NUMBERS),
    "arrow sliced": (pa.array(WORDS)[2:5], WORDS[2:5]),
    "arrow chunks": (pa.chunked_array([WORDS, [], WORDS[:2]]), WORDS + WORDS[:2]),
    "arrow without chunks": (pa.chunked_array([], pa.string()), []),
    "arrow table of one column": (pa.table({"word": WORDS}), WORDS),
    "polars": (pl.Series(WORDS), WORDS),
    "polars binary": (pl.Series(BYTES), BYTES),
    "polars categorical": (pl.Series(WORDS, dtype=pl.Categorical), WORDS),
    "polars integers": (pl.Series(NUMBERS, dtype=pl.Int16), NUMBERS),
    "polars frame of one column": (pl.DataFrame({"word": WORDS}), WORDS),
    "pandas": (pd.Series(WORDS), WORDS),
    "pandas with arrow": (pd.Series(WORDS, dtype=pd.ArrowDtype(pa.string())), WORDS),
    "pandas integers": (pd.Series(NUMBERS), NUMBERS),
    "pandas index": (pd.Index(WORDS), WORDS),
}
for kind in INTEGERS:
    values = NUMBERS if "u" in kind else [*NUMBERS, -1, -128]
    BATCHES[f"numpy {kind}"] = (np.array(values, dtype=kind), values)
for kind in (pa.uint8, pa.int8, pa.uint16, pa.int16, pa.uint32, pa.int32, pa.uint64, pa.int64):
    values = NUMBERS if kind.__name__.startswith("u") else [*NUMBERS, -1, -128]
    BATCHES[f"arrow {kind.__name__}"] = (pa.array(values, kind()), values)


@pytest.mark.parametrize(("batch", "keys"), BATCHES.values(), ids=BATCHES)
def test_a_batch_does_what_its_keys_do_one_by_one(batch, keys):
    def keys_of_batch():
        return batch() if callable(batch) else batch

    expected = CountingCuckooFilter(1000, 1e-6)
    for key in keys:
        expected.add(key)
    seen = CountingCuckooFilter(1000, 1e-6)
    seen.add_many(keys_of_batch())
    assert seen == expected
    assert seen.count_many(keys_of_batch()).tolist() == [expected.count(key) for key in keys]

    half = CuckooFilter(1000, 1e-6)
    half.update(keys[::2])
    answers = half.contains_many(keys_of_batch())
    assert answers.dtype == np.dtype(bool)
    assert answers.flags.writeable
    assert answers.tolist() == [key in half for key in keys]
    assert half.count_many(keys_of_batch()).dtype == np.uint64

    filled = CuckooFilter(1000, 1e-6)
    filled.update(keys_of_batch())
    assert filled.remove_many(keys_of_batch()).tolist() == [True] * len(keys)
    assert len(filled) == 0
    assert filled.remove_many(keys_of_batch()).tolist() == [False] * len(keys)

    first = [keys.index(key) == number for number, key in enumerate(keys)]
    assert CuckooSet(1000, 1e-6).add_many(keys_of_batch()).tolist() == first
    assert CuckooFilter(1000, 1e-6).add_unique_many(keys_of_batch()).tolist() == first


NULLS = {
    "string": pa.array(["ani", None, "guira", None]),
    "view": pa.array(["ani", None, "guira", None], pa.string_view()),
    "integer": pa.array([1, None, 0, None]),
    "bytes of one length": pa.array([b"abcd", None, b"efgh", None], pa.binary(4)),
    "dictionary": pa.array(["ani", None, "guira", None]).dictionary_encode(),
    "dictionary with a null value": pa.DictionaryArray.from_arrays([0, 1, 2, 1], ["ani", None, "guira"]),
    "chunks": pa.chunked_array([["ani", None], ["guira", None]]),
    "polars": pl.Series(["ani", None, "guira", None]),
    "pandas": pd.Series(["ani", None, "guira", None], dtype=pd.ArrowDtype(pa.string())),
}


@pytest.mark.parametrize("column", NULLS.values(), ids=NULLS)
def test_a_null_is_never_there_and_never_added(column):
    seen = CuckooFilter(1000, 1e-6)
    seen.update(column)
    assert len(seen) == 2
    for key in ("", 0, bytes(4)):
        seen.add(key)
    assert seen.contains_many(column).tolist() == [True, False, True, False]
    assert [count > 0 for count in seen.count_many(column)] == [True, False, True, False]
    assert CuckooSet(1000).add_many(column).tolist() == [True, False, True, False]
    assert seen.remove_many(column).tolist() == [True, False, True, False]


def test_a_batch_of_more_keys_than_there_is_memory_for_answers_is_refused():
    endless = np.broadcast_to(np.int8(7), 2**61)
    for use in (CuckooFilter(10).count_many, CuckooFilter(10).contains_many, CuckooSet(10).add_many, CuckooSet(10).update):
        with pytest.raises(MemoryError):
            use(endless)


def test_none_in_a_list_is_no_null():
    for seen in (CuckooFilter(1000), CuckooSet(1000), CountingCuckooFilter(1000), expiring(1000)):
        methods = [name for name in dir(seen) if name == "update" or name.endswith("_many")]
        assert len(methods) >= 3
        for name in methods:
            for keys in ([None, "ani"], (None, "ani"), np.array([None, "ani"], dtype=object), iter([None, "ani"])):
                with pytest.raises(TypeError, match="not NoneType"):
                    getattr(seen, name)(keys)
            said = " ".join(getattr(type(seen), name).__doc__.split())
            if name in ("update", "contains_many"):
                assert "null of a column" in said and "``None`` in a list raises ``TypeError``" in said
        assert len(seen) == 0


class Read:
    """An object whose Arrow data was read by somebody else before."""

    def __init__(self):
        array = pa.array(WORDS)
        self.array, self.stream = array.__arrow_c_array__(), pa.chunked_array([array]).__arrow_c_stream__()
        pa.Array._import_from_c_capsule(*self.array)
        pa.ChunkedArray._import_from_c_capsule(self.stream)


@pytest.mark.parametrize("name", ["array", "stream"])
def test_arrow_data_is_read_once(name):
    read = Read()
    keys = type("Keys", (), {f"__arrow_c_{name}__": lambda self: getattr(read, name)})()
    seen = CuckooFilter(1000)
    with pytest.raises(ValueError, match="already"):
        seen.update(keys)
    assert len(seen) == 0


def test_a_column_of_nulls_has_no_keys():
    seen = CuckooFilter(1000)
    for column in (pa.nulls(3), pa.array([None] * 3, pa.string()), pa.array([None], pa.string()).dictionary_encode()):
        seen.update(column)
        assert not seen.contains_many(column).any()
    assert len(seen) == 0


@pytest.mark.parametrize("count", [255, 256, 2047, 2048, 2049, 65_535, 65_536, 65_537, 200_000])
def test_batches_of_every_size_are_done_whole(count):
    numbers = np.arange(count, dtype=np.uint32)
    words = [str(number) for number in range(count)]
    nullable = pa.array(words, mask=np.arange(count) % 3 == 0)
    for batch, keys in ((numbers, range(count)), (words, words), (pa.array(words), words), (np.array(words), words)):
        seen = CuckooFilter(count)
        seen.update(batch)
        assert len(seen) == count
        assert all(key in seen for key in keys)
        assert seen.contains_many(batch).all()
        assert seen.remove_many(batch).all()
        assert len(seen) == 0
    seen = CuckooFilter(count)
    seen.update(nullable)
    assert (seen.contains_many(nullable) == (np.arange(count) % 3 != 0)).all()


def test_the_index_of_a_refused_key_counts_rows_with_nulls():
    seen = CuckooFilter(1000)
    with pytest.raises(guira_filters.TooManyCopiesError) as raised:
        seen.update(pa.array([None, *["ani"] * 20]))
    assert (raised.value.index, len(seen)) == (9, 8)
    with pytest.raises(guira_filters.FilterFullError) as raised:
        CuckooSet(100).add_many(np.arange(10_000))
    assert raised.value.index >= 100


@pytest.mark.parametrize(
    ("keys", "error", "words"),
    [
        ("ani", TypeError, "a str is one key"),
        (b"ani", TypeError, "a bytes is one key"),
        (bytearray(b"ani"), TypeError, "a bytearray is one key"),
        (memoryview(b"ani"), TypeError, "a memoryview is one key"),
        (5, TypeError, "not int"),
        (None, TypeError, "not NoneType"),
        (np.zeros((2, 2), int), ValueError, "one dimension"),
        (np.array(5), ValueError, "one dimension"),
        (np.zeros(3), TypeError, r"a column of float64: a float is no key.*astype\('Int64'\)"),
        (np.zeros(3, ">f4"), TypeError, "a column of float32: "),
        (np.zeros(3, "f2"), TypeError, "a column of float16: "),
        (array.array("d", [1.5]), TypeError, "a column of float64: "),
        (pd.Series([1, None], name="user"), TypeError, r'the column "user" of float64: .*if pandas made floats of integers'),
        (np.zeros(3, "c16"), TypeError, 'format "Zd"'),
        (np.zeros(3, "M8[s]"), TypeError, "view"),
        (np.zeros(3, "i4,i4"), TypeError, "field"),
        (np.array(["ani", None], dtype=object), TypeError, "NoneType"),
        (np.ma.array([1, 2], mask=[True, False]), TypeError, "compressed"),
        ([1, 2.5], TypeError, "not float"),
        ([["ani"]], TypeError, "not list"),
        (pa.array([1.5]), TypeError, "Float64"),
        (pa.array([decimal.Decimal("1.5")]), TypeError, "Decimal"),
        (pa.array([["ani"]]), TypeError, "List"),
        (pa.array([1.5]).dictionary_encode(), TypeError, "Float64"),
        (pl.DataFrame({"a": [1], "b": [2]}), TypeError, "2 columns"),
        (pl.LazyFrame({"a": [1]}), TypeError, r"collect\(\)"),
        (pd.DataFrame({"a": [1], "b": [2]}), TypeError, "2 columns"),
    ],
)
def test_what_is_no_batch_is_refused_with_what_to_do(keys, error, words):
    seen = CuckooFilter(1000)
    for use in (seen.contains_many, seen.count_many, seen.remove_many, seen.add_unique_many, seen.update):
        with pytest.raises(error, match=words):
            use(keys)


NO_KEYS = [(None, TypeError), (1.5, TypeError), (2**128, OverflowError), ("\ud800", UnicodeEncodeError)]


def expiring(capacity):
    seen = ExpiringCuckooFilter(capacity, lifetime=60, clock=False)
    seen.advance(1000)
    return seen


@pytest.mark.parametrize(
    ("make", "method", "options"),
    [
        (CuckooFilter, "add_unique_many", {}),
        (CuckooFilter, "remove_many", {}),
        (CountingCuckooFilter, "remove_many", {}),
        (CuckooSet, "add_many", {}),
        (expiring, "add_unique_many", {"now": 1010}),
        (expiring, "add_or_renew_many", {"now": 1010}),
        (expiring, "remove_many", {"now": 1010}),
    ],
)
@pytest.mark.parametrize("count", [3, 70_000])
def test_a_method_that_answers_changes_nothing_if_an_object_is_no_key(make, method, options, count):
    seen = make(200_000)
    seen.update(range(50_000))
    before = seen.copy()
    keys = [*range(49_999, 49_999 - count, -1)] if method == "remove_many" else [*range(49_999, 49_999 + count)]
    for object_, error in NO_KEYS:
        whole = [*keys, object_, "more"]
        for batch in (whole, tuple(whole), np.array(whole, dtype=object), iter(whole), pd.Series(whole, dtype=object)):
            # What is missing in a column of pandas is left out.
            if object_ is None and isinstance(batch, pd.Series):
                continue
            with pytest.raises(error):
                getattr(seen, method)(batch, **options)
            assert seen == before
    answers = getattr(seen, method)([*keys, "more"], **options)
    assert len(answers) == count + 1
    assert len(seen) != len(before)


def test_a_list_that_shrinks_or_grows_while_it_is_hashed_gets_as_many_answers_as_it_had_objects():
    words = ["ani"] * 10

    class Changing:
        def __init__(self, change):
            self.change = change

        def __index__(self):
            self.change()
            return 1

    for change in (words.clear, lambda: words.extend(["guira"] * 100_000)):
        words[:] = ["ani", Changing(change), "koel"]
        answers = CuckooSet(1000).add_many(words)
        assert answers.tolist()[:2] == [True, True] and len(answers) == 3


def test_integers_that_pandas_made_floats_are_keys_again_as_the_error_says():
    column = pd.Series([1, None, 3])
    seen = CuckooFilter(1000, 1e-6)
    seen.update(column.astype("Int64"))
    assert (len(seen), 1 in seen, 3 in seen) == (2, True, True)


def test_text_that_has_no_utf_8_is_refused():
    with pytest.raises(ValueError, match=r"item 1 has U\+D800"):
        CuckooFilter(1000).update(np.array(["ani", "\ud800"]))


def test_a_stream_that_fails_says_why():
    def batches():
        yield pa.record_batch({"word": WORDS})
        raise ZeroDivisionError("in the stream")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"word": pa.string()}), batches())
    with pytest.raises(ValueError, match="Arrow data could not be read"):
        CuckooFilter(1000).update(reader)


def test_an_object_whose_capsule_is_something_else_is_refused():
    class Strange:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.array(WORDS).__arrow_c_array__()[0]

    class Stranger:
        def __arrow_c_stream__(self, requested_schema=None):
            return "a capsule"

    for strange in (Strange(), Stranger()):
        with pytest.raises((TypeError, ValueError)):
            CuckooFilter(1000).update(strange)


def test_a_list_that_shrinks_meanwhile_is_no_danger():
    words = ["ani"] * 10

    class Shrinking:
        def __index__(self):
            words.clear()
            return 1

    words.append(Shrinking())
    words.extend(["ani"] * 10)
    assert CuckooFilter(1000).contains_many(words).tolist() == [False] * 21


def test_answers_without_numpy_say_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ImportError, match="pip install numpy"):
        CuckooFilter(10).contains_many(["ani"])
    filter_ = CuckooFilter(10)
    filter_.add("ani")
    with pytest.raises(ImportError, match="pip install numpy"):
        filter_.remove_many(["ani"])
    assert "ani" in filter_
