"""--hw-timeline: samples of the simulated device's counters, which have known levels, and the messages if there are none."""
import json
import os
import sys

import support
from support import Case

STREAMS = os.path.join(support.BUILD, "programs", "streams")
FAST = {"GPUSIM_KERNEL_NS": "400000"}  # 50 waves of 64 concurrent kernels
SLOW = {"GPUSIM_KERNEL_NS": "20000000"}  # 1 s of them

FORK = """
import ctypes, os, time
ctypes.CDLL("libcudart.so").cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(1))
time.sleep(1)  # until the sampling is set up
start = time.monotonic()
child = os.fork()
if child == 0:
    ctypes.CDLL(None).exit(0)
os.waitpid(child, 0)
print(time.monotonic() - start < 1.5)
"""
WINDOWS = """
import ctypes, time
cuda = ctypes.CDLL("libcudart.so")
cuda.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(1))
time.sleep(1)
for _ in range(10):
    cuda.cudaProfilerStart()
    time.sleep(0.03)
    cuda.cudaProfilerStop()
    time.sleep(0.12)
"""


SHORT = r"""
#include <pthread.h>
#include <stdio.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int);

static void *start(void *unused)
{
	void *context;

	return cuInit(0) || cuCtxCreate_v2(&context, 0, 0) ? unused : NULL;
}

int main(int count, char **arguments)
{
	pthread_t thread;

	if (count < 2)
		start(NULL);
	else if (pthread_create(&thread, NULL, start, arguments) || pthread_join(thread, NULL))
		return 1;
	puts("end");
	return 7;
}
"""


class HwTimeline(Case):
    def record(self, *options, **variables):
        result = self.run_program([STREAMS], options=("-o", self.path("t"), "--chrome", "json", *options), **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "streams 64\nkernel.k_work 3200\n")
        return result

    def hardware(self):
        reports = json.loads(self.run_gpuprof("summary", "-F", "json", self.path("t.gpuprof")).stdout)
        summary = next(report for report in reports if report["report"] == "summary")
        return {row["id"]: row for row in summary.get("hardware", [])}

    def counters(self):
        with open(self.path("t.json"), encoding="utf-8") as file:
            return [event for event in json.load(file)["traceEvents"] if event["ph"] == "C"]

    def test_levels_while_kernels_run(self):
        self.record("--hw-timeline", **SLOW)
        rows = self.hardware()
        self.assertEqual(set(rows), {"clock", "sm_active", "warps_active", "tensor_active", "engine_active", "dram_read", "dram_write",
                                     "l2", "pcie_read", "pcie_write"})  # the device has no NVLink
        expected = {"sm_active": 100, "warps_active": 50, "tensor_active": 25, "dram_read": 1000, "dram_write": 500, "l2": 3000, "clock": 1.5e9}
        for name, level in expected.items():
            self.assertAlmostEqual(rows[name]["in_kernels"], level, delta=level / 50, msg=name)
        self.assertAlmostEqual(rows["sm_active"]["interval_ns"], 1000000, delta=10)
        self.assertGreater(rows["sm_active"]["covered_ns"], 500000000)

    def test_counters_in_the_chrome_trace(self):
        self.record("--hw-timeline=500us", **SLOW)
        levels = [event["args"] for event in self.counters() if event["name"] == "GPU 0 SM active"]
        self.assertGreater(len(levels), 1000)
        self.assertEqual(max(level["%"] for level in levels), 100)
        names = {event["name"] for event in self.counters()}
        self.assertIn("GPU 0 DRAM GB/s", names)
        self.assertNotIn("GPU 0 NVLink GB/s", names)

    def test_nothing_without_the_option(self):
        self.record(**FAST)
        self.assertEqual(self.hardware(), {})

    def test_an_interval_out_of_bounds(self):
        result = self.run_program([STREAMS], options=("--hw-timeline=5us",))
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "--hw-timeline", "20us to 1000ms", "5us")

    def test_without_permission(self):
        result = self.record("--hw-timeline", GPUSIM_FAULT="counters-forbidden", **FAST)
        self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", result.stderr)
        self.assertEqual(self.hardware(), {})

    def test_counters_in_use_elsewhere(self):
        """The counters are free at the second try, a second later."""
        result = self.record("--hw-timeline", GPUSIM_FAULT="counters-busy", GPUSIM_KERNEL_NS="50000000")
        self.assertIn("tries again", result.stderr)
        self.assertAlmostEqual(self.hardware()["sm_active"]["in_kernels"], 100, delta=2)

    def test_a_full_buffer(self):
        """The sampling starts again, and the gap is counted."""
        self.record("--hw-timeline", GPUSIM_FAULT="counters-overflow", **SLOW)
        missing = self.run_gpuprof("export", "--format", "csv", "-o", "-", self.path("t.gpuprof")).stdout
        self.assertIn("gap", missing)
        times = [float(event["ts"]) for event in self.counters() if event["name"] == "GPU 0 SM active"]
        self.assertGreater(max(after - before for before, after in zip(times, times[1:])), 5000)

    def test_the_program_ends_during_the_setup(self):
        """On the main thread, and with a first context on another one.  The profiler's destructors run after its last use."""
        flags = ("-pthread", f"-L{support.BUILD}/sim", "-lcuda")
        program = self.compile("short", SHORT, *flags)
        for arguments in ([], ["thread"]):
            result = self.run_program([program, *arguments], options=("--hw-timeline", "-o", self.path("short")), GPUSIM_FAULT="counters-slow")
            self.assertEqual((result.returncode, result.stdout), (7, "end\n"), result.stderr)

    def test_a_forked_child_does_not_wait_for_the_sampler(self):
        """Which is a thread of its parent: its exit handlers have nothing to do."""
        result = self.run_program([sys.executable, "-c", FORK], options=("--hw-timeline", "-q"))
        self.assertEqual((result.returncode, result.stdout), (0, "True\n"), result.stderr)

    def test_windows_shorter_than_the_time_between_two_fetches(self):
        self.run_program([sys.executable, "-c", WINDOWS], options=("-o", self.path("t"), "--hw-timeline", "--capture-range", "cudaProfilerApi"))
        self.assertGreater(self.hardware()["clock"]["covered_ns"], 100000000)  # of 0.3 s

    def test_a_libcupti_without_sampling(self):
        result = self.record("--hw-timeline", "--cupti=" + support.BUILD + "/sim/old/libcupti.so.13", **FAST)
        self.assertIn("12.6 or newer", result.stderr)


if __name__ == "__main__":
    support.main()
