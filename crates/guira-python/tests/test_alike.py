"""What all classes have in common, as one test that each of them passes; and the set in place of Python's own."""

import copy
import functools
import operator
import pickle

import numpy as np
import pytest

import guira_filters
from guira_filters import CountingCuckooFilter, CuckooFilter, CuckooMap, CuckooSet, ExpiringCuckooFilter

KEYS = [f"key {number}" for number in range(500)]
ABSENT = [f"absent {number}" for number in range(500)]


def add_all(filter_, keys):
    filter_.update({key: 1 for key in keys} if isinstance(filter_, CuckooMap) else keys)


def expiring(*arguments, **options):
    """A filter whose keys expire, of which none does within a test."""
    return ExpiringCuckooFilter(*arguments, lifetime=1000, now=0, clock=False, **options)


CLASSES = [CuckooFilter, CuckooSet, CountingCuckooFilter, CuckooMap, expiring]
FIXED = [(class_, {}) for class_ in CLASSES] + [(CuckooFilter, {"prefer": "space"}), (CuckooSet, {"prefer": "space"})]
GROWING = [(class_, {"max_capacity": 100_000}) for class_ in CLASSES]


@pytest.mark.parametrize(("class_", "options"), FIXED + GROWING)
def test_every_class_does_what_all_do(class_, options, tmp_path):
    filter_ = class_(1000, 1e-4, seed=7, **options)
    class_ = type(filter_)
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
        assert (one.max_capacity, one.growth_policy) == (filter_.max_capacity, filter_.growth_policy)
        one.clear()
        assert (len(one), one == empty) == (0, True)
    assert filter_.contains_many(KEYS).all()
    assert filter_.empty_like() == empty
    assert 0 < filter_.load_factor <= 1
    assert 0 < filter_.rate <= 1e-4
    assert filter_.expected_rate <= filter_.rate
    assert repr(filter_).startswith(f"{class_.__name__}(len=500, capacity=")
    if class_ in (CuckooFilter, CuckooSet):
        view = guira_filters.open(tmp_path / "saved")
        assert (len(view), view.contains_many(KEYS + ABSENT).tolist()) == (500, answers.tolist())
    if options.get("max_capacity"):
        assert (filter_.max_capacity >= 100_000, filter_.growth_policy) == (True, "keep-rate")
    else:
        assert (filter_.max_capacity, filter_.growth_policy) == (None, None)
    with pytest.raises(TypeError):
        hash(filter_)
    with pytest.raises(TypeError, match="one key"):
        filter_.contains_many("ani")


@pytest.mark.parametrize("class_", CLASSES)
def test_equality_is_that_of_the_tables_as_the_documentation_says(class_):
    one, same, reordered = class_(500), class_(500), class_(500)
    add_all(one, KEYS)
    add_all(same, KEYS)
    add_all(reordered, KEYS[::-1])
    assert reordered.contains_many(KEYS).all()
    assert (one == same, one == reordered, len(reordered) == len(one)) == (True, False, True)
    said = " ".join(type(one).__doc__.split())
    assert "are equal (``==``)" in said and "the same bits in their tables" in said and "in another order" in said


@pytest.mark.parametrize(("class_", "options"), FIXED + GROWING)
def test_every_class_is_merged_with_others_of_its_kind(class_, options):
    one = class_(2000, 1e-6, seed=7, **options)
    other = one.empty_like()
    add_all(one, KEYS)
    add_all(other, ABSENT)
    before = one.copy(), other.copy()
    both = one | other
    assert (one, other) == before
    assert (type(both), len(both)) == (type(one), 1000)
    assert both.contains_many(KEYS + ABSENT).all()
    assert both.contains_many(range(10_000)).sum() <= 1
    merged = one
    merged |= other
    assert merged is one
    assert one == both
    with pytest.raises(guira_filters.MergeError, match="seed"):
        one.merge(class_(2000, 1e-6, seed=8, **options))
    with pytest.raises(guira_filters.MergeError):
        one |= class_(2000, 1e-3, seed=7, **options)
    with pytest.raises(TypeError):
        one | {"ani"}
    with pytest.raises(TypeError):
        one.merge(["ani"])
    assert one == both


@pytest.mark.parametrize("class_", CLASSES)
def test_every_class_that_does_not_grow_refuses_what_does_not_fit_and_stays_as_it_was(class_):
    one = class_(1000)
    other = one.empty_like()
    add_all(one, KEYS)
    add_all(other, [*ABSENT, *(f"more {number}" for number in range(400))])
    before = one.copy(), other.copy()
    with pytest.raises(guira_filters.FilterFullError):
        one |= other
    with pytest.raises(guira_filters.FilterFullError):
        one.reserve(10_000)
    assert (one, other) == before
    one.shrink_to_fit()
    assert one == before[0]
    with pytest.raises(guira_filters.ParameterError, match="max_capacity"):
        class_(1000, growth_policy="raise-rate")


