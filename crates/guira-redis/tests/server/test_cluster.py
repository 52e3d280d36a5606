"""Three primaries and a replica on one machine: a slot is moved while clients write, and a primary is killed."""

import os
import subprocess
import threading
import time

import pytest
import redis

from servers import Server, digest, in_step, until
from test_steps import ITEMS, Meanwhile, holds, insert

NODES = 3
SLOTS = 16384


class Cluster:
    def __init__(self, program):
        options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-replica-validity-factor", "0"]
        self.servers = []
        try:
            for _ in range(NODES + 1):
                self.servers.append(Server(program, *options))
            self.join()
        except BaseException:
            self.close()
            raise

    def join(self):
        *self.primaries, self.replica = self.servers
        clients = [server.client() for server in self.servers]
        for number, client in enumerate(clients[:NODES]):
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", number * SLOTS // NODES, (number + 1) * SLOTS // NODES - 1)
            client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for server in self.servers[1:]:
            clients[0].execute_command("CLUSTER", "MEET", "127.0.0.1", server.port)
        known = lambda client: int(self.about(client)["cluster_known_nodes"])
        until(lambda: all(known(client) == NODES + 1 for client in clients), "all know all")
        clients[NODES].execute_command("CLUSTER", "REPLICATE", self.identity(self.primaries[0]))
        until(lambda: all(self.state(client) == "ok" for client in clients), "the cluster is ok", 60)
        until(lambda: clients[NODES].info("replication").get("master_link_status") == "up", "the replica follows", 60)

    @staticmethod
    def about(client):
        return dict(line.split(":") for line in client.execute_command("CLUSTER", "INFO").decode().split())

    def state(self, client):
        return self.about(client)["cluster_state"]

    @staticmethod
    def identity(server):
        return server.client().execute_command("CLUSTER", "MYID").decode()

    def client(self):
        nodes = [redis.cluster.ClusterNode("127.0.0.1", server.port) for server in self.primaries]
        return redis.RedisCluster(startup_nodes=nodes)

    def owner(self, slot):
        return self.primaries[slot * NODES // SLOTS]

    def close(self):
        for server in self.servers:
            server.close()


@pytest.fixture
def cluster(program):
    cluster = Cluster(program)
    yield cluster
    cluster.close()


def test_a_slot_is_moved_while_clients_write(cluster):
    client = cluster.client()
    for number in range(20):
        assert client.execute_command("CF.RESERVE", f"key-{number}", 1000) in (b"OK", True)
    stored, stop, failures = {f"{{tag}}-{number}": [] for number in range(5)}, threading.Event(), []

    def write(key):
        writer, item = cluster.client(), 0
        try:
            while not stop.is_set():
                try:
                    writer.execute_command("CF.ADD", key, f"item-{item}")
                except redis.exceptions.ResponseError as error:
                    # A command on a key between two servers is to be sent again.
                    if not str(error).startswith("TRYAGAIN"):
                        raise
                    continue
                stored[key].append(f"item-{item}")
                item += 1
        except Exception as error:
            failures.append(error)

    writers = [threading.Thread(target=write, args=[key]) for key in stored]
    for writer in writers:
        writer.start()
    slot = client.execute_command("CLUSTER", "KEYSLOT", "{tag}")
    source = cluster.owner(slot)
    target = next(server for server in cluster.primaries if server is not source)
    time.sleep(0.5)
    here, there = cluster.identity(source), cluster.identity(target)
    target.client().execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", here)
    source.client().execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", there)
    for _ in range(1000):
        keys = source.client().execute_command("CLUSTER", "GETKEYSINSLOT", slot, 1)
        if not keys:
            break
        source.client().execute_command("MIGRATE", "127.0.0.1", target.port, "", 0, 10_000, "KEYS", *keys)
        time.sleep(0.2)
    for server in [target, source, *cluster.primaries]:
        server.client().execute_command("CLUSTER", "SETSLOT", slot, "NODE", there)
    time.sleep(0.5)
    stop.set()
    for writer in writers:
        writer.join()
    assert not failures
    for key, items in stored.items():
        assert len(items) > 100
        assert all(target.client().execute_command("CF.MEXISTS", key, *items)), key


def test_slots_are_moved_as_a_whole_while_clients_write(cluster):
    """CLUSTER MIGRATESLOTS, which Valkey has from 9.0 on."""
    source, target = cluster.primaries[:2]
    move = lambda *words: source.client().execute_command("CLUSTER", *words)
    try:
        move("GETSLOTMIGRATIONS")
    except redis.exceptions.ResponseError:
        pytest.skip("the server moves no slots by itself")
    client = cluster.client()
    # Keys of slots that are moved; the limit of memory is not asked where they go.
    keys, number = [], 0
    while len(keys) < 1000:
        if client.keyslot(f"key-{number}") < 2000:
            keys.append(f"key-{number}")
        number += 1
    target.client().config_set("guira.memory-limit", 1)
    writer, item = cluster.client(), 0
    stored = {key: [] for key in keys}

    def write():
        key = keys[item % len(keys)]
        while True:
            try:
                writer.execute_command("CF.ADD", key, f"item-{item}")
                break
            except redis.exceptions.RedisError as error:
                # While slots change hands, clients are asked to come again.
                if not str(error).startswith(("TRYAGAIN", "CLUSTERDOWN", "MOVED")):
                    raise
        stored[key].append(f"item-{item}")

    for item in range(2 * len(keys)):
        write()
    move("MIGRATESLOTS", "SLOTSRANGE", 0, 1999, "NODE", cluster.identity(target))

    def state():
        jobs = source.client().execute_command("CLUSTER", "GETSLOTMIGRATIONS")
        fields = dict(zip(jobs[0][::2], jobs[0][1::2])) if isinstance(jobs[0], list) else jobs[0]
        return {str(name, "utf8") if isinstance(name, bytes) else name: value for name, value in fields.items()}["state"]

    during = 0
    while state() not in (b"success", "success", b"failed", "failed", b"cancelled", "cancelled"):
        item += 1
        write()
        during += 1
    assert state() in (b"success", "success"), source.log()
    target.client().config_set("guira.memory-limit", 512 << 20)
    for item in range(item + 1, item + 1 + len(keys)):
        write()
    assert during > 0 and target.client().dbsize() >= 1000
    for key, items in stored.items():
        assert all(target.client().execute_command("CF.MEXISTS", key, *items)), key


def test_what_is_done_in_steps_makes_nothing_anew_of_what_has_moved(cluster):
    """A destination that is gone is made of the sources alone, but not where it is on another node."""
    slot = cluster.primaries[0].client().execute_command("CLUSTER", "KEYSLOT", "{tag}")
    source = cluster.owner(slot)
    target = next(server for server in cluster.primaries if server is not source)
    here, there = source.client(), target.client()
    for key, first in [("{tag}a", 0), ("{tag}b", ITEMS)]:
        here.execute_command("CF.RESERVE", key, 1000, "MAXCAPACITY", 4 * ITEMS, "HASH", "xxh3")
        insert(source, key, range(first, first + ITEMS))
    before = digest(here, "{tag}a")
    there.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.identity(source))
    merge, marking, moving = (Meanwhile(source) for _ in range(3))
    with source.standing_still():
        merge.send("CF.MERGE", "{tag}a", "{tag}b")
        marking.send("CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.identity(target))
        moving.send("MIGRATE", "127.0.0.1", target.port, "{tag}a", 0, 10_000)
    assert marking.result() == moving.result() == b"OK"
    reply = merge.result()
    assert isinstance(reply, redis.exceptions.TryAgainError), reply
    assert here.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 10) == [b"{tag}b"]
    # The other goes the same way, to where the first one is as it was.
    here.execute_command("MIGRATE", "127.0.0.1", target.port, "{tag}b", 0, 10_000)
    for server in [target, source]:
        server.client().execute_command("CLUSTER", "SETSLOT", slot, "NODE", cluster.identity(target))
    assert digest(there, "{tag}a") == before
    assert there.execute_command("CF.MERGE", "{tag}a", "{tag}b") == b"OK"
    assert holds(there, "{tag}a", range(2 * ITEMS))


