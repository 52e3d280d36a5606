"""The memory and the false positive rate of filters that grow, as a table: bits an item by MEMORY USAGE, and the rate that is seen.

    GUIRA_MODULE=… python crates/guira-redis/tests/server/bits.py [NAME [ITEMS…]]

The name is the beginning of a server's name, such as "redis" or "valkey-9"; the first server that there is unless given. One filter
is made by CF.ADD alone, one is reserved small, and one for a million items. At each number of items, 400,000 absent ones are asked
for.
"""

import sys

from servers import Server, programs

FILTERS = {"CF.ADD": None, "CF.RESERVE key 1024": 1024, "CF.RESERVE key 1000000": 1_000_000}
AT_A_TIME = 10_000
ABSENT = 400_000


def measure(client, items):
    memory = client.memory_usage("key")
    found = sum(sum(client.execute_command("CF.MEXISTS", "key", *(f"absent:{number}" for number in range(start, start + AT_A_TIME))))
                for start in range(0, ABSENT, AT_A_TIME))
    return f"{8 * memory / items:.2f}", f"{found / ABSENT:.3%}"


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    counts = [int(count) for count in sys.argv[2:]] or [100_000, 1_000_000, 2_000_000, 10_000_000, 20_000_000]
    server_name, program = next((known, path) for known, path in programs().items() if known.startswith(name))
    server = Server(program)
    try:
        client = server.client()
        rows = {count: [] for count in counts}
        for capacity in FILTERS.values():
            client.delete("key")
            if capacity:
                client.execute_command("CF.RESERVE", "key", capacity)
            stored = 0
            for count, row in rows.items():
                while stored < count:
                    batch = range(stored, min(stored + AT_A_TIME, count))
                    client.execute_command("CF.INSERT", "key", "ITEMS", *(f"item:{number}" for number in batch))
                    stored = batch.stop
                row.extend(measure(client, count))
        print(f"{server_name}\n")
        print("| items | " + " | ".join(f"`{made}`: bits an item | rate" for made in FILTERS) + " |")
        print("|---:|" + "---:|---:|" * len(FILTERS))
        for count, row in rows.items():
            print(f"| {count:,} | " + " | ".join(row) + " |")
    finally:
        server.close()


if __name__ == "__main__":
    main()
