#!/usr/bin/env python3
"""database.py FILE: a small file as `nsys export --type=sqlite` writes it, for import_fuzz to begin with."""
import os
import sqlite3
import sys

PROCESS = 9 << 24
THREAD = PROCESS + 5

TABLES = {
    "StringIds(id INTEGER PRIMARY KEY, value TEXT)":
        [(1, "k"), (2, "cudaLaunchKernel_v7000"), (3, "cudaMalloc"), (4, "step"), (5, "/a/x.py"), (6, "0x9")],
    "CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, mangledName, "
    "gridX, gridY, gridZ, blockX, blockY, blockZ, graphNodeId)":
        [(10, 20, 0, 1, 7, 1, PROCESS, 1, 1, 1, 1, 32, 1, 1, None),
         (30, 40, 0, 1, 7, 1, PROCESS, 1, 1, 1, 1, 32, 1, 1, 1 << 32)],
    "CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, "
    "srcKind, dstKind)":
        [(50, 60, 0, 1, 7, 2, PROCESS, 64, 1, 1, 2), (50, 60, 0, 1, 7, 2, PROCESS, 64, 12, 4, 4)],
    "CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId, returnValue, callchainId)":
        [(1, 5, THREAD, 1, 2, 0, 1), (6, 8, THREAD, 3, 3, 0, 2)],
    "CUDA_CALLCHAINS(id, symbol, module, unresolved, originalIP, stackDepth)":
        [(1, 1, 4, None, 9, 0), (1, 4, 5, None, None, 1), (2, 6, 4, 1, 9, 0)],
    "CUDA_GPU_MEMORY_USAGE_EVENTS(globalPid, deviceId, contextId, address, bytes, memKind, memoryOperationType, "
    "correlationId)":
        [(PROCESS, 0, 1, 4096, 64, 2, 0, 3)],
    "NVTX_EVENTS(start, end, eventType, category, text, textId, globalTid, domainId)":
        [(0, 100, 59, 1, None, 4, THREAD, 0), (1, None, 60, None, "x", None, THREAD, 2),
         (0, None, 75, None, "d", None, THREAD, 2)],
    "TARGET_INFO_GPU(id, name, smCount, totalMemory)":
        [(0, "GPU", 132, 1)],
}


def main(path):
    if os.path.exists(path):
        os.unlink(path)
    database = sqlite3.connect(path)
    database.execute("PRAGMA page_size = 512")
    for table, rows in TABLES.items():
        database.execute(f"CREATE TABLE {table}")
        places = ", ".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO {table.split('(')[0]} VALUES ({places})", rows)
    database.commit()
    database.close()
    with open(path, "rb") as file:
        content = file.read()
    with open(path, "wb") as file:
        file.write(b"F" + content)


if __name__ == "__main__":
    main(sys.argv[1])
