"""RedisBloom's cuckoo filter, from its documented layout alone, and its dumps: what imported filters are compared with."""

import struct

WORD = (1 << 64) - 1
MULTIPLIER = 0xC6A4A7935BD1E995


def murmur_64a(data, seed=0):
    """MurmurHash64A."""

    def mix(value):
        value = value * MULTIPLIER & WORD
        return (value ^ value >> 47) * MULTIPLIER & WORD

    state = (seed ^ len(data) * MULTIPLIER) & WORD
    whole = len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        state = (state ^ mix(word)) * MULTIPLIER & WORD
    if rest := data[whole:]:
        state = (state ^ int.from_bytes(rest, "little")) * MULTIPLIER & WORD
    state = (state ^ state >> 47) * MULTIPLIER & WORD
    return state ^ state >> 47


class Filter:
    """Layers of 8-bit fingerprints; what finds no empty slot in any of them gets a new one."""

    def __init__(self, buckets, slots, expansion=1, iterations=20):
        self.buckets, self.slots, self.expansion, self.iterations = buckets, slots, expansion, iterations
        self.layers = []
        self.items = self.deletes = 0
        self.add_layer()

    def add_layer(self):
        self.layers.append(bytearray(self.buckets * self.expansion ** len(self.layers) * self.slots))

    def places(self, item, layer):
        """The slots of an item's two buckets, in the order in which they are looked at."""
        state = murmur_64a(item)
        fingerprint = state % 255 + 1
        buckets = len(layer) // self.slots
        for state in (state, state ^ fingerprint * 0x5BD1E995):
            start = state % buckets * self.slots
            yield from range(start, start + self.slots)

    def fingerprint(self, item):
        return murmur_64a(item) % 255 + 1

    def replace(self, item, old, new):
        """From the newest layer to the oldest."""
        for layer in reversed(self.layers):
            for place in self.places(item, layer):
                if layer[place] == old:
                    layer[place] = new
                    return True
        return False

    def add(self, item):
        if not self.replace(item, 0, self.fingerprint(item)):
            self.add_layer()
            self.replace(item, 0, self.fingerprint(item))
        self.items += 1

    def delete(self, item):
        if not self.replace(item, self.fingerprint(item), 0):
            return 0
        self.items -= 1
        self.deletes += 1
        return 1

    def count(self, item):
        return sum(layer[place] == self.fingerprint(item) for layer in self.layers for place in self.places(item, layer))

    def header(self):
        return struct.pack("<QQQQHHH", self.items, self.buckets, self.deletes, len(self.layers), self.slots,
                           self.iterations, self.expansion)

    def chunks(self, most=16 << 20):
        """What CF.SCANDUMP gives: the header, then pieces of the layers, each with the position behind it."""
        yield 1, self.header()
        position = 1
        for layer in self.layers:
            for start in range(0, len(layer), most):
                chunk = bytes(layer[start:start + most])
                position += len(chunk)
                yield position, chunk


def example(buckets=256, slots=2, expansion=2, items=3000, most_layers=32):
    """A filter of several layers, from which some items were deleted, and some are there twice."""
    example = Filter(buckets, slots, expansion)
    for item in range(items):
        example.add(b"item-%d" % item)
        if item % 10 == 0:
            example.add(b"item-%d" % item)
    for item in range(0, items, 7):
        example.delete(b"item-%d" % item)
    assert 1 < len(example.layers) <= most_layers
    return example
