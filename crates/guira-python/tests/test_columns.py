"""Columns of every type of every library: README's table of columns, cell by cell.

A column's keys are those of the Python objects that it consists of, or it is refused.
"""

import array
import ctypes
import datetime
import decimal
import ipaddress
import itertools
import mmap
import re
import subprocess
import sys
import textwrap
import uuid
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import guira_filters
from guira_filters import CountingCuckooFilter, CuckooFilter, keys

UUIDS = [uuid.UUID(int=7), uuid.UUID("12345678-1234-5678-1234-567812345678")]
TEXTS = [str(one) for one in UUIDS]
WORDS = ["ani", "żółw", "", "a longer word that no view has inside itself", "ani"]
BYTES = [word.encode() for word in WORDS]
SIGNED, UNSIGNED = [0, 1, 100, -1, -128], [0, 1, 100, 255]
TRUTHS = [True, False, True]
DAY, MOMENT = datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1)
HOUR, DURATION = datetime.time(1), datetime.timedelta(1)
AMOUNT = decimal.Decimal("1.5")
INTEGERS = {f"{sign}int{8 * size}": f"{kind}{size}" for sign, kind in (("", "i"), ("u", "u")) for size in (1, 2, 4, 8)}


def values_of(name):
    return UNSIGNED if name.lower().startswith("u") else SIGNED


def extension(type_, values):
    return pa.ExtensionArray.from_storage(type_, pa.array(values, type_.storage_type))


class Unknown(pa.ExtensionType):
    def __init__(self):
        super().__init__(pa.binary(16), "org.example.unknown")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls()


def relation(type_, *values):
    """A column of DuckDB, of values in its own words."""
    rows = ", ".join(f"(({value})::{type_})" for value in values)
    return duckdb.connect().sql(f"select k from (values {rows}) t(k)")


