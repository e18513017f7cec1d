"""What is recorded is what was chosen, to the last launch; the program never notices."""
import collections
import json
import os
import re
import signal
import subprocess
import time
import unittest

import support
from support import BARE, GPU, LAUNCHED, PLAIN, Case
from facts import Facts

RANGES = os.path.join(support.BUILD, "programs", "ranges")
COUNTS = ["3", "100", "50"]  # ranges, launches inside of each, outside before, between and after them
POLL_S = 0.01

# What CUPTI says it took belongs to no call; it is fetched only after the recording was closed and CUPTI switched off.
LATE_SOURCE = """
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <unistd.h>

int main(void)
{
	int failed = cudaFree(0) || cudaProfilerStart() || cudaDeviceReset() || cudaFree(0) || cudaProfilerStop();

	usleep(500000);
	return failed;
}
"""


class Control(Case):

    def check(self, options, inside, outside, way=LAUNCHED, arguments=()):
        """Run with these options; the numbers of kernels of both kinds that are to be recorded."""
        command = [RANGES, *(arguments or COUNTS)]
        plain = self.run_program(command, PLAIN)
        variables = {"GPUPROF_" + name: value for name, value in options.items()}
        result = self.run_program(command, way, GPUPROF_OUTPUT="out", **variables)
        self.assertEqual((result.returncode, result.stdout), (plain.returncode, plain.stdout), result.stderr)
        facts = Facts(self.path("out.json"))
        names = collections.Counter("inside" if "k_inside" in kernel["name"] else "outside" for kernel in facts.kernels)
        self.assertEqual((names["inside"], names["outside"]), (inside, outside), options)
        self.assertEqual(len(facts.launches()), inside + outside, options)
        self.assertIn(f"all {inside + outside:,} launches have their kernel record", result.stderr)
        for file in self.files():
            os.unlink(self.path(file))
        return result

    def test_profiler_ranges(self):
        for way in (LAUNCHED, BARE):
            self.check({"CAPTURE_RANGE": "cudaProfilerApi"}, 300, 0, way)
        self.check({"CAPTURE_RANGE": "cudaProfilerApi", "CAPTURE_REPEAT": 2}, 200, 0)

    def test_profiler_ranges_with_every_call_recorded(self):
        self.check({"CAPTURE_RANGE": "cudaProfilerApi", "TRACE": "api-all"}, 300, 0)

    def test_nvtx_ranges(self):
        for way in (LAUNCHED, BARE):
            self.check({"CAPTURE_RANGE": "nvtx:inside"}, 300, 0, way)
        self.check({"CAPTURE_RANGE": "nvtx:in*@", "CAPTURE_REPEAT": 1}, 100, 0)
        self.check({"CAPTURE_RANGE": "nvtx:inside", "CAPTURE_SKIP": 1, "CAPTURE_REPEAT": 1}, 100, 0)
        self.check({"CAPTURE_RANGE": "nvtx:inside", "CAPTURE_SKIP": 1}, 200, 0)
        self.check({"CAPTURE_RANGE": "nvtx:inside", "TRACE": "gpu"}, 300, 0)

    def test_ranges_that_never_come(self):
        for capture in ("nvtx:outside", "nvtx:inside@other"):
            result = self.run_program([RANGES], GPUPROF_CAPTURE_RANGE=capture)
            self.assertEqual(result.returncode, 0)
            self.assertIn("made no CUDA call that was recorded", result.stderr)
            self.assertIn("the event that resumes it (--capture-range, --delay, --after-launches, --sample, --toggle-signal, gpuprof_start()) never came", result.stderr)

    def test_the_summary_says_which_parts(self):
        result = self.check({"CAPTURE_RANGE": "cudaProfilerApi"}, 300, 0)
        self.assertEqual(result.stderr.count("from cudaProfilerStart to cudaProfilerStop"), 3)
        self.assertIn(", in 3 parts", result.stderr)
        result = self.check({"AFTER_LAUNCHES": 60, "LAUNCHES": 70}, 70, 0)
        self.assertIn("from the last of --after-launches to the last of --launches", result.stderr)
        result = self.check({"KERNELS": "k_inside"}, 300, 0)
        self.assertIn("200 kernels that --kernels excludes", result.stderr)

    def test_what_ran_while_it_paused_is_not_left_out_by_its_name(self):
        result = self.check({"CAPTURE_RANGE": "cudaProfilerApi", "KERNELS": "k_inside"}, 300, 0)
        self.assertNotIn("that --kernels excludes", result.stderr)
        # 50 of k_outside, 10 of k_inside; then 90 and 100 of k_inside until 100 more of k_outside were there
        result = self.check({"AFTER_LAUNCHES": 60, "LAUNCHES": 100, "KERNELS": "k_outside"}, 0, 100)
        self.assertIn("190 kernels that --kernels excludes", result.stderr)

    def test_the_parts_are_the_time_that_the_gpu_could_be_busy(self):
        result = self.check({"CAPTURE_RANGE": "cudaProfilerApi"}, 300, 0)
        self.assertIn("GPU busy (while recording was on and no earlier operation was running)\n", result.stderr)
        self.assertNotIn("dependency", result.stderr)  # that for which the first of a part waits was launched before it
        parts = re.findall(r"^    +([-+]\S+) to +([-+]\S+)  from cudaProfilerStart", result.stderr, re.M)
        self.assertEqual([start.startswith("-") for start, _ in parts], [True, False, False], parts)

    def test_what_comes_late_of_a_range_is_not_left_out(self):
        cuda = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
        program = self.compile("late", LATE_SOURCE, "-I" + os.path.join(cuda, "include"), "-L" + os.path.join(support.BUILD, "sim"), "-lcudart")
        result = self.run_program([program], LAUNCHED, ["--capture-range=cudaProfilerApi", "--trace=overhead", "--flush-ms=1000"],
                                  GPUPROF_OUTPUT="out")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("out.json"), encoding="utf-8") as file:
            kinds = collections.Counter(event.get("cat") for event in json.load(file)["traceEvents"] if event["ph"] == "X")
        self.assertGreaterEqual(kinds["overhead"], 6, result.stderr)  # each more flush on a slow machine takes some itself

    def test_many_short_ranges(self):
        self.check({"CAPTURE_RANGE": "cudaProfilerApi"}, 3000, 0, arguments=["1500", "2", "3"])

    def test_a_window_by_count(self):
        self.check({"LAUNCHES": 70}, 20, 50)
        self.check({"AFTER_LAUNCHES": 60}, 290, 150)
        self.check({"AFTER_LAUNCHES": 60, "LAUNCHES": 100}, 90, 10)
        self.check({"AFTER_LAUNCHES": 60, "LAUNCHES": 100, "TRACE": "api-all"}, 90, 10)

    def test_what_is_never_paused_is_recorded_in_whole(self):
        for option in ("LAUNCHES", "DURATION"):
            self.assertNotIn("Recorded in part", self.check({option: 1000}, 300, 200).stderr)

    def test_so_many_launches_of_each_range(self):
        self.check({"CAPTURE_RANGE": "cudaProfilerApi", "LAUNCHES": 7}, 21, 0)

    def test_ranges_after_so_many_launches(self):
        # the 200th launch is the last before the second range
        self.check({"CAPTURE_RANGE": "cudaProfilerApi", "AFTER_LAUNCHES": 200}, 200, 0)

    def test_kernels_by_name(self):
        self.check({"KERNELS": "k_inside"}, 300, 0)
        self.check({"KERNELS": "k_*,!k_inside"}, 0, 200)
        self.check({"KERNELS": "_ZN4tool*"}, 300, 0)
        self.check({"KERNELS": "k_inside", "LAUNCHES": 10}, 10, 0)

    def test_short_calls(self):
        result = self.check({"MIN_API_US": 10000000}, 300, 200)
        self.assertNotIn("cudaDeviceSynchronize", result.stderr)
        self.assertIn("cudaMalloc", result.stderr)

    def test_programs_by_name(self):
        self.check({"PROCESSES": "python,rang*"}, 300, 200)
        for way in (LAUNCHED, BARE):
            result = self.run_program([RANGES], way, GPUPROF_PROCESSES="!ranges")
            self.assertEqual((result.returncode, self.files()), (0, []))

    def test_a_duration_that_is_long_enough(self):
        self.check({"DURATION": "3600.5"}, 300, 200)

    def test_values_that_mean_nothing(self):
        for option, value in (("capture-range", "nvtx:"), ("capture-range", "range"), ("toggle-signal", "KILL"),
                              ("delay", "-1"), ("duration", "1ms")):
            result = self.run_program(["true"], options=[f"--{option}", value])
            self.assertEqual(result.returncode, 125)
            self.assert_one_line(result.stderr, f"--{option}", f"not '{value}'")


