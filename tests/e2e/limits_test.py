"""Little room: what cannot be written is counted by its cause and said in one line, and the program does not notice."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import support
from support import BARE, GPU, LAUNCHED, PLAIN, Case, own_lines

STEPS = "launch=100000 say=done exit=5"
OUTPUT = "launches 100000\ndone\n"
LARGEST_FILE = 300  # in blocks of 512 bytes, as sh counts


def can_mount():
    return os.geteuid() == 0 and shutil.which("unshare") and subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "none", "/mnt"], check=False,
        stderr=subprocess.DEVNULL).returncode == 0


CUDA = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
FRUGAL_SOURCE = r"""
#include <cuda_runtime.h>
#include <sys/resource.h>

/* After the device's work is over. */
__attribute__((destructor)) static void be_frugal(void)
{
	const int resources[] = {RLIMIT_AS, RLIMIT_DATA};
	struct rlimit limit;

	for (int i = 0; i < 2; i++) {
		getrlimit(resources[i], &limit);
		limit.rlim_cur = 1 << 20;
		setrlimit(resources[i], &limit);
	}
}

int main(void)
{
	void *memory;

	return cudaMalloc(&memory, 4096) || cudaMemset(memory, 0, 4096) || cudaDeviceSynchronize() ? 1 : 3;
}
"""


class Room(Case):

    def run_limited(self, script, way, steps=STEPS, **variables):
        """A shell script in which PROGRAM stands for the profiled one; the summary comes on stderr."""
        line, own = support.command(way, [*GPU, *steps.split()])
        own = " ".join(f"{name}='{value}'" for name, value in own.items())
        return self.run_program(["sh", "-c", script.replace("PROGRAM", f"env {own} {' '.join(line)}")], PLAIN,
                                GPUPROF_OUTPUT="out/t", GPUPROF_CHROME="none", **variables)

    def check(self, result, reason):
        self.assertEqual((result.returncode, result.stdout), (5, OUTPUT), result.stderr)
        lines = [line for line in own_lines(result.stderr) if "could not be written" in line]
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertIn(reason, lines[0])

    def said(self, text, what):
        """The number of records that the summary says were dropped for that reason."""
        found = re.search(rf"([\d,]+) records dropped because {what}", text)
        self.assertTrue(found, text)
        return int(found.group(1).replace(",", ""))

    def check_file_limit(self, way, rings):
        os.mkdir(self.path("out"))
        self.addCleanup(self.finish)
        result = self.run_limited(f"ulimit -f {LARGEST_FILE}; exec PROGRAM", way, GPUPROF_RINGS=rings)
        self.check(result, "File too large (ulimit -f); ")
        self.assertGreater(self.said(result.stderr, "the trace reached the file size limit"), 1000)
        self.assertNotIn("records dropped because the disk", result.stderr)
        if rings != "memory":  # once there is room, what the rings kept is saved, here or by a run beside this one
            self.assertEqual(self.finish().returncode, 0)
            self.assertGreater(os.path.getsize(self.path("out", "t.gpuprof")), LARGEST_FILE * 512)

    def finish(self):
        return self.run_gpuprof("finish", "-s", "none", "--chrome", "none", "out/t.gpuprof")

    def test_a_limit_of_file_sizes(self):
        self.check_file_limit(BARE, "auto")

    def test_a_limit_of_file_sizes_under_the_launcher(self):
        self.check_file_limit(LAUNCHED, "auto")

    def test_a_limit_of_file_sizes_and_rings_in_memory(self):
        self.check_file_limit(BARE, "memory")

    def read_within(self, limits, *arguments):
        return self.run_program(["sh", "-c", f"{limits}; exec {support.GPUPROF} {' '.join(arguments)}"], PLAIN)

    def test_a_trace_that_is_larger_than_memory(self):
        os.mkdir(self.path("out"))
        self.run_limited("exec PROGRAM", LAUNCHED)
        trace = self.path("out", "t.gpuprof")
        for command in (["summary"], ["summary", "--by", "api"], ["advice"], ["trace", "gpu"]):
            whole = self.read_within("true", *command, trace)
            result = self.read_within("ulimit -d 10000", *command, trace)
            self.assertEqual((result.returncode, result.stderr, result.stdout), (0, whole.stderr, whole.stdout), command)
        for name in ("chrome", "perfetto", "csv", "jsonl", "sqlite", "openmetrics"):
            written = []
            for limits in ("true", "ulimit -d 12000"):
                result = self.read_within(limits, "export", "-F", name, "-o", "out/written", trace)
                self.assertEqual(result.returncode, 0, result.stderr)
                with open(self.path("out", "written"), "rb") as file:
                    written.append(file.read())
            self.assertTrue(written[0] == written[1], name)

    def test_a_trace_that_is_larger_than_memory_and_no_disk(self):
        os.mkdir(self.path("out"))
        self.run_limited("exec PROGRAM", LAUNCHED)
        trace = self.path("out", "t.gpuprof")
        limits = "ulimit -d 10000; ulimit -f 100"
        for command in (["summary"], ["export", "-o", "out/t.json"]):
            result = self.read_within(limits, *command, trace)
            self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
            self.assert_one_line(result.stderr, "too large for the free memory", "File too large", "set TMPDIR",
                                 f"gpuprof summary --one-pass {trace}; ", f"gpuprof top --batch --iterations 1 {trace}")
        self.assertEqual(self.files(".json"), [])
        for within, command in (("ulimit -d 40000; ulimit -f 100", ["summary", "--one-pass"]), (limits, ["top", "--batch", "--iterations", "1"])):
            result = self.read_within(within, *command, trace)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(" 100,000 ", result.stdout)

    def test_what_was_freed_beyond_a_limit_of_file_sizes_is_not_called_leaked(self):
        os.mkdir(self.path("out"))
        result = self.run_limited("ulimit -f 100; exec PROGRAM", BARE, "copy=100000", GPUPROF_RINGS="memory")
        self.assertNotIn("Never freed", result.stderr)
        self.assertIn("Not freed while recording was on: 4.000KiB in 1 block", result.stderr)
        self.assertIn("\n  including memory that was freed by calls whose records are lost\n", result.stderr)
        page = self.run_gpuprof("summary", "--memory", "out/t.gpuprof").stdout
        self.assertRegex(page, r"\n +not freed +4.000KiB in 1 block.*\n +including memory that was freed by calls whose records are lost\n")

    def test_a_trace_that_has_no_end_for_a_limit_says_so(self):
        os.mkdir(self.path("out"))
        self.addCleanup(self.finish)
        self.run_limited("ulimit -f 300; exec PROGRAM", BARE)
        page = self.run_gpuprof("summary", "out/t.gpuprof").stdout
        self.assertIn("did not close its trace: it had reached the largest allowed file size (ulimit -f)", page)

    def remove_rings(self, pid):
        for name in glob.glob(f"/dev/shm/gpuprof-*-{pid}-*"):
            os.unlink(name)

    def check_full_disk(self, way):
        os.mkdir(self.path("out"))
        script = ("unshare -m sh -c 'mount -t tmpfs -o size=300k none out && { PROGRAM; status=$?; "
                  "umount out; exit $status; }'")
        result = self.run_limited(script, way)
        self.addCleanup(self.remove_rings, re.search(r"pid (\d+)", result.stderr).group(1))
        self.check(result, "No space left on device")
        self.assertGreater(self.said(result.stderr, "the disk of the trace was full"), 1000)
        self.assertNotIn("largest file size", result.stderr)

    @unittest.skipUnless(can_mount(), "needs the right to mount a small disk")
    def test_a_full_disk(self):
        self.check_full_disk(BARE)

    @unittest.skipUnless(can_mount(), "needs the right to mount a small disk")
    def test_a_full_disk_under_the_launcher(self):
        self.check_full_disk(LAUNCHED)


    def test_a_chrome_trace_beyond_a_limit_of_file_sizes(self):
        result = self.run_program(["sh", "-c", f"ulimit -f 100; exec {os.path.join(support.BUILD, 'programs', 'launch')}"], BARE,
                                  GPUPROF_OUTPUT="t")
        self.assertIn("t.json: File too large; type: ulimit -f unlimited", result.stderr)
        self.assertIn("the summary or the Chrome trace was not finished; make both with: ", result.stderr)
        self.assertIn("GPU activities", result.stderr)

    def test_what_the_program_may_take_is_not_meant_for_the_summary(self):
        """Limits that it has set for itself, and could raise again."""
        program = self.compile("frugal", FRUGAL_SOURCE, "-I" + os.path.join(CUDA, "include"),
                               "-L" + os.path.join(support.BUILD, "sim"), "-lcudart")
        result = self.run_program([program], BARE, GPUPROF_OUTPUT="t")
        self.assertEqual((result.returncode, result.stdout), (3, ""), result.stderr)
        self.assertIn("GPU activities", result.stderr)
        self.assertEqual(self.files(), ["frugal", "t.gpuprof", "t.json"])


class MaxFile(Case):

    def test_the_recording_ends_and_the_program_runs_on(self):
        for way in (BARE, LAUNCHED):
            for rings in ("auto", "memory"):
                name = f"{way}-{rings}"
                result = self.run_program([*GPU, "launch=200000", "exit=5"], way, GPUPROF_MAX_FILE="1M",
                                          GPUPROF_RINGS=rings, GPUPROF_CHROME="none", GPUPROF_OUTPUT=name)
                self.assertEqual((result.returncode, result.stdout), (5, "launches 200000\n"), result.stderr)
                lines = [line for line in own_lines(result.stderr) if "--max-file" in line]
                self.assertEqual(len(lines), 1, result.stderr)
                self.assertRegex(lines[0], r"reached --max-file \(1M\), and the recording ended there: it lacks everything later, "
                                           r"and [0-9]{1,3}(,[0-9]{3})* records that were in flight")
                self.assertIn("from the start to the limit of --max-file", result.stderr)
                self.assertRegex(result.stderr, "[0-9,]+ records dropped because the trace reached --max-file")
                self.assertNotIn("INCOMPLETE", result.stderr)
                self.assertLessEqual(os.path.getsize(self.path(name + ".gpuprof")), 1 << 20)
                self.assertGreater(os.path.getsize(self.path(name + ".gpuprof")), 800 << 10)

    def test_every_process_has_its_own_limit(self):
        result = self.run_program([*GPU, "launch=200000", "fork", "exit=5"], LAUNCHED, GPUPROF_MAX_FILE="1M", GPUPROF_CHROME="none")
        self.assertEqual(result.returncode, 5, result.stderr)
        for trace in self.files(".gpuprof"):
            self.assertLessEqual(os.path.getsize(self.path(trace)), 1 << 20)

    def test_sizes_are_checked(self):
        result = self.run_program([*GPU, "say=x"], LAUNCHED, ["--max-file", "100K"])
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("--max-file (GPUPROF_MAX_FILE) needs a size from 1M to 1024G, such as 500M or 2G, not '100K'",
                      result.stderr)


class KeepLast(Case):
    """More launches and kernels than fit 8 MiB."""

    LAUNCHES = 900000

    def numbers(self, text):
        def number(pattern):
            found = re.search(pattern, text)
            return int(found.group(1).replace(",", "")) if found else 0
        return (number("(?:all )?([0-9,]+) launches"), number(r";\s+([0-9,]+) GPU records"),
                number("([0-9,]+) records that newer ones replaced"),
                number("([0-9,]+) without kernel record"))

    def record(self, way, *steps, **variables):
        return self.run_program([*GPU, *steps], way, GPUPROF_KEEP_LAST="8M", GPUPROF_CHROME="none", GPUPROF_OUTPUT="t",
                                **variables)

    def check(self, text, launched):
        launches, operations, gone, in_flight = self.numbers(text)
        self.assertGreater(gone, 10000, text)
        self.assertGreater(launches, 100000)
        # besides these a few hundred records say what CUPTI took, and what the driver says of its memory
        self.assertGreaterEqual(launches + operations + gone + in_flight, 2 * launched, text)
        self.assertLess(launches + operations + gone + in_flight, 2 * launched + 20000, text)
        self.assertIn("from the start of what --keep-last kept to the end", text)
        self.assertIn("step_kernel", text)
        self.assertNotIn("damaged", text)
        self.assertLessEqual(os.path.getsize(self.path("t.gpuprof")), 8 << 20)

    def test_the_rest_is_a_trace_and_what_is_gone_is_counted(self):
        result = self.record(BARE, f"launch={self.LAUNCHES}", "exit=5")
        self.assertEqual((result.returncode, result.stdout), (5, f"launches {self.LAUNCHES}\n"), result.stderr)
        self.check(result.stderr, self.LAUNCHES)
        exported = self.run_gpuprof("export", "-o", "t.json", "t.gpuprof")
        self.assertEqual(exported.returncode, 0, exported.stderr)

    def test_what_fits_is_all_there(self):
        result = self.record(LAUNCHED, "launch=1000")
        self.assertIn("all 1,000 launches have their kernel record", result.stderr)
        self.assertIn("nothing was dropped", result.stderr)
        self.assertNotIn("keep-last", result.stderr)

    def test_a_killed_process(self):
        """As it was killed, and again when its rings have been saved."""
        # beside the trace: rings in /dev/shm may be saved by any run that ends meanwhile, and the file grows by them
        result = self.record(BARE, f"launch={self.LAUNCHES}", "raise=9", GPUPROF_RINGS="file")
        self.assertEqual(result.returncode, -9)
        before = self.run_gpuprof("summary", "t.gpuprof").stdout
        self.check(before, self.LAUNCHES)
        self.assertIn("INCOMPLETE", before)
        self.assertEqual(self.run_gpuprof("finish", "-s", "none", "--chrome", "none", "t.gpuprof").returncode, 0)
        self.assertEqual(self.numbers(self.run_gpuprof("summary", "t.gpuprof").stdout), self.numbers(before))

    def test_what_led_to_a_moment_stays(self):
        """The program says when: what it does then does not take the place of what was before."""
        self.write("program.py", f"import ctypes, sys\nsys.path.insert(0, {support.HERE!r})\nimport gpu\ndevice = gpu.Device()\n"
                   f"device.launch(2000)\nctypes.CDLL(None).gpuprof_v1_stop()\ndevice.launch({self.LAUNCHES})\n")
        result = self.run_program([sys.executable, self.path("program.py")], LAUNCHED, GPUPROF_KEEP_LAST="8M", GPUPROF_CHROME="none",
                                  GPUPROF_OUTPUT="t")
        self.assertEqual((result.returncode, result.stdout), (0, f"launches 2000\nlaunches {self.LAUNCHES}\n"), result.stderr)
        launches, _, gone, _ = self.numbers(result.stderr)
        self.assertEqual((launches, gone), (2000, 0), result.stderr)

    def test_forked_children_have_their_own(self):
        result = self.record(LAUNCHED, "launch=1000", "fork", "launch=1000")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("launches 1000", result.stdout)


def peak_mib_of(path):
    with open(path, encoding="utf-8") as file:
        return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1)) / 1024


class OwnMemory(Case):

    MOST_MIB = 64  # however long the run, besides what CUPTI takes itself

    def peak_mib(self, way, **variables):
        """Of the program itself: what wait4() tells begins with the memory of who started it."""
        result = self.run_program([*GPU, "launch=200000", "status=" + self.path("status")], way, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return peak_mib_of(self.path("status"))

    @unittest.skipIf(support.ON_GPU, "the real CUPTI takes more")
    def test_it_is_bounded(self):
        plain = self.peak_mib(PLAIN)
        for more in ({}, {"GPUPROF_STACKS": "all"}, {"GPUPROF_KEEP_LAST": "8M"}, {"GPUPROF_RINGS": "memory"}):
            profiled = self.peak_mib(BARE, GPUPROF_SUMMARY="none", GPUPROF_CHROME="none", GPUPROF_OUTPUT=self.path("t"), **more)
            self.assertGreater(profiled, plain, more)  # else it was not recorded
            self.assertLess(profiled - plain, self.MOST_MIB, more)


# Threads with deep stacks, each with messages of its own: what --max-memory has to bound.
MANY_SOURCE = r"""
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS 60
#define RANGES  2000

