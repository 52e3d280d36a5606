"""What a user writes, for the type checkers alone."""

import os
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from uuid import UUID

import numpy as np
import polars as pl
from numpy.typing import NDArray

import guira_filters


def use(folder: Path, words: list[str], table: pl.Series) -> NDArray[np.bool_]:
    seen = guira_filters.CuckooFilter(1000, 0.001, max_capacity=1_000_000, hash="siphash", key=bytes(16))
    seen.add("ani")
    seen.add(UUID(int=1))
    seen.add(np.True_)
    seen.add(guira_filters.keys.uuid("12345678-1234-5678-1234-567812345678"))
    seen.update(guira_filters.keys.uuid(table))
    seen.update(words)
    seen.add_many(np.arange(5, dtype=np.uint64))
    seen |= seen.copy()
    seen.save(folder / "seen")
    seen.save(os.fsencode(folder / "seen"))
    view: guira_filters.CuckooFilterView = guira_filters.open(folder / "seen", bytes(16))
    counts: NDArray[np.uint64] = view.count_many(table)
    view = guira_filters.CuckooFilterView.from_bytes(np.frombuffer(seen.to_bytes(), np.uint8), bytes(16))
    shards = guira_filters.CuckooMap(np.int64(10))
    shards.update({"ani": 3})
    shards.update({"koel": np.uint8(4)})
    values: tuple[int, ...] = shards.get("ani")
    new: bool = guira_filters.CuckooSet(10).add(b"ani")
    recent = guira_filters.ExpiringCuckooFilter(1000, lifetime=timedelta(hours=24), resolution=3600)
    recent.add_unique("ani", now=datetime.now(timezone.utc))
    recent.advance(time.time() + 60)
    alive: NDArray[np.bool_] = recent.add_or_renew_many(table, now=np.float64(1.8e9))
    lifetime: timedelta = recent.lifetime
    recent |= recent.copy()
    print(alive, lifetime)
    try:
        seen.add_many(table)
    except guira_filters.FilterFullError as error:
        print(error.index, counts, values, new)
    return seen.contains_many(words)
