#!/usr/bin/env python3
"""Inputs to begin fuzzing traces with (tests/fuzz/trace_fuzz.c): real traces, whole, and each chunk of theirs by itself.

    tests/fuzz/trace.py FOLDER TRACE...
"""
import os
import struct
import sys

HEADER = struct.Struct("<IIIIQQIIII")  # include/gpuprof/trace.h
SLOTS = 1
WHOLE, CHUNK = b"\x80", b"\0"
CIRCLE = b"\x40"


def chunks(trace):
    at = 8
    while at + HEADER.size <= len(trace):
        _, length, _, records, _, position, _, ring, _, form = HEADER.unpack_from(trace, at)
        at += HEADER.size
        yield ring, form, position, records, trace[at:at + length]
        at += length + 7 & ~7


def alone(trace, ring, form, position, records, payload):
    return (CIRCLE if trace[7] == 2 else CHUNK) + bytes([min(ring, 3) | form << 2 | (position & 7) << 4, min(records, 255)]) + payload


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def main():
    folder = sys.argv[1]
    for number, path in enumerate(sys.argv[2:]):
        with open(path, "rb") as file:
            trace = file.read()
        write(folder, f"{number}", WHOLE + trace)
        for index, chunk in enumerate(chunks(trace)):
            write(folder, f"{number}.{index}", alone(trace, *chunk))
    # a thread that was in a call when its process was killed: kind, slots, API, thread, ticks
    write(folder, "waiting", CHUNK + bytes([SLOTS << 2, 1]) + struct.pack("<BBHIQQQ", 30, 1, 0x8005, 7, 1000, 0, 0))


if __name__ == "__main__":
    main()
