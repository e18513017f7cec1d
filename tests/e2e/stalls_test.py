"""--stalls: samples of warps of the simulated device, which has known counts, by kernel and source line; and the messages if there are none."""
import glob
import json
import os
import sys

import support
from support import BARE, Case

CUBIN = os.path.join(support.BUILD, "programs", "waits.cubin")
STREAMS = os.path.join(support.BUILD, "programs", "streams")
SOURCE = os.path.join(support.ROOT, "tests", "gpu", "waits.cu")

# CUBIN LAUNCHES CONTEXTS DESTROYED: 1 launch of roots for 3 of chase, in so many contexts, one after another; 1: the last is destroyed, too.
WORK = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, module, chase, roots = (ctypes.c_void_p() for _ in range(4))
code = open(sys.argv[1], "rb").read()
launches, contexts, destroyed = (int(text) for text in sys.argv[2:5])
cuda.cuInit(0)
for i in range(launches):
    if i % (launches // contexts) == 0:
        if i > 0:
            cuda.cuCtxSynchronize()
            cuda.cuDevicePrimaryCtxReset_v2(0)
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        cuda.cuCtxSetCurrent(context)
        cuda.cuModuleLoadData(ctypes.byref(module), code)
        cuda.cuModuleGetFunction(ctypes.byref(chase), module, b"_Z5chasePKjPji")
        cuda.cuModuleGetFunction(ctypes.byref(roots), module, b"_Z5rootsPdi")
    cuda.cuLaunchKernel(roots if i % 4 == 0 else chase, 1, 1, 1, 32, 1, 1, 0, None, None, None)
cuda.cuCtxSynchronize()
print("end")
if destroyed:
    cuda.cuDevicePrimaryCtxReset_v2(0)
"""
# Two threads, each with a device of its own, begin at the same time; each launches chase 20 times.
THREADS = """
import ctypes, sys, threading
cuda = ctypes.CDLL("libcuda.so.1")
code = open(sys.argv[1], "rb").read()
together = threading.Barrier(2)
def work(device):
    context, module, chase = (ctypes.c_void_p() for _ in range(3))
    together.wait()
    cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device)
    cuda.cuModuleLoadData(ctypes.byref(module), code)
    cuda.cuModuleGetFunction(ctypes.byref(chase), module, b"_Z5chasePKjPji")
    for i in range(20):
        cuda.cuLaunchKernel(chase, 1, 1, 1, 32, 1, 1, 0, None, None, None)
    cuda.cuCtxSynchronize()
