"""Times guira beside other filters of Python, on a million keys, and prints the table of README.md.

    pip install --requirement benchmarks/requirements.txt
    python benchmarks/compare.py [--keys N] [--rust PROGRAM]

PROGRAM is target/release/examples/rust, which `cargo build --release -p guira-python --example rust` makes: the library
itself on the same keys. Times are nanoseconds per key, medians of five runs. Every answer is checked.
"""

import argparse
import importlib.metadata
import platform
import random
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import abloom
import fastbloom_rs
import numpy as np
import probables
import pyarrow as pa
import rbloom
import xxhash

import guira_filters

RATE = 0.001
RUNS = 5


def made_keys(count):
    """Distinct keys of 16 to 40 bytes, and as many that are absent."""
    random.seed(20)
    keys = [random.randbytes(random.randint(16, 40)) for _ in range(2 * count)]
    assert len(set(keys)) == 2 * count
    return keys[:count], keys[count:]


def nanoseconds(run, count):
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times) / count * 1e9


def stable_hash(key):
    """The 128-bit hash that rbloom takes: as good as Python's own, and the same in every process."""
    return xxhash.xxh3_128_intdigest(key) - (1 << 127)


class Adapter:
    """A filter of other people, with the methods that all are timed by."""

    def __init__(self, name, make, size, *, update=None):
        self.name, self.make, self.size, self.update = name, make, size, update


