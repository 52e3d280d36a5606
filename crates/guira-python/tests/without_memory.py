"""Each operation of each class in a process with a limit of its address space, 24 times with more of it, or 200 times with
GUIRA_ALLOCATIONS=all: it is done, or there is a MemoryError and the filter is as before, or holds what a first part of the batch
makes of it. What test_memory.py runs."""

import functools
import operator
import os
import pickle
import resource
import traceback
from pathlib import Path

import numpy as np
import pyarrow as pa

from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, ExpiringCuckooFilter

LAST_LIMIT = 199
LIMITS = [*range(0, LAST_LIMIT, 1 if os.environ.get("GUIRA_ALLOCATIONS") == "all" else 9), LAST_LIMIT]
NUMBERS = np.arange(50_000, dtype=np.uint64)
INTEGERS = NUMBERS.tolist()
COLUMN = pa.array(NUMBERS)
PAIRS = {number: number % 200 for number in INTEGERS}
OTHERS = np.arange(10**9, 10**9 + 20_000)
WORDS = pa.array(["ani", None] * 25_000)


def expiring(*arguments, **options):
    """A filter whose keys expire, of which none does here."""
    return ExpiringCuckooFilter(*arguments, lifetime=1000, now=0, clock=False, **options)


def update(filter_, keys):
    filter_.update({int(key): 1 for key in keys} if isinstance(filter_, CuckooMap) else keys)


def update_as_iterator(filter_, keys):
    filter_.update(iter(keys))


def first(keys, count):
    """The first keys of a batch."""
    return dict(list(keys.items())[:count]) if isinstance(keys, dict) else keys[:count]


def batches(filter_):
    """Operations that change a filter by one key of a batch after the other, each with its batch."""
    if isinstance(filter_, CuckooMap):
        yield type(filter_).update, PAIRS
        return
    for keys in (INTEGERS, NUMBERS, COLUMN):
        yield type(filter_).update, keys
    yield update_as_iterator, INTEGERS
    for name in ("add_many", "add_unique_many", "add_or_renew_many"):
        if hasattr(filter_, name):
            yield getattr(type(filter_), name), COLUMN


def before_and_amid_doubling():
    """Two filters: one that is to be doubled by the next keys, and one that is being doubled."""
    filter_ = CuckooFilter(60_000, max_capacity=10_000_000)
    size, numbers, start = filter_.nbytes, np.arange(200_000), 0
    while filter_.nbytes == size:
        before = filter_.copy()
        filter_.update(numbers[start : start + 1000])
        start += 1000
    return before, filter_


def scenes():
    """Filters, what is done with each, and the batch that it is done with, if its keys may be stored or removed in part."""
    for class_ in (CuckooFilter, CuckooSet, CountingCuckooFilter, CuckooMap, expiring):
        fixed, growing = class_(60_000), class_(1000, max_capacity=1_000_000)
        for filter_ in (fixed, growing):
            for operation, keys in batches(filter_):
                yield filter_, operation, keys
            other, full = filter_.empty_like(), filter_.empty_like()
            update(other, OTHERS)
            update(full, NUMBERS[:35_000])
            file = full.to_bytes()
            for operation in (operator.or_, operator.ior, type(full).merge):
                yield full, functools.partial(lambda operation, other, filter_: operation(filter_, other), operation, other), None
            yield full, lambda filter_: filter_.contains_many(NUMBERS), None
            yield full, lambda filter_: filter_.contains_many(WORDS), None
            yield full, lambda filter_: filter_.contains_many(INTEGERS), None
            if hasattr(full, "remove_many"):
                yield full, lambda filter_: filter_.count_many(COLUMN), None
                yield full, lambda filter_, keys: filter_.remove_many(keys), NUMBERS[:35_000]
            yield full, lambda filter_: filter_.copy(), None
            yield full, lambda filter_: filter_.to_bytes(), None
            yield full, lambda filter_: pickle.dumps(filter_), None
            yield full, lambda filter_: filter_.empty_like(), None
            yield full, functools.partial(lambda file, filter_: type(filter_).from_bytes(file), file), None
            yield full, functools.partial(lambda class_, _: class_(1_000_000), class_), None
        yield full, lambda filter_: filter_.reserve(500_000), None
    about_to, half = before_and_amid_doubling()
    yield about_to, type(about_to).update, np.arange(10**9, 10**9 + 2000)
    for operation in (operator.ior, operator.or_):
        yield about_to, functools.partial(lambda operation, filter_: operation(filter_, half), operation), None
        yield half, functools.partial(lambda operation, filter_: operation(filter_, about_to), operation), None


def set_limit(limit):
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def take_what_is_left(pieces):
    """Takes the memory that the process has and does not use, so that a limit is felt, but for some small pieces: a new object and a
    message take some hundred bytes, and in Rust nothing is prepared for a want of these."""
    size, number = 1 << 15, 0
    while size >= 1 << 12 and number < len(pieces):
        try:
            pieces[number] = bytes(size)
            number += 1
        except MemoryError:
            size //= 2
    for small in range(max(0, number - 8), number):
        pieces[small] = None


def is_done(filter_, operation, keys, more):
    """Whether the operation is done with so many bytes more; otherwise the filter must be as before, or as after its first keys."""
    filter_ = filter_.copy()
    before, pieces = filter_.copy(), [None] * 10_000
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    try:
        set_limit(used)
        take_what_is_left(pieces)
        set_limit(used + more)
        operation(filter_) if keys is None else operation(filter_, keys)
    except MemoryError:
        set_limit(resource.RLIM_INFINITY)
        pieces.clear()
        if keys is None:
            # A doubling that was under way may have gone on: the header says how far.
            assert filter_.to_bytes()[128:] == before.to_bytes()[128:], f"{operation} left its filter changed"
        elif filter_ != before:
            done = abs(len(filter_) - len(before))
            expected = before.copy()
            operation(expected, first(keys, done))
            # A key that looks like one that is there already adds nothing to a set.
            while len(expected) != len(filter_):
                operation(expected, keys[done : done + 1])
                done += 1
            assert filter_ == expected, f"{operation} left another filter than its first {done} keys make"
            assert filter_.contains_many(list(first(keys, done))).all() or len(filter_) < len(before)
        return False
    finally:
        set_limit(resource.RLIM_INFINITY)
    return True


def main():
    refused = []
    found = [*scenes()]
    for number in LIMITS:
        child = os.fork()
        if child == 0:
            status = 255
            try:
                status = sum(not is_done(*scene, number * number * 150) for scene in found)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        assert os.WIFEXITED(ended), f"limit {number} ended with the signal {os.WTERMSIG(ended)}"
        assert os.WEXITSTATUS(ended) < 255, f"limit {number}"
        refused.append(os.WEXITSTATUS(ended))
    print(len(found), refused)
    assert refused[0] > len(found) // 2 and refused[-1] == 0


if __name__ == "__main__":
    main()
