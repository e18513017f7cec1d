"""What HolisticTraceAnalysis says of a Kineto trace, gpuprof says, too: of real ones, and of made ones with all that can overlap."""
import glob
import gzip
import json
import os
import random
import statistics
import unittest

from support import ROOT
from tables_test import Tables
import hta
from page import Page
import perfetto

REAL = sorted(glob.glob(os.path.join(ROOT, "tests", "data", "kineto", "*.json.gz")))
WORDS = "time,queue,kernel"
COPIES = ("Memcpy HtoD (Pinned -> Device)", "Memset (Device)")


def microseconds(ns):
    return "%d.%03d" % divmod(ns, 1000)


class Made:
    """A Kineto trace of one GPU: streams whose operations follow each other, a host thread that launches them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.events = []
        self.host = 1000

    def add(self, cat, name, pid, tid, start, end, **args):
        self.events.append('{"ph": "X", "cat": %s, "name": %s, "pid": %d, "tid": %d, "ts": %s, "dur": %s, "args": %s}' % (
            json.dumps(cat), json.dumps(name), pid, tid, microseconds(start), microseconds(end - start), json.dumps(args)))

    def launch(self, stream, free, correlation, slow):
        kind = self.random.choice(["kernel", "kernel", "kernel", "copy", "nccl"])
        self.host += self.random.choice([0, 100, 3000, 40000])
        called = self.host
        self.host += self.random.randrange(1000, 6000)
        start = max(free, self.host - 500 + self.random.randrange(4000)) + self.random.choice([0, 10, 29, 30, 700])
        end = start + self.random.randrange(500, 30000 * slow)
        name = {"kernel": self.random.choice(["gemm", "void relu<float>(float*)"]), "copy": self.random.choice(COPIES),
                "nccl": "ncclDevKernel_AllReduce_Sum_f32_RING_LL"}[kind]
        cat = "kernel" if kind != "copy" else "gpu_memset" if name.startswith("Memset") else "gpu_memcpy"
        call = {"kernel": "cudaLaunchKernel", "gpu_memset": "cudaMemsetAsync", "gpu_memcpy": "cudaMemcpyAsync"}[cat]
        self.add("cuda_runtime", call, 40, 41, called, self.host, correlation=correlation)
        size = {} if cat == "kernel" else {"bytes": self.random.randrange(1, 1 << 20)}
        self.add(cat, name, 0, stream, start, end, device=0, context=1, stream=stream, correlation=correlation, **size)
        return end

    def write(self, path, count, slow, is_cut=False, rank=None):
        free = {7: 0, 20: 0, 24: 0}
        for correlation in range(1, count + 1):
            stream = self.random.choice(sorted(free))
            free[stream] = self.launch(stream, free[stream], correlation, slow)
        last = max(free.values())
        if not is_cut:
            self.add("cuda_runtime", "cudaDeviceSynchronize", 40, 41, self.host, max(last, self.host) + 100, correlation=0)
        with open(path, "w") as file:
            about = "" if rank is None else ' "distributedInfo": {"backend": "nccl", "rank": %d, "world_size": 2},' % rank
            file.write('{"schemaVersion": 1,%s "traceEvents": [\n%s\n]}\n' % (about, ",\n".join(self.events)))


class Figures(Tables):

    def same(self, ours, theirs, what):
        """To 0.1 %."""
        self.assertAlmostEqual(ours, theirs, delta=abs(theirs) / 1000, msg=what)

    def check_times(self, row, trace):
        breakdown, types = trace.temporal_breakdown(), trace.kernel_types()
        self.same(row["Span"], breakdown["kernel"], "kernel time")
        self.same(row["Idle inside"], breakdown["idle"], "idle time")
        self.same(row["Compute"], breakdown["compute"], "compute time")
        self.same(row["Busy"] - row["Compute"], breakdown["non-compute"], "non-compute time")
        self.same(row["Compute"] - row["Comm+compute"], types["computation"], "computation")
        self.same(row["Communication"] - row["Comm+compute"], types["communication"], "communication")
        self.same(row["Comm+compute"], types["both"], "both")
        if trace.overlap() is None:
            self.assertIsNone(row["Comm overlap %"])
        else:
            self.same(row["Comm overlap %"], 100 * trace.overlap(), "overlap")

    def check_kernels(self, rows, trace):
        ours = {row["Name"]: (row["Total"], row["Max"], row["Min"], row["Avg"]) for row in rows}
        theirs = trace.kernels()
        self.assertEqual(set(ours), set(theirs))
        for name, figures in theirs.items():
            for mine, figure in zip(ours[name], figures):
                self.same(mine, figure, name)

    def check_streams(self, rows, trace):
        idle, lengths, blocked = trace.idle_breakdown(), trace.queue_lengths(), trace.blocked(1024)
        self.assertEqual({row["Stream"] for row in rows}, set(idle))
        for row in rows:
            stream = row["Stream"]
            changes = [length for _, length in lengths[stream]]
            self.same(row["Host wait"], idle[stream]["host"], "host wait")
            self.same(row["Step"], idle[stream]["kernel"], "kernel wait")
            self.same(row["Other wait"], idle[stream]["other"], "other")
            self.assertEqual((row["Changes"], row["Min"], row["Max"], row["Med"]),
                             (len(changes), min(changes), max(changes), statistics.median(changes)))
            self.same(row["Avg"], statistics.mean(changes), "mean queue length")
            self.same(row["StdDev"], statistics.pstdev(changes), "deviation")
            self.same(row["Full"], blocked[stream], "full queue")

    def check_launches(self, rows, trace, names):
        launches = trace.launches(names)
        self.assertEqual(self.sum(rows, "Count"), len(launches))
        for column, at in (("API time", 0), ("GPU time", 1), ("Total", 2)):
            self.same(self.sum(rows, column), sum(launch[at] for launch in launches), column)
        self.same(max(row["Max"] for row in rows), max(launch[2] for launch in launches), "longest delay")
        self.assertEqual(self.sum(rows, "Short"), sum(launch[1] < launch[0] for launch in launches))
        self.assertEqual(self.sum(rows, "Long calls"), sum(launch[0] > 50000 for launch in launches))
        self.assertEqual(self.sum(rows, "Long waits"), sum(launch[2] > 100000 for launch in launches))

    def curve(self, word, path, column, *by):
        """[(time since the first point, value), ...] of each curve."""
        result = self.run_gpuprof("trace", word, "--format", "json", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = {}
        for row in json.loads(result.stdout)["rows"]:
            found.setdefault(tuple(row[name] for name in by), []).append((row["Start"], row[column]))
        return found

    def same_curves(self, ours, theirs, what):
        """Times are whole ns from somewhere on, the same for all curves of a trace."""
        self.assertEqual(set(ours), {(key,) for key in theirs}, what)
        if not theirs:
            return
        offset = min(points[0][0] for points in theirs.values()) - min(points[0][0] for points in ours.values())
        for key, points in theirs.items():
            self.assertEqual([time + offset for time, _ in ours[(key,)]], [time for time, _ in points], (what, key))
            for (_, mine), (_, value) in zip(ours[(key,)], points):
                self.assertAlmostEqual(mine, value, delta=0.002 + abs(value) / 1000, msg=(what, key))

    def check_curves(self, path, trace):
        self.same_curves(self.curve("queue", path, "Length", "Stream"), trace.queue_lengths(), "queue")
        self.same_curves(self.curve("bandwidth", path, "GB/s", "Direction"), trace.bandwidth(), "bandwidth")

    def check(self, path, names=hta.LAUNCHES):
        trace = hta.Trace(path)
        self.check_curves(path, trace)
        found = json.loads(self.summary("--by", WORDS, "--full-names", "--format", "json", path).stdout)
        found = {table["report"]: table["rows"] for table in found}
        self.assertEqual(len(found["time"]), 1)
        self.check_times(found["time"][0], trace)
        self.check_kernels(found["kernel"], trace)
        self.check_streams(found["queue-stream"], trace)
        self.check_launches(found["queue-kernel"], trace, names)
        return found

    def test_of_real_traces(self):
        self.assertEqual(len(REAL), 3)
        for path in REAL:
            with self.subTest(os.path.basename(path)):
                # HolisticTraceAnalysis leaves launches by the driver's function out of its launch statistics, gpuprof does not
                driver = hta.DRIVER_LAUNCHES if "compiled" in path else ()
                self.check(path, hta.LAUNCHES + driver)

    def test_iterations_of_real_traces(self):
        """All their time is looked at, and all that the GPU did in it, whichever thread launched that."""
        for path in REAL:
            rows = self.tables("iteration", path)["iteration"]
            operations = hta.Trace(path).gpu
            self.assertEqual(self.sum(rows, "Ops"), len(operations), path)
            for row in rows:
                self.assertEqual(row["Busy"] + row["Idle"], row["Wall"], path)
                self.assertEqual(row["Ops"], len(operations) // len(rows), path)

    def test_iterations_are_what_the_program_marked(self):
        """Though an operator of the backward pass, which another thread makes, starts more than the thread does that trains."""
        for path in REAL:
            if "cuda_only" not in path:
                rows = self.tables("iteration", path)["iteration"]
                self.assertEqual([row["Name"] for row in rows], ["train_step"] * 3, path)

    def test_of_made_traces(self):
        for seed in range(8):
            path = self.path("made-%d.json" % seed)
            Made(seed).write(path, 400, 1)
            with self.subTest(seed):
                found = self.check(path)
                self.assertEqual(len(found["queue-stream"]), 3)
                self.assertGreater(found["time"][0]["Comm+compute"], 0)

    def test_of_traces_that_end_amid_the_work(self):
        """The last operation ends long after the last call."""
        path = self.path("cut.json")
        Made(3).write(path, 400, 20, is_cut=True)
        row = self.check(path)["time"][0]
        self.assertGreater(row["Span"], 30e6)
        self.assertIn(", first recorded CUDA call to last operation (", self.run_gpuprof("summary", path).stdout)
        self.run_gpuprof("html", "-o", self.path("cut.html"), path)
        self.assertEqual(Page(self.path("cut.html")).json("about")["ends_with"], "operation")
        self.assertEqual(self.sum(self.tables("idle", path)["idle"], "Total"), row["Idle"])

    def test_of_ranks_that_call_their_gpus_alike(self):
        """Each on a machine of its own, or with CUDA_VISIBLE_DEVICES: what one did while the other communicated is no overlap."""
        paths = [self.path("rank-%d.json" % rank) for rank in (0, 1)]
        for rank, path in enumerate(paths):
            Made(20 + rank).write(path, 400, 1, rank=rank)
        both = sorted(self.tables("time", *paths)["time"], key=lambda row: row["Device"])
        self.assertEqual([row["Device"] for row in both], [0, 1])
        for row, path in zip(both, paths):
            self.check_times(row, hta.Trace(path))
        kernels = self.tables("device", *paths)["device"]
        self.assertEqual({row["Device"]: row["Count"] for row in kernels}, {0: 400, 1: 400})
        told = self.run_gpuprof("summary", *paths).stdout
        for rank in (0, 1):
            self.assertRegex(told, r"(?m)^  GPU %d +\(unknown device\), device 0 of rank %d$" % (rank, rank))
        self.assertEqual(self.run_gpuprof("merge", "-o", self.path("ranks.json"), *paths).returncode, 0)
        with open(self.path("ranks.json")) as file:
            names = {event["args"]["name"] for event in json.load(file)["traceEvents"] if event["name"] == "process_name"}
        self.assertLessEqual({"GPU 0, device 0 of rank 0", "GPU 1, device 0 of rank 1"}, names)
        self.run_gpuprof("html", "-o", self.path("ranks.html"), *paths)
        devices = Page(self.path("ranks.html")).json("about")["devices"]
        self.assertEqual([(device["number"], device["which"], device["operations"]) for device in devices],
                         [(0, "device 0 of rank 0", 400), (1, "device 0 of rank 1", 400)])

    def test_of_two_traces_of_one_rank(self):
        """A profiler that runs now and then writes several: their GPU is one."""
        paths = [self.path("window-%d.json" % window) for window in (0, 1)]
        for window, path in enumerate(paths):
            Made(30 + window).write(path, 100 + window, 1, rank=7)
        self.assertEqual([row["Device"] for row in self.tables("time", *paths)["time"]], [0])

    def test_of_full_queues(self):
        path = self.path("full.json")
        Made(99).write(path, 6000, 60)
        self.assertGreater(self.sum(self.check(path)["queue-stream"], "Full"), 0)

    def test_operators_have_their_kernels_and_delays(self):
        path = [path for path in REAL if "cpu" in path][0]
        theirs, ours = hta.Trace(path).operator_launches(), {}
        for row in self.tables("nvtx-launch", "--full-names", path)["nvtx-launch"]:
            key, count = (row["Range"], row["Kernels"] // row["Count"]), row["Count"]
            before = ours.get(key, (0, 0, 0))
            ours[key] = (before[0] + count, before[1] + count * row["Launch avg"], before[2] + count * row["Start avg"])
        self.assertGreater(len(theirs), 10)
        self.assertEqual({key: row[0] for key, row in ours.items()}, {key: row[0] for key, row in theirs.items()})
        for key, (count, launch, start) in theirs.items():
            self.same(ours[key][1] / count, launch, key)
            self.same(ours[key][2] / count, start, key)

    def test_operators_have_their_sequences_of_kernels(self):
        path = [path for path in REAL if "cpu" in path][0]
        trace, ours = hta.Trace(path), {}
        operators = {operator.name for operator in trace.operators}
        for row in self.tables("nvtx-sequence", "--full-names", path)["nvtx-sequence"]:
            if row["Range"] in operators:
                found = ours.setdefault((row["Range"], row["Kernels"] // row["Count"]), [0, 0, 0, 0])
                for i, figure in enumerate((row["Count"], row["GPU time"], row["Range time"], 1)):
                    found[i] += figure
        theirs = {key: [*row[:3], len(row[3])] for key, row in trace.operator_sequences().items()}
        self.assertGreater(len(theirs), 5)
        self.assertEqual(ours, theirs)

    def test_curves_and_critical_path_as_tracks(self):
        """The numbers of points and steps in the Chrome trace are those of the lists, the path has no hole, and is no event of the program's."""
        path = REAL[1]
        out = self.path("drawn.json")
        result = self.run_gpuprof("export", "--counters", "--critical-path", "-o", out, path)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(out) as file:
            events = json.load(file)["traceEvents"]
        queue = [event["args"]["operations"] for event in events if event["name"].startswith("queue of stream")]
        rates = [event["args"]["GB/s"] for event in events if "GB/s" in event.get("args", {})]
        self.assertEqual(queue, [length for _, length in self.curve("queue", path, "Length")[()]])
        self.assertEqual(rates, [rate for _, rate in self.curve("bandwidth", path, "GB/s")[()]])
        steps = [event for event in events if event.get("cat") == "critical_path"]
        listed = json.loads(self.run_gpuprof("trace", "critical-path", "--format", "json", path).stdout)["rows"]
        listed = [row for row in listed if row["Duration"] > 0]
        self.assertEqual([step["name"] for step in steps], [row["What"] for row in listed])
        for step, after in zip(steps, steps[1:]):
            self.assertAlmostEqual(step["ts"] + step["dur"], after["ts"], places=2)
        refused = self.run_gpuprof("export", "--format", "csv", "--counters", path)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("does not support --counters", refused.stderr)

    def test_curves_and_critical_path_in_perfetto_s_format(self):
        """The same points and steps as in the Chrome trace, whole and of a window."""
        path = REAL[1]
        for window in ((), ("--start", "2ms", "--end", "5ms")):
            for out, form in (("drawn.json", "chrome"), ("drawn.pftrace", "perfetto")):
                result = self.run_gpuprof("export", "--format", form, "--counters", "--critical-path", *window, "-o", self.path(out), path)
                self.assertEqual(result.returncode, 0, result.stderr)
            with open(self.path("drawn.json"), encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            with open(self.path("drawn.pftrace"), "rb") as file:
                trace = perfetto.Trace(file.read())
            wanted = {"queue": [], "GB/s": []}
            for event in events:
                if event["ph"] == "C":
                    wanted["queue"] += [event["args"]["operations"]] if "operations" in event["args"] else []
                    wanted["GB/s"] += [event["args"]["GB/s"]] if "GB/s" in event["args"] else []
            values = lambda *words: sorted(value for track, points in trace.counters.items() if any(word in trace.tracks[track] for word in words) for _, value in points)
            self.assertGreater(len(wanted["queue"]), 10)
            self.assertEqual(values(" queue of stream "), sorted(wanted["queue"]))
            self.assertEqual([round(value, 3) for value in values("to", "memset")], sorted(wanted["GB/s"]))
            steps = [event for event in events if event.get("cat") == "critical_path"]
            drawn = sorted((piece for piece in trace.slices if piece.category == "critical_path"), key=lambda piece: piece.start)
            self.assertGreater(len(steps), 50)
            self.assertEqual([(piece.name, piece.notes["of"]) for piece in drawn], [(step["name"], step["args"]["of"]) for step in steps])
            self.assertEqual({trace.tracks[piece.track] for piece in drawn}, {"critical path"})

    def drawn(self, path, *options):
        """{name: [(ts, value), ...]} of the counters that --counters draws."""
        out, found = self.path("window.json"), {}
        result = self.run_gpuprof("export", "--counters", *options, "-o", out, path)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(out) as file:
            for event in json.load(file)["traceEvents"]:
                for key in ("operations", "GB/s"):
                    if event["ph"] == "C" and key in event["args"]:
                        found.setdefault(event["name"], []).append((event["ts"], event["args"][key]))
        return found

    def test_curves_in_a_window_begin_with_what_holds_then(self):
        path = REAL[1]
        points = self.curve("queue", path, "Length")[()]
        gap, start = max((after[0] - at[0], at[0]) for at, after in zip(points, points[1:]) if at[1] > 0)
        whole, window = self.drawn(path), self.drawn(path, "--start", f"{start + gap // 2}ns")
        first = min(points[0][0] for points in window.values())
        held = {name: [value for ts, value in points if ts < first][-1] for name, points in whole.items() if points[0][0] < first}
        self.assertGreater(max(held.values()), 0)
        self.assertEqual({name: points[0] for name, points in window.items() if name in held}, {name: (first, value) for name, value in held.items()})
        for name, points in whole.items():
            self.assertEqual([point for point in window[name] if point[0] > first], [point for point in points if point[0] > first], name)

    def occupancies(self, path):
        opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
        with opened as file:
            return {event["args"]["correlation"]: event["args"] for event in json.load(file)["traceEvents"] if event.get("cat") == "kernel"}

    def test_occupancies_are_those_of_the_traces(self):
        """But for kernels that have more shared memory than 48 KiB, which a kernel has to ask for: Kineto says that none of their blocks fits."""
        for path in REAL:
            out = self.path("again.json")
            self.assertEqual(self.run_gpuprof("export", "-o", out, path).returncode, 0)
            ours, theirs, key = self.occupancies(out), self.occupancies(path), "est. achieved occupancy %"
            self.assertEqual(set(ours), set(theirs))
            for correlation, args in theirs.items():
                if args["shared memory"] > 48 << 10:
                    self.assertEqual(args[key], 0)
                else:
                    self.assertEqual(ours[correlation][key], args[key], path)

    def counted(self, launches):
        """A trace as torch.profiler writes it with CUPTI's range profiler: counters of two kernels in place of their times."""
        made = Made(0)
        made.add("cpu_op", "aten::linear", 40, 41, 900, 9000)
        made.add("cpu_op", "aten::addmm", 40, 41, 1000, 5000)
        for i in range(launches):
            made.add("cuda_runtime", "cudaLaunchKernel", 40, 41, 2000 + 4000 * i, 3000 + 4000 * i, correlation=i + 1)
        for i, (name, value) in enumerate((("gemm", 1500), ("void relu<float>(float*)", 10.25))):
            made.add("cuda_profiler_range", name, 0, 0, 20000 + 100 * i, 20100 + 100 * i,
                     **{"smsp__inst_executed.sum": value, "dram__bytes.sum": 64})
        path = self.path("counted-%d.json" % launches)
        with open(path, "w") as file:
            file.write('{"schemaVersion": 1, "traceEvents": [\n%s\n]}\n' % ",\n".join(made.events))
        return self.tables("counter", "--full-names", path)["counter"]

    def test_hardware_counters_have_their_operators(self):
        rows = {(row["Counter"], row["Name"]): row for row in self.counted(2)}
        self.assertEqual(len(rows), 4)
        gemm, relu = rows["smsp__inst_executed.sum", "gemm"], rows["smsp__inst_executed.sum", "void relu<float>(float*)"]
        self.assertEqual((gemm["Count"], gemm["Sum"], gemm["Outermost"], gemm["Operator"]), (1, 1500, "aten::linear", "aten::addmm"))
        self.assertEqual((relu["Avg"], relu["Min"], relu["Max"], relu["Outermost"], relu["Operator"]),
                         (10.25, 10.25, 10.25, "aten::linear", "aten::linear"))
        # whose launch is whose is not known where there are more of them
        self.assertEqual({row["Operator"] for row in self.counted(3)}, {None})

    def counted_as(self, *kernels):
        made = Made(0)
        for i, counters in enumerate(kernels):
            made.add("cuda_profiler_range", "gemm%d" % i, 0, 0, 20000 + 100 * i, 20100 + 100 * i, **counters)
        path = self.path("named.json")
        with open(path, "w") as file:
            file.write('{"schemaVersion": 1, "traceEvents": [\n%s\n]}\n' % ",\n".join(made.events))
        return path

    def test_counters_with_long_names_stay_apart(self):
        long = "l1tex__t_requests_pipe_lsu_mem_global_op_ld_lookup_miss.sum.pct_of_peak_sustained_"
        path = self.counted_as({long + "elapsed": 10.5, long + "active": 90.25})
        rows = self.tables("counter", path)["counter"]
        self.assertEqual([(row["Counter"], row["Count"], row["Avg"]) for row in rows], [(long + "active", 1, 90.25), (long + "elapsed", 1, 10.5)])

    def test_counters_without_room_are_counted(self):
        path = self.counted_as({"sm__c%03d.sum" % i: i + 0.5 for i in range(258)}, {"sm__%s.sum" % ("c" * 300): 1.5, "sm__kept.sum": 2})
        rows = self.tables("counter", path)["counter"]
        self.assertEqual(len(rows), 257)
        self.assertIn(("sm__c255.sum", 255.5), [(row["Counter"], row["Avg"]) for row in rows])
        self.assertRegex(self.run_gpuprof("summary", path).stdout, "3 values of hardware counters were dropped")

    def test_counters_are_ordered_by_name_and_shares_have_no_sum(self):
        path = self.counted_as({"sm__b.avg.pct_of_peak_sustained_active": 50.5, "sm__a.sum": 1.5, "sm__c.ratio": 1e9},
                               {"sm__b.avg.pct_of_peak_sustained_active": 70.5, "sm__a.sum": 2.5, "sm__c.ratio": 2e9})
        rows = [(row["Counter"], row["Name"], row["Sum"]) for row in self.tables("counter", path)["counter"]]
        self.assertEqual(rows, [("sm__a.sum", "gemm1", 2.5), ("sm__a.sum", "gemm0", 1.5),
                                ("sm__b.avg.pct_of_peak_sustained_active", "gemm1", None), ("sm__b.avg.pct_of_peak_sustained_active", "gemm0", None),
                                ("sm__c.ratio", "gemm1", None), ("sm__c.ratio", "gemm0", None)])

    def test_a_few_steps_get_advice(self):
        """Three steps of a small network that torch.profiler recorded: its kernels are shorter than their launches."""
        for path in REAL:
            result = self.run_gpuprof("advice", path)
            self.assertRegex(result.stdout, "short-kernels: the GPU waits for the launches of [0-9]+ operations", path)

    def test_few_kernels_of_real_traces_are_of_unknown_kind(self):
        for path in REAL:
            rows = self.tables("kind", path)["kind"]
            unknown = sum(row["Total"] for row in rows if row["Kind"] == "unknown")
            self.assertLess(unknown, self.sum(rows, "Total") / 20, path)


if __name__ == "__main__":
    unittest.main()
