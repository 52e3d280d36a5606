"""What is saved comes back bit for bit: by snapshots, by the append-only file, by copies and by other servers."""

import itertools
import json
import os

import pytest
import redis

import redisbloom
from servers import digest, follow, in_step, until


def fill(client):
    """Filters of every kind: small, grown, being doubled, over several chunks, imported, and one of which a part has come."""
    client.execute_command("CF.RESERVE", "grown", 100, "ERROR", "0.01")
    client.execute_command("CF.RESERVE", "large", 1_000_000)
    client.execute_command("CF.RESERVE", "empty", 100, "BUCKETSIZE", 8, "EXPANSION", 0)
    for start in range(0, 20_000, 1000):
        items = [f"item-{item}" for item in range(start, start + 1000)]
        client.execute_command("CF.INSERT", "grown", "ITEMS", *items)
        client.execute_command("CF.INSERT", "large", "ITEMS", *items)
    client.execute_command("CF.MDEL", "grown", *[f"item-{item}" for item in range(500)])
    double(client)
    for position, chunk in redisbloom.example().chunks():
        client.execute_command("CF.LOADCHUNK", "imported", position, chunk)
    header = client.execute_command("CF.SCANDUMP", "large", 0)[1]
    position, chunk = client.execute_command("CF.SCANDUMP", "large", 1)
    client.execute_command("CF.LOADCHUNK", "part", 1, header)
    client.execute_command("CF.LOADCHUNK", "part", position, chunk)
    return ["grown", "doubling", "large", "empty", "imported", "part"]


def double(client):
    """A filter with some ten thousand items in a table that is being doubled in steps: it has begun, and is not over."""
    client.execute_command("CF.RESERVE", "doubling", 30_000)
    buckets = lambda: client.execute_command("CF.INFO", "doubling")[3]
    before = buckets()
    for start in itertools.count(0, 100):
        client.execute_command("CF.INSERT", "doubling", "ITEMS", *[f"item-{item}" for item in range(start, start + 100)])
        if buckets() > before:
            break
    # The old table is there beside the new one, of which it is two thirds.
    assert client.memory_usage("doubling") > 1.2 * table_size(client, "doubling")


def table_size(client, key):
    """The bytes of a table that is not being doubled, or not any more: those of a copy's chunks, but for its header."""
    client.copy(key, "copied")
    size, position = 0, 1
    while position:
        position, chunk = client.execute_command("CF.SCANDUMP", "copied", position)
        size += len(chunk or b"")
    client.delete("copied")
    return size


def digests(client, keys):
    return {key: digest(client, key) for key in keys}


def test_a_snapshot_comes_back(start):
    server = start()
    client = server.client()
    keys = fill(client)
    before = digests(client, keys)
    client.save()
    server.restart()
    assert digests(server.client(), keys) == before
    client.execute_command("DEBUG", "RELOAD")
    assert digests(server.client(), keys) == before
    # What a part has come of goes on where it was.
    position = 1 + (1 << 20)
    while True:
        position, chunk = client.execute_command("CF.SCANDUMP", "large", position)
        if position == 0:
            break
        client.execute_command("CF.LOADCHUNK", "part", position, chunk)
    assert digest(client, "part") == digest(client, "large")


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_an_append_only_file_comes_back(start, preamble):
    server = start("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", preamble)
    client = server.client()
    keys = fill(client)
    before = digests(client, keys)
    server.restart()
    assert digests(server.client(), keys) == before, "as commands"
    client.execute_command("BGREWRITEAOF")
    until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0
          and client.info("persistence")["aof_rewrite_scheduled"] == 0, "the file is rewritten")
    client.execute_command("CF.ADD", "grown", "later")
    before = digests(client, keys)
    server.restart()
    assert digests(server.client(), keys) == before, "rewritten"


