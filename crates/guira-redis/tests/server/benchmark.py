"""Requests per second beside those of GET and SET, on one server in one run, by redis-benchmark: the tables of docs/redis.md.

    GUIRA_MODULE=… python crates/guira-redis/tests/server/benchmark.py [NAME [expiring]]

The name is the beginning of a server's name, such as "redis" or "valkey-9"; the first server that there is unless given. With
"expiring", filters whose items expire beside plain ones that don't grow.
"""

import statistics
import subprocess
import sys

from servers import Server, programs

ROUNDS = 7
ITEMS = 1_000_000
DEPTHS = [16, 32]

RANDOM = ["-r", str(ITEMS)]
FRESH = ["-r", str(10**9)]
ONE = []
ITEM = "item:__rand_int__"
HELD = f"item:{0:012}"

REQUESTS = 400_000
# What CF.ADD adds to: one has room for millions, the other for no more than are added, and stays in the cache.
LARGE = ["CF.RESERVE", "added", ITEMS, "ERROR", "0.001", "MAXCAPACITY", 16 * ITEMS]
SMALL = ["CF.RESERVE", "small", REQUESTS + REQUESTS // 8, "ERROR", "0.001", "EXPANSION", 0]

# What is sent at several depths of pipelining; half of the random items and keys are there.
GET, GET_ONE = (RANDOM, ["GET", ITEM]), (ONE, ["GET", HELD])
EXISTS, EXISTS_ONE = (RANDOM, ["CF.EXISTS", "filter", ITEM]), (ONE, ["CF.EXISTS", "filter", HELD])
SET, SET_ONE = (FRESH, ["SET", ITEM, "value"]), (ONE, ["SET", HELD, "value"])
ADD, ADD_SMALL = (FRESH, ["CF.ADD", "added", ITEM]), (FRESH, ["CF.ADD", "small", ITEM])
PIPELINED = [GET, EXISTS, GET_ONE, EXISTS_ONE, SET, ADD, SET_ONE, ADD_SMALL]
MEXISTS = (RANDOM, ["CF.MEXISTS", "filter", *[ITEM] * 100])

RATIOS = [
    ("CF.EXISTS / GET, of random items and keys", EXISTS, GET),
    ("CF.EXISTS / GET, of one item and one key", EXISTS_ONE, GET_ONE),
    ("CF.ADD / SET, of new items and keys", ADD, SET),
    ("CF.ADD / SET, of new items to a small filter and of one key", ADD_SMALL, SET_ONE),
]


# Filters of equal capacity and rate. Half of the random items are there; what is added is new, and there is room for it.
FIXED = [ITEMS, "ERROR", "0.001"]
PLAIN, EXPIRING = [*FIXED, "EXPANSION", 0], [*FIXED, "LIFETIME", 86_400]
HELD_PLAIN, HELD_EXPIRING = (RANDOM, ["CF.EXISTS", "plain", ITEM]), (RANDOM, ["CF.EXISTS", "expiring", ITEM])
ADDED_PLAIN, ADDED_EXPIRING = (FRESH, ["CF.ADD", "new-plain", ITEM]), (FRESH, ["CF.ADD", "new-expiring", ITEM])
BESIDE = [HELD_PLAIN, HELD_EXPIRING, ADDED_PLAIN, ADDED_EXPIRING]
BESIDE_RATIOS = [
    ("CF.EXISTS, where items expire / where they don't", HELD_EXPIRING, HELD_PLAIN),
    ("CF.ADD, where items expire / where they don't", ADDED_EXPIRING, ADDED_PLAIN),
]


def requests_per_second(port, case, depth, requests):
    options, words = case
    # A database of its own, so that what SET stores can be thrown away.
    database = ["--dbnum", "1"] if words[0] == "SET" else []
    command = ["redis-benchmark", "-p", str(port), "--csv", *options, *database, "-P", str(depth), "-n", str(requests), *words]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    return float(line.rsplit('","', 7)[1].strip('"'))


def shown(case):
    options, words = case
    return "`" + " ".join([*options, *words[:4], *(["…"] if len(words) > 4 else [])]) + "`"


def measure(server):
    client = server.client()
    client.execute_command("CF.RESERVE", "filter", ITEMS, "ERROR", "0.001", "MAXCAPACITY", 16 * ITEMS)
    for start in range(0, ITEMS // 2, 5000):
        names = [f"item:{item:012}" for item in range(start, start + 5000)]
        client.execute_command("CF.INSERT", "filter", "ITEMS", *names)
        client.mset({item: "value" for item in names})
    rates = {}

    def add(case, depth, requests):
        rate = requests_per_second(server.port, case, depth, requests)
        rates.setdefault((shown(case), depth), []).append(rate)

    for _ in range(ROUNDS):
        server.client(db=1).flushdb()
        for depth in DEPTHS:
            client.delete("added", "small")
            client.execute_command(*LARGE)
            client.execute_command(*SMALL)
            for case in PIPELINED:
                add(case, depth, REQUESTS)
        add(EXISTS, 1, 50_000)
        add(MEXISTS, 1, 20_000)
    return {case: statistics.median(values) for case, values in rates.items()}


def measure_expiring(server):
    """Requests per second, and what MEMORY USAGE says of both filters."""
    client = server.client()
    client.execute_command("CF.RESERVE", "plain", *PLAIN)
    client.execute_command("CF.RESERVE", "expiring", *EXPIRING)
    for start in range(0, ITEMS // 2, 5000):
        names = [f"item:{item:012}" for item in range(start, start + 5000)]
        for key in ["plain", "expiring"]:
            client.execute_command("CF.INSERT", key, "ITEMS", *names)
    rates = {}
    for _ in range(ROUNDS):
        for depth in DEPTHS:
            client.delete("new-plain", "new-expiring")
            client.execute_command("CF.RESERVE", "new-plain", *PLAIN)
            client.execute_command("CF.RESERVE", "new-expiring", *EXPIRING)
            for case in BESIDE:
                rates.setdefault((shown(case), depth), []).append(requests_per_second(server.port, case, depth, REQUESTS))
    medians = {case: statistics.median(values) for case, values in rates.items()}
    return medians, {key: client.memory_usage(key) for key in ["plain", "expiring"]}


def print_rates(heading, rates, cases, ratios):
    depths = " | ".join(f"`-P {depth}`" for depth in DEPTHS)
    print(f"| {heading} | {depths} |\n|---|{'---:|' * len(DEPTHS)}")
    for case in cases:
        print(f"| {shown(case)} | " + " | ".join(f"{rates[shown(case), depth]:,.0f}" for depth in DEPTHS) + " |")
    for what, ours, theirs in ratios:
        quotients = [rates[shown(ours), depth] / rates[shown(theirs), depth] for depth in DEPTHS]
        print(f"| {what} | " + " | ".join(f"{quotient:.2f}" for quotient in quotients) + " |")


def main():
    found = programs()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    name = next((name for name in found if name.startswith(wanted)), None)
    if name is None:
        raise SystemExit(f"no server is called {wanted}: there are {', '.join(found)}")
    server = Server(found[name])
    heading = f"{name}, requests/s of `redis-benchmark -n {REQUESTS}`"
    try:
        if sys.argv[2:] == ["expiring"]:
            rates, sizes = measure_expiring(server)
            print_rates(heading, rates, BESIDE, BESIDE_RATIOS)
            print(f"\n| MEMORY USAGE, room for {ITEMS:,} items | bytes | bits per item |\n|---|---:|---:|")
            for key, size in sizes.items():
                print(f"| `{key}` | {size:,} | {8 * size / ITEMS:.2f} |")
            return
        rates = measure(server)
    finally:
        server.close()

    print_rates(heading, rates, PIPELINED, RATIOS)
    one, hundred = rates[shown(EXISTS), 1], rates[shown(MEXISTS), 1]
    print(f"\n`-P 1 -n 50000 {shown(EXISTS)[1:]}: {one:,.0f} items/s; `-P 1 -n 20000 {shown(MEXISTS)[1:]} of 100 items: "
          f"{100 * hundred:,.0f} items/s, {100 * hundred / one:.1f} times as many")


if __name__ == "__main__":
    main()
