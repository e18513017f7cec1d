"""--counters and --roofline: exact counters of the simulated device's kernels, in windows, and the messages if there are none."""
import json
import os
import sys

import support
from support import Case
import browser  # in the folder that support names

STREAMS = os.path.join(support.BUILD, "programs", "streams")
GRAPH = os.path.join(support.BUILD, "programs", "graph")
GPU = [sys.executable, os.path.join(support.ROOT, "tests", "e2e", "gpu.py")]
OUTPUT = "streams 16\nkernel.k_work 1600\n"  # of 32 threads each
KERNEL = {"GPUSIM_KERNEL_NS": "400000"}
EVERY = ("--counters-interval", "0")
TIME = "gpu__time_duration.sum"
# The main thread opens the window, and one with a small stack launches on until it is full.
SMALL_STACK = """
import threading
import gpu

def launch():
    device.call("cuCtxSetCurrent", device.context)
    device.start(100)

device = gpu.Device()
device.start(11)
threading.stack_size(256 << 10)
thread = threading.Thread(target=launch)
thread.start()
thread.join()
device.sync()
"""
# Nothing of the context is current when it ends.
CONTEXT_ENDS = """
import ctypes
import gpu

device = gpu.Device()
device.start(11)
device.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
device.call("cuCtxDestroy_v2", device.context)
"""
# The second context is on another device.
NEXT_DEVICE = """
import ctypes
import gpu

device = gpu.Device()
device.start(31)
device.sync()
device.call("cuCtxDestroy_v2", device.context)
device.call("cuCtxCreate_v2", ctypes.byref(device.context), 0, 1)
device.call("cuModuleLoadData", ctypes.byref(device.module), gpu.PTX)
device.call("cuModuleGetFunction", ctypes.byref(device.kernel), device.module, b"step_kernel")
device.start(31)
device.sync()
"""
# The second capture of the stream cannot begin.
FAILED_CAPTURE = """
import ctypes
import gpu

device, stream, graph = gpu.Device(), ctypes.c_void_p(), ctypes.c_void_p()
device.call("cuStreamCreate", ctypes.byref(stream), 1)
device.call("cuStreamBeginCapture_v2", stream, 2)
assert device.cuda.cuStreamBeginCapture_v2(stream, 2) != 0
device.call("cuStreamEndCapture", stream, ctypes.byref(graph))
device.start(31)
device.sync()
"""