NUMPY = {
    **{name: np.array(values_of(name), dtype=kind) for name, kind in INTEGERS.items()},
    **{f"{name}, big-endian": np.array(values_of(name), dtype=f">{kind}") for name, kind in INTEGERS.items()},
    "bool": np.array(TRUTHS),
    "S": np.array(BYTES),
    "U": np.array(WORDS),
    "V": np.array([b"abcd", b"ef\0\0"], dtype="V4"),
    "StringDType": np.array(WORDS, dtype=np.dtypes.StringDType()),
    "StringDType with nulls": np.array(["ani", None], dtype=np.dtypes.StringDType(na_object=None)),
    "object": np.array([*WORDS, *BYTES, 5, 2**100, *UUIDS, ipaddress.ip_address("::1"), True], dtype=object),
}
ARROW = {
    **{name: pa.array(values_of(name), getattr(pa, name)()) for name in INTEGERS},
    "null": pa.nulls(2),
    "bool": pa.array([*TRUTHS, None]),
    "string": pa.array([*WORDS, None]),
    "large_string": pa.array([*WORDS, None], pa.large_string()),
    "string_view": pa.array([*WORDS, None], pa.string_view()),
    "binary": pa.array([*BYTES, None]),
    "large_binary": pa.array([*BYTES, None], pa.large_binary()),
    "binary_view": pa.array([*BYTES, None], pa.binary_view()),
    "fixed_size_binary": pa.array([one.bytes for one in UUIDS] + [None], pa.binary(16)),
    "dictionary": pa.array([*WORDS, None]).dictionary_encode(),
    "dictionary of integers": pa.array([5, 6, 5]).dictionary_encode(),
    "dictionary of bool8": pa.DictionaryArray.from_arrays([0, 1, 0], extension(pa.bool8(), [2, 0])),
    "dictionary of uuid": pa.DictionaryArray.from_arrays([0, 1, 0], extension(pa.uuid(), [one.bytes for one in UUIDS])),
    "run_end_encoded": pa.RunEndEncodedArray.from_arrays([2, 3, 7], ["ani", None, "guira"]),
    "run_end_encoded, sliced": pa.RunEndEncodedArray.from_arrays([2, 3, 7], ["ani", None, "guira"])[1:5],
    "run_end_encoded, short": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int16()), [5, 6]),
    "arrow.uuid": pa.array([*UUIDS, None], pa.uuid()),
    "arrow.json": extension(pa.json_(), ['{"a": 1}', "2"]),
    "arrow.bool8": extension(pa.bool8(), [1, 0, 2]),
}
PANDAS = {
    **{name: pd.Series(values_of(name), dtype=name) for name in INTEGERS},
    **{
        name.replace("ui", "UI").replace("i", "I", 1) + " with nulls": pd.Series(
            [*values_of(name), None], dtype=name.replace("ui", "UI").replace("i", "I", 1)
        )
        for name in INTEGERS
    },
    **{f"{name}[pyarrow]": pd.Series([*values_of(name), None], dtype=f"{name}[pyarrow]") for name in INTEGERS},
    "bool": pd.Series(TRUTHS),
    "boolean": pd.Series([*TRUTHS, None], dtype="boolean"),
    "bool[pyarrow]": pd.Series([*TRUTHS, None], dtype="bool[pyarrow]"),
    "str": pd.Series([*WORDS, None]),
    "string[python]": pd.Series([*WORDS, None], dtype="string[python]"),
    "string[pyarrow]": pd.Series([*WORDS, None], dtype="string[pyarrow]"),
    "binary[pyarrow]": pd.Series([*BYTES, None], dtype=pd.ArrowDtype(pa.binary())),
    "object, bytes": pd.Series([*BYTES, None]),
    "object, uuid": pd.Series([*UUIDS, None]),
    "object, mixed": pd.Series(["ani", 5, b"x", float("nan"), pd.NA, pd.NaT, None, True, UUIDS[0]], dtype=object),
    "category": pd.Series([*WORDS, None], dtype="category"),
    "category of integers": pd.Series([1, 2, 1, None], dtype=pd.CategoricalDtype([2, 1])),
    "category of objects": pd.Series([UUIDS[0], "ani", 5, None], dtype="category"),
    "Sparse": pd.Series(pd.arrays.SparseArray([0, 1, 2])),
    "uuid[pyarrow]": pd.Series([one.bytes for one in UUIDS], dtype=pd.ArrowDtype(pa.binary(16))),
    "Index": pd.Index(WORDS),
    "RangeIndex": pd.RangeIndex(4),
    "CategoricalIndex": pd.CategoricalIndex(WORDS),
    "array": pd.array([1, None, 3], dtype="Int64"),
    "Categorical": pd.Categorical(WORDS),
}
POLARS = {
    **{name: pl.Series([*values_of(name), None], dtype=getattr(pl, name.replace("ui", "UI").replace("i", "I", 1))) for name in INTEGERS},
    "Int128": pl.Series([1, -1, 2**100, None], dtype=pl.Int128),
    "UInt128": pl.Series([1, 2**127, None], dtype=pl.UInt128),
    "Boolean": pl.Series([*TRUTHS, None]),
    "String": pl.Series([*WORDS, None]),
    "Binary": pl.Series([*BYTES, None]),
    "Categorical": pl.Series([*WORDS, None], dtype=pl.Categorical),
    "Enum": pl.Series(["ani", None, "guira"], dtype=pl.Enum(["guira", "ani"])),
    "Object": pl.Series([*UUIDS, "ani", 5, None], dtype=pl.Object),
    "Null": pl.Series([None, None]),
}  # fmt: skip
DUCKDB = {
    **{type_: relation(type_, *values_of(name), "null") for name, type_ in {
        "int8": "tinyint", "int16": "smallint", "int32": "integer", "int64": "bigint",
        "uint8": "utinyint", "uint16": "usmallint", "uint32": "uinteger", "uint64": "ubigint"}.items()},
    "boolean": relation("boolean", "true", "false", "null"),
    "varchar": relation("varchar", "'ani'", "'żółw'", "''", "null"),
    "json": relation("json", "'{}'", "'2'"),
    "blob": relation("blob", "'ani'", "''", "null"),
    "uuid": relation("uuid", *(f"'{text}'" for text in TEXTS), "null"),
    "enum": relation("enum('guira', 'ani')", "'ani'", "'guira'", "null"),
}  # fmt: skip
OTHER = {
    "list": [*WORDS, 5, UUIDS[0]],
    "list of NumPy's scalars": [*np.array(SIGNED), *np.array(UNSIGNED, "u8"), *np.array(TRUTHS), *np.array(WORDS), *np.array(BYTES)],
    "array.array": array.array("q", SIGNED),
    "array.array of bytes": array.array("b", [5, -5]),
    "array.array of characters": array.array("u", "a\0b"),
    "ctypes": (ctypes.c_int64 * 3)(1, 2, 3),
    "ctypes, characters": (ctypes.c_char * 3)(b"a", b"\0", b"c"),
    "ctypes, bytes": (ctypes.c_uint8 * 3)(1, 2, 3),
}  # fmt: skip


