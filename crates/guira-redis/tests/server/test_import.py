"""Dumps of RedisBloom, written by hand from the documented layout, answer here as they would there."""

import base64
import gzip
import json
import os
import random

import pytest
import redis

import redisbloom

SHAPES = [(256, 2, 2), (64, 4, 1), (1024, 1, 4), (128, 3, 2)]


def load(client, key, chunks):
    for position, chunk in chunks:
        client.execute_command("CF.LOADCHUNK", key, position, chunk)


@pytest.mark.parametrize("shape", SHAPES)
def test_it_answers_counts_and_deletes_as_redisbloom_would(server, shape):
    buckets, slots, expansion = shape
    example = redisbloom.example(buckets, slots, expansion, items=100 * slots)
    client = server.client()
    load(client, "key", example.chunks())
    # Absent ones too: both say the same of each, right or wrong.
    asked = [b"item-%d" % item for item in range(3000)]
    assert client.execute_command("CF.MEXISTS", "key", *asked) == [int(example.count(item) > 0) for item in asked]
    assert [client.execute_command("CF.COUNT", "key", item) for item in asked] == [example.count(item) for item in asked]
    order = [b"item-%d" % item for item in range(100 * slots)]
    random.Random(1).shuffle(order)
    for item in order:
        assert client.execute_command("CF.DEL", "key", item) == example.delete(item)
    assert client.execute_command("CF.MEXISTS", "key", *asked) == [int(example.count(item) > 0) for item in asked]
    # What it dumps is what RedisBloom would.
    position, chunks = 0, []
    while True:
        position, chunk = client.execute_command("CF.SCANDUMP", "key", position)
        if position == 0:
            break
        chunks.append((position, chunk))
    assert chunks == list(example.chunks(1 << 20))


def test_it_takes_more_items(server):
    client = server.client()
    example = redisbloom.example()
    load(client, "key", example.chunks())
    for start in range(10_000, 20_000, 1000):
        assert set(client.execute_command("CF.INSERT", "key", "ITEMS", *range(start, start + 1000))) == {1}
    assert all(client.execute_command("CF.MEXISTS", "key", *range(10_000, 20_000)))
    assert client.cf().info("key")["insertedNum"] == example.items + 10_000


def test_malformed_dumps_are_refused(server):
    client = server.client()
    sound = list(redisbloom.example().chunks())
    (_, header), (position, layer) = sound[:2]

    def refused(chunks, text):
        client.delete("key")
        with pytest.raises(redis.exceptions.ResponseError, match=text):
            load(client, "key", chunks)

    for length in [0, 1, 37]:
        refused([(1, header[:length])], "Invalid header")
    for at in range(8, 38):
        for bit in (1, 0x80):
            damaged = bytearray(header)
            damaged[at] ^= bit
            client.delete("key")
            try:
                load(client, "key", [(1, bytes(damaged)), *sound[1:]])
            except redis.exceptions.ResponseError:
                continue
            # Deletions and iterations may have any number.
            answers = client.execute_command("CF.MEXISTS", "key", "item-1") if 16 <= at < 24 or 34 <= at < 36 else None
            if answers is None:
                with pytest.raises(redis.exceptions.ResponseError, match="still being loaded"):
                    client.execute_command("CF.EXISTS", "key", "item-1")
    refused([(1, header), (position + 1, layer)], "Couldn't load chunk!")
    refused([(1, header), (position - 1, layer)], "Couldn't load chunk!")
    refused([(1, header), sound[2]], "Couldn't load chunk!")
    hole = bytearray(sound[-1][1])
    hole[hole.index(next(slot for slot in hole if slot))] = 0
    refused([*sound[:-1], (sound[-1][0], bytes(hole))], "Couldn't load chunk!")


def golden():
    """The filters that RedisBloom itself made."""
    path = os.path.join(os.path.dirname(__file__), "..", "data", "redisbloom.jsonl.gz")
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def test_every_filter_that_redisbloom_made_is_imported(server, protocol):
    client = server.client(protocol)
    for number, dump in enumerate(golden()):
        key = f"imported-{number}"
        load(client, key, [(position, base64.b64decode(chunk)) for position, chunk in dump["chunks"]])
        ranges = dump["stored_ranges"] or []
        stored = list(dump["stored"] or []) + [item for start, end in ranges for item in range(start, end)]
        assert all(client.execute_command("CF.MEXISTS", key, *[f"item:{item}" for item in stored]))
        absent = client.execute_command("CF.MEXISTS", key, *[f"absent:{item}" for item in range(2000)])
        assert [item for item, is_found in enumerate(absent) if is_found] == dump["found_absent"]
        counts = [client.execute_command("CF.COUNT", key, f"item:{item}") for item in range(200)]
        assert counts == dump["counts_of_first_200"]
        assert all(client.execute_command("CF.MDEL", key, *[f"item:{item}" for item in stored[::2]]))
        assert all(client.execute_command("CF.MEXISTS", key, *[f"item:{item}" for item in stored[1::2]]))
