"""Two builds of the module under redis-benchmark, on two servers in alternation: requests per second, and the time of the
processor that a server takes for each, which scatters less.

    GUIRA_MODULE=… python crates/guira-redis/tests/server/against.py BEFORE [NAME]

BEFORE is the other module. The name is the beginning of a server's name; the first server that there is unless given. PING
shows what the server itself takes. Filters have default settings, and room for what is added.
"""

import statistics
import subprocess
import sys

from servers import MODULE, Server, programs

PAIRS = 9
REQUESTS = 400_000
DEPTH = 16
ITEM = "item:__rand_int__"

CASES = {
    "PING": ["ping"],
    "CF.ADD, new items": ["-r", str(10**9), "CF.ADD", "filter", ITEM],
    "CF.EXISTS, half of them there": ["-r", str(2 * REQUESTS), "CF.EXISTS", "half", ITEM],
    "CF.EXISTS, one item": ["CF.EXISTS", "half", f"item:{0:012}"],
}


def prepare(client):
    client.execute_command("CF.RESERVE", "half", REQUESTS + REQUESTS // 8)
    for start in range(0, REQUESTS, 5000):
        client.execute_command("CF.INSERT", "half", "ITEMS", *(f"item:{item:012}" for item in range(start, start + 5000)))


def processor_time(client):
    """Seconds."""
    used = client.info("cpu")
    return used["used_cpu_user"] + used["used_cpu_sys"]


def measure(server, client, case):
    """Requests per second, and microseconds of the server's processor for each."""
    client.delete("filter")
    client.execute_command("CF.RESERVE", "filter", REQUESTS + REQUESTS // 8)
    command = ["redis-benchmark", "-p", str(server.port), "--csv", "-P", str(DEPTH), "-n", str(REQUESTS), *CASES[case]]
    start = processor_time(client)
    line = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]
    return float(line.rsplit('","', 7)[1].strip('"')), (processor_time(client) - start) / REQUESTS * 1e6


def shown(pairs, kind, form, better):
    """The medians of both, and the median, lowest and highest ratio of a pair."""
    earlier, now = ([one[kind] for one in which] for which in pairs)
    ratios = sorted(better(first, after) for first, after in zip(earlier, now))
    return (f"{statistics.median(earlier):{form}} | {statistics.median(now):{form}} | "
            f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


def main():
    before, *name = sys.argv[1:]
    found = programs()
    name = next(known for known in found if known.startswith("".join(name)))
    servers = [Server(found[name], module=module) for module in (before, MODULE)]
    try:
        clients = [server.client() for server in servers]
        for client in clients:
            prepare(client)
        measured = {case: ([], []) for case in CASES}
        for pair in range(PAIRS):
            for case in CASES:
                # Neither is always the first.
                for which in (0, 1) if pair % 2 == 0 else (1, 0):
                    measured[case][which].append(measure(servers[which], clients[which], case))
    finally:
        for server in servers:
            server.close()

    print(f"| {name}, `-P {DEPTH} -n {REQUESTS}` | before, requests/s | now | ratio | before, µs of the server | now | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for case, pairs in measured.items():
        rates = shown(pairs, 0, ",.0f", lambda first, after: after / first)
        times = shown(pairs, 1, ".3f", lambda first, after: first / after)
        print(f"| {case} | {rates} | {times} |")


if __name__ == "__main__":
    main()
