"""Commands that are done in steps while other clients are served: what comes of them is what is done at once."""

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

import redisbloom
from servers import digest, follow, in_step, until
from stops import Raw, item

ITEMS = 400_000


@pytest.fixture
def server(start):
    return start("--appendonly", "yes")


def insert(server, key, numbers):
    raw = Raw(server.port)
    raw.each([b"CF.INSERT", key.encode(), b"ITEMS"], numbers)
    raw.close()


def remove(server, key, numbers):
    raw = Raw(server.port)
    raw.each([b"CF.MDEL", key.encode()], numbers)
    raw.close()


def reserve(client, *keys):
    for key in keys:
        client.execute_command("CF.RESERVE", key, 1000, "MAXCAPACITY", 4 * ITEMS, "HASH", "xxh3")


def at_once(client, *words):
    transaction = client.pipeline(transaction=True)
    transaction.execute_command(*words)
    return transaction.execute()[0]


def holds(client, key, numbers):
    numbers = list(numbers)
    return all(
        all(client.execute_command("CF.MEXISTS", key, *map(item, numbers[start : start + 10_000])))
        for start in range(0, len(numbers), 10_000)
    )


class Meanwhile:
    """A client whose commands are sent without waiting for their replies."""

    def __init__(self, server):
        # One that would not send the command again on another connection.
        client = server.client(retry=Retry(NoBackoff(), 0), single_connection_client=True)
        self.id, self.connection = client.client_id(), client.connection

    def send(self, *words):
        self.connection.send_command(*words)

    def is_over(self):
        return self.connection.can_read(timeout=0)

    def result(self):
        try:
            return self.connection.read_response()
        except redis.exceptions.RedisError as error:
            return error


def merged_alike(server, client):
    """Two filters, and twice the same third one, into one of which they are merged at once."""
    reserve(client, "a", "b")
    insert(server, "a", range(ITEMS))
    insert(server, "b", range(ITEMS, 2 * ITEMS))
    client.copy("a", "expected")
    assert at_once(client, "CF.MERGE", "expected", "b") == b"OK"


def test_a_merge_in_steps_is_that_at_once_and_is_replicated_and_kept(server, start):
    client = server.client()
    replica = start()
    follow(replica, server)
    merged_alike(server, client)
    assert client.execute_command("CF.MERGE", "a", "b") == b"OK"
    assert client.execute_command("CF.MERGE", "new", "expected", "b") == b"OK"
    assert digest(client, "a") == digest(client, "expected")
    assert holds(client, "a", range(2 * ITEMS)) and holds(client, "new", range(2 * ITEMS))
    before = {key: digest(client, key) for key in ("a", "b", "new")}
    in_step(replica, server)
    assert {key: digest(replica.client(), key) for key in before} == before
    server.restart()
    assert {key: digest(server.client(), key) for key in before} == before


def test_others_are_served_and_lose_nothing_while_filters_are_merged(server, start):
    client = server.client()
    replica = start()
    follow(replica, server)
    merged_alike(server, client)
    looked_up = client.info("stats")["keyspace_hits"]
    assert client.execute_command("CF.MERGE", "a", "b") == b"OK"
    # Steps are not lookups. Redis 7.0 counts one for each key in each turn, and takes the more turns the slower it is.
    has_old_turns = client.info("server")["redis_version"].startswith("7.0.")
    assert has_old_turns or client.info("stats")["keyspace_hits"] - looked_up < 10
    merge, first, second = (Meanwhile(server) for _ in range(3))
    added = 2 * ITEMS
    with server.standing_still():
        merge.send("CF.MERGE", "a", "b")
        # What is added to either is not lost, whether the merge is over or begins anew.
        first.send("CF.ADD", "a", item(added))
        second.send("CF.ADD", "b", item(added + 1))
    assert first.result() == second.result() == 1
    added += 2
    while not merge.is_over():
        assert client.execute_command("CF.ADD", "a", item(added)) == 1
        assert client.execute_command("CF.ADD", "b", item(added + 1)) == 1
        assert client.execute_command("CF.EXISTS", "a", item(0)) == 1
        added += 2
    assert merge.result() == b"OK"
    assert holds(client, "a", [*range(2 * ITEMS), *range(2 * ITEMS, added, 2)])
    assert holds(client, "b", [*range(ITEMS, 2 * ITEMS), *range(2 * ITEMS + 1, added, 2)])
    in_step(replica, server)
    assert holds(replica.client(), "a", [*range(2 * ITEMS), *range(2 * ITEMS, added, 2)])
    server.restart()
    assert holds(server.client(), "a", [*range(2 * ITEMS), *range(2 * ITEMS, added, 2)])


