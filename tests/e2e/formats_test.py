#!/usr/bin/env python3
"""The formats that hold every event: read by readers that share nothing with us, and their sums compared with the summary's."""
import collections
import csv
import gzip
import json
import os
import pathlib
import re
import sqlite3
import statistics

import chrome_lint
import support
from support import BUILD, Case
import openmetrics  # these two are in the folder that support names
import perfetto

ZOO = os.path.join(BUILD, "programs", "zoo")
ABOUT = ("process", "device", "thread", "missing")
DIRECTIONS = {"HtoD": "Host-to-Device", "DtoH": "Device-to-Host", "DtoD": "Device-to-Device", "PtoP": "Peer-to-Peer",
              "HtoH": "Host-to-Host", "HtoA": "Host-to-Array", "AtoH": "Array-to-Host", "AtoD": "Array-to-Device",
              "DtoA": "Device-to-Array", "AtoA": "Array-to-Array"}

# What people ask the tables of nsys, as its own statistics do.
KERNELS = """SELECT coalesce(long.value, short.value), count(*), sum(end - start)
    FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernel
    LEFT JOIN StringIds AS long ON long.id = kernel.demangledName
    LEFT JOIN StringIds AS short ON short.id = kernel.shortName GROUP BY 1"""
KERNELS_OF_GPUS = """SELECT gpu.name, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernel
    JOIN TARGET_INFO_CUDA_DEVICE AS device
      ON device.cudaId = kernel.deviceId AND device.pid = kernel.globalPid / 0x1000000 % 0x1000000
    JOIN TARGET_INFO_GPU AS gpu ON gpu.id = device.gpuId GROUP BY 1"""
CALLS = """SELECT value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_RUNTIME
    JOIN StringIds ON id = nameId GROUP BY 1"""
COPIES = """SELECT oper.label, count(*), sum(end - start), sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY AS copy
    JOIN ENUM_CUDA_MEMCPY_OPER AS oper ON oper.id = copy.copyKind GROUP BY 1
    UNION ALL SELECT 'memset', count(*), sum(end - start), sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMSET"""
LAUNCHES = """SELECT count(*), sum(kernel.start >= call.start) FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernel
    JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call ON call.correlationId = kernel.correlationId
     AND call.globalTid / 0x1000000 = kernel.globalPid / 0x1000000"""
RANGES = """WITH domains AS (SELECT domainId, text FROM NVTX_EVENTS WHERE eventType = 75)
    SELECT coalesce(range.text, value), coalesce(domains.text, ''), count(*), sum(end - start)
    FROM NVTX_EVENTS AS range LEFT JOIN StringIds ON id = textId LEFT JOIN domains USING (domainId)
    WHERE eventType IN (59, 60) AND end IS NOT NULL GROUP BY 1, 2"""
STACKS = """SELECT group_concat(symbol, ' < ') FROM
    (SELECT call.rowid AS call, text.value AS symbol FROM CUPTI_ACTIVITY_KIND_RUNTIME AS call
     JOIN StringIds AS api ON api.id = call.nameId AND api.value = 'cuLaunchKernel'
     JOIN CUDA_CALLCHAINS AS chain ON chain.id = call.callchainId
     JOIN StringIds AS text ON text.id = chain.symbol
     ORDER BY call.rowid, stackDepth) GROUP BY call"""


def number(cell):
    return int(cell) if cell else 0


