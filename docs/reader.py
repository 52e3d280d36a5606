#!/usr/bin/env python3
"""Reads a guira file and says which lines of standard input may be in it.

Written from docs/format.md alone, to show that the page is enough: it shares no code with the library, and CI compares
the two. It is a reader to read, not one to use: a lookup takes some 100 microseconds.

    pip install xxhash
    python3 docs/reader.py FILE [KEY_IN_HEXADECIMAL] < LINES

Prints the lines that may be in it, of those that expire at the time that the file has reached; of a counting filter also how often each is counted, of a map its values in ascending
order, behind a tab. Exits with 2 where the file is none that it can read.
"""

import struct
import sys
from math import comb

import xxhash

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
HEADER = struct.Struct("<8sHBBBBBBQQQQQQBBBBHHQQdQQQQ")
CHUNK = struct.Struct("<4sIQQ")
JOURNAL = struct.pack("<4sIQ", b"JRNL", 3, MASK)
JOURNAL += struct.pack("<Q", xxhash.xxh3_64_intdigest(JOURNAL))
RECORD = struct.Struct("<QIIQ")
INSERT, REMOVE = 1, 2
EXPIRY = struct.Struct("<QQQQQII")
LOWERCASE, TRIM = 1, 2
FILTER, SET, GROWING, COUNTING, MAP, EXPIRING = 1, 2, 3, 4, 5, 6
REGIONAL, POWER_OF_TWO, TERNARY, QUATERNARY, DOUBLING = 1, 2, 3, 4, 5
PACKED, SEMI_SORTED = 1, 2
HALF_DOUBLED = 1
CODES = {
    comb(d + 3, 4) + comb(c + 2, 3) + comb(b + 1, 2) + a: (a, b, c, d)
    for d in range(16)
    for c in range(d + 1)
    for b in range(c + 1)
    for a in range(b + 1)
}


def mulhi(x, y):
    return x * y >> 64


def mullo(x, y):
    return x * y & MASK


def spread(seed):
    x = seed ^ 0x6A09E667F3BCC909
    x = mullo(x ^ x >> 33, 0xFF51AFD7ED558CCD)
    x = mullo(x ^ x >> 33, 0xC4CEB9FE1A85EC53)
    return x ^ x >> 33


