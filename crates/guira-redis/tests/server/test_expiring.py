"""Filters whose items expire: the same bytes on a replica and after a restart, whenever these run, and no living item is lost."""

import os
import time

import pytest
import redis

from servers import digest, follow, in_step, until

# Long enough that nothing of it expires during a test.
LONG = 1_000_000

# Of the test that no acknowledged item is lost. The long form has a million items and ten seconds.
MANY = int(os.environ.get("GUIRA_EXPIRING_ITEMS", "20000"))
LATE_SECONDS = float(os.environ.get("GUIRA_LATE_SECONDS", "1"))


def items(start, stop):
    return [f"item-{item}" for item in range(start, stop)]


KEYS = ["long", "short", "full", "secret"]

# At this rate no item is taken for another in these tests. Otherwise one that is removed, or was added though it seemed to be there,
# could share its fingerprint with another, which would be lost with it.
NO_COINCIDENCE = ["ERROR", "0.0000001"]


def fill(client):
    """Filters into which items were written by all commands at many times; the items that the first of them must have."""
    client.execute_command("CF.RESERVE", "long", 20_000, *NO_COINCIDENCE, "LIFETIME", LONG)
    # Its generations pass meanwhile, and it is swept: a fourteenth of a second is one.
    client.execute_command("CF.RESERVE", "short", 10_000, "LIFETIME", 1)
    # There is no room for most.
    client.execute_command("CF.RESERVE", "full", 100, "LIFETIME", 2)
    client.execute_command("CF.RESERVE", "secret", 100, "LIFETIME", LONG, "KEY", "00112233445566778899aabbccddeeff")
    return write(client, 0)


def write(client, first):
    """Writes other items than before, and returns those that are stored in the first filter."""
    client.execute_command("CF.ADD", "secret", f"ani-{first}")
    starts = range(first, first + 8000, 1000)
    for start in starts:
        for key in ["long", "short"]:
            client.execute_command("CF.INSERT", key, "ITEMS", *items(start, start + 300))
            client.execute_command("CF.INSERTNX", key, "ITEMS", *items(start + 200, start + 400))
            for item in items(start + 400, start + 500):
                client.execute_command("CF.ADD", key, item)
                client.execute_command("CF.ADDNX", key, item)
            client.execute_command("CF.DEL", key, f"item-{start}")
            client.execute_command("CF.MDEL", key, *items(start + 1, start + 10), "absent")
        client.execute_command("CF.INSERT", "full", "ITEMS", *items(start, start + 80))
        refused(client, "CF.ADD", "full", f"item-{start}")
        # Of the other times, another generation.
        begin = time_of(client, "short")
        until(lambda: server_milliseconds(client) - begin > 150, "time has passed")
    others = [f"in a transaction {first}", f"in a transaction {first}, too", f"in a script {first}"]
    with client.pipeline(transaction=True) as pipeline:
        pipeline.execute_command("CF.ADD", "long", others[0])
        pipeline.execute_command("CF.ADD", "long", others[1])
        pipeline.execute()
    client.eval("redis.call('CF.ADD', KEYS[1], ARGV[1])", 1, "long", others[2])
    return others + [item for start in starts for item in items(start + 10, start + 500)]


def refused(client, *words):
    try:
        client.execute_command(*words)
    except redis.exceptions.ResponseError as error:
        assert "full" in str(error) or "too many copies" in str(error)


def information(client, key):
    answer = client.execute_command("CF.INFO", key)
    return {name.decode(): value for name, value in zip(answer[::2], answer[1::2])}


def time_of(client, key):
    return information(client, key)["Time"]


def server_milliseconds(client):
    seconds, microseconds = client.time()
    return seconds * 1000 + microseconds // 1000


def digests(client):
    return {key: digest(client, key) for key in KEYS}


def has_all(client, stored):
    return all(client.execute_command("CF.MEXISTS", "long", *stored))