cuda.cuInit(0)
threads = [threading.Thread(target=work, args=(device,)) for device in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
# Has the counters while it runs another program.
PARENT = """
import subprocess, sys
import gpu
device = gpu.Device()
device.launch(40)
subprocess.run(sys.argv[1:], check=True)
device.launch(40)
"""
KERNEL_NS = 400000
CYCLES = KERNEL_NS * 3 // 2 * 132  # of all SMs, for one launch
GROUP = 20  # samples, which the device places together


def groups(launches, exponent=20):
    return (launches * CYCLES >> exponent) // GROUP


class Stalls(Case):
    def record(self, *options, contexts=1, destroyed=False, kernel_ns=KERNEL_NS, **variables):
        result = self.run_program([sys.executable, "-c", WORK, CUBIN, "200", str(contexts), str(int(destroyed))],
                                  options=("-o", self.path("t"), "--chrome", "none", *options), GPUSIM_KERNEL_NS=str(kernel_ns), **variables)
        self.assertEqual((result.returncode, result.stdout), (0, "end\n"), result.stderr)
        return result

    def tables(self):
        found = self.run_gpuprof("summary", "--by", "stalls", "-F", "json", self.path("t.gpuprof")).stdout
        return {table["report"]: table["rows"] for table in json.loads(found)}

    def summary(self):
        reports = json.loads(self.run_gpuprof("summary", "-F", "json", self.path("t.gpuprof")).stdout)
        return next(report for report in reports if report["report"] == "summary")

    def kernel_samples(self):
        found = {}
        for row in self.tables()["stall-kernel"]:
            found[row["Name"]] = found.get(row["Name"], 0) + row["Samples"]
        return found

    def test_counts_by_kernel_reason_and_line(self):
        self.record("--stalls")
        expected = {"chase": groups(150), "roots": groups(50)}
        self.assertEqual(self.kernel_samples(), {name: GROUP * count for name, count in expected.items()})
        tables = self.tables()
        whole = sum(expected.values())
        self.assertEqual({row["Reason"]: (row["Samples"], row["Not issued"]) for row in tables["stall-reason"]},
                         {"long_scoreboard": (10 * whole, 8 * whole), "wait": (4 * whole, whole), "barrier": (3 * whole, 3 * whole),
                          "selected": (3 * whole, 0)})
        with open(SOURCE, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for row in tables["stall-line"]:
            self.assertEqual(row["File"], SOURCE)
            self.assertEqual(row["Source"] or "", lines[row["Line"] - 1].strip())
        loads = next(row for row in tables["stall-line"] if (row["Name"], row["Reason"]) == ("chase", "long_scoreboard"))
        self.assertEqual(loads["Of kernel"], 50)
        self.assertAlmostEqual(loads["Error"], 98 / (GROUP * expected["chase"]) ** 0.5, places=2)

    def test_the_summary_adds_up(self):
        """All samples are in kernels, outside of them, or dropped."""
        result = self.record("--stalls=16", GPUSIM_FAULT="counters-drop")
        summary = self.summary()
        found = {row["id"]: row for row in summary["stalls"]}
        self.assertEqual(found["roots"]["samples"], GROUP * groups(50, 16))
        self.assertEqual(found["chase"]["reason"], "long_scoreboard")
        lost = summary["stall_losses"][0]
        self.assertEqual(lost["samples"], sum(row["samples"] for row in found.values()) + lost["outside"] + lost["dropped"])
        self.assertEqual(lost["outside"] * 5, lost["dropped"] * 7)
        self.assertGreater(lost["dropped"], 0)
        self.assertIn("Why warps wait", result.stderr)

    def test_a_context_that_is_destroyed(self):
        """Its last samples are fetched before."""
        self.record("--stalls", destroyed=True)
        self.assertEqual(self.kernel_samples(), {"chase": GROUP * groups(150), "roots": GROUP * groups(50)})

    def test_many_contexts_one_after_another(self):
        """More than are sampled at a time."""
        self.record("--stalls", contexts=100, destroyed=True)
        self.assertEqual(self.kernel_samples(), {"chase": GROUP * 50 * (groups(1) + groups(2)), "roots": GROUP * 50 * groups(1)})

    def test_contexts_of_threads_that_begin_together(self):
        """Each is sampled before it has modules, also if another one has just started the recording."""
        result = self.run_program([sys.executable, "-c", THREADS, CUBIN], options=("-o", self.path("t"), "--chrome", "none", "--stalls"),
                                  GPUSIM_KERNEL_NS=str(KERNEL_NS), GPUSIM_DEVICES="2", GPUSIM_FAULT="counters-slow")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.kernel_samples(), {"chase": GROUP * 2 * groups(20)})

    def test_code_without_lines(self):
        """Its samples are counted by kernel."""
        self.run_program([STREAMS], options=("-o", self.path("t"), "--stalls"), GPUSIM_KERNEL_NS=str(KERNEL_NS))
        self.assertEqual(self.kernel_samples(), {"k_work": GROUP * groups(3200)})
        self.assertEqual({row["File"] for row in self.tables()["stall-line"]}, {None})

    def test_older_cupti(self):
        """Before 12.4 the array of program counters has shorter elements."""
        self.record("--stalls", GPUSIM_CUPTI_VERSION="18")
        self.assertEqual(self.kernel_samples()["chase"], GROUP * groups(150))

    def test_a_full_buffer(self):
        """The fetch that found it has no samples; the sampling goes on, and all else is counted."""
        self.record("--stalls=20", kernel_ns=4 * KERNEL_NS, GPUSIM_FAULT="counters-overflow")
        self.assertEqual(self.kernel_samples(), {"chase": GROUP * groups(4 * 150), "roots": GROUP * groups(4 * 50)})
        self.assertIn("buffer was full", self.run_gpuprof("summary", "--full", self.path("t.gpuprof")).stdout)

    def test_without_permission(self):
        result = self.record("--stalls", GPUSIM_FAULT="counters-forbidden")
        self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", result.stderr)
        self.assertEqual(self.tables()["stall-line"], [])

    def test_counters_in_use_elsewhere(self):
        """There is no second try: the modules would be loaded before it."""
        result = self.record("--stalls", GPUSIM_FAULT="counters-busy")
        self.assertIn("another process", result.stderr)
        self.assertNotIn("tries again", result.stderr)
        self.assertEqual(self.tables()["stall-line"], [])

    def test_one_process_for_each_gpu(self):
        """The other one runs as without, has all else of its recording, and says why."""
        result = self.run_program([sys.executable, self.write("parent.py", PARENT), STREAMS], options=("-o", self.path("t-%p"), "--chrome", "none", "--stalls"),
                                  GPUSIM_KERNEL_NS=str(KERNEL_NS), GPUSIM_COUNTERS_LOCK=self.path("lock"), PYTHONPATH=os.path.join(support.ROOT, "tests", "e2e"))
        self.assertEqual((result.returncode, result.stdout), (0, "launches 40\nstreams 64\nkernel.k_work 3200\nlaunches 40\n"), result.stderr)
        self.assertEqual(result.stderr.count("another process, such as a profiler"), 2)  # at once, and in the summary
        found = json.loads(self.run_gpuprof("summary", "--by", "stalls,kernel,missing", "-F", "json", *glob.glob(self.path("*.gpuprof"))).stdout)
        tables = {table["report"]: table["rows"] for table in found}
        self.assertEqual({row["Name"] for row in tables["stall-kernel"]}, {"step_kernel"})
        self.assertEqual({row["Name"]: row["Count"] for row in tables["kernel"]}, {"step_kernel": 80, "k_work": 3200})
        self.assertEqual(tables["missing"], [])

    def test_one_collector_for_each_run(self):
        result = self.run_program([STREAMS], options=("--stalls", "--hw-timeline"))
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "--hw-timeline", "--stalls", "exclude each other")

    def test_one_collector_under_a_bare_preload(self):
        """The library says it, and records the rest."""
        result = self.run_program([STREAMS], BARE, GPUPROF_STALLS="on", GPUPROF_HW_TIMELINE="1ms", GPUPROF_OUTPUT=self.path("t"))
        self.assertEqual(result.stdout, "streams 64\nkernel.k_work 3200\n")
        self.assertIn("exclude each other", result.stderr)
        self.assertEqual(self.tables()["stall-line"], [])

    def test_a_value_out_of_bounds(self):
        result = self.run_program([STREAMS], options=("--stalls=5",))
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "--stalls", "10 to 31", "5")


if __name__ == "__main__":
    support.main()