def sip_hash_1_3(key, data):
    """SipHash-1-3 of Aumasson and Bernstein."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rotate(x, bits):
        return (x << bits | x >> 64 - bits) & MASK

    def step():
        v[0] = v[0] + v[1] & MASK
        v[1] = rotate(v[1], 13) ^ v[0]
        v[0] = rotate(v[0], 32)
        v[2] = v[2] + v[3] & MASK
        v[3] = rotate(v[3], 16) ^ v[2]
        v[0] = v[0] + v[3] & MASK
        v[3] = rotate(v[3], 21) ^ v[0]
        v[2] = v[2] + v[1] & MASK
        v[1] = rotate(v[1], 17) ^ v[2]
        v[2] = rotate(v[2], 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        step()
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(3):
        step()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


class Filter:
    def __init__(self, data, key=None):
        if len(data) < 128:
            raise ValueError("cut off")
        fields = HEADER.unpack(data[:128])
        magic, version, self.kind, self.layout, self.addressing, hash_id, self.b, self.f = fields[:8]
        self.k, self.s, self.capacity, self.len, seed, table_size, self.v, self.g = fields[8:16]
        beyond, promised, required_flags, _, largest, chunks_size, rate, self.mark, self.waiting, *checksums = fields[16:]
        table_checksum, header_checksum = checksums
        if magic != b"\x89GUIRA\r\n":
            raise ValueError("not a guira file")
        if version > 1:
            raise ValueError("a later version")
        if xxhash.xxh3_64_intdigest(data[:120]) != header_checksum:
            raise ValueError("the header is damaged")
        if version != 1 or not FILTER <= self.kind <= EXPIRING or self.layout not in (PACKED, SEMI_SORTED):
            raise ValueError("unknown")
        if required_flags or self.mark > HALF_DOUBLED:
            raise ValueError("unknown")
        if data[88:96] != bytes(8) and not 0 < rate < 1:
            raise ValueError("no rate is like that")
        self.check_measures()
        if self.kind == GROWING or self.kind != FILTER and beyond:
            if self.addressing != DOUBLING or beyond not in (1, 2) or promised > self.f + self.g - 8:
                raise ValueError("no growing filter is like that")
            if self.k * self.first_buckets << promised > 1 << 32:
                raise ValueError("no table has so many buckets")
            if beyond == 1 and promised < self.g + self.mark or largest > self.k * self.first_buckets * self.b << promised:
                raise ValueError("no growing filter promises that")
        elif beyond or promised or largest:
            raise ValueError("a promise of growth in what does not grow")
        if self.g and (self.addressing != DOUBLING or self.f + self.g + self.v > 56):
            raise ValueError("no table is doubled so often")
        if (self.v > 0) != (self.kind in (COUNTING, MAP, EXPIRING)) or self.f + self.v > 56:
            raise ValueError("values of so many bits are not in such a file")
        buckets_before = self.k * self.s * 2 // 3 if self.mark else self.k * self.s // 2 if self.g else 0
        if self.waiting > (buckets_before if beyond and not self.v else 0):
            raise ValueError("more buckets wait than there were before the doubling")
        self.slot_bits = self.f - 1 if self.layout == SEMI_SORTED else self.f + self.v
        slots = self.k * self.s * self.b
        end = 128 + table_size + chunks_size
        if table_size != (-(-slots * self.slot_bits // 8) + 15 + 7) // 8 * 8 or len(data) < end:
            raise ValueError("another size than the measures give")
        table = data[128 : 128 + table_size]
        if xxhash.xxh3_64_intdigest(table) != table_checksum:
            raise ValueError("the table is damaged")
        self.table = table
        self.treatment, times = chunks_of(data[128 + table_size : end], self.kind)
        self.age, self.generations = lambda value: 0, 1
        self.living = self.living_values(times)
        has_journal = self.kind in (FILTER, GROWING) and len(data) - end <= 24 + 24 * max(4096, slots // 16)
        changes = changes_of(data[end:] if has_journal or len(data) == end else b"?")
        if hash_id == 1:
            self.digest, self.seed = lambda data: xxhash.xxh3_64_intdigest(data, seed), spread(seed)
        elif hash_id == 2:
            if key is None or sip_hash_1_3(key, b"guira: key check") != seed:
                raise ValueError("the secret key is missing, or another")
            self.digest = lambda data: sip_hash_1_3(key, data)
            self.seed = spread(sip_hash_1_3(key, b"guira: alternates"))
        else:
            raise ValueError("unknown hash")
        self.check_table(slots)
        self.more_copies = {}
        for change, digest in changes:
            fingerprint, places = self.fingerprint_and_places(digest)
            copies = fingerprint, frozenset(places)
            self.more_copies[copies] = self.more_copies.get(copies, 0) + (1 if change == INSERT else -1)

    def check_measures(self):
        longest = {(SEMI_SORTED, REGIONAL): 32, (SEMI_SORTED, POWER_OF_TWO): 32, (PACKED, REGIONAL): 56, (PACKED, DOUBLING): 56}
        longest |= {(PACKED, addressing): 32 for addressing in (POWER_OF_TWO, TERNARY, QUATERNARY)}
        shortest = 5 if self.layout == SEMI_SORTED else 8 + self.mark if self.addressing == DOUBLING else 2
        if not shortest <= self.f <= longest.get((self.layout, self.addressing), 0):
            raise ValueError("no fingerprints of so many bits are in such a table")
        if self.b not in ((4,) if self.layout == SEMI_SORTED else (4, 8) if self.addressing == DOUBLING else (1, 2, 3, 4, 8)):
            raise ValueError("no buckets of so many slots are in such a table")
        if not 1 <= self.k * self.s <= 1 << 32 or max(self.capacity, self.len) > self.k * self.s * self.b:
            raise ValueError("no table is so large, or holds so much")
        base, power = {POWER_OF_TWO: 2, TERNARY: 3, QUATERNARY: 4}.get(self.addressing), 1
        while base and power < self.s:
            power *= base
        if base and power != self.s or base == 2 and self.k > 1:
            raise ValueError("no addressing has so many buckets")
        # The buckets that an even offset and the odd one behind it have together.
        self.of_pair = 3 << self.g if self.mark else 2 << self.g
        self.first_buckets = self.s // self.of_pair * 2
        if self.addressing == DOUBLING and self.s % self.of_pair or self.addressing != DOUBLING and self.mark:
            raise ValueError("no table is doubled like that")

    def check_table(self, slots):
        """All that the page says of a table, but for copies of a fingerprint in two buckets of a set."""
        if int.from_bytes(self.table, "little") >> slots * self.slot_bits:
            raise ValueError("the padding is not 0")
        core_bits, count = 8 if self.addressing == DOUBLING else min(self.f, 32), 0
        for place in range(self.k * self.s):
            found = self.slots(place)
            if self.layout == SEMI_SORTED and found != sorted(found, key=lambda slot: (slot[0] & 15, slot[0])):
                raise ValueError("the fingerprints of a bucket are out of order")
            if any(value if not fingerprint else self.age(value) >= self.generations for fingerprint, value in found):
                raise ValueError("a value is not that of its fingerprint")
            stored = [fingerprint for fingerprint, _ in found if fingerprint]
            if any(not fingerprint & (1 << core_bits) - 1 for fingerprint in stored):
                raise ValueError("no key has such a fingerprint")
            if self.mark and any(not self.is_possible_in(place, fingerprint) for fingerprint in stored):
                raise ValueError("a fingerprint belongs in another bucket")
            if self.kind in (SET, COUNTING) and len(set(stored)) < len(stored):
                raise ValueError("a fingerprint is there twice")
            count += len(stored)
        if count != self.len:
            raise ValueError("another number of fingerprints than the header says")
        for number in range(self.waiting):
            first = self.first_of_two(number)
            if first is not None and any(one[0] and other[0] for one, other in zip(self.slots(first), self.slots(first + 1))):
                raise ValueError("two fingerprints come from one slot")

    def first_of_two(self, number):
        """The first of the two buckets that one has become in the half of a doubling that is done last, if it has become two."""
        of_each = 1 << self.g if self.mark else 1 << self.g - 1
        pair, place = divmod(number, 2 * of_each)
        if self.mark:
            return pair * self.of_pair + 2 * place - of_each if place >= of_each else None
        return 2 * number if place < of_each else None

    def living_values(self, times):
        """The values that stand for living generations; all values where keys don't expire."""
        if self.kind != EXPIRING:
            return range(1 << self.v)
        if times is None or len(times) < EXPIRY.size + 8 or len(times) % 8:
            raise ValueError("the times are missing, or cut off")
        lifetime, resolution, time, beginning, _, current, _ = EXPIRY.unpack(times[: EXPIRY.size])
        ends = [end for (end,) in struct.iter_unpack("<Q", times[EXPIRY.size :])]
        if not resolution or lifetime % resolution or not 1 <= lifetime // resolution <= 254:
            raise ValueError("no lifetime is like that")
        if (lifetime // resolution + 1).bit_length() != self.v or current >> self.v or len(ends) > 1 << self.v:
            raise ValueError("the times are not those of such values")
        if beginning > time // resolution or [time, *ends] != sorted([time, *ends], reverse=True):
            raise ValueError("the times are out of order")
        # Of a fingerprint, by its value, how many generations came after its own.
        self.age = lambda value: (current - value) % (1 << self.v)
        self.generations = len(ends)
        return {(current - a) % (1 << self.v) for a, end in enumerate(ends) if a == 0 or time - end < lifetime}

    def bits(self, start, count):
        word = int.from_bytes(self.table[start // 8 : (start + count + 7) // 8], "little")
        return word >> start % 8 & (1 << count) - 1

    def slots(self, place):
        """The fingerprints of a bucket, each with its value."""
        if self.layout == SEMI_SORTED:
            start, high = place * 4 * (self.f - 1), self.f - 4
            nibbles = CODES.get(self.bits(start, 12))
            if nibbles is None:
                raise ValueError("a bucket has a code of no fingerprints")
            return [(nibble | self.bits(start + 12 + high * i, high) << 4, 0) for i, nibble in enumerate(nibbles)]
        start = place * self.b * self.slot_bits
        slots = [self.bits(start + self.slot_bits * i, self.slot_bits) for i in range(self.b)]
        return [(slot & (1 << self.f) - 1, slot >> self.f) for slot in slots]

    def hash_of(self, fingerprint):
        x = fingerprint & 0xFFFFFFFF ^ self.seed
        return mulhi(x, GOLDEN) ^ mullo(x, GOLDEN)

    def candidates(self, digest, fingerprint):
        hashed = self.hash_of(fingerprint)
        if self.addressing == POWER_OF_TWO:
            p = self.s.bit_length() - 1
            bucket = digest >> 64 - p
            return [bucket, bucket ^ hashed >> 64 - p]
        region, offset = mulhi(digest, self.k), mulhi(mullo(digest, self.k), self.s)
        if self.addressing == REGIONAL:
            sum_ = mulhi(hashed, self.s) if self.s % 2 else 2 * mulhi(hashed, self.s // 2) + 1
            offsets = [offset, (sum_ - offset) % self.s]
        else:
            step = mulhi(hashed, self.s - 1) + 1 if self.s > 1 else 0
            offsets = [offset]
            for _ in range(1, self.addressing):
                offsets.append(add_digits(offsets[-1], step, self.addressing))
        return [region * self.s + offset for offset in offsets]

    def doubling_candidates(self, digest):
        """The fingerprint and its places in a table that may have been doubled."""
        core_less_1, rest = divmod((digest & 0xFFFFFFFF) * 255, 1 << 32)
        rest = rest >> 8 << 40 | mullo(digest, GOLDEN) >> 24
        spare = (rest << self.g & 0xFFFFFFFFFFFFFFFF) >> 72 - self.f
        hashed = self.hash_of(core_less_1 + 1)
        t = self.first_buckets
        offset = mulhi(mullo(digest, self.k), t)
        offsets = [offset, (2 * mulhi(hashed, t // 2) + 1 - offset) % t]
        start = mulhi(digest, self.k) * self.s
        in_pair = []
        for o in offsets:
            if o % 2:
                in_pair.append((1 << self.g) + ((rest >> 32 ^ hashed & 0xFFFFFFFF) >> 32 - self.g - self.mark))
            else:
                in_pair.append(rest >> 64 - self.g)
        return spare << 8 | core_less_1 + 1, [start + o // 2 * self.of_pair + at for o, at in zip(offsets, in_pair)]

    def is_possible_in(self, place, fingerprint):
        """Whether a fingerprint of a table that is half doubled agrees with the number of its bucket, if that has an odd offset."""
        q = place % self.of_pair - (1 << self.g)
        return q < 0 or q % 2 == fingerprint >> self.f - 1 ^ self.hash_of(fingerprint & 255) >> 31 - self.g & 1

    def values(self, key):
        """The values of all copies of the key's fingerprint; 0s where there are no values."""
        if self.treatment & LOWERCASE:
            key = key.lower()
        if self.treatment & TRIM:
            key = key.strip(b" \t\r\v\f")
        fingerprint, places = self.fingerprint_and_places(self.digest(key))
        stored = [slot for place in places for slot in self.slots(place)]
        values = [value for found, value in stored if found == fingerprint and value in self.living]
        more = self.more_copies.get((fingerprint, frozenset(places)), 0)
        return [0] * (len(values) + more) if more else values

    def fingerprint_and_places(self, digest):
        if self.addressing == DOUBLING:
            return self.doubling_candidates(digest)
        fingerprint = 1 + ((digest & 0xFFFFFFFF) * ((1 << min(self.f, 32)) - 1) >> 32)
        if self.f > 32:
            fingerprint |= mullo(digest, GOLDEN) >> 96 - self.f << 32
        return fingerprint, set(self.candidates(digest, fingerprint))

    def answer(self, key):
        """What is to be said of a key behind its line; None if it is certainly not there."""
        values = self.values(key)
        if not values:
            return None
        if self.kind == COUNTING:
            return f"\t{values[0] + 1}"
        if self.kind == MAP:
            return "\t" + " ".join(str(value) for value in sorted(values))
        return ""


def chunks_of(chunks, kind):
    """What is done to keys before they are hashed, and the times of keys that expire, by the chunks behind the table."""
    treatment, times = 0, None
    while chunks:
        if len(chunks) < CHUNK.size:
            raise ValueError("a chunk is cut off")
        tag, flags, length, checksum = CHUNK.unpack(chunks[: CHUNK.size])
        chunk, chunks = chunks[CHUNK.size : CHUNK.size + length], chunks[CHUNK.size + length :]
        if len(chunk) < length:
            raise ValueError("a chunk is cut off")
        if xxhash.xxh3_64_intdigest(struct.pack("<4sIQ", tag, flags, length) + chunk) != checksum:
            raise ValueError("a chunk is damaged")
        if tag == b"NORM":
            if treatment or len(chunk) != 1 or not 1 <= chunk[0] <= 3:
                raise ValueError("an unknown treatment of keys")
            treatment = chunk[0]
        elif tag == b"EXPR" and kind == EXPIRING:
            times = chunk
        elif flags & 1:
            raise ValueError("an unknown chunk that must be known")
    return treatment, times


def changes_of(journal):
    """The changes of the batches that are whole, in order: each an insertion or a removal, and a digest."""
    start, journal = journal[:24], journal[24:]
    if start != JOURNAL:
        is_cut_off = JOURNAL.startswith(start) or all(found in (0, byte) for found, byte in zip(start, JOURNAL))
        if journal or len(start) < 24 and not JOURNAL.startswith(start) or not is_cut_off:
            raise ValueError("more bytes than those of the filter")
        return []
    changes, whole, since_damage, is_damaged = [], 0, 0, False
    for number in range(len(journal) // RECORD.size):
        record = journal[number * RECORD.size : (number + 1) * RECORD.size]
        digest, change, batch_size, checksum = RECORD.unpack(record)
        if xxhash.xxh3_64_intdigest(record[:16], number) != checksum:
            is_damaged, since_damage = True, 0
            continue
        since_damage += 1
        if change not in (INSERT, REMOVE):
            raise ValueError("an unknown change in the journal")
        changes.append((change, digest))
        if 0 < batch_size <= since_damage:
            if is_damaged or whole + batch_size != len(changes):
                raise ValueError("the journal is damaged")
            whole = len(changes)
    return changes[:whole]


def add_digits(a, b, base):
    """Digit by digit, without carry. The numbers of the ternary and quaternary addressings are also their bases."""
    total, place = 0, 1
    while a or b:
        total += (a % base + b % base) % base * place
        a, b, place = a // base, b // base, place * base
    return total


def main():
    try:
        with open(sys.argv[1], "rb") as file:
            key = bytes.fromhex(sys.argv[2]) if len(sys.argv) > 2 else None
            loaded = Filter(file.read(), key)
    except (OSError, ValueError, IndexError, struct.error) as error:
        print(f"reader.py: {error}", file=sys.stderr)
        return 2
    for line in sys.stdin.buffer:
        answer = loaded.answer(line[:-2] if line.endswith(b"\r\n") else line.removesuffix(b"\n"))
        if answer is not None:
            sys.stdout.buffer.write(line.removesuffix(b"\n") + answer.encode() + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
