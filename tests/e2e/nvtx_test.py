#!/usr/bin/env python3
"""NVTX and gpuprof's own ranges, end to end: real programs with the real headers, libraries of their own, threads and children."""
import json
import os
import unittest

import support
from support import BARE, LAUNCHED, PLAIN

NVTX = os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "include")
OWN = os.path.join(support.ROOT, "include")
FLAGS = ("-I" + NVTX, "-I" + OWN, "-pthread", "-ldl")

# A library that uses NVTX in a domain of its own, as many do; the headers keep their tables in each of them.
LIBRARY = r"""
#include <nvtx3/nvToolsExt.h>
void WORK(void)
{
	static nvtxDomainHandle_t domain;
	nvtxEventAttributes_t event = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				       .messageType = NVTX_MESSAGE_TYPE_REGISTERED};
	if (!domain)
		domain = nvtxDomainCreateA(DOMAIN);
	event.message.registered = nvtxDomainRegisterStringA(domain, "work");
	nvtxDomainRangePushEx(domain, &event);
	nvtxDomainRangePop(domain);
}
"""

SEVERAL = r"""
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
void work_a(void);
void work_b(void);
static void *run(void *unused)
{
	nvtxRangePushA("thread");
	for (int i = 0; i < 100; i++) {
		work_a();
		work_b();
	}
	nvtxRangePop();
	return unused;
}
int main(void)
{
	pthread_t threads[4];
	nvtxMarkA("begin");
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], 0, run, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], 0);
	return 0;
}
"""

# As a framework's data loader: children that are forked while the parent has ranges open, and end without exit handlers.
WORKERS = r"""
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	nvtxRangePushA("parent");
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			nvtxRangePushA("load");
			nvtxRangePop();
			_exit(0);
		}
	while (wait(0) > 0)
		;
	nvtxRangePop();
	(void)argc, (void)argv;
	return 0;
}
"""

OWN_API = r"""
#include <gpuprof/gpuprof.h>
#include <stdio.h>
int main(void)
{
	uint64_t across = gpuprof_range_start("across");
	int outer = gpuprof_range_push("outer"), inner = gpuprof_range_push("inner");
	gpuprof_mark("mark");
	gpuprof_range_pop();
	gpuprof_range_end(across);
	printf("%d %d %d\n", outer, inner, gpuprof_range_pop());
	return 0;
}
"""

VALUES = r"""
#include <gpuprof/gpuprof.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
	const char *names[] = {"bytes", "ratio", "from"};
	struct { int64_t bytes; double ratio; const char *from; } values = {-4096, 0.5, "a \"b\""};
	uint64_t layout = gpuprof_layout(3, names, "lds");
	gpuprof_range_push_values("values", layout, &values);
	gpuprof_range_push_values("none", layout + 12345, &values);
	gpuprof_range_end(gpuprof_range_start_values("across", layout, &values));
	gpuprof_range_pop();
	gpuprof_range_pop();
	printf("%d %d %d %d %s\n", layout != 0, gpuprof_layout(1, names, "x") != 0, gpuprof_layout(17, names, "l") != 0,
	       gpuprof_is_recording(), gpuprof_trace_path());
	return 0;
}
"""

WINDOW = r"""
#include <gpuprof/gpuprof.h>
int main(void)
{
	gpuprof_mark("before");
	gpuprof_stop();
	gpuprof_mark("left out");
	gpuprof_start();
	gpuprof_mark("after");
	return 0;
}
"""

CAPTURED = r"""
#include <nvtx3/nvToolsExt.h>
int main(void)
{
	for (int i = 0; i < 5; i++) {
		nvtxRangePushA("step");
		nvtxRangePushA(i == 3 ? "wanted" : "other");
		nvtxRangePushA("inside");
		nvtxRangePop();
		nvtxRangePop();
		nvtxRangePop();
	}
	return 0;
}
"""