class Formats(Case):

    def setUp(self):
        super().setUp()
        # parts of a trace have no estimated stacks
        done = self.run_program([ZOO], options=("-o", "t", "--chrome", "none", "--summary", "none", "--stacks=alloc"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.trace = self.path("t.gpuprof")

    def export(self, form, *options, out="out"):
        done = self.run_gpuprof("export", "-F", form, "-o", self.path(out), *options, self.trace)
        said = re.sub(r"gpuprof: \d+ ranges? without GPU operations, .*--at-once N\n", "", done.stderr) if "--at-once" in options else done.stderr
        self.assertEqual((done.returncode, said), (0, ""))
        return self.path(out)

    def csv_rows(self, *options, out="out"):
        path = self.export("csv", *options, out=out)
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, strict=True))

    def database(self, *options):
        path = self.export("sqlite", *options)
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        return database

    def summary(self, *traces):
        """{table: {name: row}}"""
        done = self.run_gpuprof("summary", "--by", "kernel,copy,api,nvtx", "-f", "--top", "0", "--format", "json",
                                *(traces or [self.trace]))
        self.assertEqual(done.returncode, 0, done.stderr)
        return {table["report"]: {row.get("Name") or row.get("Operation"): row for row in table["rows"]}
                for table in json.loads(done.stdout)}

    def assert_same_sums(self, tables, rows_of, factor=1):
        """rows_of: {table: {name: [count, ns]}}"""
        for table, rows in rows_of.items():
            wanted = {name: [row["Count"] * factor, row["Total"] * factor] for name, row in tables[table].items()}
            self.assertEqual({name: list(row) for name, row in rows.items()}, wanted, table)

    def copies_by_direction(self, tables):
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for name, row in tables["copy-time"].items():
            key = "memset" if name == "[memset]" else DIRECTIONS[name.strip("[]").split()[1]]
            size = tables["copy-size"][name]
            for i, value in enumerate((row["Count"], row["Total"], size["Total"])):
                sums[key][i] += value
        return dict(sums)

    def test_rows_sum_up_to_the_summary(self):
        tables, rows = self.summary(), self.csv_rows()
        sums = {table: collections.defaultdict(lambda: [0, 0]) for table in ("kernel", "api", "copy-time")}
        names = {"kernel": "kernel", "call": "api", "copy": "copy-time", "memset": "copy-time"}
        for row in rows:
            if row["kind"] in names:
                sums[names[row["kind"]]][row["name"]][0] += 1
                sums[names[row["kind"]]][row["name"]][1] += number(row["duration_ns"])
        self.assert_same_sums(tables, sums)
        self.assertEqual(sum(number(row["bytes"]) for row in rows if row["kind"] in ("copy", "memset")),
                         sum(row["Total"] for row in tables["copy-size"].values()))

    def test_json_lines_are_the_rows(self):
        rows = self.csv_rows()
        with open(self.export("jsonl"), encoding="utf-8") as file:
            objects = [json.loads(line) for line in file]
        self.assertEqual(len(objects), len(rows))
        for row, line in zip(rows, objects):
            self.assertEqual({name: cell for name, cell in row.items() if cell},
                             {name: str(value) for name, value in line.items() if value != ""})

    def test_tables_of_nsys(self):
        tables, database = self.summary(), self.database()
        query = lambda text: {row[0]: list(row[1:]) for row in database.execute(text)}
        self.assert_same_sums(tables, {"kernel": query(KERNELS), "api": query(CALLS)})
        self.assertEqual(query(COPIES), self.copies_by_direction(tables))
        kernels = sum(row["Count"] for row in tables["kernel"].values())
        self.assertEqual(query(KERNELS_OF_GPUS), {"Simulated GPU": [kernels]})
        self.assertEqual(database.execute(LAUNCHES).fetchall(), [(kernels, kernels)])
        wanted = {(row["Range"], row["Domain"] or ""): [row["Count"], row["Total"]]
                  for row in self.nvtx_rows()}
        self.assertEqual({row[:2]: list(row[2:]) for row in database.execute(RANGES)}, wanted)
        self.assertFalse(database.execute("SELECT 1 FROM sqlite_master WHERE name = 'DIAGNOSTIC_EVENT'").fetchall())

    def perfetto_trace(self, *options):
        with open(self.export("perfetto", *options), "rb") as file:
            return perfetto.Trace(file.read())

    def test_packets_of_perfetto(self):
        tables, trace, rows = self.summary(), self.perfetto_trace(), self.csv_rows()
        sums = {table: collections.defaultdict(lambda: [0, 0]) for table in ("kernel", "api")}
        for operation in trace.operations:
            if operation.kernel:
                sums["kernel"][operation.kernel][0] += 1
                sums["kernel"][operation.kernel][1] += operation.duration
        for piece in trace.slices:
            if piece.category in ("cuda_runtime", "cuda_driver"):
                sums["api"][piece.name][0] += 1
                sums["api"][piece.name][1] += piece.end - piece.start
        self.assert_same_sums(tables, sums)
        copies = [operation for operation in trace.operations if operation.stage in ("MemoryTransfer", "MemorySet")]
        self.assertEqual([len(copies), sum(copy.duration for copy in copies), sum(copy.arguments["bytes"] for copy in copies)],
                         [sum(column) for column in zip(*self.copies_by_direction(tables).values())])
        launched = collections.Counter(operation for piece in trace.slices for operation in piece.operations)
        self.assertEqual(set(launched), {operation.id for operation in trace.operations}, "every operation has its call")
        self.assertEqual(sorted(range_of["name"] for range_of in rows if range_of["kind"] == "range"),
                         sorted(piece.name for piece in trace.slices if piece.category == "nvtx"))
        with open(self.export("chrome"), encoding="utf-8") as file:
            chrome = json.load(file)["traceEvents"]
        drawn = collections.Counter(event["name"] for event in chrome if event.get("cat") == "gpu_user_annotation")
        self.assertEqual(collections.Counter(piece.name for piece in trace.slices
                                             if piece.category == "gpu_user_annotation"), drawn)
        self.assertEqual(list(trace.processes.values()), ["zoo"])
        kernel = next(operation for operation in trace.operations if operation.kernel)
        row = next(row for row in rows if row["kind"] == "kernel" and number(row["correlation"]) == kernel.arguments["correlation"])
        self.assertEqual([*kernel.grid, *kernel.block, kernel.arguments["registers_per_thread"], kernel.arguments["stream"]],
                         [number(row[name]) for name in ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "registers",
                                                         "stream")])
        self.assertGreater(kernel.arguments["sm__maximum_warps_per_active_cycle_pct"], 0)
        left = collections.defaultdict(int)
        for row in rows:
            if row["kind"] in ("allocation", "free") and row["memory"] != "pinned host":
                left[row["memory"]] += number(row["bytes"]) * (1 if row["kind"] == "allocation" else -1)
        for track, values in trace.counters.items():
            for kind in left:
                if trace.tracks[track] == f"GPU 0 memory: {kind}":
                    self.assertEqual(values[-1][1], left[kind], kind)
        pools = collections.defaultdict(list)
        for event in chrome:
            if event["ph"] == "C" and " pool " in event["name"]:
                for what, count in event["args"].items():
                    pools[f"{event['name']}: {what}"].append(count)
        self.assertTrue(pools)
        self.assertEqual({trace.tracks[track]: [value for _, value in values] for track, values in trace.counters.items()
                          if " pool " in trace.tracks[track]}, pools)

    def metrics(self, *traces):
        done = self.run_gpuprof("merge", "-F", "openmetrics", "-o", self.path("metrics"), *(traces or [self.trace]))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.path("metrics"), "rb") as file:
            return openmetrics.read(file.read())

    def test_metrics_are_the_summary(self):
        tables, metrics = self.summary(), self.metrics()

        def by(family, label, factor=1):
            return {labels[label]: int(value * factor) for labels, value in metrics[family]}

        for table, label, count, time in (("kernel", "kernel", "gpuprof_kernels", "gpuprof_kernel_seconds"),
                                          ("api", "function", "gpuprof_api_calls", "gpuprof_api_seconds"),
                                          ("copy-time", "operation", "gpuprof_copies", "gpuprof_copy_seconds")):
            self.assertEqual(by(count, label), {name: row["Count"] for name, row in tables[table].items()})
            self.assertEqual(by(time, label, 10**9), {name: row["Total"] for name, row in tables[table].items()})
        self.assertEqual(by("gpuprof_copy_bytes", "operation"),
                         {name: row["Total"] for name, row in tables["copy-size"].items()})
        self.assertEqual(sum(by("gpuprof_api_failures", "function").values()),
                         sum(row["Failed"] for row in tables["api"].values()))
        self.assertEqual(by("gpuprof_range_seconds", "range", 10**9), {row["Range"]: row["Total"] for row in self.nvtx_rows()})
        self.assertEqual(by("gpuprof_info", "program"), {"zoo": 1})
        self.assertNotIn("gpuprof_missing", metrics)

    def test_what_is_exported_is_read_again(self):
        self.export("sqlite", out="t.sqlite")
        for table in ("kernel", "copy", "api", "nvtx", "device", "sync", "overhead"):
            ours, read = (self.run_gpuprof("summary", "--by", table, "--top", "0", "--format", "json", path).stdout
                          for path in (self.trace, self.path("t.sqlite")))
            self.assertTrue(ours, table)
            self.assertEqual(read, ours, table)

    def nvtx_rows(self):
        done = self.run_gpuprof("summary", "--by", "nvtx", "--top", "0", "--format", "json", self.trace)
        return json.loads(done.stdout)["rows"]

    def test_call_stacks_in_tables(self):
        done = self.run_program([os.path.join(BUILD, "programs", "places")],
                                options=("-o", "p", "--chrome", "none", "--summary", "none", "--stacks=all"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.trace = self.path("p.gpuprof")
        callers = collections.Counter()
        for (stack,) in self.database().execute(STACKS):
            functions = [function.split(" ")[0] for function in stack.split(" < ")]
            callers[functions[functions.index("launch") + 1]] += 1
        self.assertEqual(callers, {"forward": 6, "backward": 3, "record_graph": 1, "descend": 2})

    def test_several_processes(self):
        os.rename(self.trace, self.path("first.gpuprof"))
        self.run_program([ZOO], options=("-o", "second", "--chrome", "none", "--summary", "none"))
        traces = [self.path("first.gpuprof"), self.path("second.gpuprof")]
        tables = self.summary(*traces)
        for form in ("csv", "jsonl", "sqlite", "perfetto"):
            done = self.run_gpuprof("merge", "-F", form, "-o", self.path("all." + form), *traces)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        database = sqlite3.connect(self.path("all.sqlite"))
        self.addCleanup(database.close)
        self.assert_same_sums(tables, {"kernel": {row[0]: row[1:] for row in database.execute(KERNELS)}})
        self.assertEqual(len(database.execute("SELECT DISTINCT globalPid, name FROM PROCESSES").fetchall()), 2)
        self.assertEqual(database.execute("SELECT count(*) FROM TARGET_INFO_GPU").fetchall(), [(1,)])
        self.assertEqual(sum(row[1] for row in database.execute(KERNELS_OF_GPUS)),
                         sum(row["Count"] for row in tables["kernel"].values()))
        metrics = self.metrics(*traces)
        self.assertEqual(len({labels["pid"] for labels, _ in metrics["gpuprof_kernels"]}), 2)
        self.assertEqual(sum(value for _, value in metrics["gpuprof_kernels"]),
                         sum(row["Count"] for row in tables["kernel"].values()))
        with open(self.path("all.perfetto"), "rb") as file:
            trace = perfetto.Trace(file.read())
        self.assertEqual(len(trace.processes), 2)
        self.assertEqual({operation.gpu for operation in trace.operations}, {0})
        self.assertEqual(collections.Counter(operation.kernel for operation in trace.operations if operation.kernel),
                         {name: row["Count"] for name, row in tables["kernel"].items()})
        with open(self.path("all.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len({row["pid"] for row in rows}), 2)
        self.assertEqual({row["device"] for row in rows if row["kind"] == "device"}, {"0"})
        begun = {row["pid"]: int(row["unix_ns"]) - int(row["start_ns"]) for row in rows if row["kind"] == "process"}
        self.assertEqual(len(set(begun.values())), 1, "one time is zero for all")

    def test_a_part_of_the_time(self):
        rows = self.csv_rows()
        first = next(int(row["start_ns"]) for row in rows if row["kind"] == "process")
        events = [row for row in rows if row["kind"] not in ABOUT]
        starts = sorted(int(row["start_ns"]) - first for row in events if int(row["start_ns"]) > first)
        begin, end = starts[len(starts) // 3], starts[2 * len(starts) // 3]

        def is_in(row):
            start = int(row["start_ns"]) - first
            stop = start + number(row["duration_ns"])
            return begin <= start < end if start == stop else start < end and stop > begin

        wanted = [row for row in events if is_in(row)]
        window = ("--start", f"{begin}ns", "--end", f"{end}ns")
        self.assertEqual([row for row in self.csv_rows(*window) if row["kind"] not in ABOUT], wanted)
        database = self.database(*window)
        self.assertEqual(database.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()[0],
                         sum(row["kind"] == "call" for row in wanted))
        trace = self.perfetto_trace(*window)
        self.assertEqual(sum(piece.category.startswith("cuda_") for piece in trace.slices),
                         sum(row["kind"] == "call" for row in wanted))
        self.assertEqual(len(trace.operations), sum(row["kind"] in ("kernel", "copy", "memset") for row in wanted))
        with open(self.export("chrome", *window), encoding="utf-8") as file:
            drawn = collections.Counter(event.get("cat") for event in json.load(file)["traceEvents"])
        for kind, category in (("kernel", "kernel"), ("copy", "gpu_memcpy"), ("memset", "gpu_memset")):
            self.assertEqual(drawn[category], sum(row["kind"] == kind for row in wanted), kind)
        self.assertEqual(drawn["cuda_runtime"] + drawn["cuda_driver"], sum(row["kind"] == "call" for row in wanted))

    def test_what_takes_long_enough(self):
        shortest = 10_000
        wanted = [row for row in self.csv_rows() if row["kind"] == "call" and int(row["duration_ns"]) >= shortest]
        self.assertTrue(wanted)
        rows = self.csv_rows("--min-duration", "10us")
        self.assertEqual([row for row in rows if row["kind"] == "call"], wanted)
        self.assertTrue(any(row["kind"] == "allocation" for row in rows), "a moment has no duration")

    def test_parts(self):
        for options in ((), ("--at-once", "60")):
            self.check_files(options)

    def check_files(self, options):
        """As many files as are wanted, which have all between them; however much is in memory at a time."""
        whole = [row for row in self.csv_rows() if row["kind"] not in ABOUT]
        self.export("csv", "--parts", "3", *options, out="p.csv")
        self.assertEqual(self.files(".csv"), ["p.1.csv", "p.2.csv", "p.3.csv"])
        parts = []
        for name in self.files(".csv"):
            with open(self.path(name), encoding="utf-8", newline="") as file:
                parts.append([row for row in csv.DictReader(file) if row["kind"] not in ABOUT])
        key = lambda row: sorted(row.items())
        self.assertEqual(sorted((row for part in parts for row in part), key=key), sorted(whole, key=key))
        for part in parts if not options else ():  # what is in memory at a time is cut by whole chunks, of which there are few here
            self.assertGreater(len(part), len(whole) / 5)
        self.run_gpuprof("export", "-F", "folded", "--value", "operations", "--parts", "2", *options, "-o", self.path("p.folded"), self.trace)
        stacked = 0
        for name in ("p.1.folded", "p.2.folded"):
            with open(self.path(name), encoding="utf-8") as file:
                stacked += sum(int(line.rsplit(" ", 1)[1]) for line in file)
        self.assertEqual(stacked, sum(row["kind"] in ("kernel", "copy", "memset") for row in whole))
        self.export("chrome", "--parts", "2", *options, out="p.json.gz")
        drawn = 0
        for name in ("p.1.json.gz", "p.2.json.gz"):
            with gzip.open(self.path(name)) as file:
                drawn += sum(event.get("cat") == "kernel" for event in json.load(file)["traceEvents"])
        self.assertEqual(drawn, sum(row["kind"] == "kernel" for row in whole))

    def chrome_events(self, *options):
        """How often each event is there: tracks by their names, arrows by their ends; without what a part does not know of a long range."""
        path = self.export("chrome", *options)
        self.assertEqual([rule for rule, cases in chrome_lint.lint(path).items() if cases], [], options)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        tracks = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
        found, arrows = collections.Counter(), collections.defaultdict(list)
        for event in events:
            track = event["pid"], tracks.get((event["pid"], event.pop("tid", None)))
            if event.get("cat") == "ac2g":
                arrows[event["id"]].append((event["ph"], track, event["ts"]))
            elif event["ph"] != "M" and event.get("cat") != "gpu_user_annotation":
                for key in ("GPU operations", "GPU time (us)"):
                    event.get("args", {}).pop(key, None)
                event.pop("id", None)
                found[track, json.dumps(event, sort_keys=True)] += 1
        self.assertEqual({len(ends) for ends in arrows.values()}, {2}, options)
        return found + collections.Counter(tuple(sorted(ends)) for ends in arrows.values())

    def perfetto_events(self, *options):
        """The same of Perfetto's own format; calls with what they started."""
        trace = self.perfetto_trace(*options)
        operations = {operation.id: operation._replace(id=0) for operation in trace.operations}
        name = lambda track: (trace.threads.get(track), trace.tracks[track])
        for piece in trace.slices:
            for key in ("GPU operations", "GPU time (us)"):
                piece.notes.pop(key, None)
        return collections.Counter([
            *((*name(piece.track), piece.start, piece.end, piece.name, piece.category, str(sorted(piece.notes.items())),
               str(sorted(str(operations[each]) for each in piece.operations)))
              for piece in trace.slices if piece.category != "gpu_user_annotation"),
            *map(str, operations.values()), *((name(track), *map(str, rest)) for track, *rest in trace.instants),
            *((trace.tracks[track], *sorted(values)) for track, values in trace.counters.items())])

    def test_a_timeline_in_parts(self):
        for all_events in (self.chrome_events, self.perfetto_events):
            whole = all_events()
            for events in ("40", "300", "100000"):
                self.assertEqual(all_events("--at-once", events), whole, events)

    def stack_values(self, *options):
        """{profile: {stack: value}} of speedscope's format"""
        done = self.run_gpuprof("export", "-F", "speedscope", *options, "-o", "-", self.trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        values = {}
        for profile in found["profiles"]:
            stacks = values[profile["name"]] = collections.Counter()
            for stack, weight in zip(profile["samples"], profile["weights"]):
                stacks[tuple(found["shared"]["frames"][frame]["name"] for frame in stack)] += weight
            self.assertEqual(sum(stacks.values()), profile["endValue"])
        return values

    def test_a_database_names_what_the_profiler_did(self):
        query = ("SELECT label, value, count(*) FROM PROFILER_OVERHEAD LEFT JOIN ENUM_CUPTI_OVERHEAD_TYPE AS kind ON kind.id = overheadType "
                 "JOIN StringIds ON StringIds.id = nameId GROUP BY 1, 2")
        rows = self.database().execute(query).fetchall()
        self.assertTrue(rows)
        for label, name, _ in rows:
            self.assertEqual(label, name)

    def test_figures_in_parts(self):
        """Sums and the longest, of formats that have nothing else."""
        whole = self.stack_values()
        self.assertGreater(len(whole), 3)
        for events in ("40", "300"):
            self.assertEqual(self.stack_values("--at-once", events), whole, events)
        lines = []
        for options in ((), ("--at-once", "40"), ("--at-once", "300")):
            with open(self.export("openmetrics", *options), encoding="utf-8") as file:
                lines.append(sorted(file))
        for name in ("gpuprof_kernel_longest_seconds", "gpuprof_range_seconds_total", "gpuprof_device_busy_seconds_total", "gpuprof_memory_peak_bytes"):
            self.assertTrue(any(line.startswith(name) for line in lines[0]), name)
        self.maxDiff = None
        self.assertEqual(lines[1], lines[0])
        self.assertEqual(lines[2], lines[0])

    def test_in_parts(self):
        """What is read in parts, or of which only a part is read, is the same."""
        key = lambda row: sorted(row.items())
        untold = "parts of a trace: their launches"
        whole = self.csv_rows()
        found = self.csv_rows("--at-once", "50")
        self.assertEqual([row["kind"] for row in found if row["name"].startswith(untold)], ["missing"])
        self.assertEqual(sorted((row for row in found if not row["name"].startswith(untold)), key=key), sorted(whole, key=key))
        texts = [text for text, in self.database("--at-once", "50").execute("SELECT text FROM DIAGNOSTIC_EVENT")]
        self.assertEqual(len([text for text in texts if text.startswith("1 " + untold)]), 1, texts)
        for table, columns in (("CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, nameId"), ("CUPTI_ACTIVITY_KIND_KERNEL", "start, end, shortName"),
                               ("NVTX_EVENTS", "start, end, textId"), ("CUDA_GPU_MEMORY_USAGE_EVENTS", "start, bytes, correlationId")):
            name = columns.rsplit(" ", 1)[1]
            text = f"(SELECT value FROM StringIds WHERE id = {name})" if name != "correlationId" else name
            query = f"SELECT {columns}, {text} FROM {table} ORDER BY 1, 2, 4"
            found, expected = ([row[:2] + row[3:] for row in self.database(*options).execute(query)] for options in (("--at-once", "50"), ()))
            self.assertTrue(expected, table)
            self.assertEqual(found, expected, table)
        begin = min(int(row["start_ns"]) for row in whole if row["kind"] in ("call", "kernel"))
        middle = statistics.median(int(row["start_ns"]) for row in whole if row["kind"] == "kernel") - begin
        window = ("--start", f"{int(middle)}ns")
        part = sorted((row for row in self.csv_rows(*window, "--at-once", "50") if not row["name"].startswith(untold)), key=key)
        self.assertEqual(part, sorted(self.csv_rows(*window), key=key))
        self.assertLess(len(part), len(whole))
        for value in ("gpu-time", "operations", "allocated-bytes", "peak-bytes"):
            lines = []
            for options in ((), ("--at-once", "10")):
                done = self.run_gpuprof("export", "-F", "folded", "-v", value, *window, *options, "-o", self.path("stacks"), self.trace)
                self.assertEqual(done.returncode, 0, done.stderr)
                lines.append(sorted(pathlib.Path(self.path("stacks")).read_text(encoding="utf-8").splitlines()))
            self.assertTrue(lines[0], value)
            self.assertEqual(*lines, value)

    def test_a_part_that_holds_nothing_is_not_written(self):
        for form in ("chrome", "sqlite", "csv"):
            whole = self.export(form, out="whole")
            with open(whole, "rb") as file:
                before = file.read()
            for options in (("--start", "1000s"), ("--start", "1000s", "--parts", "2")):
                done = self.run_gpuprof("export", "-F", form, *options, "-o", whole, self.trace)
                self.assertEqual(done.returncode, 1, options)
                self.assert_one_line(done.stderr, "no file is written", "from 0 to ")
            with open(whole, "rb") as file:
                self.assertEqual(file.read(), before)
        self.assertEqual([name for name in self.files() if name.startswith("whole")], ["whole"])

    def test_no_format_has_the_name_of_a_trace(self):
        for command, form, name in (("merge", "chrome", "all.json"), ("merge", "perfetto", "all.pftrace"), ("export", "sqlite", "all.sqlite")):
            done = self.run_gpuprof(command, "-F", form, "-o", self.path("all.gpuprof"), self.trace)
            self.assertEqual(done.returncode, 2)
            self.assert_one_line(done.stderr, command + ": ", f"use -o {self.path(name)}")
        self.assertNotIn("all.gpuprof", self.files())

    def test_wrong_options(self):
        for options, parts in (
                (("--start", "2s", "--end", "1s"), ("--start must be before --end",)),
                (("--start", "soon"), ("--start needs a time", "soon")),
                (("--parts", "2", "-o", "-"), ("--parts",)),
                (("-F", "openmetrics", "--start", "1s"), ("--start", "openmetrics")),
                (("-F", "csv", "--limit", "3"), ("--limit", "csv")),
                (("-F", "xml"), ("xml", "chrome", "sqlite"))):
            done = self.run_gpuprof("export", *options, self.trace)
            self.assertEqual(done.returncode, 2, options)
            self.assert_one_line(done.stderr, *parts)

    def test_the_list(self):
        done = self.run_gpuprof("export", "--list")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        listed = [line.split()[0] for line in done.stdout.splitlines()[1:]]
        for name in listed:
            output = self.path("tables") if name == "parquet" else os.devnull
            self.assertEqual(self.run_gpuprof("export", "-F", name, "-o", output, self.trace).returncode, 0, name)
        self.assertIn("sqlite", listed)


if __name__ == "__main__":
    support.main()