class Live(Case):
    """Windows by time and by signal, seen while the program runs."""

    def start(self, **options):
        for file in self.files():
            os.unlink(self.path(file))
        variables = {"GPUPROF_" + name: str(value) for name, value in options.items()}
        line, _ = support.command(LAUNCHED, [*GPU, "pump"], ["-o", "out"])
        process = subprocess.Popen(line, cwd=self.folder, env=support.environment(**variables), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        self.addCleanup(process.kill)
        self.deadline = time.monotonic() + support.LIMIT_S
        return process

    def until(self, condition):
        while not condition():
            self.assertLess(time.monotonic(), self.deadline, "it never happened")
            time.sleep(POLL_S)

    def recorded(self):
        """Launches in the trace by now."""
        if not os.path.exists(self.path("out.gpuprof")):
            return 0
        found = re.search(r"([\d,]+) launches", self.run_gpuprof("summary", "out.gpuprof").stdout)
        return int(found.group(1).replace(",", "")) if found else 0

    def launched(self):
        """Launches that the program has made by now."""
        try:
            with open(self.path("progress"), encoding="utf-8") as file:
                return int(file.read() or 0)
        except FileNotFoundError:
            return 0

    def let_it_launch(self):
        """Enough launches for some of them to be seen, were they recorded."""
        before = self.launched()
        self.until(lambda: self.launched() > before + 2000)

    def until_closed(self):
        """Until no more launches are recorded; how many are."""
        seen = []

        def is_closed():
            self.let_it_launch()
            seen.append(self.recorded())
            return seen[-2:-1] == seen[-1:]

        self.until(is_closed)
        return seen[-1]

    def end(self, process):
        """How many launches were recorded, and how many made."""
        stdout, stderr = process.communicate("", timeout=support.LIMIT_S)
        self.assertEqual(process.returncode, 0, stderr)
        found = re.search(r"all ([\d,]+) launches have their kernel record", stderr)
        self.assertIsNotNone(found, stderr)
        return int(found.group(1).replace(",", "")), int(stdout.split()[1])

    def test_a_delay(self):
        for delay in (1.5, 6, 24):  # where the machine is so busy that the first launch came after it, a longer one
            process = self.start(DELAY=delay)
            self.until(self.recorded)
            recorded, made = self.end(process)
            if recorded < made:
                return
        self.fail("all launches were recorded")

    def test_a_duration(self):
        for duration in (0.2, 2, 10):  # likewise, of a window that was over before the first launch
            process = self.start(DURATION=duration)
            self.until_closed()
            if self.recorded():
                recorded, made = self.end(process)
                self.assertLess(recorded, made)
                return
            process.communicate("", timeout=support.LIMIT_S)
        self.fail("no launch was recorded")

    def test_a_signal_opens_and_closes(self):
        process = self.start(TOGGLE_SIGNAL="USR2")
        self.until(lambda: os.path.exists(self.path("out.gpuprof")))
        self.let_it_launch()
        self.assertEqual(self.recorded(), 0)
        process.send_signal(signal.SIGUSR2)  # the launcher hands it on
        self.until(self.recorded)
        process.send_signal(signal.SIGUSR2)
        first = self.until_closed()
        process.send_signal(signal.SIGUSR2)
        self.until(lambda: self.recorded() > first)
        recorded, made = self.end(process)
        self.assertLess(first, recorded)
        self.assertLess(recorded, made)

    def test_a_signal_before_the_first_cuda_call(self):
        """It does not end the program, and opens the recording as soon as there is something to record."""
        for way in (LAUNCHED, BARE):
            result = self.run_program(["sh", "-c", 'kill -USR2 $$; exec "$@"', "sh", *GPU, "send=USR2", "launch=30"], way,
                                      GPUPROF_TOGGLE_SIGNAL="USR2")
            self.assertEqual((result.returncode, result.stdout), (0, "launches 30\n"), result.stderr)
            self.assertIn("from a signal to the end", result.stderr)
            self.assertIn("all 30 launches have their kernel record", result.stderr)

    def test_a_signal_keeps_what_led_to_it(self):
        """A circle that went around, stopped by the signal: what the program does then takes no place of it."""
        process = self.start(TOGGLE_SIGNAL="USR2", KEEP_LAST="8M", CHROME="none")
        self.deadline += 2 * support.LIMIT_S  # half a million launches fill it
        self.until(lambda: os.path.exists(self.path("out.gpuprof")))
        process.send_signal(signal.SIGUSR2)
        self.until(lambda: "that newer ones replaced" in self.run_gpuprof("summary", "out.gpuprof").stdout)
        process.send_signal(signal.SIGUSR2)
        kept = self.until_closed()
        before = self.launched()
        self.until(lambda: self.launched() > before + 100000)
        self.assertEqual(self.recorded(), kept)
        _, stderr = process.communicate("", timeout=support.LIMIT_S)
        self.assertEqual(process.returncode, 0, stderr)
        self.assertGreater(kept, 1000)
        self.assertEqual(self.recorded(), kept)
        self.assertIn("from the start of what --keep-last kept to a signal", stderr)

    def test_a_signal_that_the_program_handles(self):
        result = self.run_program([*GPU, "handle=USR1", "launch=3", "send=USR1"], GPUPROF_TOGGLE_SIGNAL="USR1")
        self.assertEqual((result.returncode, result.stdout), (0, "launches 3\nhandled USR1\n"), result.stderr)
        self.assertIn("the program handles SIGUSR1 itself", result.stderr)

    def test_a_handler_that_the_program_sets_later(self):
        result = self.run_program([*GPU, "launch=3", "handle=USR1", "send=USR1"], GPUPROF_TOGGLE_SIGNAL="USR1")
        self.assertEqual((result.returncode, result.stdout), (0, "launches 3\nhandled USR1\n"), result.stderr)


if __name__ == "__main__":
    support.main()