# All that may be the first of its kind, on threads with the smallest stacks there can be.
SMALL_STACKS = r"""
#define _GNU_SOURCE
#include <limits.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static nvtxDomainHandle_t domain;
static void *mark(void *unused)
{
	nvtxMarkA("first");
	return unused;
}
static void *attach(void *unused)
{
	static const nvtxPayloadSchemaEntry_t entries[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", NULL, 0, 0, NULL}};
	static const nvtxPayloadEnum_t values[] = {{"one", 1, 0}};
	nvtxPayloadSchemaAttr_t schema = {.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
						       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
						       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
					  .type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, .entries = entries, .numEntries = 1,
					  .payloadStaticSize = sizeof(uint64_t)};
	nvtxPayloadEnumAttr_t names = {.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES,
				       .entries = values, .numEntries = 1};
	uint64_t bytes = 4096;
	nvtxPayloadData_t data = {0, sizeof(bytes), &bytes};
	data.schemaId = nvtxPayloadSchemaRegister(domain, &schema);
	nvtxPayloadEnumRegister(domain, &names);
	nvtxRangePushPayload(domain, &data, 1);
	nvtxDomainRangePop(domain);
	return unused;
}
static void *leave(void *unused)
{
	exit(7);
	return unused;
}
static void run(void *(*body)(void *))
{
	pthread_attr_t small;
	pthread_t thread;
	pthread_attr_init(&small);
	if (pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN) || pthread_create(&thread, &small, body, NULL))
		_exit(9);
	pthread_join(thread, NULL);
}
int main(void)
{
	domain = nvtxDomainCreateA("small");
	nvtxDomainIsEnabled(domain); /* NVTX itself takes much to begin with */
	run(mark);
	run(attach);
	run(leave);
	return 0;
}
"""

# A thread that is to be cancelled goes on to its next cancellation point; a range is none, whatever it finds to do.
CANCELLED = r"""
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdlib.h>
static int went_on;
static void *run(void *unused)
{
	pthread_cancel(pthread_self());
	nvtxMarkA("first");
	went_on = 1;
	pthread_testcancel();
	exit(8);
	return unused;
}
int main(void)
{
	pthread_t thread;
	nvtxDomainCreateA("NVTX is there");
	pthread_create(&thread, 0, run, 0);
	pthread_join(thread, 0);
	return went_on ? 7 : 9;
}
"""

# The way of the Python modules: functions of a library by ctypes, from several threads.
EXPORTED = r"""
#define NVTX_EXPORT_API
#include <nvtx3/nvToolsExt.h>
"""

PYTHON = r"""
import ctypes, os, sys, threading
nvtx = ctypes.CDLL(sys.argv[1])
def step():
    for i in range(50):
        nvtx.nvtxRangePushA(b"forward")
        nvtx.nvtxRangePop()
nvtx.nvtxRangePushA(b"epoch")
threads = [threading.Thread(target=step) for _ in range(4)]
for thread in threads: thread.start()
if os.fork() == 0:
    step()
    os._exit(0)
for thread in threads: thread.join()
os.wait()
nvtx.nvtxRangePop()
"""

ON_GPU = r"""
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>
int main(void)
{
	cudaStream_t stream;
	void *memory;
	nvtxRangePushA("set up");
	cudaStreamCreate(&stream);
	nvtxNameCudaStreamA(stream, "copies");
	cudaMalloc(&memory, 4096);
	nvtxRangePop();
	nvtxRangePushA("clear");
	cudaMemsetAsync(memory, 0, 4096, stream);
	cudaStreamSynchronize(stream);
	nvtxRangePop();
	return 0;
}
"""

# The child never calls CUPTI, whatever the parent did; its ranges are its own.
CHILD_OF_GPU = r"""
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	void *memory;
	nvtxRangePushA("parent");
	cudaMalloc(&memory, 4096);
	if (fork() == 0) {
		nvtxRangePushA("child");
		nvtxRangePop();
		_exit(0);
	}
	wait(0);
	cudaFree(memory);
	nvtxRangePop();
	return 0;
}
"""