def test_a_key_that_is_gone_or_another_meanwhile_is_seen(server):
    client = server.client()
    merged_alike(server, client)
    client.copy("a", "kept")
    unchanged = digest(client, "a")
    for change, expected in [
        (["UNLINK", "b"], "not found"),
        (["SET", "b", "text"], "WRONGTYPE"),
    ]:
        client.delete("b")
        client.copy("kept", "b")
        merge, other = Meanwhile(server), Meanwhile(server)
        with server.standing_still():
            merge.send("CF.MERGE", "a", "b")
            other.send(*change)
        reply = merge.result()
        assert isinstance(reply, redis.exceptions.ResponseError) and expected in str(reply)
        assert digest(client, "a") == unchanged
    # The destination: then it is made of the sources alone.
    client.delete("b")
    client.copy("kept", "b")
    merge, other = Meanwhile(server), Meanwhile(server)
    with server.standing_still():
        merge.send("CF.MERGE", "a", "b")
        other.send("DEL", "a")
    assert merge.result() == b"OK" and digest(client, "a") == digest(client, "b")


def test_a_client_that_is_gone_changes_nothing(server):
    client = server.client()
    merged_alike(server, client)
    unchanged = digest(client, "a")
    merge, other = Meanwhile(server), Meanwhile(server)
    with server.standing_still():
        merge.send("CF.MERGE", "a", "b")
        other.send("CLIENT", "KILL", "ID", merge.id)
    assert other.result() == 1
    assert isinstance(merge.result(), redis.exceptions.ConnectionError)
    until(lambda: client.info("clients")["blocked_clients"] == 0, "it waits no more")
    assert digest(client, "a") == unchanged and client.ping()


def test_the_end_waits_while_clients_are_paused(server, start):
    client = server.client()
    replica = start()
    follow(replica, server)
    merged_alike(server, client)
    merge, other = Meanwhile(server), Meanwhile(server)
    with server.standing_still():
        merge.send("CF.MERGE", "a", "b")
        # Far longer than the merge takes. A server that told its replica of it meanwhile would end itself.
        other.send("CLIENT", "PAUSE", 4000, "WRITE")
    assert other.result() == b"OK"
    assert merge.result() == b"OK"
    assert digest(client, "a") == digest(client, "expected")
    in_step(replica, server)
    assert digest(replica.client(), "a") == digest(client, "a")


def test_a_compaction_in_steps_is_that_at_once_and_is_replicated(server, start):
    client = server.client()
    replica = start()
    follow(replica, server)
    reserve(client, "a")
    insert(server, "a", range(2 * ITEMS))
    remove(server, "a", range(1000, 2 * ITEMS))
    client.copy("a", "expected")
    assert at_once(client, "CF.COMPACT", "expected") == b"OK"
    size = client.cf().info("a")["size"]
    assert client.execute_command("CF.COMPACT", "a") == b"OK"
    assert digest(client, "a") == digest(client, "expected")
    assert client.cf().info("a")["size"] < size / 100 and client.cf().info("a")["deletedNum"] == 0
    assert holds(client, "a", range(1000))
    in_step(replica, server)
    assert digest(replica.client(), "a") == digest(client, "a")
    server.restart()
    assert holds(server.client(), "a", range(1000))


