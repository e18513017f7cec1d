#!/usr/bin/env python3
"""Make a seed of a module: only the sections with which lines are found keep their bytes.

    tests/fuzz/cubin.py MODULE SEED
"""
import struct
import sys

KEPT = (b".shstrtab", b".strtab", b".symtab", b".debug_line", b".rela.debug_line")
HEAD, SECTION = 64, 64


def main():
    with open(sys.argv[1], "rb") as file:
        module = file.read()
    start, count, names = (struct.unpack_from(form, module, at)[0] for form, at in (("<Q", 40), ("<H", 60), ("<H", 62)))
    headers = [bytearray(module[start + i * SECTION : start + (i + 1) * SECTION]) for i in range(count)]
    texts = struct.unpack_from("<Q", headers[names], 24)[0]
    head, parts = bytearray(module[:HEAD]), b""
    for header in headers:
        name, offset, size = struct.unpack_from("<I20xQQ", header)
        kept = module[texts + name :].split(b"\0", 1)[0] in KEPT
        struct.pack_into("<QQ", header, 24, HEAD + len(parts), size if kept else 0)
        parts += module[offset : offset + size] if kept else b""
    struct.pack_into("<Q", head, 40, HEAD + len(parts))
    with open(sys.argv[2], "wb") as file:
        file.write(head + parts + b"".join(headers))


main()