class Ranges(support.Case):
    def tables(self, report="nvtx", column="Count"):
        """For each trace, by name: {(domain, range, style): count, or what else is in that column}."""
        tables = {}
        for name in self.files(".gpuprof"):
            result = self.run_gpuprof("summary", "--by", report, "--rows", "0", "--format", "json", name)
            self.assertEqual(result.returncode, 0, result.stderr)
            rows = json.loads(result.stdout)["rows"]
            tables[name] = {(row["Domain"], row["Range"], row["Style"]): row[column] for row in rows}
        return tables

    def only_table(self, column="Count"):
        tables = self.tables(column=column)
        self.assertEqual(len(tables), 1, tables)
        return next(iter(tables.values()))

    def build_several(self):
        for letter in "ab":
            self.compile(f"lib{letter}.so", LIBRARY, f"-DWORK=work_{letter}", f'-DDOMAIN="lib{letter}"', "-shared", "-fPIC",
                         *FLAGS)
        return self.compile("several", SEVERAL, "-L" + self.folder, "-l:liba.so", "-l:libb.so",
                            "-Wl,-rpath," + self.folder, "-I" + NVTX, "-pthread", "-ldl")

    def test_libraries_and_threads_without_a_gpu(self):
        program = self.build_several()
        for way in (LAUNCHED, BARE):
            with self.subTest(way):
                for name in self.files(".gpuprof"):
                    os.unlink(self.path(name))
                result = self.run_program([program], way)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(self.only_table(), {
                    (None, "begin", "mark"): 1, (None, "thread", "push/pop"): 4,
                    ("liba", "work", "push/pop"): 400, ("libb", "work", "push/pop"): 400})

    def test_threads_with_the_smallest_stacks(self):
        program = self.compile("small", SMALL_STACKS, *FLAGS)
        for way in (PLAIN, LAUNCHED, BARE):
            with self.subTest(way):
                result = self.run_program([program], way)
                self.assertEqual(result.returncode, 7, result.stderr)
        self.assertEqual(len(self.files(".gpuprof")), 2)
        for table in self.tables().values():
            self.assertEqual(table[None, "first", "mark"], 1)

    def test_a_range_is_no_cancellation_point(self):
        program = self.compile("cancelled", CANCELLED, *FLAGS)
        for way, output in ((PLAIN, None), (BARE, None), (BARE, self.path("missing", "name"))):
            with self.subTest(way, output=output):
                result = self.run_program([program], way, GPUPROF_OUTPUT=output)
                self.assertEqual(result.returncode, 7, result.stderr)

    def test_off_is_free(self):
        program = self.build_several()
        for way in (LAUNCHED, BARE):
            with self.subTest(way):
                result = self.run_program(["sh", "-c", f"{program}; echo ${{NVTX_INJECTION64_PATH-unset}}"], way,
                                          GPUPROF_TRACE="gpu", GPUPROF_QUIET=1)
                self.assertEqual(result.stdout, "unset\n")
                self.assertEqual(self.files(".gpuprof"), [])

    def test_forked_workers_have_traces_of_their_own(self):
        program = self.compile("workers", WORKERS, *FLAGS)
        result = self.run_program([program])
        self.assertEqual(result.returncode, 0, result.stderr)
        counts = sorted(str(table) for table in self.tables().values())
        load = str({(None, "load", "push/pop"): 1})
        parent = str({(None, "parent", "push/pop"): 1})
        self.assertEqual(counts, [load] * 3 + [parent])

    def test_python_threads_and_fork(self):
        library = self.compile("libnvtx.so", EXPORTED, "-shared", "-fPIC", *FLAGS)
        script = self.write("train.py", PYTHON)
        result = self.run_program([support.GPU[0], script, library])
        self.assertEqual(result.returncode, 0, result.stderr)
        counts = sorted((sorted(table.items(), key=str) for table in self.tables().values()), key=str)
        self.assertEqual(counts, [
            [((None, "epoch", "push/pop"), 1), ((None, "forward", "push/pop"), 200)],
            [((None, "forward", "push/pop"), 50)]])

    def test_another_tool_is_left_alone_and_said(self):
        tool = self.compile("libtool.so", "int InitializeInjectionNvtx2(void *t) { (void)t; return 0; }", "-shared", "-fPIC")
        program = self.compile("workers", WORKERS, *FLAGS)
        result = self.run_program([program], NVTX_INJECTION64_PATH=tool)
        self.assertEqual(result.returncode, 0)
        lines = [line for line in support.own_lines(result.stderr) if tool in line]
        self.assert_one_line("\n".join(lines), "unset NVTX_INJECTION64_PATH")
        self.assertEqual(self.files(".gpuprof"), [])
        result = self.run_program([*support.GPU, "launch=1"], BARE, NVTX_INJECTION64_PATH=tool)
        lines = [line for line in support.own_lines(result.stderr) if tool in line]
        self.assert_one_line("\n".join(lines), "unset NVTX_INJECTION64_PATH")
        self.assertEqual(len(self.files(".gpuprof")), 1)

    def test_own_functions(self):
        for name, flags in (("pie", ()), ("fixed", ("-fno-pie", "-no-pie")), ("hidden", ("-fvisibility=hidden",))):
            with self.subTest(name):
                program = self.compile(name, OWN_API, "-O1", *flags, *FLAGS)
                self.assertEqual(self.run_program([program], PLAIN).stdout, "-2 -2 -2\n")
                self.assertEqual(self.run_program([program]).stdout, "0 1 0\n")
                self.assertEqual(self.only_table(), {
                    (None, "across", "start/end"): 1, (None, "inner", "push/pop"): 1, (None, "mark", "mark"): 1,
                    (None, "outer", "push/pop"): 1})
                self.assertEqual(set(self.only_table("Open").values()), {0})
                os.unlink(self.only_trace())

    def test_own_functions_in_cxx(self):
        program = self.compile("cxx", OWN_API, "c++ -x c++", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *FLAGS)
        self.assertEqual(self.run_program([program]).stdout, "0 1 0\n")

    def test_own_values(self):
        program = self.compile("values", VALUES, *FLAGS)
        self.assertEqual(self.run_program([program], PLAIN).stdout, "0 0 0 0 \n")
        printed = self.run_program([program]).stdout
        self.assertEqual(printed, f"1 0 0 1 {self.only_trace()}\n")
        rows = self.run_gpuprof("export", "--format", "jsonl", "-o", "-", self.only_trace()).stdout.splitlines()
        fields = {"bytes": -4096, "ratio": 0.5, "from": 'a "b"'}
        self.assertEqual({row["name"]: row.get("fields") for row in map(json.loads, rows) if "range" in row["kind"]},
                         {"values": fields, "none": None, "across": fields})

    def test_start_and_stop(self):
        self.run_program([self.compile("window", WINDOW, *FLAGS)])
        self.assertEqual(self.only_table(), {(None, "before", "mark"): 1, (None, "after", "mark"): 1})

    def test_capture_range(self):
        program = self.compile("captured", CAPTURED, *FLAGS)
        self.run_program([program], options=["--capture-range=nvtx:wanted"])
        self.assertEqual(self.only_table(), {(None, "wanted", "push/pop"): 1, (None, "inside", "push/pop"): 1})

    def test_a_killed_program_keeps_its_ranges(self):
        program = self.compile("killed", CAPTURED.replace("return 0;", "__builtin_trap();"), *FLAGS)
        self.run_program([program])
        self.assertEqual(self.only_table()[(None, "inside", "push/pop")], 5)

    def test_a_child_of_a_process_that_uses_the_gpu(self):
        program = self.compile("child", CHILD_OF_GPU, *FLAGS, "-L" + os.path.join(support.BUILD, "sim"), "-lcudart")
        for way in (LAUNCHED, BARE):
            with self.subTest(way):
                for name in self.files(".gpuprof"):
                    os.unlink(self.path(name))
                self.assertEqual(self.run_program([program], way).returncode, 0)
                self.assertEqual(sorted(self.tables().values(), key=str), [
                    {(None, "child", "push/pop"): 1}, {(None, "parent", "push/pop"): 1}])

    def test_ranges_and_the_gpu(self):
        program = self.compile("on_gpu", ON_GPU, *FLAGS, "-L" + os.path.join(support.BUILD, "sim"), "-lcudart")
        result = self.run_program([program])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.only_table(), {(None, "set up", "push/pop"): 1, (None, "clear", "push/pop"): 1})
        result = self.run_gpuprof("summary", "--by", "nvtx-gpu", "--format", "json", self.only_trace())
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual([row["Range"] for row in rows], ["clear"])


if __name__ == "__main__":
    support.main()
