"""The longest that a client waits while a filter grows, by a client that pings twice a millisecond.

    GUIRA_MODULE=… python crates/guira-redis/tests/server/pauses.py [NAME [ITEMS]]

The name is the beginning of a server's name, such as "redis" or "valkey-9"; the first server that there is unless given.
20 million items are added to a filter that begins with room for 1,024, 32 at a time, by redis-benchmark. The same load of
PING beside it tells what the machine itself makes clients wait. "In the server" is the longest that the server took for one
command or for one turn, by its own latency monitor, which counts whole milliseconds from 1 on.
"""

import subprocess
import sys
import time

from servers import Server, programs

GROWING = ["CF.RESERVE", "growing", 1024, "ERROR", "0.001", "MAXCAPACITY", 32_000_000]


def pings(client, load):
    """How long pings take while a load runs, in seconds; and how long the load ran."""
    waits, begin = [], time.perf_counter()
    while load.poll() is None:
        before = time.perf_counter()
        client.ping()
        after = time.perf_counter()
        waits.append(after - before)
        time.sleep(max(0, 0.0005 - (after - before)))
    assert load.returncode == 0, "redis-benchmark failed"
    return sorted(waits, reverse=True), time.perf_counter() - begin


def measure(server, items, words):
    client = server.client()
    client.config_set("latency-monitor-threshold", 1)
    client.execute_command("LATENCY", "RESET")
    command = ["redis-benchmark", "-p", str(server.port), "-q", "-c", "1", "-P", "32", "-r", str(10**10), "-n", str(items), *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as load:
        waits, seconds = pings(client, load)
    in_server = {event[0].decode(): event[3] for event in client.execute_command("LATENCY", "LATEST")}
    five = ", ".join(f"{1000 * wait:.2f}" for wait in waits[:5])
    longest = ", ".join(f"{event} {milliseconds} ms" for event, milliseconds in in_server.items()) or "below 1 ms"
    print(f"| `{words[0]}` | {five} | {1000 * waits[len(waits) // 1000]:.2f} | {len(waits)} | {longest} | {seconds:.1f} |", flush=True)


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    items = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000_000
    server_name, program = next((known, path) for known, path in programs().items() if known.startswith(name))
    server = Server(program)
    try:
        print(f"{server_name}, {items} commands, 32 at a time\n")
        print("| load | the five longest pings, ms | 99.9 %, ms | pings | longest in the server | seconds |")
        print("|---|---|---|---:|---|---:|")
        measure(server, items, ["PING"])
        server.client().execute_command(*GROWING)
        measure(server, items, ["CF.ADD", "growing", "item:__rand_int__"])
        stored = server.client().execute_command("CF.INFO", "growing")
        print("\n" + ", ".join(f"{field.decode()}: {number}" for field, number in zip(stored[::2], stored[1::2])))
    finally:
        server.close()


if __name__ == "__main__":
    main()
