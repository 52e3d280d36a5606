"""Polars: a filter that is built of the batches of a lazy frame, and lookups within a query that streams.

    python with_polars.py [--keys 10000000]
"""

import functools
import operator
import tempfile
from pathlib import Path

import polars as pl

import guira_filters
from figures import PARTS, RATE, arguments, check, figure, heading, timed


def main():
    keys = arguments(__doc__).keys
    heading("Polars")
    with tempfile.TemporaryDirectory() as folder:
        users, visits = Path(folder) / "users", Path(folder) / "visits.parquet"
        users.mkdir()
        for part in range(PARTS):
            first, last = keys * part // PARTS, keys * (part + 1) // PARTS
            pl.select(id=pl.int_range(first, last)).write_parquet(users / f"{part}.parquet")
        pl.select(id=pl.int_range(keys).hash(7) % (10 * keys)).write_parquet(visits)

        plan = guira_filters.plan(keys, RATE)
        with timed(f"built of {PARTS} files, as they are read, and merged"):
            parts = []
            for file in users.iterdir():
                parts.append(plan.build())
                for batch in pl.scan_parquet(file).collect_batches():
                    parts[-1].update(batch["id"])
            known = functools.reduce(operator.or_, parts)
        check(known, plan, keys)

        def is_known(ids):
            return pl.Series(known.contains_many(ids))

        lookup = pl.col("id").map_batches(is_known, return_dtype=pl.Boolean, is_elementwise=True)
        with timed("rows of a file looked up, in a query that streams"):
            thinned = pl.scan_parquet(visits).filter(lookup).collect(engine="streaming")
        with timed("those joined"):
            joined = thinned.join(pl.read_parquet(users), on="id", how="semi").height
        expected = pl.scan_parquet(visits).filter(pl.col("id") < keys).collect(engine="streaming").height
        assert joined == expected
        figure("rows before the filter, behind it, and joined", f"{keys} / {thinned.height} / {joined}")


if __name__ == "__main__":
    main()
