"""What all classes have in common, as one test that each of them passes; and the set in place of Python's own."""

import copy
import functools
import operator
import pickle

import numpy as np
import pytest

import guira_filters
from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet

KEYS = [f"key {number}" for number in range(500)]
ABSENT = [f"absent {number}" for number in range(500)]


def add_all(filter_, keys):
    filter_.update({key: 1 for key in keys} if isinstance(filter_, CuckooMap) else keys)


@pytest.mark.parametrize(
    ("class_", "options"),
    [
        (CuckooFilter, {}), (CuckooFilter, {"max_capacity": 100_000}), (CuckooFilter, {"prefer": "space"}),
        (CuckooSet, {}), (CuckooSet, {"max_capacity": 100_000}), (CountingCuckooFilter, {}), (CuckooMap, {}),
    ],
)  # fmt: skip
def test_every_class_does_what_all_do(class_, options, tmp_path):
    filter_ = class_(1000, 1e-4, seed=7, **options)
    assert (len(filter_), bool(filter_), "key 1" in filter_) == (0, False, False)
    empty = filter_.copy()
    add_all(filter_, KEYS)
    assert (len(filter_), bool(filter_)) == (500, True)
    assert filter_ != empty
    answers = filter_.contains_many(KEYS + ABSENT)
    assert answers.dtype == np.bool_
    assert answers[:500].all()
    assert answers.tolist() == [key in filter_ for key in KEYS + ABSENT]
    filter_.save(tmp_path / "saved")
    copies = [
        filter_.copy(), copy.copy(filter_), copy.deepcopy(filter_), pickle.loads(pickle.dumps(filter_)),
        class_.from_bytes(filter_.to_bytes()), class_.from_bytes(bytearray(filter_.to_bytes())), class_.load(tmp_path / "saved"),
    ]  # fmt: skip
    for one in copies:
        assert type(one) is class_
        assert one == filter_
        assert one.contains_many(KEYS + ABSENT).tolist() == answers.tolist()
        one.clear()
        assert (len(one), one == empty) == (0, True)
    assert filter_.contains_many(KEYS).all()
    assert 0 < filter_.load_factor <= 1
    assert 0 < filter_.rate <= 1e-4
    assert filter_.expected_rate <= filter_.rate
    assert repr(filter_).startswith(f"{class_.__name__}(len=500, capacity=")
    if class_ in (CuckooFilter, CuckooSet):
        view = guira_filters.open(tmp_path / "saved")
        assert (len(view), view.contains_many(KEYS + ABSENT).tolist()) == (500, answers.tolist())
        assert filter_.max_capacity == (options.get("max_capacity") and filter_.max_capacity)
        assert (filter_.max_capacity or 0) >= options.get("max_capacity", 0)
    with pytest.raises(TypeError):
        hash(filter_)
    with pytest.raises(TypeError, match="one key"):
        filter_.contains_many("ani")


def test_a_set_that_grows_takes_any_number_up_to_its_maximum():
    seen = CuckooSet(1000, max_capacity=1_000_000)
    numbers = np.arange(300_000)
    assert seen.add_many(numbers).sum() > 299_000
    assert seen.contains_many(numbers).all()
    assert not seen.add_many(numbers).any()
    assert (seen.capacity >= 300_000, seen.max_capacity >= 1_000_000) == (True, True)
    again = pickle.loads(pickle.dumps(seen))
    assert again == seen
    assert again.max_capacity == seen.max_capacity


@pytest.mark.parametrize("options", [{}, {"max_capacity": 100_000}])
def test_merged_sets_answer_as_one_set_to_which_all_keys_were_added(options):
    one, other = (CuckooSet(2000, 1e-4, seed=7, **options) for _ in range(2))
    one.update(KEYS)
    other.update(KEYS[300:] + ABSENT[:200])
    before = one.copy(), other.copy()
    whole = one.copy()
    whole.update(other_keys := ABSENT[:200])
    both = one | other
    assert (one, other) == before
    assert both.contains_many(KEYS + ABSENT).tolist() == whole.contains_many(KEYS + ABSENT).tolist()
    assert len(both) == len(whole) <= len(KEYS) + len(other_keys)
    one |= other
    assert one == both
    one |= one
    assert (len(one), len(both | both)) == (len(both), len(both))
    one.merge(before[0])
    assert len(one) == len(both)
    with pytest.raises(guira_filters.MergeError, match="seed"):
        one.merge(CuckooSet(2000, 1e-4, seed=8, **options))
    assert len(one) == len(both)
    with pytest.raises(TypeError):
        one | {"ani"}


