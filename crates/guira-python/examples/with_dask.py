"""Dask: a filter that is built of the partitions of a frame by several processes, and merged as a tree.

    python with_dask.py [--keys 10000000]
"""

import operator

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster

import guira_filters
from figures import PARTS, RATE, arguments, check, figure, heading, timed


def users_of(bounds):
    return pd.DataFrame({"id": np.arange(*bounds)})


def visits_of(seed, rows, keys):
    return pd.DataFrame({"id": np.random.default_rng(seed).integers(10 * keys, size=rows)})


@dask.delayed
def build(plan, frame):
    return plan.build(frame["id"])


def tree(parts):
    """Merges two and two, so that no worker ever has many of them."""
    merge = dask.delayed(operator.or_)
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [merge(left, right) for left, right in pairs] + parts[len(parts) // 2 * 2 :]
    return parts[0]


def known_of(frame, known):
    return frame[known.contains_many(frame["id"])]


def main():
    keys = arguments(__doc__).keys
    heading("Dask")
    bounds = [(keys * part // PARTS, keys * (part + 1) // PARTS) for part in range(PARTS)]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        users = dd.from_map(users_of, bounds)
        visits = dd.from_map(visits_of, range(PARTS), rows=keys // PARTS, keys=keys)

        plan = guira_filters.plan(keys, RATE)
        with timed(f"built of {PARTS} partitions, in two processes, and merged as a tree"):
            known = client.compute(tree([build(plan, part) for part in users.to_delayed()])).result()
        check(known, plan, keys)

        with timed("rows of a frame looked up"):
            everywhere = client.scatter(known, broadcast=True)
            thinned = visits.map_partitions(known_of, everywhere, meta=visits._meta).compute()
        joined = int((thinned["id"] < keys).sum())
        assert joined == len(visits[visits["id"] < keys])
        figure("rows before the filter, behind it, and joined", f"{keys} / {len(thinned)} / {joined}")


if __name__ == "__main__":
    main()
