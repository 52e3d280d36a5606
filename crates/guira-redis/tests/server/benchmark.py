"""Requests per second beside those of GET and SET, on one server in one run, by redis-benchmark.

    GUIRA_MODULE=… python crates/guira-redis/tests/server/benchmark.py [redis | valkey]
"""

import statistics
import subprocess
import sys

from servers import Server, programs

ROUNDS = 5
ITEMS = 1_000_000
HUNDRED = ["item:__rand_int__"] * 100


def requests_per_second(port, options, words):
    command = ["redis-benchmark", "-p", str(port), "--csv", *options, *words]
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    return float(line.rsplit('","', 7)[1].strip('"'))


def main():
    found = programs()
    name = sys.argv[1] if len(sys.argv) > 1 else next(iter(found))
    server = Server(found[name])
    client = server.client()
    client.execute_command("CF.RESERVE", "filter", ITEMS, "ERROR", "0.001", "MAXCAPACITY", 16 * ITEMS)
    for start in range(0, ITEMS // 2, 5000):
        names = [f"item:{item:012}" for item in range(start, start + 5000)]
        client.execute_command("CF.INSERT", "filter", "ITEMS", *names)
        client.mset({item: "value" for item in names})
    many = ["-r", str(ITEMS), "-P", "16", "-n", "400000"]
    fresh = ["-r", str(10**9), "-P", "16", "-n", "400000"]
    single = ["-r", str(ITEMS), "-P", "1", "-n", "60000"]
    measured = {
        "GET": (many, ["GET", "item:__rand_int__"]),
        "CF.EXISTS": (many, ["CF.EXISTS", "filter", "item:__rand_int__"]),
        "GET, of one key": (many, ["GET", "item:000000000000"]),
        "SET": (fresh, ["SET", "item:__rand_int__", "value"]),
        "SET, of one key": (fresh, ["SET", "item:000000000000", "value"]),
        "CF.ADD": (fresh, ["CF.ADD", "filter", "item:__rand_int__"]),
        "CF.EXISTS, one at a time": (single, ["CF.EXISTS", "filter", "item:__rand_int__"]),
        "CF.MEXISTS, 100 at a time": (["-r", str(ITEMS), "-P", "1", "-n", "20000"], ["CF.MEXISTS", "filter", *HUNDRED]),
    }
    rates = {what: [] for what in measured}
    try:
        for _ in range(ROUNDS):
            for what, (options, words) in measured.items():
                rates[what].append(requests_per_second(server.port, options, words))
    finally:
        server.close()
    median = {what: statistics.median(values) for what, values in rates.items()}
    for what, (options, words) in measured.items():
        shown = " ".join([*options, *words[:4], *(["…"] if len(words) > 4 else [])])
        print(f"{what}: {median[what]:,.0f} requests/s (redis-benchmark {shown})")
    # Of random keys, as items are; and of one key that stays in the cache, which is as fast as the server gets.
    for command, other in [("CF.EXISTS", "GET"), ("CF.ADD", "SET")]:
        for what in [other, f"{other}, of one key"]:
            print(f"{name}: {command} / {what} = {median[command] / median[what]:.3f}")
    ratio = 100 * median["CF.MEXISTS, 100 at a time"] / median["CF.EXISTS, one at a time"]
    print(f"{name}: items of CF.MEXISTS / CF.EXISTS one at a time = {ratio:.1f}")


if __name__ == "__main__":
    main()
