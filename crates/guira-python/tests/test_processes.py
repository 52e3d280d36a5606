"""Filters in several processes: a child of `fork` can use what it inherits, and others get filters as pickles or as files.

Nothing waits for luck: a child that has not answered after a minute counts as hanging, and fails the test.
"""

import itertools
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import guira_filters
from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet

HANGS_AFTER = 60  # seconds


def ask_child(question):
    """What a forked child answers, in a byte; None if it hangs."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python warns of threads in a process that forks: this is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        answer = b"!"
        try:
            answer = question()
        finally:
            os.write(writer, answer)
            os._exit(0)
    os.close(writer)
    try:
        answered = select.select([reader], [], [], HANGS_AFTER)[0]
        return os.read(reader, 1) if answered else None
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


class Writers:
    """Threads that change and read filters without a pause until they are told to stop."""

    def __init__(self, *work):
        self.stopped = threading.Event()
        self.failures = []
        self.threads = [threading.Thread(target=self.run, args=(one,)) for one in work]

    def run(self, work):
        try:
            while not self.stopped.is_set():
                work()
        except BaseException as error:
            self.failures.append(error)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        assert self.failures == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_all_children_find_all_keys_beside_threads_that_write():
    # GUIRA_CHILDREN=1000 is the long form.
    children = int(os.environ.get("GUIRA_CHILDREN", "200"))
    numbers = np.arange(3000, dtype=np.uint64)
    kept = np.arange(1_000_000, 1_000_100, dtype=np.uint64)
    plain, growing = CuckooFilter(20_000), CuckooFilter(1000, max_capacity=20_000)
    unique, counting, map_ = CuckooSet(20_000), CountingCuckooFilter(20_000), CuckooMap(1000)
    filters = [plain, growing, unique, counting]
    for filter_ in filters:
        filter_.update(kept)
    map_.add("ani", 3)

    def add_and_remove(filter_):
        filter_.update(numbers)
        assert filter_.remove_many(numbers).all()

    def grow():
        other = CuckooFilter(1000, max_capacity=20_000)
        other.update(numbers)
        other |= growing.copy()
        unique.update(numbers)
        map_.add("koel", 1)
        map_.remove("koel", 1)

    def use_all():
        for filter_ in filters:
            assert filter_.contains_many(kept).all()
            filter_.update([b"a key of the child"])
            assert b"a key of the child" in filter_
            assert filter_.copy() == filter_
        assert map_.get("ani") == (3,)
        made = CuckooFilter(1000)
        made.add("ani")
        return b"y" if "ani" in made else b"n"

    def change_all():
        for filter_ in (plain, growing, counting):
            add_and_remove(filter_)
        grow()

    # Two: so many that one always writes, and few enough that forking threads get their turn.
    with Writers(change_all, change_all):
        # Until one hangs.
        answers = [*itertools.islice(iter(lambda: ask_child(use_all), None), children)]
    assert (len(answers), answers.count(b"y")) == (children, children)
    assert all(filter_.contains_many(kept).all() for filter_ in filters)
    assert all(b"a key of the child" not in filter_ for filter_ in filters)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_children_of_children_and_of_threads_can_use_filters():
    seen = CuckooFilter(1000)
    seen.add("ani")
    numbers = np.arange(500)

    def ask():
        return b"y" if "ani" in seen else b"n"

    def write():
        seen.update(numbers)
        seen.remove_many(numbers)

    answers = []
    with Writers(write):
        threads = [threading.Thread(target=lambda: answers.append(ask_child(lambda: ask_child(ask)))) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == [b"y"] * 20


def start(path):
    global view
    view = guira_filters.open(path)


def count_in_view(keys):
    return int(view.contains_many(keys).sum())


def count_in_copy(work):
    filter_, keys = work
    return type(filter_).__name__, int(filter_.contains_many(keys).sum())


METHODS = [method for method in ("fork", "forkserver", "spawn") if method in multiprocessing.get_all_start_methods()]


@pytest.mark.parametrize("method", METHODS)
def test_workers_get_filters_as_pickles_or_as_a_file(method, tmp_path):
    known = CuckooFilter(10_000)
    known.update(range(10_000))
    known.save(tmp_path / "known")
    unique, counting, map_ = CuckooSet(1000), CountingCuckooFilter(1000), CuckooMap(1000)
    unique.update(range(1000))
    counting.update(range(1000))
    map_.update({number: 1 for number in range(1000)})
    context = multiprocessing.get_context(method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with context.Pool(2, start, [tmp_path / "known"]) as workers:
            assert workers.map(count_in_view, [range(0, 5000), range(5000, 10_000)]) == [5000, 5000]
            kinds = [known, unique, counting, map_]
            copies = workers.map(count_in_copy, [(filter_, range(1000)) for filter_ in kinds])
    assert copies == [(type(filter_).__name__, 1000) for filter_ in kinds]


HOOK = """
import os, sys
seen = []
os.register_at_fork(before=lambda: seen and "ani" in seen[0], after_in_child=lambda: reset())

def reset():
    seen[0].clear()
    seen.append(guira_filters.CuckooFilter(10))

import guira_filters
seen.append(guira_filters.CuckooFilter(1000))
seen[0].add("ani")
child = os.fork()
if child == 0:
    os._exit(0 if len(seen) == 2 and "ani" not in seen[0] else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(status if "ani" in seen[0] else 2)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_functions_that_were_registered_earlier_do_not_wait_for_ever():
    # Those that are called before the fork, with all locks held, are told so; a child is free.
    run = subprocess.run([sys.executable, "-c", HOOK], capture_output=True, text=True, timeout=HANGS_AFTER)
    assert run.returncode == 0, run.stderr
    assert "os.register_at_fork before guira_filters was imported" in run.stderr


IMPORTED_AGAIN = """
import os, sys
import guira_filters
seen = guira_filters.CuckooFilter(10)
for name in [name for name in sys.modules if name.startswith("guira_filters")]:
    del sys.modules[name]
import guira_filters
seen.update(["ani"])
child = os.fork()
if child == 0:
    seen.add("guira")
    os._exit(0 if "ani" in seen and "ani" not in guira_filters.CuckooFilter(10) else 1)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
seen.add("koel")
sys.exit(status)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_forks_also_where_the_module_was_imported_again():
    run = subprocess.run([sys.executable, "-c", IMPORTED_AGAIN], capture_output=True, text=True, timeout=HANGS_AFTER)
    assert (run.returncode, run.stderr) == (0, "")


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import guira_filters
guira_filters.CuckooFilter(10).add("ani")
interpreters.run_string(interpreters.create(), '''
try:
    import guira_filters
except ImportError as error:
    print(error)
else:
    guira_filters.CuckooFilter(10).add(2**100)
''')
assert "ani" not in guira_filters.CuckooFilter(10)
"""


def test_a_subinterpreter_does_not_import_the_package():
    run = subprocess.run([sys.executable, "-c", SUBINTERPRETER], capture_output=True, text=True, timeout=HANGS_AFTER)
    assert (run.returncode, run.stderr) == (0, "") and "subinterpreter" in run.stdout