def test_items_expire_by_the_clock_of_the_server(server):
    client = server.client()
    client.execute_command("CF.RESERVE", "key", 1000, "LIFETIME", 2)
    begin = server_milliseconds(client)
    assert client.execute_command("CF.ADD", "key", "ani") == 1
    about = information(client, "key")
    assert (about["Lifetime"], about["Resolution"], about["Number of items inserted"]) == (2002, 143, 1)
    assert begin <= about["Time"] <= server_milliseconds(client)
    before = digest(client, "key")
    while True:
        found = client.execute_command("CF.EXISTS", "key", "ani")
        if server_milliseconds(client) < begin + 2000:
            assert found, "it expired too early"
        else:
            break
    until(lambda: client.execute_command("CF.EXISTS", "key", "ani") == 0, "it expires")
    assert server_milliseconds(client) >= about["Time"] + 2000
    assert client.execute_command("CF.COUNT", "key", "ani") == 0
    assert client.execute_command("CF.MEXISTS", "key", "ani") == [0]
    assert client.execute_command("CF.DEL", "key", "ani") == 0
    assert information(client, "key")["Number of items inserted"] == 0
    assert digest(client, "key") == before, "what only looks changes no byte"
    assert client.execute_command("CF.ADDNX", "key", "ani") == 1
    assert digest(client, "key") != before


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_an_append_only_file_comes_back_however_late(start, preamble):
    server = start("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", preamble)
    client = server.client()
    stored = fill(client)
    before, written = digests(client), time_of(client, "short")
    server.kill()
    # The commands are read again when they would do something else.
    until(lambda: time.time() * 1000 > written + 1500, "all of the short lifetime has expired")
    server.start()
    assert digests(client) == before, "as commands"
    assert time_of(client, "short") == written
    assert has_all(client, stored)
    assert information(client, "short")["Number of items inserted"] == 0
    client.execute_command("BGREWRITEAOF")
    until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0
          and client.info("persistence")["aof_rewrite_scheduled"] == 0, "the file is rewritten")
    assert digests(client) == before
    stored += write(client, 8000)
    before = digests(client)
    server.kill()
    server.start()
    assert digests(client) == before, "rewritten"
    assert has_all(client, stored)


def test_a_snapshot_comes_back(start):
    server = start()
    client = server.client()
    stored = fill(client)
    before = digests(client)
    client.save()
    server.kill()
    server.start()
    assert digests(client) == before
    client.execute_command("DEBUG", "RELOAD")
    assert digests(client) == before
    assert has_all(client, stored)


def test_a_replica_that_was_behind_is_equal_and_takes_over(start):
    primary, replica = start("--repl-backlog-size", "100mb"), start("--guira.memory-limit", "1000")
    client, other = primary.client(), replica.client()
    stored = fill(client)
    follow(replica, primary)
    assert digests(other) == digests(client)
    # It reads nothing meanwhile, and then all at once, when its clock says something else than the primary's did.
    replica.process.send_signal(19)
    try:
        stored += write(client, 8000)
        written = time_of(client, "short")
        until(lambda: server_milliseconds(client) > written + 1500, "it is late")
    finally:
        replica.process.send_signal(18)
    in_step(replica, primary)
    assert digests(other) == digests(client)
    # What a replica is asked changes nothing there either.
    assert has_all(other, stored)
    assert other.execute_command("CF.EXISTS", "short", "item-15400") == 0
    assert digests(other) == digests(client)
    errors = other.info("stats").get("unexpected_error_replies", 0)
    assert errors == 0, "it refused what its primary did"
    client.execute_command("CF.MDEL", "long", *stored[:100])
    in_step(replica, primary)
    assert digests(other) == digests(client)
    primary.kill()
    other.execute_command("REPLICAOF", "NO", "ONE")
    assert other.execute_command("CF.ADDNX", "short", "item-15400") == 1
    assert has_all(other, stored[100:])