def is_missing(value):
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def objects_of(column):
    """The Python objects that a column consists of; what is missing is None."""
    if isinstance(column, duckdb.DuckDBPyRelation):
        values = [value for (value,) in column.fetchall()]
    else:
        method = next((name for name in ("to_list", "to_pylist", "tolist") if hasattr(column, name)), None)
        values = getattr(column, method)() if method else list(column)
    return [None if is_missing(value) else value for value in values]


LIBRARIES = {"NumPy": NUMPY, "Arrow": ARROW, "pandas": PANDAS, "Polars": POLARS, "DuckDB": DUCKDB, "Python": OTHER}
TAKEN = {f"{library}, {name}": column for library, columns in LIBRARIES.items() for name, column in columns.items()}


@pytest.mark.parametrize("column", TAKEN.values(), ids=TAKEN)
def test_a_column_stands_for_the_keys_of_its_objects(column):
    objects = objects_of(column)
    expected = CountingCuckooFilter(1000, 1e-6)
    for one in objects:
        if one is not None:
            expected.add(one)
    seen = CountingCuckooFilter(1000, 1e-6)
    seen.update(column)
    assert seen == expected
    assert all(one in seen for one in objects if one is not None)
    assert seen.contains_many(column).tolist() == [one is not None for one in objects]
    assert seen.count_many(column).tolist() == [0 if one is None else expected.count(one) for one in objects]
    alone = guira_filters.CuckooSet(1000, 1e-6)
    new = [one is not None and alone.add(one) for one in objects]
    assert guira_filters.CuckooSet(1000, 1e-6).add_many(column).tolist() == new


# The types that libraries have in common, with the column of each library.
def shared_types():
    for name, kind in INTEGERS.items():
        values = [0, 1, 100, 127] if name.startswith("u") else [0, 1, -1, 127]
        title = name.replace("ui", "UI").replace("i", "I", 1)
        sql = {"int8": "tinyint", "int16": "smallint", "int32": "integer", "int64": "bigint"}
        type_ = ("u" if name.startswith("u") else "") + sql[name.removeprefix("u")]
        yield name, values, [
            np.array(values, kind), pa.array(values, getattr(pa, name)()), pd.Series(values, dtype=name), pd.Series(values, dtype=title),
            pl.Series(values, dtype=getattr(pl, title)), relation(type_, *values), values,
        ]  # fmt: skip
    words, data = ["ani", "guira", "żółw"], [b"ani", b"x", b"1234"]
    yield "str", words, [
        np.array(words), pa.array(words), pd.Series(words), pd.Series(words, dtype=object), pl.Series(words),
        relation("varchar", *(f"'{word}'" for word in words)), words,
    ]  # fmt: skip
    yield "bytes", data, [
        np.array(data), pa.array(data), pd.Series(data), pl.Series(data), relation("blob", *(f"'{one.decode()}'" for one in data)), data,
    ]  # fmt: skip
    yield "bool", TRUTHS, [
        np.array(TRUTHS), pa.array(TRUTHS), pd.Series(TRUTHS), pl.Series(TRUTHS), relation("boolean", *TRUTHS), TRUTHS,
    ]  # fmt: skip
    yield "category", words, [
        np.array(words, dtype=object), pa.array(words).dictionary_encode(), pd.Series(words, dtype="category"),
        pl.Series(words, dtype=pl.Categorical), relation("enum('ani', 'guira', 'żółw')", *(f"'{word}'" for word in words)), words,
    ]  # fmt: skip
    yield "UUID", UUIDS, [
        np.array(UUIDS), pa.array(UUIDS), pd.Series(UUIDS), pl.Series(UUIDS, dtype=pl.Object),
        relation("uuid", *(f"'{text}'" for text in TEXTS)), keys.uuid(pl.Series(TEXTS)), keys.uuid(TEXTS), UUIDS,
    ]  # fmt: skip


SHARED = {name: (values, columns) for name, values, columns in shared_types()}