def test_an_append_only_file_comes_back_where_filters_are_made_after_dumps_were_loaded(start):
    server = start("--appendonly", "yes", "--appendfsync", "always")
    client = server.client()
    keys = [f"{kind}-{number}" for number in range(20) for kind in ("made", "loaded")]
    for made, loaded in zip(keys[::2], keys[1::2], strict=True):
        # It is replicated in a transaction, with the creation.
        client.execute_command("CF.ADD", made, "item")
        position = 0
        while True:
            position, chunk = client.execute_command("CF.SCANDUMP", made, position)
            if position == 0:
                break
            client.execute_command("CF.LOADCHUNK", loaded, position, chunk)
    before = digests(client, keys)
    server.restart()
    assert digests(server.client(), keys) == before


def test_copies_are_equal_and_apart(server):
    client = server.client()
    for key in fill(client):
        assert client.copy(key, f"copy of {key}")
        assert digest(client, key) == digest(client, f"copy of {key}")
    client.execute_command("CF.ADD", "copy of grown", "only there")
    assert digest(client, "grown") != digest(client, "copy of grown")
    assert client.execute_command("CF.EXISTS", "grown", "only there") == 0


def test_what_is_dumped_is_restored(server):
    client = server.client()
    for key in fill(client):
        client.restore(f"restored {key}", 0, client.dump(key))
        assert digest(client, key) == digest(client, f"restored {key}")


def test_keys_migrate_to_another_server(start):
    here, there = start(), start()
    keys = fill(here.client())
    before = digests(here.client(), keys)
    here.client().execute_command("MIGRATE", "127.0.0.1", there.port, "", 0, 10_000, "KEYS", *keys)
    assert here.client().dbsize() == 0
    assert digests(there.client(), keys) == before


def test_a_replica_is_equal_and_takes_over(start):
    primary = start()
    # Settings of its own, which do not matter.
    replica = start("--guira.capacity", "50", "--guira.error-rate", "0.5", "--guira.memory-limit", "1000")
    client = primary.client()
    client.execute_command("CF.ADD", "before", "item")
    follow(replica, primary)
    keys = fill(client)
    for item in range(3000):
        client.execute_command("CF.ADD", "created by ADD", f"item-{item}")
        client.execute_command("CF.ADDNX", "created by ADDNX", f"item-{item % 500}")
    client.execute_command("CF.INSERTNX", "created by INSERTNX", "CAPACITY", 64, "ITEMS", *range(500))
    client.execute_command("CF.RESERVE", "made like it", "LIKE", "created by ADD")
    client.execute_command("CF.ADD", "made like it", "another")
    client.execute_command("CF.MERGE", "merged", "created by ADD", "made like it")
    client.execute_command("CF.DEL", "created by ADD", "item-7")
    client.execute_command("CF.COMPACT", "grown")
    # Some of these are refused here, and would not be there.
    client.config_set("guira.memory-limit", 10_000)
    answers = client.execute_command("CF.INSERT", "limited", "ITEMS", *[f"item-{item}" for item in range(20_000)])
    assert 1 in answers and -1 in answers
    keys += ["before", "created by ADD", "created by ADDNX", "created by INSERTNX", "merged", "made like it", "limited"]
    in_step(replica, primary)
    expected = digests(client, keys)
    assert digests(replica.client(), keys) == expected
    primary.kill()
    promoted = replica.client()
    promoted.execute_command("REPLICAOF", "NO", "ONE")
    assert promoted.execute_command("CF.ADD", "before", "another") == 1
    assert all(promoted.execute_command("CF.MEXISTS", "large", *[f"item-{item}" for item in range(20_000)]))


