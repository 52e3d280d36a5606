"""Filters against a multiset: whatever is done, no key is lost and no number is wrong."""

import collections
import pickle

import numpy as np
import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import guira_filters
from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet

# So low a rate that no two of the few keys look the same.
RATE = 1e-8
KEYS = st.one_of(
    st.binary(max_size=20),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.integers(-(2**127), 2**128 - 1),
    st.sampled_from(["ani", "guira", b"ani", 0, 1, -1]),
)


def meant(key):
    """The bytes that a key stands for, by README's table."""
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, int):
        size = 8 if -(2**63) <= key < 2**64 else 16
        return key.to_bytes(size, "little", signed=key < 0) + (b"\xff" if key < 0 else b"")
    return key


class Multiset(RuleBasedStateMachine):
    """A filter that may be replaced by a copy of itself at any time, beside a counter of what was added."""

    @initialize(
        capacity=st.integers(50, 2000),
        options=st.sampled_from([{}, {"max_capacity": 50_000}, {"prefer": "space"}, {"hash": "siphash", "key": bytes(16)}]),
        seed=st.integers(0, 2**64 - 1),
    )
    def make(self, capacity, options, seed):
        seeded = options if "key" in options else options | {"seed": seed}
        self.filter = CuckooFilter(capacity, 1e-6 if "prefer" in options else RATE, **seeded)
        self.key = options.get("key")
        self.model = collections.Counter()

    def store(self, keys, update):
        """Adds keys, and checks that a refusal is one and leaves what came before."""
        before = len(self.filter)
        try:
            update(keys)
            stored = len(keys)
        except guira_filters.TooManyCopiesError as error:
            stored = error.index
            refused = meant(keys[stored])
            assert self.model[refused] + sum(meant(key) == refused for key in keys[:stored]) >= 4
        except guira_filters.FilterFullError as error:
            stored = error.index
            # The capacity is promised for distinct keys: copies may fill buckets before.
            together = self.model + collections.Counter(meant(key) for key in keys[: stored + 1])
            assert before + stored >= self.filter.capacity or max(together.values()) > 1
        self.model.update(meant(key) for key in keys[:stored])

    @rule(key=KEYS)
    def add(self, key):
        self.store([key], lambda keys: self.filter.add(keys[0]))

    @rule(keys=st.lists(KEYS, max_size=30))
    def add_list(self, keys):
        self.store(keys, self.filter.update)

    @rule(keys=st.lists(st.integers(0, 50), max_size=30), kind=st.sampled_from(["u1", "i8", ">u4"]))
    def add_array(self, keys, kind):
        self.store(keys, lambda keys: self.filter.update(np.array(keys, dtype=kind)))

    @rule(keys=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=30))
    def add_column(self, keys):
        self.store(keys, lambda keys: self.filter.update(pa.array(keys, pa.string())))

    @rule(data=st.data())
    def remove(self, data):
        present = [key for key, copies in self.model.items() if copies]
        if present:
            key = data.draw(st.sampled_from(present))
            self.filter.remove(key)
            self.model[key] -= 1

    @rule(data=st.data())
    def remove_batch(self, data):
        present = list(self.model.elements())
        if present:
            keys = data.draw(st.lists(st.sampled_from(present), max_size=10, unique=True))
            assert self.filter.remove_many(keys).all()
            self.model.subtract(keys)

    @rule(key=KEYS)
    def discard_what_is_absent(self, key):
        if not self.model[meant(key)]:
            self.filter.discard(key)

    @rule()
    def clear(self):
        self.filter.clear()
        self.model.clear()

    @rule(way=st.sampled_from(["copy", "bytes", "pickle"]))
    def replace(self, way):
        before = self.filter
        if way == "copy" or (way == "pickle" and self.key):
            self.filter = before.copy()
        elif way == "bytes":
            self.filter = CuckooFilter.from_bytes(before.to_bytes(), self.key)
        else:
            self.filter = pickle.loads(pickle.dumps(before))
        assert self.filter == before

    @rule()
    def merge_with_nothing(self):
        nothing = self.filter.copy()
        nothing.clear()
        before = self.filter.copy()
        self.filter |= nothing
        assert self.filter == before

    @invariant()
    def every_key_is_found_as_often_as_it_was_added(self):
        if not hasattr(self, "filter"):
            return
        assert len(self.filter) == self.model.total()
        present = [key for key, copies in self.model.items() if copies]
        assert self.filter.contains_many(present).all()
        assert all(key in self.filter for key in present[:20])
        assert (self.filter.count_many(present) >= [self.model[key] for key in present]).all()


