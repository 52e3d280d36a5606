"""No operation leaks memory, and processes that open one file share it."""

import copy
import gc
import io
import multiprocessing
import os
import pickle
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import guira_filters
from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, ExpiringCuckooFilter

MILLION = 1_000_000


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def attempt(call, *arguments):
    try:
        call(*arguments)
    except Exception:
        pass


def operations():
    """Each kind of operation, with how many times it is done: a million, or fewer of those that are a million by themselves."""
    filter_ = CuckooFilter(1000, max_capacity=10_000)
    unique, counting, map_ = CuckooSet(1000), CountingCuckooFilter(1000, counter_bits=4), CuckooMap(1000)
    words = [f"word {number}" for number in range(500)]
    numbers, column = np.arange(500), pa.array([*words, None])
    text, objects = np.array(words), np.array(words, dtype=object)
    whole = filter_.to_bytes()
    other = filter_.copy()

    def add_and_remove(key):
        filter_.add(key)
        filter_.remove(key)

    yield "bytes", MILLION, lambda: add_and_remove(b"ani")
    yield "str", MILLION, lambda: add_and_remove("żółw")
    yield "int", MILLION, lambda: add_and_remove(2**63)
    yield "large int", MILLION // 4, lambda: add_and_remove(2**100)
    yield "NumPy's int", MILLION // 4, lambda: add_and_remove(np.int64(5))
    yield "memory", MILLION // 4, lambda: add_and_remove(memoryview(b"ani"))
    yield "in", MILLION, lambda: "ani" in filter_
    yield "count", MILLION, lambda: filter_.count("ani")
    yield "no key", MILLION // 10, lambda: attempt(filter_.add, 3.5)
    yield "KeyError", MILLION // 4, lambda: attempt(filter_.remove, "absent")
    yield "add to a set", MILLION, lambda: unique.add("ani")
    yield "full counter", MILLION // 10, lambda: attempt(counting.add, "ani")
    yield "map", MILLION // 2, lambda: (map_.add("ani", 3), map_.get("ani"), map_.discard("ani", 3))
    expiring, ago = ExpiringCuckooFilter(1000, lifetime=60), datetime.now(timezone.utc)
    yield "expiring", MILLION // 4, lambda: (expiring.add_unique("ani"), "ani" in expiring, len(expiring), expiring.lifetime)
    yield "expiring, told a time", MILLION // 4, lambda: (expiring.add_or_renew("koel", now=ago), expiring.count("ani", now=1.5))
    yield "no time", MILLION // 10, lambda: attempt(lambda: expiring.add("ani", now="today"))
    yield "properties", MILLION // 10, lambda: (repr(filter_), len(filter_), filter_.rate, filter_.nbytes)
    for keys in (words, tuple(words), set(words), numbers, text, objects, column, column.dictionary_encode()):
        name = type(keys).__name__

        def batch(keys=keys):
            filter_.update(keys)
            filter_.remove_many(keys if hasattr(keys, "__len__") else list(keys))

        yield f"update with {name}", 2000, batch
        yield f"contains_many with {name}", 2000, lambda keys=keys: filter_.contains_many(keys)
    yield "iterator", 2000, lambda: unique.update(iter(words))
    yield "bad key in a list", 20_000, lambda: attempt(filter_.contains_many, ["ani", 3.5])
    yield "bad column", 20_000, lambda: attempt(filter_.contains_many, pa.array([1.5]))
    yield "build", 50_000, lambda: CuckooFilter(100)
    yield "refused", 50_000, lambda: attempt(CuckooFilter, 0)
    yield "copy", 50_000, lambda: copy.copy(filter_) == other
    yield "bytes and back", 20_000, lambda: CuckooFilter.from_bytes(filter_.to_bytes())
    yield "damaged", 20_000, lambda: attempt(CuckooFilter.from_bytes, whole[:-1])
    yield "pickle", 20_000, lambda: pickle.load(io.BytesIO(pickle.dumps(filter_)))
    yield "merge", 20_000, lambda: filter_.merge(other)
    yield "clear", MILLION // 4, filter_.clear
    yield "plan", 2000, lambda: guira_filters.plan(1000)