def test_a_replica_stays_equal_whatever_is_asked_for_in_the_middle_of_a_doubling(start):
    primary, replica = start("--appendonly", "yes"), start()
    client = primary.client()
    client.execute_command("CF.RESERVE", "key", 30_000, "MAXCAPACITY", 1_000_000)
    items = (f"item-{number}" for number in itertools.count())
    size = lambda client: client.cf().info("key")["size"]
    before = size(client)
    while size(client) == before:
        client.execute_command("CF.ADD", "key", next(items))
    both_tables = size(client)
    # It is copied at this moment. What comes then is asked of one server, or changes nothing.
    follow(replica, primary)
    other = replica.client()
    assert size(other) > 0.9 * both_tables, "it is being doubled there"
    asked = [
        lambda: other.dump("key"),
        lambda: other.save(),
        lambda: client.execute_command("CF.SCANDUMP", "key", 0),
        lambda: digest(client, "key"),
        lambda: client.copy("key", "copy", replace=True),
        lambda: client.execute_command("CF.DEL", "key", "absent"),
        lambda: client.execute_command("CF.ADDNX", "key", "item-7"),
    ]
    turns = 0
    while size(client) > 0.9 * both_tables or turns < 2 * len(asked):
        asked[turns % len(asked)]()
        client.execute_command("CF.INSERT", "key", "ITEMS", *itertools.islice(items, 5))
        client.execute_command("CF.DEL", "key", f"item-{turns}")
        in_step(replica, primary)
        assert digest(other, "key") == digest(client, "key"), f"after turn {turns}"
        turns += 1
    # A restart loads it in the midst of the next one, and it goes on like the replica's.
    before = size(client)
    while size(client) <= before:
        client.execute_command("CF.ADD", "key", next(items))
    expected = digest(client, "key")
    primary.restart()
    in_step(replica, primary)
    client = primary.client()
    assert digest(client, "key") == digest(other, "key") == expected
    client.execute_command("CF.INSERT", "key", "ITEMS", *itertools.islice(items, 2000))
    in_step(replica, primary)
    assert digest(client, "key") == digest(other, "key")


def test_a_replica_without_a_disk_loads_beside_what_it_serves(start):
    primary = start("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0")
    replica = start("--repl-diskless-load", "swapdb")
    keys = fill(primary.client())
    replica.client().execute_command("CF.ADD", "old", "item")
    follow(replica, primary)
    assert digests(replica.client(), keys) == digests(primary.client(), keys)
    assert not replica.client().exists("old")


def test_a_file_that_was_cut_off_is_refused(start):
    server = start()
    fill(server.client())
    server.client().save()
    file = os.path.join(server.folder, "dump.rdb")
    server.stop()
    with open(file, "r+b") as dump:
        dump.truncate(os.path.getsize(file) // 2)
    with pytest.raises(AssertionError, match="did not start"):
        server.start()
    assert "BUG REPORT START" not in server.log()


def test_what_a_version_without_secret_keys_dumped_is_restored(server):
    with open(os.path.join(os.path.dirname(__file__), "..", "data", "before-secret-keys.json")) as file:
        made = json.load(file)
    client = server.client()
    client.restore("restored", 0, bytes.fromhex(made["dump"]))
    for position, chunk in made["chunks"]:
        client.execute_command("CF.LOADCHUNK", "loaded", position, bytes.fromhex(chunk))
    assert digest(client, "restored") == digest(client, "loaded")
    assert all(client.execute_command("CF.MEXISTS", "restored", *[f"item-{item}" for item in range(50, 200)]))
    assert b"hash:xxh3" in client.execute_command("CF.DEBUG", "restored")


def test_a_dump_has_the_secret_key_unless_it_is_left_out(start):
    here, there = start().client(), start().client()
    secret = "000102030405060708090a0b0c0d0e0f"
    here.execute_command("CF.RESERVE", "key", 100, "KEY", secret)
    here.execute_command("CF.ADD", "key", "ani")
    header, bare = here.execute_command("CF.SCANDUMP", "key", 0)[1], here.execute_command("CF.SCANDUMP", "key", 0, "NOKEY")[1]
    position, table = here.execute_command("CF.SCANDUMP", "key", 1)
    assert header == bare + bytes.fromhex(secret)
    for words in [(header,), (bare, "KEY", secret)]:
        there.execute_command("CF.LOADCHUNK", "key", 1, *words)
        there.execute_command("CF.LOADCHUNK", "key", position, table)
        assert digest(there, "key") == digest(here, "key")
        there.delete("key")
    with pytest.raises(redis.exceptions.ResponseError, match="made with NOKEY"):
        there.execute_command("CF.LOADCHUNK", "key", 1, bare)
    about = here.execute_command("CF.DEBUG", "key") + repr(here.execute_command("CF.INFO", "key")).encode()
    assert secret.encode() not in about and b"hash:siphash13" in about