def test_no_acknowledged_item_is_lost(start):
    """Through a kill, a rewrite of the append-only file, a replica that is late, and a failover."""
    durable = ["--appendonly", "yes", "--appendfsync", "always", "--repl-backlog-size", "100mb"]
    primary, replica = start(*durable), start()
    client, other = primary.client(), replica.client()
    client.execute_command("CF.RESERVE", "many", MANY, "ERROR", "0.001", "LIFETIME", LONG)
    acknowledged = 0

    def add(count):
        nonlocal acknowledged
        for begin in range(acknowledged, acknowledged + count, 1000):
            some = items(begin, min(begin + 1000, acknowledged + count))
            assert client.execute_command("CF.INSERT", "many", "ITEMS", *some) == [1] * len(some)
        acknowledged += count

    def assert_whole(of, before):
        assert digest(of, "many") == before
        lost = 0
        for begin in range(0, acknowledged, 1000):
            asked = items(begin, min(begin + 1000, acknowledged))
            lost += of.execute_command("CF.MEXISTS", "many", *asked).count(0)
        assert lost == 0, f"of {acknowledged} items"

    def kill():
        before = digest(client, "many")
        primary.kill()
        primary.start()
        assert_whole(client, before)

    add(MANY // 2)
    kill()
    client.execute_command("BGREWRITEAOF")
    until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0
          and client.info("persistence")["aof_rewrite_scheduled"] == 0, "the file is rewritten")
    add(MANY // 4)
    kill()
    follow(replica, primary)
    assert_whole(other, digest(client, "many"))
    replica.process.send_signal(19)
    try:
        add(MANY - acknowledged)
        written = time_of(client, "many")
        until(lambda: server_milliseconds(client) > written + 1000 * LATE_SECONDS, "it is late")
    finally:
        replica.process.send_signal(18)
    in_step(replica, primary)
    before = digest(client, "many")
    assert_whole(other, before)
    primary.kill()
    other.execute_command("REPLICAOF", "NO", "ONE")
    assert_whole(other, before)
    assert information(other, "many")["Number of items inserted"] == MANY


def test_it_is_copied_dumped_and_measured(server):
    client = server.client()
    fill(client)
    for key in KEYS:
        assert client.copy(key, f"copy of {key}")
        client.restore(f"restored {key}", 0, client.dump(key))
        assert digest(client, key) == digest(client, f"copy of {key}") == digest(client, f"restored {key}")
        size = information(client, key)["Size"]
        # An allocator has sizes of which each is up to a quarter more than the one before. What describes the filter is in two
        # allocations of less than 768 bytes, and its times are 16 numbers of 16.
        assert size <= client.memory_usage(key) < (size + 16 * 16) * 5 / 4 + 2 * 768
    client.execute_command("CF.ADD", "copy of long", "only there")
    assert client.execute_command("CF.EXISTS", "long", "only there") == 0
    assert b"kind:expiring" in client.execute_command("CF.DEBUG", "long")


def test_a_time_to_come_is_for_primaries_and_files_alone(server):
    client = server.client()
    later = server_milliseconds(client) + 60_000
    for words in [
        ("CF.RESERVE", "new", 100, "LIFETIME", 60, "AT", later),
        ("CF.INSERT", "key", "AT", later, "ITEMS", "ani"),
        ("CF.INSERTNX", "key", "AT", later, "ITEMS", "ani"),
        ("CF.DEL", "key", "koel", "AT", later),
    ]:
        client.delete("key")
        client.execute_command("CF.RESERVE", "key", 100, "LIFETIME", 60)
        client.execute_command("CF.ADD", "key", "koel")
        before = digest(client, "key")
        with pytest.raises(redis.exceptions.ResponseError, match="AT: the time must not be later than that of the server"):
            client.execute_command(*words)
        assert digest(client, "key") == before
    assert not client.exists("new")
    # What was may be told by anybody.
    client.execute_command("CF.RESERVE", "past", 100, "LIFETIME", 60, "AT", 1000)
    assert client.execute_command("CF.INSERT", "past", "AT", 2000, "ITEMS", "ani") == [1]
    assert time_of(client, "past") == 2000
    assert client.execute_command("CF.EXISTS", "past", "ani") == 0, "by the server's clock it is long dead"


def test_filters_made_alike_are_merged_and_the_replica_has_the_same_bytes(start):
    server, replica = start(), start()
    follow(replica, server)
    client = server.client()
    client.execute_command("CF.RESERVE", "monday", 1000, "LIFETIME", LONG, "RESOLUTION", LONG // 100)
    client.execute_command("CF.RESERVE", "tuesday", "LIKE", "monday")
    client.execute_command("CF.INSERT", "monday", "ITEMS", *items(0, 300))
    client.execute_command("CF.INSERT", "tuesday", "ITEMS", *items(200, 500))
    client.execute_command("CF.MERGE", "both", "monday", "tuesday")
    assert all(client.execute_command("CF.MEXISTS", "both", *items(0, 500)))
    assert client.execute_command("CF.COUNT", "both", "item-250") == 2
    in_step(replica, server)
    for key in ["monday", "tuesday", "both"]:
        assert digest(client, key) == digest(replica.client(), key)
    position = 0
    while True:
        position, chunk = client.execute_command("CF.SCANDUMP", "both", position)
        if position == 0:
            break
        client.execute_command("CF.LOADCHUNK", "loaded", position, chunk)
    assert digest(client, "loaded") == digest(client, "both")


def test_what_it_is_not_for_is_refused(server):
    client = server.client()
    client.execute_command("CF.RESERVE", "key", 100, "LIFETIME", 60)
    client.execute_command("CF.RESERVE", "plain", 100)
    client.execute_command("CF.RESERVE", "other", 100, "LIFETIME", 61)
    for words, text in [
        (("CF.MERGE", "key", "plain"), "can't be merged"),
        (("CF.MERGE", "plain", "key"), "can't be merged"),
        (("CF.MERGE", "new", "key", "plain"), "can't be merged"),
        (("CF.MERGE", "new", "key", "other"), "secret key"),
        (("CF.COMPACT", "key"), "nothing to compact"),
        (("CF.SCANDUMP", "key", 10**9), "Invalid position"),
    ]:
        with pytest.raises(redis.exceptions.ResponseError, match=text):
            client.execute_command(*words)
    assert not client.exists("new")