@pytest.mark.parametrize(("name", "times", "operation"), [*operations()], ids=lambda value: value if type(value) is str else "")
def test_operations_leave_memory_as_it_was(name, times, operation):
    for _ in range(times // 10):
        operation()
    # The allocator may keep a megabyte or two more after some operations than after others. What leaks does so each time.
    for _ in range(3):
        gc.collect()
        before, blocks = resident(), len(gc.get_objects())
        for _ in range(times):
            operation()
        gc.collect()
        # A leak of one object of 16 bytes each time would be 16 MB in a million.
        if is_as_before := resident() - before < max(1_500_000, 2 * times) and len(gc.get_objects()) - blocks < 100:
            break
    assert is_as_before


def test_operations_keep_no_reference_to_what_they_are_given():
    filter_, map_ = CuckooFilter(1000), CuckooMap(1000)
    key, number, memory = "a key of its own " + str(os.getpid()), 2**100 + os.getpid(), bytearray(b"ani")
    keys, array, column = [key] * 5, np.arange(7000) + 1000, pa.array([key])
    objects = np.array([key, number], dtype=object)
    everything = [key, number, memory, keys, array, column, objects, [*keys, 3.5]]
    before = [sys.getrefcount(one) for one in everything]
    for one in everything:
        for name in ("add", "remove", "discard", "count", "__contains__", "add_unique", "update", "contains_many",
                     "remove_many", "count_many", "add_unique_many", "__eq__", "merge", "from_bytes", "load"):  # fmt: skip
            for _ in range(10):
                attempt(getattr(filter_, name), one)
        attempt(map_.add, one, 3)
        attempt(map_.remove, one, one)
        attempt(map_.update, {"ani": one})
    del one
    gc.collect()
    assert [sys.getrefcount(one) for one in everything] == before


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits as Linux has them")
def test_without_memory_there_is_an_error_and_the_filter_as_before():
    program = Path(__file__).parent / "without_memory.py"
    # Memory that is given back goes to the system, so that the limit is what counts.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "32768", "MALLOC_ARENA_MAX": "1"}
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def share(path, opened, read, ended, answers):
    """Opens a file, reads all of it, and says how much of it is counted to this process alone."""
    view = guira_filters.open(path)
    opened.wait()
    view.verify()
    read.wait()
    fields, inside = {}, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split(" ")[0]:
            inside = line.endswith(str(path))
        elif inside:
            name, value, *_ = line.split()
            fields[name] = fields.get(name, 0) + int(value) * 1024 if value.isdigit() else 0
    answers.put((fields["Rss:"], fields["Pss:"], fields["Private_Dirty:"]))
    ended.wait()


def test_processes_that_open_one_file_share_its_memory(tmp_path):
    # GUIRA_LARGE_FILE=1000000000 for the full size.
    size = int(os.environ.get("GUIRA_LARGE_FILE", "64000000"))
    processes = 32
    path = tmp_path / "large"
    filter_ = CuckooFilter(int(size * 8 / guira_filters.plan(10_000_000).bits_per_key))
    assert filter_.nbytes > 0.95 * size
    size = filter_.nbytes
    filter_.save(path)
    del filter_
    context = multiprocessing.get_context("fork")
    barriers = [context.Barrier(processes) for _ in range(3)]
    answers = context.Queue()
    workers = [context.Process(target=share, args=(path, *barriers, answers)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    measured = [answers.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join()
    assert all(worker.exitcode == 0 for worker in workers)
    # Each has all of the file before it, and all of them together have it once.
    assert all(rss > 0.99 * size for rss, _, _ in measured)
    assert sum(pss for _, pss, _ in measured) < 1.05 * size
    assert all(dirty == 0 for _, _, dirty in measured)
