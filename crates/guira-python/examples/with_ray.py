"""Ray: an actor for each shard of the keys, and a filter in the object store that all workers read where it is.

    python with_ray.py [--keys 10000000]
"""

import numpy as np
import ray

import guira_filters
from figures import PARTS, RATE, arguments, check, figure, heading, timed

ACTORS = 2


@ray.remote
class Shard:
    """The part of the keys that this actor is given: it adds, removes and answers, and hands the filter out."""

    def __init__(self, plan):
        self.filter = plan.build()

    def update(self, keys):
        self.filter.update(keys)

    def contains_many(self, keys):
        return self.filter.contains_many(keys)

    def part(self):
        return self.filter


@ray.remote
def merge(left, right):
    return left | right


@ray.remote
def in_store(known):
    """The file of a filter in the store, as an array, which Ray maps to the memory of each process that asks for it."""
    return np.frombuffer(known.to_bytes(), np.uint8)


@ray.remote
def count_known(data, seed, rows, keys):
    view = guira_filters.CuckooFilterView.from_bytes(data)
    visits = np.random.default_rng(seed).integers(10 * keys, size=rows)
    thinned = visits[view.contains_many(visits)]
    return len(thinned), int((thinned < keys).sum()), int((visits < keys).sum()), data.flags.owndata


def main():
    keys = arguments(__doc__).keys
    heading("Ray")
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=1 << 30)
    plan = guira_filters.plan(keys, RATE)
    shards = [Shard.remote(plan) for _ in range(ACTORS)]
    bounds = [(keys * part // PARTS, keys * (part + 1) // PARTS) for part in range(PARTS)]
    with timed(f"{PARTS} blocks of keys added by {ACTORS} actors, and their filters merged"):
        ray.get([shards[part % ACTORS].update.remote(np.arange(*bounds[part])) for part in range(PARTS)])
        parts = [shard.part.remote() for shard in shards]
        while len(parts) > 1:
            parts = [merge.remote(*parts[:2]), *parts[2:]]
        known = ray.get(parts[0])
    check(known, plan, keys)
    for first, last in bounds:
        block = np.arange(first, last)
        assert np.logical_or.reduce(ray.get([shard.contains_many.remote(block) for shard in shards])).all()
    # Their processors are for other work now.
    del shards

    data = in_store.remote(parts[0])
    with timed(f"rows looked up in {PARTS} tasks, in the filter in the store"):
        counted = ray.get([count_known.remote(data, seed, keys // PARTS, keys) for seed in range(PARTS)])
    thinned, joined, expected, copies = map(sum, zip(*counted, strict=True))
    assert joined == expected
    assert copies == 0
    figure("rows before the filter, behind it, and joined", f"{keys // PARTS * PARTS} / {thinned} / {joined}")


if __name__ == "__main__":
    main()
