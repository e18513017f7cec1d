"""A reader of flat Parquet files, written from the format's description, so that the writer is checked by other code.

    read("ops/host.parquet")  ->  {"rank": [0, 0, ...], "name": [...], ...}; None where there is no value

It knows what gpuprof writes and no more: GZIP pages of version 1, optional columns of INT64, DOUBLE and BYTE_ARRAY, the
encodings PLAIN, RLE, RLE_DICTIONARY and DELTA_BINARY_PACKED.
"""
import struct
import zlib

MAGIC = b"PAR1"
INT64, DOUBLE, BYTES = 2, 5, 6
UINT64 = 14
PLAIN, DELTA, DICTIONARY = 0, 5, 8


class Bytes:
    """A position in bytes, and numbers as Thrift and the encodings write them."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    # ---- Thrift's compact protocol: a struct is {field id: value} ----

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            return self.take(self.varint())
        if kind == 9:
            head = self.take(1)[0]
            return [self.value(head & 15) for _ in range(head >> 4 if head >> 4 < 15 else self.varint())]
        if kind == 12:
            return self.struct()
        raise ValueError(f"Thrift type {kind}")

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.take(1)[0]
            if head == 0:
                return fields
            last = last + (head >> 4) if head >> 4 else self.zigzag()
            fields[last] = self.value(head & 15)

    # ---- encodings ----

    def packed(self, count, bits):
        whole = int.from_bytes(self.take(count * bits // 8), "little")
        return [whole >> i * bits & (1 << bits) - 1 for i in range(count)]

    def runs(self, count, bits):
        values = []
        while len(values) < count:
            head = self.varint()
            if head & 1:
                values += self.packed((head >> 1) * 8, bits)
            else:
                values += [int.from_bytes(self.take((bits + 7) // 8), "little")] * (head >> 1)
        return values[:count]

    def deltas(self):
        block, parts, count, value = self.varint(), self.varint(), self.varint(), self.zigzag()
        values = [value] if count else []
        while len(values) < count:
            least, widths = self.zigzag(), self.take(parts)
            for bits in widths:
                if len(values) >= count:
                    break
                for delta in self.packed(block // parts, bits):
                    values.append(values[-1] + least + delta)
        return [(value + 2**63) % 2**64 - 2**63 for value in values[:count]]


def pages(data, chunk):
    """(header, bytes) of each page of a column."""
    reader = Bytes(data, chunk.get(11, chunk[9]))
    end = reader.at + chunk[7]
    while reader.at < end:
        header = reader.struct()
        page = zlib.decompress(reader.take(header[3]), 31)
        if len(page) != header[2]:
            raise ValueError("a page of another size")
        yield header, Bytes(page)


def texts_of(page, count):
    return [page.take(struct.unpack("<I", page.take(4))[0]).decode() for _ in range(count)]


def column_of(data, chunk):
    values, texts = [], []
    for header, page in pages(data, chunk):
        if 7 in header:
            texts = texts_of(page, header[7][1])
            continue
        rows, encoding = header[5][1], header[5][2]
        page.take(4)
        levels = page.runs(rows, 1)
        count = sum(levels)
        if encoding == DICTIONARY:
            bits = page.take(1)[0]
            found = [texts[number] for number in page.runs(count, bits)]
        elif encoding == DELTA:
            found = page.deltas()
        else:
            found = list(struct.unpack(f"<{count}d", page.take(8 * count)))
        following = iter(found)
        values += [next(following) if level else None for level in levels]
        if len(found) != count:
            raise ValueError("values for other rows")
    return values


def read_groups(path):
    """The row groups of a file, each as {name: values}."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != MAGIC or data[-4:] != MAGIC:
        raise ValueError(f"{path} is no Parquet file")
    footer = Bytes(data, len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]).struct()
    schema, groups = footer[2][1:], []
    for group in footer.get(4, []):
        columns = {}
        for field, chunk in zip(schema, group[1]):
            values = column_of(data, chunk[3])
            if field.get(6) == UINT64:
                values = [value % 2**64 if value is not None else None for value in values]
            if len(values) != group[3]:
                raise ValueError("a column of another length")
            columns[field[4].decode()] = values
        groups.append(columns)
    if sum(group[3] for group in footer.get(4, [])) != footer[3]:
        raise ValueError("another number of rows")
    return groups or [{field[4].decode(): [] for field in schema}]


def read(path):
    groups = read_groups(path)
    return {name: [value for group in groups for value in group[name]] for name in groups[0]}
