"""nsys_export: a database with the tables and columns that NVIDIA's "SQLite Export Schema
Reference" describes for CUDA with call chains (`nsys profile --cudabacktrace=all`, then `nsys
export --type=sqlite`), created by a few lines of Python.
"""
import sqlite3

PID, TID = 4242, 4243
PROCESS, THREAD = PID << 24, PID << 24 | TID

SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL REFERENCES StringIds(id), shortName INTEGER NOT NULL REFERENCES StringIds(id),
  mangledName INTEGER REFERENCES StringIds(id), registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL,
  gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,
  staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL REFERENCES StringIds(id), returnValue INTEGER NOT NULL,
  callchainId INTEGER REFERENCES CUDA_CALLCHAINS(id));
CREATE TABLE CUDA_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER NOT NULL REFERENCES StringIds(id),
  module INTEGER NOT NULL REFERENCES StringIds(id), unresolved INTEGER, originalIP INTEGER, stackDepth INTEGER NOT NULL,
  PRIMARY KEY (id, stackDepth));
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, address INTEGER NOT NULL, pc INTEGER NOT NULL, bytes INTEGER NOT NULL,
  memKind INTEGER NOT NULL, memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER);
"""


class Export:
    def __init__(self, path):
        self.database = sqlite3.connect(path)
        self.database.executescript(SCHEMA)
        self.strings, self.chains, self.calls = {}, {}, 0

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.database.execute("INSERT INTO StringIds VALUES (?, ?)", (self.strings[text], text))
        return self.strings[text]

    def chain(self, *frames):
        """frames: (symbol, module, address or None for code without one), innermost first; a symbol
        "0x..." is unresolved.
        """
        if not frames:
            return None
        if frames not in self.chains:
            self.chains[frames] = len(self.chains) + 1
            for depth, (symbol, module, address) in enumerate(frames):
                self.database.execute("INSERT INTO CUDA_CALLCHAINS VALUES (?, ?, ?, ?, ?, ?)", (
                    self.chains[frames], self.string(symbol), self.string(module),
                    1 if symbol.startswith("0x") else None, address, depth))
        return self.chains[frames]

    def call(self, start, end, name, frames=()):
        """Add an API call; returns its correlation id."""
        self.calls += 1
        self.database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, ?, 0, ?)",
                              (start, end, THREAD, self.calls, self.string(name), self.chain(*frames)))
        return self.calls

    def kernel(self, start, end, correlation, demangled, mangled):
        short = self.string(demangled.split("(")[0].split("<")[0].split()[-1])
        self.database.execute(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, NULL, 7, ?, ?, ?, ?, ?, 32, 8, 1, 1, 256, 1, 1, 0, 0, NULL)",
            (start, end, correlation, PROCESS, self.string(demangled), short, self.string(mangled)))

    def memory(self, start, correlation, address, size, is_free=False):
        self.database.execute("INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (?, ?, 0, 1, ?, 0, ?, 2, ?, NULL, ?)",
                              (start, PROCESS, address, size, int(is_free), correlation))

    def close(self):
        self.database.commit()
        self.database.close()
