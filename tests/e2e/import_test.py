"""Traces of torch.profiler as input: what gpuprof counts in them is what a few lines of Python count."""
import collections
import glob
import gzip
import json
import os
import re
import shutil
import unittest

import support  # finds tests/lib
import nsys_export
from page import Page
from support import ROOT, Case

TRACES = sorted(glob.glob(os.path.join(ROOT, "tests", "data", "kineto", "*.json.gz")))


def ns(microseconds):
    return round(microseconds * 1000)


def read(path):
    with gzip.open(path) as file:
        return json.load(file)


def sums(events):
    """name: [number, ns]"""
    found = collections.defaultdict(lambda: [0, 0])
    for event in events:
        row = found[event["name"]]
        row[0] += 1
        row[1] += ns(event["dur"])
    return found


def union(events):
    """ns in which at least one of them ran"""
    total, until = 0, 0
    for start, end in sorted((ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])) for event in events):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


class Import(Case):

    def tables(self, words, path):
        result = self.run_gpuprof("summary", "--by", words, "--full-names", "--format", "json", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = json.loads(result.stdout)
        return {table["report"]: table["rows"] for table in (found if isinstance(found, list) else [found])}

    def assert_sums(self, rows, name, events):
        self.assertEqual({row[name]: [row["Count"], row["Total"]] for row in rows}, sums(events))

    def check(self, path):
        slices = collections.defaultdict(list)
        trace = read(path)
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                slices[event["cat"]].append(event)
        moved = slices["gpu_memcpy"] + slices["gpu_memset"]
        launched = {call["args"]["correlation"] for call in slices["cuda_runtime"] + slices["cuda_driver"]}
        tables = self.tables("kernel,api,copy-size,device,exec,overhead,grid", path)
        self.assert_sums(tables["kernel"], "Name", slices["kernel"])
        self.assert_sums(tables["api"], "Name", slices["cuda_runtime"] + slices["cuda_driver"])
        self.assert_sums(tables["overhead"], "Kind", slices["overhead"])
        self.assertEqual(sum(row["Count"] for row in tables["copy-size"]), len(moved))
        self.assertEqual(sum(row["Total"] for row in tables["copy-size"]), sum(op["args"]["bytes"] for op in moved))
        self.assertEqual(tables["device"][0]["Busy"], union(slices["kernel"] + moved))
        self.assertEqual(sum(row["Count"] for row in tables["exec"]),
                         sum(kernel["args"]["correlation"] in launched for kernel in slices["kernel"]))
        self.assertEqual({tuple(row[column] for column in ("GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ"))
                          for row in tables["grid"]},
                         {(*kernel["args"]["grid"], *kernel["args"]["block"]) for kernel in slices["kernel"]})
        ranges = slices["cpu_op"] + slices["user_annotation"]
        if ranges:
            self.assert_sums(self.tables("nvtx", path)["nvtx"], "Range", ranges)
        return trace

    def test_what_real_traces_hold_is_what_is_counted(self):
        self.assertEqual(len(TRACES), 3)
        for path in TRACES:
            with self.subTest(os.path.basename(path)):
                self.check(path)

    def test_an_uncompressed_trace_is_read_alike(self):
        path = self.path("trace.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(read(TRACES[0]), file, indent=1)
        plain, packed = (self.run_gpuprof("summary", name).stdout for name in (path, TRACES[0]))
        self.assertIn("recorded by torch.profiler", plain)
        self.assertEqual(plain, packed)

    def test_the_summary_says_who_recorded_and_what_that_does_not_tell(self):
        summary = self.run_gpuprof("summary", TRACES[0]).stdout
        self.assertIn("recorded by torch.profiler", summary)
        self.assertIn("note: torch.profiler records neither", summary)
        self.assertNotIn("gpuprof's own cost", summary)
        self.assertNotIn("nothing was dropped", summary)

    def test_frames_of_pytorch_are_not_the_user_s_in_a_flame_graph(self):
        own, framework, beneath = range(3)
        page = self.path("page.html")
        for path in TRACES:
            self.run_gpuprof("html", "-o", page, path)
            for name, file, kind, rank in Page(page).json("sites"):
                if kind == 1:
                    wanted = beneath if name.startswith("<built-in") or file == "threading.py" else framework if file.startswith("torch/") or name.startswith(("aten::", "autograd::", "nn.Module: ")) else None
                    self.assertIn(rank, (own, framework) if wanted is None else (wanted,), name)
                    self.assertTrue(rank == own or not file.endswith("kin.py"), name)

    def test_the_caching_allocator_is_a_pool(self):
        path = next(path for path in TRACES if "memory" in path)
        states = [event["args"] for event in read(path)["traceEvents"]
                  if event["name"] == "[memory]" and event["args"]["Device Type"] == 1]
        [row] = self.tables("memory-pool", path)["memory-pool"]
        self.assertEqual(row["Reserved"], max(state["Total Reserved"] for state in states))
        self.assertEqual(row["Most used"], max(state["Total Allocated"] for state in states))
        self.assertEqual(row["Allocs"], None)
        result = self.run_gpuprof("summary", "--memory", path)
        self.assertRegex(result.stdout, r"lacks the allocations and frees of CUDA calls\n\n.*[Pp]ool.*\n.*Reserved")
        self.assertIn("gpuprof html FILE", result.stdout)

    def test_what_is_not_known_is_not_zero(self):
        tables = self.tables("api,process,thread", TRACES[0])
        for name in ("api", "process", "thread"):
            self.assertEqual({row["Failed"] for row in tables[name]}, {None}, name)
        result = self.run_gpuprof("check", "--write-baseline", "base.json", TRACES[0])
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("base.json"), encoding="utf-8") as file:
            metrics = json.load(file)["metrics"]
        for name in ("failed_calls", "allocations", "peak_bytes", "leaked_bytes"):
            self.assertEqual(metrics[name], [None], name)
        self.assertEqual(metrics["kernels"], [84])

    def test_which_shared_memory_is_static_is_not_known(self):
        static, dynamic = 7, 8
        for path in TRACES:
            wanted = {kernel["args"]["shared memory"] for kernel in read(path)["traceEvents"] if kernel.get("cat") == "kernel"}
            self.assertEqual(self.run_gpuprof("export", "-F", "sqlite", "-o", self.path("a.sqlite"), path).returncode, 0)
            # what was exported is no better known when it is read again
            for trace in (path, self.path("a.sqlite")):
                self.assertEqual(self.run_gpuprof("html", "-o", self.path("a.html"), trace).returncode, 0)
                shapes = Page(self.path("a.html")).json("index")["shapes"]
                self.assertEqual({shape[static] for shape in shapes}, {None})
                self.assertEqual({shape[dynamic] for shape in shapes}, wanted)

    def test_a_cut_trace_is_shown_as_far_as_it_goes(self):
        for path, cut in ((self.path("cut.json"), gzip.decompress), (self.path("cut.json.gz"), bytes)):
            with open(TRACES[0], "rb") as file:
                data = cut(file.read())
            with open(path, "wb") as file:
                file.write(data[:len(data) * 3 // 4])
            result = self.run_gpuprof("summary", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(result.stdout.startswith("INCOMPLETE: the trace of pid 824 has no end"), result.stdout)
            self.assertIn("cudaLaunchKernel", result.stdout)

    def test_it_can_be_exported_like_any_other(self):
        for path in TRACES:
            exported = self.path("exported.json")
            result = self.run_gpuprof("export", "-o", exported, path)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(exported, encoding="utf-8") as file:
                found = sums(event for event in json.load(file)["traceEvents"] if event.get("cat") == "kernel")
            expected = sums(event for event in read(path)["traceEvents"] if event.get("cat") == "kernel")
            self.assertEqual(sorted(found.values()), sorted(expected.values()))

    def test_our_own_export_is_read_back(self):
        first, again = self.path("first.json"), self.path("again.json")
        self.run_gpuprof("export", "-o", first, TRACES[2])
        summary = self.run_gpuprof("summary", first).stdout
        self.assertIn("recorded by torch.profiler", summary)
        self.assertEqual(summary.count("this is an export of gpuprof"), 1)
        self.run_gpuprof("export", "-o", again, first)
        self.assertEqual(self.run_gpuprof("summary", again).stdout, summary.replace(first, again))
        for words in ("kernel", "copy-time", "api"):
            self.assertEqual(self.tables(words, first), self.tables(words, again))

    def record(self, program):
        result = self.run_program([os.path.join(support.BUILD, "programs", program)], GPUPROF_OUTPUT=program)
        self.assertIn(program + ".gpuprof", self.files(), result.stderr)
        return self.path(program + ".gpuprof")

    def test_tables_as_of_nsys_are_read(self):
        words = ["kernel", "api", "copy-time", "copy-size", "nvtx", "grid", "device"]
        for program in ("zoo", "ranges"):
            with self.subTest(program):
                trace, database = self.record(program), self.path(program + ".sqlite")
                result = self.run_gpuprof("export", "--format", "sqlite", "-o", database, trace)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("recorded by gpuprof, from an exported SQLite file",
                              self.run_gpuprof("summary", database).stdout)
                for word in words:
                    # of the links nsys' tables say nothing
                    plain = lambda rows: sorted(json.dumps({key: row[key] for key in row if key != "Peak %"}, sort_keys=True)
                                                for row in rows)
                    self.assertEqual(plain(self.tables(word, database).get(word, [])),
                                     plain(self.tables(word, trace).get(word, [])), word)

    def folded(self, path):
        result = self.run_gpuprof("export", "--format", "folded", "-o", "-", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        return dict(line.rsplit(" ", 1) for line in result.stdout.splitlines())

    def test_stacks_of_our_own_tables_are_those_of_the_trace(self):
        self.run_program([os.path.join(support.BUILD, "rules", "leaked-memory"), "sin"], options=("--stacks=all",),
                         GPUPROF_OUTPUT="leak")
        trace, database = self.path("leak.gpuprof"), self.path("leak.sqlite")
        self.run_gpuprof("export", "--format", "sqlite", "-o", database, trace)
        self.assertTrue(any(";main;" in stack for stack in self.folded(trace)), self.folded(trace))
        self.assertEqual(self.folded(database), self.folded(trace))
        self.assertEqual(self.run_gpuprof("advice", database).stdout, self.run_gpuprof("advice", trace).stdout)
        self.assertIn("leaked-memory.cu:11", self.run_gpuprof("advice", database).stdout)

    def test_few_blocks_that_are_left_are_no_finding_of_an_export_either(self):
        """The main loop is most of the time, and less is left than the rule asks for."""
        self.run_program([os.path.join(support.BUILD, "programs", "demo"), "4000"], options=("--stacks=all",),
                         GPUPROF_OUTPUT="demo")
        trace = self.path("demo.gpuprof")
        findings = {}
        for path in (trace, self.path("demo.sqlite")):
            if path != trace:
                self.run_gpuprof("export", "--format", "sqlite", "-o", path, trace)
            told = json.loads(self.run_gpuprof("advice", "--format", "json", path).stdout)
            self.assertGreater(2 * told["loop_ns"], told["span_ns"])
            findings[path] = [(one["rule"], one["found"]) for one in told["findings"]]
        self.assertEqual(findings[self.path("demo.sqlite")], findings[trace])

    APP, RUNTIME = "/opt/app/solver", "/usr/lib/x86_64-linux-gnu/libcudart.so.12"

    def nsys_export(self, path):
        """Kernels of two callers, a block that is allocated in a loop and never freed, and stacks with what nsys makes of holes."""
        export = nsys_export.Export(path)
        main = (("main", self.APP, 0x401100), ("0x7f0000029d90", "/usr/lib/libc.so.6", 0x7F0000029D90))
        launch = ("cudaLaunchKernel", self.RUNTIME, 0x7F1000001000)
        stub = ("relax(float*, int)", self.APP, 0x401900)
        script = ("step", "/opt/app/train.py", None)
        for i in range(40):
            at = 1_000_000 + 100_000 * i
            solve = (("solve(int)", self.APP, 0x401500 + 16 * (i % 2)), *main)
            correlation = export.call(at, at + 5_000, "cudaMalloc_v3020", (("grow()", self.APP, 0x401700), *solve))
            export.memory(at + 4_000, correlation, 0x10000 * (i + 1), 65536)
            correlation = export.call(at + 10_000, at + 15_000, "cudaLaunchKernel_v7000", (launch, stub, *solve))
            export.kernel(at + 20_000, at + 50_000, correlation, "relax(float*, int)", "_Z5relaxPfi")
            correlation = export.call(at + 60_000, at + 65_000, "cudaLaunchKernel_v7000",
                                      (launch, script, ("[Broken backtraces]", "", None)))
            export.kernel(at + 70_000, at + 80_000, correlation, "norm(float*)", "_Z4normPf")
        export.call(6_000_000, 6_100_000, "cudaDeviceSynchronize_v3020")
        export.close()
        return path

    def test_call_chains_of_nsys_are_stacks(self):
        database = self.nsys_export(self.path("app.sqlite"))
        stacks = self.folded(database)
        outer = "libc.so.6 at 0x7f0000029d90;main;solve"
        self.assertEqual(stacks, {
            outer + ";cudaLaunchKernel;relax": str(40 * 30_000),
            "(callers unknown: code without unwind information);step (train.py);cudaLaunchKernel;norm": str(40 * 10_000)})
        summary = self.run_gpuprof("summary", "--by", "stack", "--top", "0", database).stdout
        self.assertRegex(summary, r"solve\b")
        self.assertNotIn("device_stub", summary)
        advice = self.run_gpuprof("advice", database).stdout
        self.assertIn("leaked-memory", advice)
        self.assertIn("grow", advice)
        self.assertNotIn("--stacks", advice)
        sites = self.tables("memory-leak", database)["memory-leak"]
        self.assertEqual([row["Bytes"] for row in sites], [40 * 65536])

    def test_their_flame_graph_is_in_the_page(self):
        database, out = self.nsys_export(self.path("app.sqlite")), self.path("app.html")
        self.assertEqual(self.run_gpuprof("html", "-o", out, database).returncode, 0)
        self.assertIn("solve", json.dumps(Page(out).json("sites")))

    def test_who_keeps_what_was_not_freed_is_not_known_without_stacks(self):
        program = os.path.join(support.BUILD, "rules", "leaked-memory")
        self.run_program([program, "sin"], options=("--stacks=none",), GPUPROF_OUTPUT="leak")
        trace, database, chrome = (self.path("leak." + end) for end in ("gpuprof", "sqlite", "json"))
        for form, path in (("sqlite", database), ("chrome", chrome)):
            result = self.run_gpuprof("export", "--format", form, "-o", path, trace)
            self.assertEqual(result.returncode, 0, result.stderr)
        for path in (database, chrome):
            result = self.run_gpuprof("advice", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("leaked-memory", result.stdout)
            self.assertNotIn("--stacks", result.stdout)
        for path in (database, chrome):
            self.assertRegex(self.run_gpuprof("summary", path).stdout,
                             r"Never freed: not known; [0-9.]+MiB in 62 blocks were left")
            self.assertIn("not freed", self.run_gpuprof("summary", "--memory", path).stdout)

    def test_devices_and_their_links_are_in_both_exports(self):
        trace = self.record("zoo")
        told = lambda path: re.findall(r"^  (?:GPU 0 .*|copies:(?:.*\n)(?:    .*\n)*)", self.run_gpuprof("summary", path).stdout, re.M)
        wanted = told(trace)
        self.assertIn("PCIe 5.0 x16", wanted[0])
        self.assertIn("% of its peak", "".join(wanted))
        for form, path in (("chrome", self.path("e.json")), ("sqlite", self.path("e.sqlite"))):
            self.assertEqual(self.run_gpuprof("export", "-F", form, "-o", path, trace).returncode, 0)
            self.assertEqual(told(path), wanted, form)

    def test_memory_is_in_both_exports(self):
        trace = self.record("leaks")
        memory = lambda path: [[row[name] for name in ("Operation", "Memory", "Device", "API", "Count", "Total")]
                               for row in self.tables("memory", path)["memory"]]
        self.assertTrue(memory(trace))
        for form, path in (("chrome", self.path("e.json")), ("sqlite", self.path("e.sqlite"))):
            options = ["--critical-path"] if form == "chrome" else []
            self.assertEqual(self.run_gpuprof("export", "-F", form, *options, "-o", path, trace).returncode, 0)
            self.assertEqual(memory(path), memory(trace), form)
            self.assertNotIn("does not understand", self.run_gpuprof("summary", path).stdout)

    def test_a_trace_and_its_own_export_have_the_same_kernels(self):
        trace = self.record("zoo")
        for form in ("chrome", "sqlite"):
            export = self.path("zoo." + form)
            self.run_gpuprof("export", "--format", form, "-o", export, trace)
            result = self.run_gpuprof("diff", "--format", "json", trace, export)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn('"gone"', result.stdout)
            self.assertNotIn('"new"', result.stdout)

    def test_code_that_was_compiled_is_in_its_own_export(self):
        trace, export = self.record("cover"), self.path("export.json")
        self.run_gpuprof("export", "-o", export, trace)
        self.assertNotIn("does not understand", self.run_gpuprof("summary", export).stdout)
        tables = [self.run_gpuprof("summary", "--by", "module", path).stdout for path in (trace, export)]
        compiled = [re.search(r"([0-9.]+[mun]s) +1 .* compile PTX to CUBIN", table) for table in tables]
        self.assertEqual(compiled[1][1], compiled[0][1])

    def test_unified_memory_and_what_made_contexts_is_in_its_own_export(self):
        self.run_program([os.path.join(support.BUILD, "programs", "zoo")], GPUPROF_TRACE="default,unified", GPUPROF_OUTPUT="zoo")
        trace, export = self.path("zoo.gpuprof"), self.path("zoo.json")
        self.run_gpuprof("export", "-o", export, trace)
        for word in ("unified", "context"):
            self.assertTrue(self.tables(word, trace)[word])
            self.assertEqual(self.tables(word, export), self.tables(word, trace), word)

    def test_moved_memory_has_its_allocation_in_its_own_sqlite_file(self):
        """Its faults are in no table of nsys'."""
        self.run_program([os.path.join(support.BUILD, "programs", "zoo")], GPUPROF_TRACE="default,unified", GPUPROF_OUTPUT="zoo")
        trace, export = self.path("zoo.gpuprof"), self.path("zoo.sqlite")
        self.run_gpuprof("export", "--format", "sqlite", "-o", export, trace)
        rows = [[{name: row[name] for name in ("HtoD", "DtoH", "Allocs", "Address", "Size", "Call site")}
                 for row in self.tables("unified-address", path)["unified-address"]] for path in (trace, export)]
        self.assertEqual(rows[1], rows[0])
        self.assertEqual([(row["Allocs"], row["Size"], row["Call site"]) for row in rows[0]], [(1, 8 << 20, "main")])

    def test_an_export_has_the_trace_s_causes_of_idle_time(self):
        """But for who made a graph's nodes, which only the trace knows."""
        trace = self.record("zoo")
        made = lambda path: [[row[key] for key in ("Stream", "Context", "Priority", "Made", "Made by")] for row in self.tables("stream", path)["stream"]]
        causes = lambda path: {row["Cause"]: row["Total"] for row in self.tables("idle", path)["idle"]}
        wanted = causes(trace)
        for export in (self.path("zoo.json"), self.path("zoo.sqlite")):
            self.run_gpuprof("export", "--format", "chrome" if export.endswith("json") else "sqlite", "-o", export, trace)
            self.assertEqual(made(export), made(trace))
            found = causes(export)
            self.assertEqual(found.keys(), wanted.keys())
            for cause, total in wanted.items():
                self.assertAlmostEqual(found[cause], total, delta=sum(wanted.values()) / 1000, msg=(export, cause))

    def test_an_export_has_the_trace_s_recorded_windows_and_losses(self):
        """Only the time in which recording was on counts, and what is missing is missing in the export, too."""
        self.run_program([os.path.join(support.BUILD, "programs", "demo"), "50"],
                         options=("--after-launches=10", "--launches=60"), GPUPROF_OUTPUT="window")
        self.run_program([os.path.join(support.BUILD, "programs", "demo"), "50"],
                         options=("--kernels=smooth",), GPUPROF_OUTPUT="kernels")
        for name in ("window", "kernels"):
            trace = self.path(name + ".gpuprof")
            part = lambda path: re.search(r"^GPU busy.*?\n\n", self.run_gpuprof("summary", path).stdout, re.M | re.S).group()
            wanted = part(trace)
            self.assertIn({"window": "while recording was on", "kernels": "operations are missing"}[name], wanted)
            for form, path in (("chrome", self.path("e.json")), ("sqlite", self.path("e.sqlite"))):
                self.assertEqual(self.run_gpuprof("export", "-F", form, "-o", path, trace).returncode, 0)
                self.assertEqual(part(path), wanted, form)
                recorded = lambda path: [line for line in self.run_gpuprof("summary", path).stdout.splitlines() if " in 1 part" in line]
                self.assertEqual(recorded(path), recorded(trace))
                os.remove(path)

    def test_an_export_of_a_trace_without_an_end_has_none_either(self):
        trace = self.record("zoo")
        os.truncate(trace, os.path.getsize(trace) - 200)
        busy = re.search(r"at least \S+ % busy: \S+ of \S+", self.run_gpuprof("summary", trace).stdout).group()
        for form, path in (("chrome", self.path("zoo.json")), ("sqlite", self.path("zoo.sqlite"))):
            self.assertEqual(self.run_gpuprof("export", "--format", form, "-o", path, trace).returncode, 0)
            summary = self.run_gpuprof("summary", path).stdout
            self.assertRegex(summary, r"INCOMPLETE: the trace of pid \d+ has no end: the file was cut")
            self.assertIn(busy, summary)
            self.assertNotIn("Never freed", summary)

    def test_a_time_that_cannot_be_right_counts_nowhere_and_is_kept_in_exports(self):
        trace, first = self.record("demo"), self.path("first.json")
        self.run_gpuprof("export", "-o", first, trace)
        with open(first, encoding="utf-8") as file:
            written = json.load(file)
        ops = sorted((event for event in written["traceEvents"] if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")),
                     key=lambda event: event["ts"])
        stream = ops[30]["args"]["stream"]
        own = [event for event in ops if event["args"]["stream"] == stream]
        own[5]["dur"] = own[25]["ts"] - own[5]["ts"]
        with open(first, "w", encoding="utf-8") as file:
            json.dump(written, file)
        exports = [first, self.path("again.json"), self.path("again.sqlite")]
        for form, path in zip(("chrome", "sqlite"), exports[1:]):
            self.assertEqual(self.run_gpuprof("export", "--format", form, "-o", path, first).returncode, 0)
        for path in exports:
            summary = " ".join(self.run_gpuprof("summary", path).stdout.split())
            self.assertIn("1 GPU operation whose time cannot be right, because ten or more of the same stream ran "
                          "meanwhile: counted, but in no sum of times", summary)
            [row] = self.tables("process", path)["process"]
            self.assertEqual((row["Count"], row["Untimed"]), (len(ops), 1))
            self.assertEqual(row["Total"], sum(ns(event["dur"]) for event in ops if event is not own[5]))

    def test_who_does_not_say_what_may_run_at_once_does_not_by_an_export_either(self):
        first, again = self.path("first.sqlite"), self.path("again.json")
        self.run_gpuprof("export", "--format", "sqlite", "-o", first, TRACES[0])
        self.run_gpuprof("export", "-o", again, first)
        with open(again, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["metadata"]["operations of a stream may run at once"], 1)

    def test_a_merged_file_is_refused_with_what_to_name(self):
        traces = [self.record(program) for program in ("zoo", "ranges")]
        merged = self.path("merged.json")
        self.run_gpuprof("merge", "-o", merged, *traces)
        for command in ("summary", "export"):
            result = self.run_gpuprof(command, merged)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assert_one_line(result.stderr, "merged.json has several processes", ".gpuprof files")
        self.run_gpuprof("merge", "-o", merged, traces[0])
        self.assertEqual(self.run_gpuprof("summary", merged).returncode, 0)

    def test_all_processes_of_a_database_are_read(self):
        """As `nsys profile torchrun` writes it: one file, which counts as the traces of its processes."""
        traces = [self.record(program) for program in ("zoo", "ranges")]
        database = self.path("both.sqlite")
        self.assertEqual(self.run_gpuprof("merge", "-F", "sqlite", "-o", database, *traces).returncode, 0)
        rows = lambda words, paths, key: sorted(
            (row[key], row["Count"], row["Total"]) for row in json.loads(
                self.run_gpuprof("summary", "--by", words, "--format", "json", "--full-names", *paths).stdout)["rows"])
        for words, key in (("kernel", "Name"), ("api", "Name"), ("process", "PID")):
            self.assertEqual(rows(words, [database], key), rows(words, traces, key))
        again = self.path("again.sqlite")
        self.assertEqual(self.run_gpuprof("export", "-F", "sqlite", "-o", again, database).returncode, 0)
        self.assertEqual(rows("process", [again], "PID"), rows("process", traces, "PID"))
        result = self.run_gpuprof("diff", "--format", "json", database, again)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.run_gpuprof("merge", "-o", self.path("both.json"), database)
        with open(self.path("both.json"), encoding="utf-8") as file:
            self.assertEqual(len(json.load(file)["metadata"]["processes"]), 2)

    def test_a_cut_database_is_read_as_far_as_it_goes(self):
        database = self.path("demo.sqlite")
        self.run_gpuprof("export", "--format", "sqlite", "-o", database, self.record("demo"))
        for bytes_left in (os.path.getsize(database) - 4096, os.path.getsize(database) * 3 // 4):
            os.truncate(database, bytes_left)
            result = self.run_gpuprof("summary", "--full", database)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(result.stdout.startswith("INCOMPLETE: "), result.stdout)
            self.assertIn("cudaLaunchKernel", result.stdout)

    def test_a_folder_of_traces_of_others_is_a_run(self):
        """One file a rank; beside traces of gpuprof's they are its exports, and a trace in two formats counts once."""
        kernels = len([event for event in read(TRACES[0])["traceEvents"] if event.get("cat") == "kernel"])
        for folder, ranks in (("a", 1), ("b", 2)):
            os.mkdir(self.path(folder))
            for rank in range(ranks):
                shutil.copy(TRACES[rank], self.path(folder, f"rank{rank}.json.gz"))
        result = self.run_gpuprof("diff", "--format", "json", "a", "b")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = {row["Metric"]: row for table in json.loads(result.stdout) if table["report"] == "diff-counts" for row in table["rows"]}
        self.assertEqual(rows["kernels"]["A"], kernels)
        self.assertGreater(rows["kernels"]["B"], kernels)
        with gzip.open(TRACES[0]) as packed, open(self.path("a", "rank0.json"), "wb") as plain:
            shutil.copyfileobj(packed, plain)
        result = self.run_gpuprof("check", "-w", "base.json", "a")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("belongs to the same run as a/rank0.json; the run is counted once", result.stderr)
        with open(self.path("base.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["metrics"]["kernels"], [kernels])

    def test_a_folder_stands_for_its_traces(self):
        os.mkdir(self.path("run"))
        for path in TRACES[:2]:
            shutil.copy(path, self.path("run"))
        with open(self.path("run", "config.json"), "w", encoding="utf-8") as file:
            json.dump({"lr": 0.1}, file)
        named = sorted(glob.glob(self.path("run", "*.gz")))
        for command in (["summary", "--by", "kernel"], ["summary"], ["advice"]):
            folder, files = self.run_gpuprof(*command, "run/"), self.run_gpuprof(*command, *named)
            self.assertEqual((folder.returncode, folder.stdout), (0, files.stdout))
            self.assertIn("run/config.json is JSON without events of torch.profiler", folder.stderr)
        self.assertEqual(self.run_gpuprof("html", "run/").returncode, 0)
        self.assertIn("run.html", self.files())
        os.mkdir(self.path("empty"))
        result = self.run_gpuprof("summary", "empty")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("empty has no trace", result.stderr)

    def test_a_trace_as_the_command_is_told_the_command(self):
        shutil.copy(TRACES[0], self.path("a b.json.gz"))
        result = self.run_gpuprof("a b.json.gz")
        self.assertEqual(result.returncode, 2)
        self.assertIn("gpuprof summary 'a b.json.gz'", result.stderr)

    def test_what_is_no_trace_in_such_a_folder_is_passed_over(self):
        os.mkdir(self.path("run"))
        with open(self.path("run", "config.json"), "w", encoding="utf-8") as file:
            json.dump({"lr": 0.1}, file)
        result = self.run_gpuprof("diff", "run", "run")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("run has no trace", result.stderr)
        shutil.copy(TRACES[0], self.path("run", "rank0.json.gz"))
        self.assertEqual(self.run_gpuprof("check", "-w", "run/base.json", "run").returncode, 0)
        result = self.run_gpuprof("check", "-b", "run/base.json", "run")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("run/base.json is a baseline of gpuprof check, not a trace; use it with --baseline", result.stderr)
        self.assertIn("run/config.json is JSON without events of torch.profiler", result.stderr)

    def test_other_json_is_refused_with_a_reason(self):
        path = self.path("other.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"nodes": [1, 2, 3]}, file)
        result = self.run_gpuprof("summary", path)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("other.json is JSON without events of torch.profiler", result.stderr)
        os.rename(path, self.path("other.nsys-rep"))
        with open(self.path("other.nsys-rep"), "wb") as file:
            file.write(b"QDSTRM" + bytes(100))
        result = self.run_gpuprof("summary", self.path("other.nsys-rep"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("type: nsys export --type=sqlite", result.stderr)

    def test_a_trace_of_an_amd_gpu_is_read(self):
        """PyTorch for ROCm calls HIP's functions CUDA's runtime in its traces."""
        events = []
        for i in range(3):
            events += [{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 7, "tid": 7, "ts": 50 * i, "dur": 8, "args": {"correlation": i + 1}},
                       {"ph": "X", "cat": "kernel", "name": "Cijk_Ailk_Bljk", "pid": 0, "tid": 0, "ts": 12 + 50 * i, "dur": 20, "args": {"device": 0, "stream": 0, "correlation": i + 1}}]
        with open(self.path("rocm.json"), "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X", "numSms": 304}], "traceEvents": events}, file)
        said = self.run_gpuprof("summary", self.path("rocm.json")).stdout
        self.assertIn("AMD Instinct MI300X, 304 SMs", said)
        self.assertIn("all 3 launches have their kernel record", said)


if __name__ == "__main__":
    unittest.main()