def test_a_filter_of_redisbloom_is_compacted_in_steps_and_loses_nothing(server, start):
    client = server.client()
    replica = start()
    follow(replica, server)
    for position, chunk in redisbloom.Filter(1 << 17, 2, 2).chunks():
        client.execute_command("CF.LOADCHUNK", "a", position, chunk)
    insert(server, "a", range(3 * ITEMS))
    remove(server, "a", range(1000, 3 * ITEMS))
    client.copy("a", "expected")
    assert at_once(client, "CF.COMPACT", "expected") == b"OK"
    client.copy("a", "loose")
    before = client.cf().info("a")["size"]
    assert client.execute_command("CF.COMPACT", "a") == b"OK"
    assert digest(client, "a") == digest(client, "expected")
    assert client.cf().info("a")["size"] < before / 4 and client.cf().info("a")["deletedNum"] == 0
    # What is stored meanwhile is not lost.
    client.copy("loose", "written")
    compaction, other = Meanwhile(server), Meanwhile(server)
    number = 3 * ITEMS
    with server.standing_still():
        compaction.send("CF.COMPACT", "written")
        other.send("CF.ADD", "written", item(number))
    assert other.result() == 1
    number += 1
    while not compaction.is_over():
        assert client.execute_command("CF.ADD", "written", item(number)) == 1
        number += 1
    assert compaction.result() == b"OK"
    assert holds(client, "written", [*range(1000), *range(3 * ITEMS, number)])
    in_step(replica, server)
    for key in ("a", "written"):
        assert digest(replica.client(), key) == digest(client, key)


def begin_doubling(server, client, key):
    """Adds items until a table is being doubled. Returns their number."""
    reserve(client, key)
    insert(server, key, range(ITEMS))
    size, number = client.cf().info(key)["size"], ITEMS
    while client.cf().info(key)["size"] == size:
        insert(server, key, range(number, number + 100))
        number += 100
    return number


def test_a_table_that_is_being_doubled_is_dumped_in_steps(server):
    client = server.client()
    number = begin_doubling(server, client, "a")
    client.copy("a", "b")
    expected = at_once(client, "CF.SCANDUMP", "b", 0)
    assert client.execute_command("CF.SCANDUMP", "a", 0) == expected
    assert holds(client, "a", range(number))


def test_what_is_merged_or_compacted_amid_a_doubling_stays_equal_on_a_replica(server, start):
    client = server.client()
    replica = start()
    follow(replica, server)
    number = begin_doubling(server, client, "source")
    for key in ("merged", "compacted", "expected"):
        client.copy("source", key)
    in_step(replica, server)
    unchanged = digest(client, "source")
    assert at_once(client, "CF.COMPACT", "expected") == b"OK"
    for client_is_gone in (True, False):
        for key, *words in [("compacted", "CF.COMPACT", "compacted"), ("merged", "CF.MERGE", "merged", "source")]:
            before = digest(client, key)
            command, other = Meanwhile(server), Meanwhile(server)
            with server.standing_still():
                command.send(*words)
                if client_is_gone:
                    other.send("CLIENT", "KILL", "ID", command.id)
            if client_is_gone:
                assert other.result() == 1
                until(lambda: client.info("clients")["blocked_clients"] == 0, "it waits no more")
                assert digest(client, key) == before
            else:
                assert command.result() == b"OK"
                assert digest(client, key) != before
            assert digest(client, "source") == unchanged
            in_step(replica, server)
            for key in ("source", "compacted", "merged"):
                assert digest(replica.client(), key) == digest(client, key), f"{key} after {words}"
    assert digest(client, "compacted") == digest(client, "expected")
    assert holds(client, "merged", range(number)) and holds(client, "compacted", range(number))


def test_the_header_of_a_dump_in_steps_is_that_of_one_moment(server):
    client = server.client()
    client.execute_command("CF.RESERVE", "a", 6_000_000, "EXPANSION", 0, "HASH", "xxh3")
    insert(server, "a", range(ITEMS))
    headers = [at_once(client, "CF.SCANDUMP", "a", 0)]
    assert client.execute_command("CF.SCANDUMP", "a", 0) == headers[0]
    dump, number = Meanwhile(server), ITEMS
    dump.send("CF.SCANDUMP", "a", 0)
    while not dump.is_over():
        assert client.execute_command("CF.ADD", "a", item(number)) == 1
        headers.append(at_once(client, "CF.SCANDUMP", "a", 0))
        number += 1
    assert dump.result() in headers and len({header for _, header in headers}) == len(headers)
