"""Saves or loads a file as the arguments say: a call with a kind, and a file. Only what is between the two marks is tried."""

import os
import sys

import guira_filters

KINDS = {
    "filter": guira_filters.CuckooFilter,
    "set": guira_filters.CuckooSet,
    "map": guira_filters.CuckooMap,
    "counting": guira_filters.CountingCuckooFilter,
}


def mark(name):
    try:
        os.stat(name)
    except OSError:
        pass


def fill(kind):
    if kind == "map":
        made = guira_filters.CuckooMap(3000, 0.001, value_bits=8)
        for number in range(1500):
            made.add(f"key {number}", number % 256)
        return made
    made = KINDS[kind](3000, 0.001)
    for number in range(1500):
        made.add(f"key {number}")
    return made


call, _, kind = sys.argv[1].partition("-")
path = sys.argv[2]
made = fill(kind) if call == "save" else None
answer = ""
failure = None
mark("guira-begin")
try:
    if call == "save":
        made.save(path)
    elif call == "map":
        answer = str("key 7" in guira_filters.open(path))
    else:
        loaded = KINDS[kind].load(path)
        if call == "update":
            for number in range(1500, 2500):
                loaded.add(f"key {number}")
        if call == "load":
            answer = str("key 7" in loaded)
        else:
            loaded.save(path)
except BaseException as error:
    failure = error
mark("guira-end")
if failure is not None:
    sys.stderr.write(f"guira: {failure or type(failure).__name__}\n")
    sys.stderr.flush()
    os._exit(2)
sys.stdout.write(answer)
sys.stdout.flush()
os._exit(0)