static pthread_barrier_t all;
static unsigned long launches;

static __attribute__((noinline)) int go(void *stream, int depth)
{
	int failed = depth > 0 ? go(stream, depth - 1) : cudaMemsetAsync(stream, 0, 64, 0);

	__asm__ volatile("" ::: "memory");
	return failed;
}

static void *work(void *number)
{
	char message[200];
	void *memory;

	if (cudaMalloc(&memory, 4096))
		return NULL;
	for (int i = 0; i < RANGES; i++) {
		snprintf(message, sizeof(message), "%ld %d %150d", (long)number, i, i);
		nvtxRangePushA(message);
		if (go(memory, i % 100) == 0)
			__atomic_fetch_add(&launches, 1, __ATOMIC_RELAXED);
		nvtxRangePop();
	}
	pthread_barrier_wait(&all);
	return NULL;
}

static void copy_status(const char *path)
{
	FILE *from = fopen("/proc/self/status", "r"), *to = fopen(path, "w");

	for (int c = from && to ? fgetc(from) : EOF; c != EOF; c = fgetc(from))
		fputc(c, to);
	fclose(to);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&all, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("sets %lu\n", launches);
	if (argc > 1)
		copy_status(argv[1]);
	return cudaDeviceSynchronize();
}
"""


class MaxMemory(Case):

    BOUND_MIB = 32

    def compile_many(self):
        return self.compile("many", MANY_SOURCE, "-pthread", "-ldl", "-I" + os.path.join(CUDA, "include"), "-L" + os.path.join(support.BUILD, "sim"),
                            "-lcudart")

    def peak_mib(self, program, way, **variables):
        result = self.run_program([program, self.path("status")], way, GPUPROF_SUMMARY="none", GPUPROF_CHROME="none", **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return peak_mib_of(self.path("status"))

    @unittest.skipIf(support.ON_GPU, "the real CUPTI takes more")
    def test_what_is_taken_stays_below_it(self):
        program = self.compile_many()
        settings = {"GPUPROF_STACKS": "all", "GPUSIM_FAULT": "late-buffers"}
        plain = self.peak_mib(program, PLAIN)
        free = self.peak_mib(program, BARE, GPUPROF_OUTPUT=self.path("free"), **settings) - plain
        bound = self.peak_mib(program, BARE, GPUPROF_OUTPUT=self.path("bound"), GPUPROF_MAX_MEMORY=f"{self.BOUND_MIB}M", **settings) - plain
        self.assertLess(bound, self.BOUND_MIB)
        self.assertGreater(free, self.BOUND_MIB)  # else nothing was bounded

    def test_what_finds_no_room_is_counted_and_the_program_runs_on(self):
        program = self.compile_many()
        plain = self.run_program([program], PLAIN)
        result = self.run_program([program], LAUNCHED, GPUPROF_STACKS="all", GPUPROF_MAX_MEMORY=f"{self.BOUND_MIB}M", GPUPROF_CHROME="none",
                                  GPUPROF_OUTPUT="t", GPUSIM_FAULT="late-buffers")
        self.assertEqual((result.returncode, result.stdout), (plain.returncode, plain.stdout), result.stderr)
        end = f"{support.GPUPROF} summary --full --top 0 t.gpuprof | tail -n 60"  # the page has a row for each range
        page = " ".join(self.run_program(["sh", "-c", end], PLAIN).stdout.split())
        for counted in ("GPU records dropped because the memory for them was full (--cupti-memory, --max-memory)",
                        "call stacks dropped because the table of frames or the memory was full (--max-memory)",
                        "range messages and payloads defined repeatedly",
                        " were used) was too small for GPU records, thread rings, call stacks, range names "):
            self.assertIn(counted, page)
        taken = re.search(r"peak memory of gpuprof in the process[^;]* (\d+\.\d+)MiB; the limit of --max-memory 32\.00MiB", page)
        self.assertTrue(taken, page)
        self.assertLessEqual(float(taken.group(1)), self.BOUND_MIB)
        self.assertIn("--max-memory (32.00MiB, of which ", result.stderr)

    def test_where_there_is_room_nothing_changes(self):
        result = self.run_program([*GPU, "launch=3000"], LAUNCHED, ["--max-memory", "1G"])
        self.assertIn("all 3,000 launches have their kernel record", result.stderr)
        self.assertNotIn("max-memory", result.stderr)

    def test_sizes_are_checked(self):
        result = self.run_program([*GPU, "say=x"], LAUNCHED, ["--max-memory", "31M"])
        self.assertEqual((result.returncode, result.stdout), (125, ""))
        self.assertIn("--max-memory (GPUPROF_MAX_MEMORY) needs a size from 32M to 1024G, such as 500M or 2G, not '31M'", result.stderr)


# Records faster than any disk takes them; every one of two threads has as many.
FLOOD_SOURCE = r"""
#include "gpuprof/gpuprof.h"
#include <pthread.h>