@pytest.mark.parametrize(("values", "columns"), SHARED.values(), ids=SHARED)
def test_a_key_of_one_library_is_found_through_all_others(values, columns):
    for stored, asked in itertools.product(columns, columns):
        seen = CuckooFilter(1000, 1e-6)
        seen.update(stored)
        assert len(seen) == len(values)
        assert seen.contains_many(asked).all()
        assert all(value in seen for value in values)


DICTIONARY = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2], pa.int8()), ["ani", TEXTS[1], None])[1:]
RUNS = pa.RunEndEncodedArray.from_arrays([2, 3, 5], [b"ani", UUIDS[1].bytes, None])[2:]


@pytest.mark.parametrize("column", [pl.Series(["ani", None], dtype=pl.String), pa.array(["ani", None])])
def test_uuids_are_one_key_if_asked_for_and_text_otherwise(column):
    text = pa.array([TEXTS[1], None])
    for spelling in (
        keys.uuid(text), keys.uuid(pl.Series([TEXTS[1].upper(), None])), keys.uuid([UUIDS[1]]), keys.uuid((UUIDS[1].bytes,)),
        keys.uuid(pa.array([UUIDS[1]])), keys.uuid(np.array([f"urn:uuid:{TEXTS[1]}"])), keys.uuid(pd.Series([TEXTS[1], None])),
        keys.uuid(iter([TEXTS[1].replace("-", "")])), keys.uuid(keys.uuid(text)),
        # Of other types, and of what has but the capsules of Arrow.
        keys.uuid(pl.Series([UUIDS[1].bytes, None])), keys.uuid(pl.Series([TEXTS[1]], dtype=pl.Categorical)),
        keys.uuid(pa.table({"id": pa.array([UUIDS[1].bytes], pa.binary(16))})), keys.uuid(pa.table({"id": pa.array([UUIDS[1]])})),
        keys.uuid(pd.DataFrame({"id": pd.Series([UUIDS[1].bytes], dtype=pd.ArrowDtype(pa.binary()))})),
        keys.uuid(relation("uuid", f"'{TEXTS[1]}'")), keys.uuid(pa.array([UUIDS[1].bytes], pa.binary_view())),
        # Of columns whose values are elsewhere, some of which no row has, and of tables of them.
        keys.uuid(relation(f"enum('ani', '{TEXTS[1]}')", f"'{TEXTS[1]}'", "null")), keys.uuid(DICTIONARY),
        keys.uuid(pa.table({"id": DICTIONARY})), keys.uuid(pa.table({"id": DICTIONARY}).to_reader()),
        keys.uuid(pa.chunked_array([DICTIONARY[:1], DICTIONARY[1:]])), keys.uuid(RUNS), keys.uuid(pa.table({"id": RUNS})),
        keys.uuid(pl.DataFrame({"id": pl.Series([TEXTS[1], None], dtype=pl.Categorical)})),
        keys.uuid(pd.DataFrame({"id": pd.Series([TEXTS[1], None], dtype="category")})),
    ):  # fmt: skip
        seen = CuckooFilter(1000, 1e-6)
        seen.update(spelling)
        assert (len(seen), UUIDS[1] in seen, keys.uuid(TEXTS[1]) in seen, TEXTS[1] in seen) == (1, True, True, False)
        assert seen.contains_many(spelling).tolist()[:1] == [True]
    assert len(keys.uuid(text)) == 2
    for wrong in (column, ["ani"], [b"ani"], pa.array([b"ani"])):
        with pytest.raises(ValueError, match="UUID"):
            keys.uuid(wrong)
    with pytest.raises(TypeError, match="not int"):
        keys.uuid([5])


def test_text_that_is_no_utf8_is_no_uuid_and_named_with_replacement_characters():
    # As a Parquet file may have it: pyarrow does not look at the bytes.
    column = pa.array([TEXTS[0].encode(), b"\xff\xfe\xf0"])
    for type_ in (pa.string(), pa.large_string()):
        text = column.cast(pa.binary() if type_ == pa.string() else pa.large_binary()).view(type_)
        for given in (text, text[1:], text.dictionary_encode(), pa.chunked_array([text])):
            with pytest.raises(ValueError, match='"\ufffd+" is not the text of a UUID'):
                keys.uuid(given)
    view = pa.Array.from_buffers(pa.string_view(), 2, column.cast(pa.binary_view()).buffers())
    with pytest.raises(ValueError, match='"\ufffd+" is not the text of a UUID'):
        keys.uuid(view)