Multiset.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestMultiset = Multiset.TestCase


class Kinds(RuleBasedStateMachine):
    """A set, a filter that counts and a map, which may grow and be merged with others, beside counters of what was added."""

    @initialize(
        options=st.sampled_from(
            [(20_000, {}), (50, {"max_capacity": 20_000}), (50, {"max_capacity": 10_000, "growth_policy": "raise-rate"})]
        ),
        seed=st.integers(0, 2**64 - 1),
    )
    def make(self, options, seed):
        capacity, growth = options
        self.unique = CuckooSet(capacity, RATE, seed=seed, **growth)
        self.counting = CountingCuckooFilter(capacity, 1e-6, seed=seed, **growth)
        self.map = CuckooMap(capacity, 1e-6, seed=seed, **growth)
        self.model = collections.Counter()

    @rule(keys=st.lists(KEYS, max_size=20))
    def add(self, keys):
        new = self.unique.add_many(keys).tolist()
        expected = []
        for key in keys:
            expected.append(not self.model[meant(key)])
            self.model[meant(key)] += 1
            self.counting.add(key)
            if expected[-1]:
                self.map.add(key, self.value(key))
        assert new == expected

    @rule(first=st.integers(0, 10_000), count=st.integers(1, 300))
    def add_numbers(self, first, count):
        self.add(list(range(first, first + count)))

    @rule(keys=st.lists(KEYS, max_size=20))
    def merge(self, keys):
        others = [filter_.empty_like() for filter_ in (self.unique, self.counting, self.map)]
        others[0].update(keys)
        others[1].update(keys)
        others[2].update({meant(key): self.value(key) for key in keys if not self.model[meant(key)]})
        self.unique |= others[0]
        self.counting |= others[1]
        self.map |= others[2]
        self.model.update(meant(key) for key in keys)

    @rule(data=st.data())
    def remove(self, data):
        present = [key for key, count in self.model.items() if count]
        if present:
            key = data.draw(st.sampled_from(present))
            self.counting.remove(key)
            self.model[key] -= 1
            if not self.model[key]:
                del self.model[key]
                self.map.remove(key, self.value(key))
                # Nothing is removed from a set: it begins anew with what is left.
                self.unique.clear()
                self.unique.update(list(self.model))

    @rule(room=st.integers(0, 2000))
    def make_room_and_undo_it(self, room):
        for filter_ in (self.unique, self.counting, self.map):
            try:
                filter_.reserve(room)
            except guira_filters.FilterFullError:
                assert len(filter_) + room > filter_.capacity
            else:
                assert len(filter_) + room <= filter_.capacity
            filter_.shrink_to_fit()

    @staticmethod
    def value(key):
        return sum(meant(key)) % 256

    @invariant()
    def every_key_is_there_once_and_counted(self):
        if not hasattr(self, "unique"):
            return
        assert len(self.unique) == len(self.model) == len(self.counting) == len(self.map)
        assert self.counting.total() == self.model.total()
        assert self.unique.contains_many(list(self.model)).all()
        assert self.counting.count_many(list(self.model)).tolist() == list(self.model.values())
        assert all(self.map.get(key) == (self.value(key),) for key in self.model)


Kinds.TestCase.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
TestKinds = Kinds.TestCase
