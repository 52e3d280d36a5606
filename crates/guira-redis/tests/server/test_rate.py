"""The rate holds while a filter grows."""

import math
import os

# The long form goes to 10000000.
MOST = int(os.environ.get("GUIRA_RATE_ITEMS", "300000"))
ASKED = 0.001
ABSENT = 200_000


def test_the_rate_holds_from_the_first_item_to_the_largest_capacity(start):
    client = start().client()
    client.execute_command("CF.RESERVE", "key", 1000, "ERROR", ASKED, "MAXCAPACITY", MOST)
    stored, report = 0, []
    checks = sorted({1000, *(int(1000 * 2 ** (step / 2)) for step in range(100) if 1000 * 2 ** (step / 2) < MOST), MOST})
    for check in checks:
        while stored < check:
            batch = range(stored, min(stored + 5000, check))
            assert all(answer == 1 for answer in client.execute_command("CF.INSERT", "key", "ITEMS", *batch))
            stored = batch.stop
        found = sum(
            sum(client.execute_command("CF.MEXISTS", "key", *[f"absent-{item}" for item in range(start, start + 5000)]))
            for start in range(0, ABSENT, 5000)
        )
        # Six standard deviations above the rate that was asked for.
        assert found <= ABSENT * ASKED + 6 * math.sqrt(ABSENT * ASKED), (check, found)
        size = client.cf().info("key")["size"]
        report.append(f"{check} items: {size * 8 / check:.2f} bits each, rate {found / ABSENT:.6f}")
    assert all(client.execute_command("CF.MEXISTS", "key", *range(0, MOST, max(1, MOST // 10_000))))
    print("\n".join(report))
    # As many copies as fit; in a table as full as this, they may make it grow.
    client.execute_command("CF.INSERT", "key", "ITEMS", *["same"] * 8)
    size = client.cf().info("key")["size"]
    refused = 0
    for _ in range(10):
        refused += client.execute_command("CF.INSERT", "key", "ITEMS", *["same"] * 1000).count(-1)
    assert refused == 10_000 and client.cf().info("key")["size"] == size
    assert client.execute_command("CF.EXISTS", "key", 7) == 1
