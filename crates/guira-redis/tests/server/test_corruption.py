"""Bytes that users hand over, damaged: an error each, the server stays up, and memory returns."""

import os
import random

import pytest
import redis

import redisbloom
from servers import until

# As many of each kind of filter and way in; the long form is 25000.
CASES = int(os.environ.get("GUIRA_CORRUPTIONS", "400"))

POLYNOMIAL = 0x95AC9329AC4BC9B5


def crc_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = crc_table()


def crc_64(data):
    """The checksum at the end of what DUMP gives."""
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc


def damaged(generator, data):
    """The same bytes with a few changed, cut out, put in, or repeated."""
    data = bytearray(data)
    for _ in range(generator.choice([1, 1, 1, 2, 5])):
        at = generator.randrange(len(data)) if data else 0
        length = generator.choice([1, 1, 2, 8, 64])
        match generator.randrange(6):
            case 0 | 1:
                if data:
                    data[at] ^= 1 << generator.randrange(8)
            case 2:
                data[at:at + length] = generator.randbytes(len(data[at:at + length]))
            case 3:
                del data[at:at + length]
            case 4:
                data[at:at] = generator.randbytes(length)
            case 5:
                number = generator.choice([0, 1, 255, 1 << 16, (1 << 31) - 1, 1 << 32, (1 << 63) - 1, (1 << 64) - 1])
                data[at:at + 8] = number.to_bytes(8, "little")[:len(data[at:at + 8])]
    return bytes(data)


def small_filters(client):
    client.execute_command("CF.RESERVE", "growing", 60, "ERROR", "0.01")
    client.execute_command("CF.INSERT", "growing", "ITEMS", *range(200))
    client.execute_command("CF.MDEL", "growing", *range(50))
    for position, chunk in redisbloom.example(16, 2, 2, items=60).chunks():
        client.execute_command("CF.LOADCHUNK", "imported", position, chunk)
    return ["growing", "imported"]


def use(client, key):
    """What came through must work, whatever it answers: nothing a filter says may take the server down."""
    for words in [("CF.INFO", key), ("CF.MEXISTS", key, "a", "b"), ("CF.INSERT", key, "ITEMS", *range(50)),
                  ("CF.MDEL", key, *range(20)), ("CF.COMPACT", key), ("CF.SCANDUMP", key, 0), ("CF.DEBUG", key)]:
        try:
            client.execute_command(*words)
        except redis.exceptions.ResponseError:
            pass


@pytest.mark.parametrize("kind", ["growing", "imported"])
def test_damaged_payloads_of_restore(start, kind):
    client = start().client()
    small_filters(client)
    payload = client.dump(kind)
    body, end = payload[:-10], payload[-10:-8]
    assert crc_64(body + end) == int.from_bytes(payload[-8:], "little"), "the checksum is computed rightly here"
    generator = random.Random(kind)
    used = client.info("memory")["used_memory"]
    accepted = 0
    for _ in range(CASES):
        changed = damaged(generator, body) + end
        try:
            client.restore("restored", 0, changed + crc_64(changed).to_bytes(8, "little"), replace=True)
        except redis.exceptions.ResponseError:
            continue
        accepted += changed != body + end
        use(client, "restored")
        client.delete("restored")
    # Removals and the like are numbers that may be any; what has a checksum is not among those.
    assert accepted < CASES * (0.15 if kind == "growing" else 0.9), accepted
    client.delete("restored")
    until(lambda: client.info("memory")["used_memory"] < used + (1 << 20), "memory returns")
    assert client.info("guira")["guira_filters"] == 2


@pytest.mark.parametrize("kind", ["growing", "imported"])
def test_damaged_chunks(start, kind):
    client = start().client()
    small_filters(client)
    chunks, position = [], 0
    while True:
        position, chunk = client.execute_command("CF.SCANDUMP", kind, position)
        if position == 0:
            break
        chunks.append((position, chunk))
    generator = random.Random(kind)
    used = client.info("memory")["used_memory"]
    for _ in range(CASES):
        changed = list(chunks)
        at = generator.randrange(len(changed))
        position, chunk = changed[at]
        match generator.randrange(4):
            case 0 | 1:
                changed[at] = (position, damaged(generator, chunk))
            case 2:
                changed[at] = (generator.choice([position - 1, position + 1, 2, 1 << 40, (1 << 63) - 1]), chunk)
            case 3:
                generator.shuffle(changed)
        try:
            for position, chunk in changed:
                client.execute_command("CF.LOADCHUNK", "loaded", position, chunk)
        except redis.exceptions.ResponseError:
            pass
        use(client, "loaded")
        client.delete("loaded")
    until(lambda: client.info("memory")["used_memory"] < used + (1 << 20), "memory returns")
    assert client.info("guira")["guira_filters"] == 2