static void *flood(void *unused)
{
	for (int i = 0; i < 400000; i++) {
		gpuprof_range_push("range");
		gpuprof_range_pop();
	}
	return unused;
}

int main(void)
{
	pthread_t other;

	if (pthread_create(&other, 0, flood, 0))
		return 1;
	flood(0);
	return pthread_join(other, 0) ? 1 : 4;
}
"""


class LongNames(Case):
    """Names of kernels and ranges with equal beginnings of more than 16 KiB are not summed up as one."""

    PROGRAM = """
import ctypes
cuda, program, handle = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(None), ctypes.c_void_p
context = handle()
assert not cuda.cuInit(0) and not cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
for number, times in ((1, 3), (2, 5)):
    name, module, kernel = b"k" * 20000 + b"%d" % number, handle(), handle()
    ptx = b".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry " + name + b"() { ret; }\\n"
    assert not cuda.cuModuleLoadData(ctypes.byref(module), ptx)
    assert not cuda.cuModuleGetFunction(ctypes.byref(kernel), module, name)
    for _ in range(times):
        program.gpuprof_v1_range_push(b"r" * 20000 + b"%d" % number)
        assert not cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None)
        program.gpuprof_v1_range_pop()
assert not cuda.cuCtxSynchronize()
"""

    def test_they_stay_apart(self):
        result = self.run_program([sys.executable, self.write("names.py", self.PROGRAM)], options=["-o", "t"])
        self.assertEqual(result.returncode, 0, result.stderr)
        for table, column, letter in (("kernel", "Name", "k"), ("nvtx", "Range", "r")):
            rows = json.loads(self.run_gpuprof("summary", "--by", table, "--format", "json", "t.gpuprof").stdout)["rows"]
            names = {row[column]: row for row in rows if letter * 16000 in row[column]}
            self.assertEqual(len(names), 2, table)
            self.assertTrue(all(re.search(r"\.\.\.[0-9a-f]{16}$", name) for name in names), table)
            self.assertEqual(sorted(row["Count"] for row in names.values()), [3, 5])


class Overload(Case):

    def test_a_thread_whose_ring_is_full_waits_or_drops(self):
        program = self.compile("flood", FLOOD_SOURCE, f"-I{support.ROOT}/include", "-ldl", "-lpthread")
        for waits, way, options, variables in ((True, BARE, (), {"GPUPROF_ON_OVERLOAD": "block"}), (False, LAUNCHED, ["--on-overload=drop"], {})):
            with self.subTest(way):
                result = self.run_program([program], way, options, GPUPROF_SUMMARY="none", GPUPROF_CHROME="none", GPUPROF_OUTPUT="t", **variables)
                self.assertEqual((result.returncode, result.stdout), (4, ""), result.stderr)
                said = self.run_gpuprof("summary", "--full", "t.gpuprof").stdout
                self.assertEqual("a thread waited for the writer because its ring was full" in said, waits, said)
                if not waits:
                    self.assertRegex(said, "[0-9,]+ records dropped because their thread's ring stayed full")
                os.unlink(self.path("t.gpuprof"))


class Memory(Case):

    def test_gpu_records_beyond_their_memory_are_counted(self):
        """CUPTI keeps all buffers to the end: 4 MiB of them, some 20,000 records."""
        for way in (BARE, LAUNCHED):
            result = self.run_program([*GPU, "launch=60000"], way, GPUSIM_FAULT="late-buffers", GPUPROF_CHROME="none",
                                      GPUPROF_CUPTI_MEMORY="4")
            self.assertEqual((result.returncode, result.stdout), (0, "launches 60000\n"), result.stderr)
            with_record = self.number(result.stderr, "([0-9,]+) with kernel record")
            without = self.number(result.stderr, "([0-9,]+) without kernel record")
            lost = self.number(result.stderr, "([0-9,]+) GPU records dropped because the memory for them was full")
            self.assertEqual(with_record + without, 60000)
            self.assertGreater(with_record, 10000)
            self.assertGreater(without, 10000)
            self.assertGreaterEqual(lost, without)  # CUPTI's own records of what it took are among them
            self.assertLess(lost, without + 5000)
            self.assertIn("no memory was left for their records (--cupti-memory)", result.stderr)

    def number(self, text, pattern):
        found = re.search(pattern, text)
        self.assertTrue(found, text)
        return int(found.group(1).replace(",", ""))


if __name__ == "__main__":
    support.main()