def test_a_merge_is_on_both_nodes_or_neither_where_a_replica_takes_over_meanwhile(cluster):
    primary, replica = cluster.primaries[0], cluster.replica
    old, new = primary.client(), replica.client()
    tag = next(tag for tag in map(str, range(100)) if old.execute_command("CLUSTER", "KEYSLOT", tag) < SLOTS // NODES)
    for key, first in [(f"{{{tag}}}a", 0), (f"{{{tag}}}b", ITEMS)]:
        old.execute_command("CF.RESERVE", key, 1000, "MAXCAPACITY", 4 * ITEMS, "HASH", "xxh3")
        insert(primary, key, range(first, first + ITEMS))
    key, other = f"{{{tag}}}a", f"{{{tag}}}b"
    in_step(replica, primary)
    merge, pausing = Meanwhile(primary), Meanwhile(primary)
    with primary.standing_still():
        merge.send("CF.MERGE", key, other)
        # Its end waits while clients are paused: here, until the other has taken over.
        pausing.send("CLIENT", "PAUSE", 60_000, "WRITE")
    assert pausing.result() == b"OK"
    new.execute_command("CLUSTER", "FAILOVER")
    until(lambda: new.info("replication")["role"] == "master", "the replica is promoted")
    until(lambda: old.info("replication")["role"] == "slave", "the primary is a replica now")
    old.execute_command("CLIENT", "UNPAUSE")
    reply = merge.result()
    in_step(primary, replica)
    assert digest(old, key) == digest(new, key), reply
    if isinstance(reply, redis.exceptions.RedisError):
        assert new.execute_command("CF.MERGE", key, other) == b"OK"
    assert holds(new, key, range(2 * ITEMS))


def test_a_primary_is_killed_and_its_replica_takes_over(cluster):
    primary, replica = cluster.primaries[0], cluster.replica
    client = primary.client()
    # Keys of the first third of the slots.
    keys = [key for key in (f"key-{number}" for number in range(200))
            if client.execute_command("CLUSTER", "KEYSLOT", key) < SLOTS // NODES][:5]
    replicated = {key: [] for key in keys}
    connection = client.client() if hasattr(client, "client") else client
    for item in range(400):
        for key in keys:
            connection.execute_command("CF.ADD", key, f"item-{item}")
        if connection.execute_command("WAIT", 1, 2000) >= 1:
            for key in keys:
                replicated[key].append(f"item-{item}")
    assert all(len(items) > 100 for items in replicated.values())
    before = {key: digest(client, key) for key in keys}
    primary.kill()
    promoted = replica.client()
    until(lambda: promoted.info("replication")["role"] == "master", "the replica is promoted", 60)
    until(lambda: cluster.state(promoted) == "ok", "the cluster is ok", 60)
    for key, items in replicated.items():
        assert all(promoted.execute_command("CF.MEXISTS", key, *items)), key
        assert digest(promoted, key) == before[key]
        assert promoted.execute_command("CF.ADD", key, "after") == 1


@pytest.mark.skipif("GUIRA_EXAMPLE" not in os.environ, reason="GUIRA_EXAMPLE does not say where the example is")
def test_one_filter_is_split_over_the_nodes(cluster):
    nodes = [f"redis://127.0.0.1:{server.port}" for server in cluster.primaries]
    run = subprocess.run([os.environ["GUIRA_EXAMPLE"], *nodes], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith("100000 of 100000 items found")
    for server in cluster.primaries:
        assert server.client().dbsize() > 0, "every node has a part"