REFUSED = {
    "NumPy, float": (np.zeros(2), "of float64: a float is no key"),
    "NumPy, float16": (np.zeros(2, "f2"), "of float16: a float"),
    "NumPy, longdouble": (np.zeros(2, "g"), "of float[0-9]+: a float"),
    "NumPy, complex": (np.zeros(2, "c16"), "format"),
    "NumPy, datetime64": (np.zeros(2, "M8[s]"), r"datetime64\[s\]: .* pass array.view"),
    "NumPy, timedelta64": (np.zeros(2, "m8[s]"), r"timedelta64\[s\]: .* pass array.view"),
    "NumPy, structured": (np.zeros(2, "i4,i4"), "pass the field"),
    "NumPy, object": (np.array([DAY]), "not date"),
    "NumPy, float object": (np.array([1.5], dtype=object), "not float"),
    **{
        f"Arrow, {type_}": (pa.array(values, type_), f"{words}.*: .*(cast|pass)")
        for type_, values, words in [
            (pa.float16(), [np.float16(1)], "Float16"), (pa.float32(), [1.5], "Float32"), (pa.float64(), [1.5], "Float64"),
            (pa.date32(), [DAY], "Date32"), (pa.date64(), [DAY], "Date64"),
            (pa.time32("s"), [HOUR], "Time32"), (pa.time64("ns"), [HOUR], "Time64"),
            (pa.timestamp("us"), [MOMENT], "Timestamp"), (pa.timestamp("us", "UTC"), [MOMENT], "Timestamp"),
            (pa.duration("s"), [DURATION], "Duration"), (pa.month_day_nano_interval(), [(1, 1, 1)], "Interval"),
            (pa.decimal32(5, 1), [AMOUNT], "Decimal32"), (pa.decimal64(5, 1), [AMOUNT], "Decimal64"),
            (pa.decimal128(5, 1), [AMOUNT], "Decimal128"), (pa.decimal128(38, 0), [1], "Decimal128"),
            (pa.decimal256(5, 1), [AMOUNT], "Decimal256"),
            (pa.list_(pa.int8()), [[1]], "List"), (pa.large_list(pa.int8()), [[1]], "LargeList"),
            (pa.list_view(pa.int8()), [[1]], "ListView"), (pa.large_list_view(pa.int8()), [[1]], "LargeListView"),
            (pa.list_(pa.int8(), 1), [[1]], "FixedSizeList"), (pa.map_(pa.int8(), pa.int8()), [[(1, 1)]], "Map"),
            (pa.struct({"a": pa.int8()}), [{"a": 1}], "Struct"),
            (pa.binary(8), [bytes(8)], "FixedSizeBinary"),
        ]
    },
    "Arrow, union": (pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])]), "Union"),
    "Arrow, dictionary": (pa.array([1.5]).dictionary_encode(), "Float64"),
    "Arrow, run_end_encoded": (pa.RunEndEncodedArray.from_arrays([2], [1.5]), "Float64"),
    "Arrow, table": (pa.table({"price": [1.5]}), '"price".*Float64'),
    "Arrow, batch": (pa.record_batch({"price": [1.5]}), '"price".*Float64'),
    "Arrow, chunks of structures": (pa.chunked_array([[{"a": 1}]]), "Struct.*pass the field"),
    "Arrow, arrow.opaque": (extension(pa.opaque(pa.binary(), "bits", "x"), [b"x"]), "arrow.opaque.*storage"),
    "Arrow, tensor": (extension(pa.fixed_shape_tensor(pa.int8(), [1]), [[1]]), "arrow.fixed_shape_tensor"),
    "Arrow, unknown extension": (extension(Unknown(), [bytes(16)]), "org.example.unknown.*storage"),
    "Arrow, dictionary of an extension": (
        pa.DictionaryArray.from_arrays([0], extension(pa.opaque(pa.binary(), "bits", "x"), [b"x"])), "arrow.opaque"),
    "pandas, float": (pd.Series([1.5], name="price"), '"price" of float64: a float'),
    "pandas, Float64": (pd.Series([1.5], name="price", dtype="Float64"), '"price" of dtype Float64: a float'),
    "pandas, datetime": (pd.Series([MOMENT], name="day"), '"day".*datetime64.*astype'),
    "pandas, datetime with zone": (pd.Series([pd.Timestamp(0, tz="UTC")], name="day"), '"day".*UTC.*a time'),
    "pandas, timedelta": (pd.Series([DURATION]), "timedelta64.*astype"),
    "pandas, period": (pd.Series(pd.period_range("2026", periods=2, freq="D")), "period.*a time"),
    "pandas, interval": (pd.Series(pd.interval_range(0.0, 2.0)), "interval.*its ends"),
    "pandas, category of floats": (pd.Series([1.5], dtype="category"), "category: a float"),
    "pandas, category of times": (pd.Series(pd.Categorical([MOMENT]), name="day"), '"day".*category: a time'),
    "pandas, sparse floats": (pd.Series(pd.arrays.SparseArray([1.5]), name="price"), '"price".*Sparse.*: a float'),
    "pandas, sparse complex numbers": (pd.Series(pd.arrays.SparseArray([1j])), "Sparse.*: a complex number"),
    "pandas, decimals": (pd.Series([AMOUNT], name="price"), '"price" of object.*not Decimal'),
    "pandas, dates": (pd.Series([DAY]), "not date"),
    "pandas, float[pyarrow]": (pd.Series([1.5], name="price", dtype="float64[pyarrow]"), '"price".*Float64'),
    "pandas, DatetimeIndex": (pd.DatetimeIndex([MOMENT]), "datetime64"),
    "pandas, MultiIndex": (pd.MultiIndex.from_tuples([(1, 2)]), "get_level_values"),
    **{
        f"Polars, {column.dtype}": (column.alias("k"), f'"k" .*{words}')
        for column, words in [
            (pl.Series([1.5]), "Float64"), (pl.Series([1.5], dtype=pl.Float32), "Float32"), (pl.Series([1.5], dtype=pl.Float16), "Float16"),
            (pl.Series([DAY]), "Date32"), (pl.Series([MOMENT]), "Timestamp"), (pl.Series([HOUR]), "Time64"), (pl.Series([DURATION]), "Duration"),
            (pl.Series([AMOUNT]), "Decimal128"), (pl.Series([[1]]), "List"), (pl.Series([[1]], dtype=pl.Array(pl.Int8, 1)), "FixedSizeList"),
            (pl.Series([{"a": 1}]), "Struct"), (pl.Series([DAY], dtype=pl.Object), "Object.*not date"),
        ]
    },
    "Polars, frame": (pl.DataFrame({"k": [1.5]}), '"k".*Float64'),
    **{
        f"DuckDB, {type_}": (relation(type_, value), f'"k".*{words}')
        for type_, value, words in [
            ("float", "1.5", "Float32"), ("double", "1.5", "Float64"), ("decimal(10, 2)", "1.5", "Decimal128"),
            ("hugeint", "1", "HUGEINT"), ("uhugeint", "1", "UHUGEINT"), ("bit", "'101'", "BIT"), ("bignum", "1", "BIGNUM"),
            ("date", "'2026-01-01'", "Date32"), ("time", "'01:00'", "Time64"), ("timestamp", "'2026-01-01'", "Timestamp"),
            ("timestamptz", "'2026-01-01'", "Timestamp"), ("timestamp_ns", "'2026-01-01'", "Timestamp"),
            ("interval", "'1 day'", "Interval"), ("integer[]", "[1]", "List"), ("integer[1]", "[1]", "FixedSizeList"),
            ("struct(a integer)", "{'a': 1}", "Struct"), ("map(integer, integer)", "map([1], [2])", "Map"),
            ("union(a integer)", "1", "Union"), ("variant", "1", "arrow.parquet.variant"),
        ]
    },
    "Python, two columns": (duckdb.connect().sql("select 1 as a, 2 as b"), "2 columns"),
    "Python, bytes": (b"ani", "one key"),
    "Python, mmap": (mmap.mmap(-1, 16), "one key"),
    "Python, array of floats": (array.array("d", [1.5]), "of float64: a float"),
    "Python, Arrow's scalars": (list(pa.array(["ani"])), "not .*StringScalar"),
}  # fmt: skip


