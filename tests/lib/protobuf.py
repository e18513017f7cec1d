"""Read messages of Protocol Buffers strictly, field by field."""
import struct

VARINT, DOUBLE, BYTES = 0, 1, 2


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data, kinds=(VARINT, BYTES)):
    """The (number, value) pairs of a message: varints are int, doubles float, all others bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind not in kinds:
            raise ValueError(f"wire type {kind}")
        if kind == VARINT:
            value, at = varint(data, at)
        elif kind == DOUBLE:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if len(value) != length:
                raise ValueError("a field exceeds the message")
        yield tag >> 3, value