def test_sets_whose_keys_do_not_fit_together_stay_as_they_were():
    one, other = CuckooSet(1000), CuckooSet(1000)
    one.update(KEYS)
    other.update(ABSENT + [f"more {number}" for number in range(400)])
    before = one.copy(), other.copy()
    with pytest.raises(guira_filters.FilterFullError):
        one |= other
    assert (one, other) == before


def test_a_small_set_with_a_maximum_takes_millions_and_is_merged_with_another():
    numbers = np.arange(10_000_000)
    seen, other = (CuckooSet(1000, max_capacity=12_000_000) for _ in range(2))
    seen.update(numbers)
    assert seen.contains_many(numbers).all()
    other.update(np.arange(11_000_000, 11_100_000))
    seen |= other
    assert seen.contains_many(numbers).all()
    assert seen.contains_many(np.arange(11_000_000, 11_100_000)).all()
    # Keys that look like one that is there are not stored: in each set at most its share of the rate, and a little for chance.
    assert 10_100_000 * (1 - 0.0012) < len(seen) <= 10_100_000


def seen_before(seen, keys):
    """What "have I seen it" code does with a set."""
    first = []
    for key in keys:
        if key not in seen:
            seen.add(key)
            first.append(key)
    seen.update(["more", "and more"])
    seen |= {"still more"}
    kept = seen.copy()
    sizes = [len(seen), bool(seen)]
    seen.clear()
    return first, sizes, len(seen), "more" in kept, "more" in seen


def test_the_set_stands_in_for_pythons_own():
    keys = ["ani", "guira", "ani", "koel", "guira"]
    assert seen_before(CuckooSet(1000, 1e-6), keys) == seen_before(set(), keys)


@pytest.mark.parametrize("name", [name for name in dir(set) if not name.startswith("_")])
def test_the_set_has_the_methods_of_pythons_own_or_says_why_not(name):
    seen = CuckooSet(1000)
    if hasattr(seen, name):
        assert callable(getattr(seen, name))
        return
    with pytest.raises(AttributeError, match=f"no attribute '{name}': (removing|its keys)"):
        getattr(seen, name)
    with pytest.raises(AttributeError, match="no attribute 'other'$"):
        seen.other
    with pytest.raises(TypeError, match="set or frozenset"):
        seen |= ["ani"]


@pytest.mark.parametrize("options", [{}, {"prefer": "space"}, {"seed": 7}, {"max_capacity": 1_000_000}])
def test_twenty_parts_of_a_plan_are_merged_to_what_one_filter_is(options):
    plan = guira_filters.plan(200_000, 0.001, **options)
    travelled = pickle.loads(pickle.dumps(plan))
    assert (travelled, hash(travelled)) == (plan, hash(plan))
    assert plan != guira_filters.plan(200_000, 0.002, **options)
    numbers, absent = np.arange(200_000), np.arange(1_000_000, 1_500_000)
    whole = plan.build(numbers)
    parts = [travelled.build(part) for part in np.array_split(numbers, 20)]
    before = [part.copy() for part in parts]
    merged = functools.reduce(operator.or_, parts)
    assert parts == before
    assert len(merged) == len(whole) == 200_000
    assert merged.contains_many(numbers).all()
    assert (merged.contains_many(absent) == whole.contains_many(absent)).all()


def test_a_plan_with_a_secret_key_stays_where_it_is():
    plan = guira_filters.plan(1000, hash="siphash", key=bytes(16))
    assert "ani" in (plan.build(["ani"]) | plan.build())
    with pytest.raises(guira_filters.SecretKeyError, match="pickled"):
        pickle.dumps(plan)
    with pytest.raises(guira_filters.MergeError):
        plan.build() | guira_filters.plan(1000).build()
    with pytest.raises(TypeError):
        plan.build() | {"ani"}