@pytest.mark.parametrize(("column", "words"), REFUSED.values(), ids=REFUSED)
def test_a_column_that_stands_for_no_keys_is_refused_with_what_to_do(column, words):
    seen = CuckooFilter(1000)
    for use in (seen.update, seen.contains_many, seen.remove_many, seen.add_unique_many):
        with pytest.raises(TypeError, match=words):
            use(column)
    assert len(seen) == 0


@pytest.mark.parametrize("name", [name for name, (column, _) in REFUSED.items() if isinstance(column, pd.Series) and column.dtype != object])
def test_a_column_of_pandas_is_refused_whether_or_not_it_has_a_value(name):
    column, words = REFUSED[name]
    missing = column.reindex([-1, -2])
    assert missing.dtype == column.dtype and missing.isna().all()
    for without_value in (missing, column[:0]):
        with pytest.raises(TypeError, match=words):
            CuckooFilter(1000).update(without_value)
        with pytest.raises(TypeError, match=words):
            keys.uuid(without_value)


def test_a_column_of_pandas_whose_type_is_not_known_as_it_has_no_value_holds_no_keys():
    for column in (pd.Series([None, None], dtype="category"), pd.Categorical([None, None]), pd.Series([None, None], dtype=object)):
        seen = CuckooFilter(1000)
        seen.update(column)
        assert len(seen) == 0 and seen.contains_many(column).tolist() == [False, False]