@pytest.mark.parametrize("class_", CLASSES)
def test_every_class_grows_at_its_rate_and_shrinks_again(class_):
    seen = class_(1000, 0.001, max_capacity=60_000)
    small, keys = seen.nbytes, [f"key {number}" for number in range(50_000)]
    add_all(seen, keys)
    assert seen.contains_many(keys).all()
    assert seen.capacity >= len(seen) > 49_900  # a set leaves out what looks like another key
    assert seen.expected_rate <= seen.rate <= 0.001
    # 50 are expected; 125 or more of 50,000 have a probability below 1e-17, by Chernoff's bound.
    assert seen.contains_many([f"absent {number}" for number in range(50_000)]).sum() < 125
    other = seen.empty_like()
    assert (other.nbytes, other.max_capacity) == (small, seen.max_capacity)
    add_all(other, ["one more"])
    large = seen.nbytes
    for both in (seen | other, other | seen):
        assert both.contains_many([*keys, "one more"]).all()
        assert both.nbytes >= large
    seen.clear()
    assert seen.nbytes == large
    seen.shrink_to_fit()
    assert seen.nbytes == small
    seen.reserve(50_000)
    assert seen.capacity >= 50_000
    assert seen.nbytes == large
    with pytest.raises(guira_filters.FilterFullError):
        seen.reserve(1_000_000)
    assert seen.nbytes == large


@pytest.mark.parametrize("class_", CLASSES)
def test_every_class_takes_more_keys_at_a_higher_rate_where_it_is_told_so(class_):
    bounded = class_(100, 0.001, max_capacity=1000)
    seen = class_(100, 0.001, max_capacity=1000, growth_policy="raise-rate")
    keys = [f"key {number}" for number in range(10_000)]
    with pytest.raises(guira_filters.FilterFullError):
        add_all(bounded, keys)
    add_all(seen, keys)
    assert seen.contains_many(keys).all()
    assert seen.expected_rate > 0.001 >= bounded.expected_rate
    assert pickle.loads(pickle.dumps(seen)).growth_policy == seen.growth_policy == "raise-rate"
    with pytest.raises(guira_filters.ParameterError, match="'keep-rate' or 'raise-rate'"):
        class_(100, max_capacity=1000, growth_policy="other")


def test_merged_counts_add_up_and_merged_maps_have_the_values_of_both():
    counts = CountingCuckooFilter(1000, 1e-6, counter_bits=4)
    others = counts.empty_like()
    counts.update(["ani"] * 10 + ["guira"])
    others.update(["ani"] * 5 + ["koel"])
    counts |= others
    assert counts.count_many(["ani", "guira", "koel", "hoopoe"]).tolist() == [15, 1, 1, 0]
    assert (counts.total(), len(counts)) == (17, 3)
    before = counts.copy()
    with pytest.raises(guira_filters.CounterFullError, match="16"):
        counts |= others
    assert (counts == before, counts.total()) == (True, 17)
    shards = CuckooMap(1000, 1e-6)
    more = shards.empty_like()
    shards.update({"ani": 1, "guira": 2})
    more.update({"ani": 3, "koel": 4})
    shards |= more
    assert [sorted(shards.get(key)) for key in ("ani", "guira", "koel", "hoopoe")] == [[1, 3], [2], [4], []]
    with pytest.raises(guira_filters.TooManyCopiesError):
        for _ in range(10):
            shards |= more


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


PLANNED = [
    {}, {"prefer": "space"}, {"seed": 7}, {"max_capacity": 1_000_000},
    {"max_capacity": 1_000_000, "growth_policy": "raise-rate"},
]  # fmt: skip


@pytest.mark.parametrize("options", PLANNED)
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


@pytest.mark.parametrize("class_", [guira_filters.FilterFullError, guira_filters.TooManyCopiesError, guira_filters.CounterFullError])
def test_the_error_for_a_refused_key_travels_with_all_that_it_has(class_):
    error = class_("full", 3)
    error.add_note("while day 5 was read")
    for again in [copy.copy(error), *(pickle.loads(pickle.dumps(error, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1))]:
        assert type(again) is class_ and (str(again), again.index, again.__notes__) == ("full", 3, error.__notes__)
