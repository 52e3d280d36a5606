"""Each operation in a process with a limit of its address space, 200 times with more of it: a MemoryError, and the filter as before, or
it is done. What test_memory.py runs."""

import os
import pickle
import resource
import traceback
from pathlib import Path

import numpy as np
import pyarrow as pa

from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet

LIMITS = 200


def half_doubled():
    """Two filters: one that is to be doubled by the next keys, and one that is being doubled."""
    filter_ = CuckooFilter(60_000, max_capacity=10_000_000)
    size, numbers, first = filter_.nbytes, np.arange(200_000), 0
    while filter_.nbytes == size:
        before = filter_.copy()
        filter_.update(numbers[first : first + 1000])
        first += 1000
    return before, filter_


def scenes():
    """Filters, and what is done with them."""
    numbers = np.arange(100_000, dtype=np.uint64)
    column, words = pa.array(numbers), pa.array(["ani", None] * 50_000)
    growing, unique = CuckooFilter(1000, max_capacity=10_000_000), CuckooSet(1000, max_capacity=1_000_000)
    full, half = half_doubled()
    some, empty = CuckooFilter(100_000), CuckooFilter(100_000)
    some.update(numbers[:90_000])
    map_, counting = CuckooMap(100_000), CountingCuckooFilter(100_000)
    file = half.to_bytes()
    yield growing, lambda filter_: filter_.update(numbers)
    yield growing, lambda filter_: filter_.update(column)
    yield growing, lambda filter_: filter_.update(range(50_000))
    yield full, lambda filter_: filter_.update(range(10**9, 10**9 + 2000))
    yield unique, lambda set_: set_.update(numbers)
    yield empty, lambda filter_: filter_.merge(some)
    yield full, lambda filter_: filter_.merge(half)
    yield some, lambda filter_: filter_ | empty
    for filter_ in (some, half, map_, counting):
        yield filter_, lambda filter_: filter_.copy()
        yield filter_, lambda filter_: filter_.to_bytes()
    yield half, lambda _: CuckooFilter.from_bytes(file)
    yield some, lambda filter_: filter_.contains_many(numbers)
    yield some, lambda filter_: filter_.contains_many(words)
    yield some, lambda filter_: filter_.count_many(column)
    yield some, lambda filter_: pickle.dumps(filter_)
    yield growing, lambda _: CuckooFilter(1_000_000)


def set_limit(limit):
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def is_done(filter_, operation, more):
    """Whether the operation is done with so many bytes more; otherwise the filter must be as before."""
    filter_ = filter_.copy()
    before = filter_.copy()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    try:
        set_limit(used + more)
        operation(filter_)
    except MemoryError:
        set_limit(resource.RLIM_INFINITY)
        # Keys of a batch that came before are kept.
        assert filter_ == before or len(filter_) > len(before)
        return False
    finally:
        set_limit(resource.RLIM_INFINITY)
    return True


def main():
    refused = []
    found = [*scenes()]
    for number in range(LIMITS):
        child = os.fork()
        if child == 0:
            status = 255
            try:
                status = sum(not is_done(filter_, operation, number * number * 150) for filter_, operation in found)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        assert os.WIFEXITED(ended), f"limit {number} ended with the signal {os.WTERMSIG(ended)}"
        assert os.WEXITSTATUS(ended) < 255, f"limit {number}"
        refused.append(os.WEXITSTATUS(ended))
    print(refused)
    assert refused[0] > len(found) // 2 and refused[-1] == 0


if __name__ == "__main__":
    main()