class Counters(Case):
    def record(self, *options, program=(STREAMS, "2", "8", "100"), **variables):
        result = self.run_program(list(program), options=("-o", self.path("t"), *options), **{**KERNEL, **variables})
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def record_script(self, text, **variables):
        program = self.write("script.py", text)
        return self.record("--counters", *EVERY, program=(sys.executable, program), PYTHONPATH=os.path.dirname(GPU[1]), **variables)

    def table(self, words, name):
        found = json.loads(self.run_gpuprof("summary", "--by", words, "-F", "json", self.path("t.gpuprof")).stdout or "[]")
        reports = found if isinstance(found, list) else [found]
        return next((report["rows"] for report in reports if report["report"] == name), [])

    def counters(self):
        return {row["Counter"]: row for row in self.table("counter", "counter")}

    def missing(self):
        return {row["Loss"]: row["Count"] for row in self.table("missing", "missing")}

    def assert_values(self, expected, least=40):
        """The same value for each measured kernel; at least one full window."""
        rows = self.counters()
        for name, value in expected.items():
            self.assertEqual((rows[name]["Min"], rows[name]["Max"], rows[name]["Name"]), (value, value, "k_work"), name)
            self.assertGreaterEqual(rows[name]["Count"], least, name)

    def test_values_of_each_kernel(self):
        """From two threads that launch at the same time; all kernels have their records."""
        result = self.record("--counters", *EVERY)
        self.assertEqual(result.stdout, OUTPUT)
        self.assert_values({"gpu__time_duration.sum": 400000, "dram__bytes_read.sum": 400000000, "l1tex__t_bytes.sum": 2400000000,
                            "smsp__inst_executed.sum": 10, "sm__cycles_elapsed.avg.per_second": 1.5e9})
        self.assertEqual(self.missing(), {})
        kernel = self.table("kernel", "kernel")[0]
        self.assertEqual(kernel["Count"], 1600)  # without CUPTI's own kernels
        self.assertAlmostEqual(kernel["Total"], 1600 * 400000, delta=8000)
        self.assertEqual(self.table("idle", "idle")[0]["Cause"], "profiler")  # whichever thread launched next

    def test_a_list_of_metrics(self):
        self.record("--counters=lts__t_bytes.sum,gpu__time_duration.sum", *EVERY)
        self.assertEqual(set(self.counters()), {"lts__t_bytes.sum", "gpu__time_duration.sum"})

    def test_ranges(self):
        """Of the 90 kernels in the range, those that open a window are not measured."""
        self.record("--counters", *EVERY, program=(os.path.join(support.BUILD, "programs", "ranges"), "3", "30", "5"))
        row = {row["Counter"]: row for row in self.table("nvtx-counter", "nvtx-counter")}["dram__bytes_read.sum"]
        measured = self.counters()["dram__bytes_read.sum"]["Count"]
        self.assertGreaterEqual(measured, 40)
        self.assertLessEqual(row["Measured"], measured)
        self.assertEqual((row["Range"], row["Kernels"], row["Unit"], row["Max"]), ("inside", 90, "byte", 400000000))
        self.assertEqual((row["Sum"], row["Estimate"], row["Error"]), (row["Measured"] * 400000000, 36000000000, 0))
        values = self.run_gpuprof("summary", "--by", "nvtx-value", "-F", "csv", self.path("t.gpuprof")).stdout.splitlines()
        self.assertEqual(values[0], "range,metric,value,unit,error")
        self.assertIn("inside,dram__bytes_read.sum,36000000000,byte,0", values)

    def test_roofline(self):
        """600 MB in 0.4 ms are 75 % of the peak of DRAM, which is 2 TB/s."""
        self.record("--roofline", *EVERY)
        row = self.table("roofline", "roofline-kernel")[0]
        self.assertEqual((row["Name"], row["Grid"], row["Block"], row["Bound"], row["Unit"]),
                         ("k_work", "1 x 1 x 1", "32 x 1 x 1", "memory", "DRAM"))
        self.assertEqual((row["DRAM"], row["L2"], row["Of peak"]), (600000000, 1200000000, 75))
        peaks = {peak["Unit"]: peak["Peak"] for peak in self.table("roofline", "roofline-peak")}
        self.assertEqual((peaks["DRAM"], peaks["FP32"], peaks["BF16 tensor"]), (2000, 30, 300))
        reports = json.loads(self.run_gpuprof("summary", "-F", "json", self.path("t.gpuprof")).stdout)
        summary = next(report for report in reports if report["report"] == "summary")
        self.assertEqual([kernel["bound"] for kernel in summary["roofline"]], ["memory"])

    def test_passes(self):
        """A window has one pass.  Each of the four sets of --roofline has the time, so that is in four passes."""
        self.record("--roofline", *EVERY)
        counts = {name: row["Count"] for name, row in self.counters().items()}
        self.assertEqual(counts[TIME], counts["dram__bytes.sum.peak_sustained"])
        self.assertAlmostEqual(4 * counts["smsp__inst_executed.sum"], counts[TIME], delta=4 * 48)
        self.assert_values({TIME: 400000, "smsp__inst_executed_op_global_ld.sum": 800000, "smsp__inst_executed_op_local_st.sum": 0})
        self.assertEqual(self.missing(), {})

    def test_passes_of_a_list(self):
        """The simulated chip counts 20 metrics in a pass."""
        names = ("dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_bytes.sum", "smsp__inst_executed_op_local_ld.sum",
                 "smsp__inst_executed_op_local_st.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                 "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", TIME, "sm__cycles_active.avg", "smsp__inst_executed.sum", "l1tex__t_bytes.sum",
                 "sm__cycles_elapsed.avg.per_second", "dram__cycles_elapsed.avg.per_second", "lts__cycles_elapsed.avg.per_second",
                 "l1tex__cycles_elapsed.avg.per_second", "sm__warps_active.avg.pct_of_peak_sustained_active",
                 "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
                 "l1tex__t_sectors.sum", "smsp__inst_executed_op_global_ld.sum", "smsp__inst_executed_op_global_st.sum",
                 "dram__bytes.sum.peak_sustained")
        self.record("--counters=" + ",".join(names), *EVERY)
        counts = {name: row["Count"] for name, row in self.counters().items()}
        first, second = counts[TIME], counts["smsp__inst_executed_op_global_st.sum"]
        self.assertGreater(min(first, second), 40)  # more than a window
        self.assertEqual(first + second, counts["dram__bytes.sum.peak_sustained"])
        # traffic of links excludes that of DRAM; the others are measured as before
        result = self.record("--counters=" + ",".join((*names, "pcie__read_bytes.sum", "nvltx__bytes.sum")), *EVERY)
        self.assertIn("another run with --counters=pcie__read_bytes.sum,nvltx__bytes.sum\n", result.stderr)
        self.assertEqual(set(self.counters()), set(names))

    def test_advice(self):
        """Each load of the kernel touches 32 sectors: 56 of its 68 are in vain."""
        self.record("--counters=memory", *EVERY)
        findings = json.loads(self.run_gpuprof("advice", "-F", "json", self.path("t.gpuprof")).stdout)["findings"]
        found = next(one for one in findings if one["rule"] == "uncoalesced")
        self.assertEqual((found["kernel"], found["count"], found["load_sectors"]), ("k_work", 1600, "32.0"))
        self.assertAlmostEqual(found["saves_ns"], 1600 * 400000 * 56 / 68, delta=8000)

    def test_operations_without_kernel_records(self):
        """CUPTI counts them only without; the measured kernels have a record without times."""
        result = self.record("--counters=flops", *EVERY)
        self.assertIn("kernels have no records", result.stderr)
        self.assert_values({"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 3200,
                            "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 320})
        self.assertEqual(self.table("roofline", "roofline-kernel")[0]["FLOPs"], 6720)

    def test_recording_is_paused(self):
        result = self.record("--counters", *EVERY, "--delay", "1000")
        self.assert_one_line("\n".join(line for line in result.stderr.splitlines() if line.startswith("gpuprof: no kernel")), "paused from the start to the end")

    def test_the_chart_needs_operations(self):
        """A page without them says which recording adds them."""
        self.record("--roofline", *EVERY, "-o", self.path("times"))
        self.record("--counters=flops", *EVERY)
        shown, texts = browser.start(self), []
        for traces in (["times"], ["times", "t"]):
            result = self.run_gpuprof("html", "-o", self.path("page.html"), *(self.path(name + ".gpuprof") for name in traces))
            self.assertEqual(result.returncode, 0, result.stderr)
            shown.open(self.path("page.html"), "#v=tables&table=roofline-kernel")
            texts.append(shown.run("[...document.querySelectorAll('.constants, .roofline .kernel')].map((node) => node.textContent)"))
        self.assertIn("--counters=flops", texts[0][0])
        self.assertEqual(texts[1], ["k_work"])
        self.assertEqual(shown.run("document.querySelectorAll('.roofline circle').length"), 1)
        self.assertEqual(shown.problems, [])

    def test_the_first_window_comes_later(self):
        result = self.record("--counters", "--counters-interval", "1000")
        self.assertEqual(self.counters(), {})
        self.assert_one_line("\n".join(line for line in result.stderr.splitlines() if line.startswith("gpuprof: no kernel")), "--counters-interval=0")

    def test_graphs_end_a_window(self):
        result = self.record("--counters", *EVERY, program=(GRAPH,))
        self.assertIn("kernels of graphs cannot be measured", result.stderr)
        self.assertEqual(self.missing(), {})

    def test_the_program_ends_in_a_window(self):
        self.record("--counters", *EVERY, program=(*GPU, "start=31"))
        self.assertEqual(self.counters()[TIME]["Count"], 30)
        self.assertEqual(self.missing(), {})

    def test_a_thread_with_a_small_stack(self):
        """gpuprof's thread closes the window for it, and it opens none."""
        self.record_script(SMALL_STACK)
        self.assertEqual(self.counters()[TIME]["Count"], 40)
        self.assertEqual(self.missing(), {})

    def test_the_context_ends_in_a_window(self):
        self.record_script(CONTEXT_ENDS)
        self.assertEqual(self.missing(), {"HW_UNMEASURED": 10})
        self.assertEqual([row["Count"] for row in self.table("overhead", "overhead") if row["Kind"] == "Hardware Counters"], [1])

    def test_a_capture_that_fails(self):
        """It is over: windows open after it."""
        self.record_script(FAILED_CAPTURE)
        self.assertEqual(self.counters()[TIME]["Count"], 30)

    def test_ranges_that_cupti_drops(self):
        """It is not known which: no kernel has values, and all of the windows are counted."""
        self.record("--counters", *EVERY, GPUSIM_FAULT="counters-overflow")
        self.assertEqual(self.counters(), {})
        self.assertGreaterEqual(self.missing()["HW_UNMEASURED"], 40)

    def test_a_failing_profiler(self):
        result = self.record("--counters", *EVERY, GPUSIM_FAULT="counters-broken")
        self.assertEqual(result.stdout, OUTPUT)
        self.assertIn("no more hardware counters of GPU 0", result.stderr)

    def test_without_permission(self):
        result = self.record("--counters", *EVERY, GPUSIM_FAULT="counters-forbidden")
        self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", result.stderr)
        self.assertEqual(self.counters(), {})

    def test_a_later_context_on_another_chip(self):
        """The metrics of the first chip say nothing about the second one."""
        result = self.record_script(NEXT_DEVICE, GPUSIM_DEVICES="2", GPUSIM_FAULT="other-chip")
        self.assertEqual(self.counters()[TIME]["Count"], 30)
        self.assertEqual({row["Device"] for row in self.table("roofline", "roofline-kernel") if row["Measured"]}, {0})
        self.assertIn("GPU 1 has another chip", result.stderr)

    def test_a_later_context_on_an_equal_chip(self):
        self.record_script(NEXT_DEVICE, GPUSIM_DEVICES="2")
        self.assertEqual(self.counters()[TIME]["Count"], 60)

    def test_counters_in_use_elsewhere(self):
        result = self.record("--counters", *EVERY, GPUSIM_FAULT="counters-busy")
        self.assertIn("tries again", result.stderr)
        self.assertEqual(self.missing(), {})

    def test_metrics_that_cannot_be_measured(self):
        for metrics, words in (("roofline-hv", "no metric 'roofline-hv'"), ("timeline", "no metric 'timeline'"),
                               ("gpu__time_duration.sum,sm__nothing.sum", "no metric 'sm__nothing.sum'"),
                               (",".join(["lts__t_bytes"] * 73), "takes 72 metrics at most, not 73")):
            result = self.record("--counters=" + metrics, *EVERY, program=(STREAMS, "1", "1", "1"))
            self.assertIn(words, result.stderr)

    def test_an_old_cupti(self):
        result = self.record("--counters", "--cupti=" + support.BUILD + "/sim/old/libcupti.so.13")
        self.assertIn("CUPTI 12.6", result.stderr)

    def test_one_collector_for_a_run(self):
        for options in (("--counters", "--hw-timeline"), ("--roofline", "--counters")):
            result = self.run_program([STREAMS], options=options)
            self.assertEqual(result.returncode, 125)
            self.assert_one_line(result.stderr, *options, "exclude each other")


if __name__ == "__main__":
    support.main()
