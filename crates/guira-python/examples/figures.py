"""What the examples with engines have in common: how many keys, the figures that they print, and what must be true at the end."""

import argparse
import time
from contextlib import contextmanager

import numpy as np

RATE = 0.001
PARTS = 20


def arguments(document, **numbers):
    """The numbers of the command line, such as `--keys 1000000`."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, number in {"keys": 10_000_000, **numbers}.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    return parser.parse_args()


def heading(engine):
    print(f"| {engine} | figure |")
    print("|---|---:|", flush=True)


def figure(what, number):
    print(f"| {what} | {number} |", flush=True)


@contextmanager
def timed(what):
    start = time.perf_counter()
    yield
    figure(what, f"{time.perf_counter() - start:.1f} s")


def check(merged, plan, keys):
    """Fails unless what was merged of parts has the keys from 0 on, and answers as one filter does."""
    present, absent = np.arange(keys), np.arange(keys, 2 * keys)
    whole = plan.build(present)
    assert len(merged) == len(whole) == keys
    assert merged.contains_many(present).all()
    assert (merged.contains_many(absent) == whole.contains_many(absent)).all()