def adapters(count):
    def fastbloom():
        return fastbloom_rs.BloomFilter(count, RATE)

    def pyprobables():
        # With its own length of fingerprints: those that it chooses for a rate do not keep it.
        return probables.CuckooFilter(capacity=count // 2)

    def version(package):
        return importlib.metadata.version(package)

    return [
        Adapter(
            f"guira {version('guira-filters')}",
            lambda: guira_filters.CuckooFilter(count, RATE),
            lambda f: f.nbytes,
            update="update",
        ),
        Adapter(
            "guira, prefer='space'",
            lambda: guira_filters.CuckooFilter(count, RATE, prefer="space"),
            lambda f: f.nbytes,
            update="update",
        ),
        Adapter(
            f"rbloom {version('rbloom')}",
            lambda: rbloom.Bloom(count, RATE),
            lambda f: f.size_in_bits // 8,
            update="update",
        ),
        Adapter(
            "rbloom, stable hash",
            lambda: rbloom.Bloom(count, RATE, stable_hash),
            lambda f: f.size_in_bits // 8,
            update="update",
        ),
        Adapter(
            f"abloom {version('abloom')}",
            lambda: abloom.BloomFilter(count, RATE),
            lambda f: f.byte_count,
            update="update",
        ),
        Adapter(
            "abloom, stable hash",
            lambda: abloom.BloomFilter(count, RATE, serializable=True),
            lambda f: f.byte_count,
            update="update",
        ),
        Adapter(
            f"fastbloom-rs {version('fastbloom-rs')}",
            fastbloom,
            lambda f: len(f.get_bytes()),
            update="add_bytes_batch",
        ),
        Adapter(f"pyprobables {version('pyprobables')}", pyprobables, lambda f: f.capacity * f.bucket_size * 4),
    ]


def add_all(filter_, keys):
    add = filter_.add
    for key in keys:
        add(key)


def answers(filter_, keys):
    # Counting them on the way would take more time for those that are there.
    return [key in filter_ for key in keys]


class FastbloomContains:
    """fastbloom-rs has no `in`."""

    def __init__(self, filter_):
        self.contains = filter_.contains

    def __contains__(self, key):
        return self.contains(key)


def row(adapter, keys, absent):
    if adapter.name.startswith("pyprobables"):
        # Some 6 microseconds each: fewer keys tell as much.
        keys, absent = keys[: len(keys) // 10], absent[: len(absent) // 10]
    count = len(keys)
    filter_ = adapter.make()
    add_all(filter_, keys)
    asked = filter_ if hasattr(type(filter_), "__contains__") else FastbloomContains(filter_)
    assert all(answers(asked, keys)), adapter.name
    cells = [
        nanoseconds(lambda: add_all(adapter.make(), keys), count),
        nanoseconds(lambda: answers(asked, keys), count),
        nanoseconds(lambda: answers(asked, absent), count),
        nanoseconds(lambda: getattr(adapter.make(), adapter.update)(keys), count) if adapter.update else None,
    ]
    cells = ["" if cell is None else f"{cell:.0f}" for cell in cells]
    rate = 100 * sum(answers(asked, absent)) / count
    bits = 8 * adapter.size(filter_) / count if len(absent) == len(keys) and count else 0
    bits = f"{bits:.1f}" if not adapter.name.startswith("pyprobables") else ""
    return f"| {adapter.name} | " + " | ".join([*cells, bits, f"{rate:.3f}"]) + " |"


def batches(keys):
    """More of guira's own operations: with room to spare, and on arrays and columns, in one thread and in two."""
    count = len(keys)
    twice = nanoseconds(lambda: add_all(guira_filters.CuckooFilter(2 * count, RATE), keys), count)
    yield "add, in a filter of twice the capacity", twice
    # As in benchmarks/rust.rs.
    numbers = splitmix(np.arange(count, dtype=np.uint64))
    words = [number.to_bytes(8, "little").hex() * 2 for number in numbers.tolist()]
    words = [word[: 16 + number % 17] for number, word in enumerate(words)]
    column = pa.array(words)
    by_number, by_word = guira_filters.CuckooFilter(count, RATE), guira_filters.CuckooFilter(count, RATE)
    by_number.update(numbers)
    by_word.update(column)
    assert by_number.contains_many(numbers).all()
    assert by_word.contains_many(column).all()
    scalars, integers = list(numbers), numbers.tolist()
    assert by_number.contains_many(scalars).all()
    assert by_number.contains_many(integers).all()
    yield "contains_many, list of NumPy's integers", nanoseconds(lambda: by_number.contains_many(scalars), count)
    yield "contains_many, list of int", nanoseconds(lambda: by_number.contains_many(integers), count)
    yield "update, uint64 in NumPy", nanoseconds(lambda: guira_filters.CuckooFilter(count, RATE).update(numbers), count)
    yield "update, strings in Arrow", nanoseconds(lambda: guira_filters.CuckooFilter(count, RATE).update(column), count)
    yield "contains_many, uint64 in NumPy", nanoseconds(lambda: by_number.contains_many(numbers), count)
    yield "contains_many, strings in Arrow", nanoseconds(lambda: by_word.contains_many(column), count)
    yield "contains_many, list of str", nanoseconds(lambda: by_word.contains_many(words), count)
    half = count // 2
    with ThreadPoolExecutor(2) as threads:
        halves = [numbers[:half], numbers[half:]]
        two = nanoseconds(lambda: list(threads.map(by_number.contains_many, halves)), count)
        yield "contains_many, uint64 in NumPy, two threads", two
        halves = [column[:half], column[half:]]
        two = nanoseconds(lambda: list(threads.map(by_word.contains_many, halves)), count)
        yield "contains_many, strings in Arrow, two threads", two


def splitmix(numbers):
    with np.errstate(over="ignore"):
        mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rust", help="the program that times the library itself")
    options = parser.parse_args()
    keys, absent = made_keys(options.keys)
    print(f"{options.keys} keys, Python {platform.python_version()}, {platform.machine()}\n")
    print("| filter | add | in, present | in, absent | update, a list | bits per key | rate, % |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for adapter in adapters(options.keys):
        print(row(adapter, keys, absent), flush=True)
    print("\n| guira | ns per key |\n|---|---:|")
    for name, time_ in batches(keys):
        print(f"| {name} | {time_:.1f} |", flush=True)
    if options.rust:
        print(subprocess.run([options.rust, str(options.keys)], check=True, capture_output=True, text=True).stdout, end="")


if __name__ == "__main__":
    main()