def test_a_column_of_numbers_that_only_polars_has_is_refused_when_others_hand_it_on():
    class Wrapped:
        def __arrow_c_stream__(self, requested_schema=None):
            return pl.Series([1], dtype=pl.Int128).__arrow_c_stream__()

    class Addresses:
        def __arrow_c_stream__(self, requested_schema=None):
            return pl.Series(UUIDS, dtype=pl.Object).__arrow_c_stream__()

    for column in (Wrapped(), Addresses()):
        with pytest.raises(TypeError, match="cast"):
            CuckooFilter(1000).update(column)


def test_a_column_of_an_old_release_says_what_to_do(monkeypatch):
    monkeypatch.delattr(pl.Series, "__arrow_c_stream__")
    with pytest.raises(TypeError, match=r"a polars\S*Series without __arrow_c_stream__.*upgrade, or pass a list"):
        CuckooFilter(1000).update(pl.Series(["ani"]))


def test_pandas_needs_no_pyarrow():
    program = """
        import sys
        sys.modules["pyarrow"] = None
        import uuid
        import numpy as np, pandas as pd
        import guira_filters
        words = ["ani", "guira", None]
        for column in (
            pd.Series(words), pd.Series(words, dtype=object), pd.Series(words, dtype="string"), pd.Series(words, dtype="category"),
            pd.Series([1, 2]), pd.Series([1, None], dtype="Int64"), pd.Series([True, None], dtype="boolean"), pd.Index(words),
            pd.Series([b"x", None]), pd.Series([uuid.UUID(int=7)]), pd.Series(pd.arrays.SparseArray([0, 1])), pd.DataFrame({"k": [1]}),
            pd.Categorical(words), pd.array(["ani", None]), pd.array([1, None]), pd.Series([2], dtype="category"),
        ):
            seen = guira_filters.CuckooFilter(100, 1e-6)
            seen.update(column)
            objects = (column["k"] if isinstance(column, pd.DataFrame) else column).tolist()
            objects = [one for one in objects if not pd.isna(one)]
            assert len(seen) == len(objects) > 0 and all(one in seen for one in objects), column
        for column in (pd.Series([1.5]), pd.Series([pd.Timestamp(0)]), pd.Series([1.5], dtype="Float64")):
            try:
                guira_filters.CuckooFilter(100).update(column)
            except TypeError:
                continue
            raise AssertionError(column)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_the_table_of_the_readme_names_every_type_that_is_tested():
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    table = readme[readme.index("## What is a column of keys") : readme.index("## Which class")]
    table = set(re.findall(r"[\w.]+", table.lower()))
    names = [name for library, columns in LIBRARIES.items() for name in columns if library != "Python"]
    names += [name.split(", ", 1)[1] for name in REFUSED if name.startswith(("DuckDB", "Polars"))]
    first_words = {re.match(r"[\w.]+", name)[0].lower() for name in names}
    # Integers are ranges there.
    missing = {word for word in first_words - table if not re.fullmatch(r"u?int(8|16|32|64)", word)}
    assert missing - {"frame"} == set()
