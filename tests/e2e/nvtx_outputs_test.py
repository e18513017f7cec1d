#!/usr/bin/env python3
"""What the tables and the Chrome trace make of ranges: names that the program gave, the GPU's side, payloads, and extremes."""
import json
import os
import unittest

import support

NVTX = os.path.join(os.environ.get("CUDA_HOME") or "/usr/local/cuda", "include")
FLAGS = ("-I" + NVTX, "-pthread", "-ldl", "-Wno-deprecated-declarations")
GPU_FLAGS = (*FLAGS, "-L" + os.path.join(support.BUILD, "sim"), "-lcudart", "-lcuda")

# A range that another thread ends, and names for everything that may have one.
NAMED = r"""
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
static nvtxRangeId_t across;
static void *finish(void *stream)
{
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "loader");
	cudaStreamSynchronize((cudaStream_t)stream);
	nvtxRangeEnd(across);
	return 0;
}
int main(void)
{
	cudaStream_t stream;
	CUcontext context;
	void *memory;
	pthread_t thread;
	cudaStreamCreate(&stream);
	cuCtxGetCurrent(&context);
	nvtxNameCuContextA(context, "main context");
	nvtxNameCudaStreamA(stream, "copies");
	nvtxNameCudaDeviceA(0, "the fast one");
	across = nvtxRangeStartA("across");
	cudaMalloc(&memory, 4096);
	nvtxRangePushA("clear");
	cudaMemsetAsync(memory, 0, 4096, stream);
	cudaMemsetAsync(memory, 1, 4096, stream);
	nvtxRangePop();
	pthread_create(&thread, 0, finish, stream);
	pthread_join(thread, 0);
	return 0;
}
"""

# Ranges before the first call, and around it.
EARLY = r"""
#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>
int main(void)
{
	nvtxRangePushA("early");
	nvtxMarkA("before");
	nvtxRangePop();
	nvtxRangePushA("late");
	cudaFree(0);
	nvtxRangePop();
	return 0;
}
"""

# As a collective communication library says what it does: a payload of a registered schema, with an enumeration in it.
COLLECTIVE = r"""
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <stddef.h>
struct reduce { uint64_t communicator; size_t bytes; int rank; int op; };
enum { OPS = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1 };
int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
	static const nvtxPayloadEnum_t ops[] = {{"Sum", 0, 0}, {"Max", 2, 0}};
	static const nvtxPayloadSchemaEntry_t entries[] = {
		{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID"},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]"},
		{0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank"},
		{0, OPS, "Reduction operation", 0, 0, offsetof(struct reduce, op)}};
	nvtxPayloadEnumAttr_t of_ops = {.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
		NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
		NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID,
		.entries = ops, .numEntries = 2, .sizeOfEnum = sizeof(int), .schemaId = OPS};
	nvtxPayloadSchemaAttr_t schema = {.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
		NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
		NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, .entries = entries, .numEntries = 4,
		.payloadStaticSize = sizeof(struct reduce)};
	struct reduce reduce = {77, 4096, 3, 2};
	nvtxPayloadData_t data = {0, sizeof(reduce), &reduce};
	nvtxEventAttributes_t event = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
		.messageType = NVTX_MESSAGE_TYPE_ASCII, .message.ascii = "ncclAllReduce",
		.payloadType = NVTX_PAYLOAD_TYPE_EXT, .reserved0 = 1, .category = 5,
		.colorType = NVTX_COLOR_ARGB, .color = 0xff112233};
	nvtxPayloadEnumRegister(domain, &of_ops);
	data.schemaId = nvtxPayloadSchemaRegister(domain, &schema);
	nvtxDomainNameCategoryA(domain, 5, "collectives");
	event.payload.ullValue = (uint64_t)(uintptr_t)&data;
	nvtxDomainRangePushEx(domain, &event);
	nvtxDomainRangePop(domain);
	event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	event.payload.dValue = 0.25;
	event.message.ascii = "loss";
	nvtxDomainMarkEx(domain, &event);
	return 0;
}
"""

DEEP = r"""
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
int main(void)
{
	int last = 0, empty;
	nvtxRangePop();
	for (int i = 0; i < 100000; i++)
		last = nvtxRangePushA("deep");
	printf("%d ", last);
	for (int i = 0; i < 100000; i++)
		last = nvtxRangePop();
	empty = nvtxRangePop();
	nvtxRangePushA("open");
	nvtxRangeStartA("never ended");
	printf("%d %d\n", last, empty);
	return 0;
}
"""

# Twice the text that is kept.  Prints by how many KiB the process grew.
DIFFERENT = r"""
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
/* Until the first texts are in the trace: more than the ring holds would be dropped where the writer is kept from its work. */
static void wait_for_writer(const char *trace, int texts)
{
	struct timespec pause = {.tv_nsec = 200000};
	struct stat status = {.st_size = 0};
	while (stat(trace, &status) == 0 && status.st_size < texts * 1000L)
		nanosleep(&pause, NULL);
}
static long peak_kib(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}
int main(int argc, char **argv)
{
	static char text[1001];
	long before;
	if (argc < 2)
		return 1;
	memset(text, 'x', 1000);
	nvtxMarkA("begin");
	before = peak_kib();
	for (int i = 0; i < 32000; i++) {
		text[snprintf(text, 20, "request %d", i)] = ' ';
		nvtxRangePushA(text);
		nvtxRangePop();
		if (i % 50 == 0)
			wait_for_writer(argv[1], i);
	}
	printf("%ld\n", peak_kib() - before);
	return 0;
}
"""

OFF = r"""
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
int main(void)
{
	printf("%d %d\n", nvtxRangePushA("a"), nvtxRangePop());
	return 0;
}
"""


class Outputs(support.Case):
    def run_compiled(self, source, *flags, **variables):
        result = self.run_program([self.compile("program", source, *flags)], **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def rows(self, report):
        result = self.run_gpuprof("summary", "--by", report, "--rows", "0", "--format", "json", self.only_trace())
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["rows"]

    def one_by_one(self, *options):
        text = self.run_gpuprof("trace", "nvtx", "--format", "json", *options, self.only_trace()).stdout
        return json.loads(text)["rows"]

    def events(self, *options):
        result = self.run_gpuprof("export", "--format", "chrome", *options, "-o", self.path("all.json"), self.only_trace())
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("all.json"), encoding="utf-8") as file:
            return json.load(file)["traceEvents"]

    def only_event(self, events, category, name):
        found = [event for event in events if event.get("cat") == category and event["name"] == name and event["ph"] != "e"]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def test_names_that_the_program_gave(self):
        self.run_compiled(NAMED, *GPU_FLAGS)
        self.assertEqual([row["Name"] for row in self.rows("stream")], ["copies"])
        self.assertEqual([row["Name"] for row in self.rows("context")], ["main context"])
        self.assertIn("the fast one", self.rows("device")[0]["Name"])
        self.assertIn("Simulated GPU", self.rows("device")[0]["Name"])
        self.assertEqual(sorted(row["Thread"] for row in self.rows("thread")), ["loader", "program"])
        tracks = {event["args"]["name"] for event in self.events() if event["name"] == "thread_name"}
        self.assertTrue(any("(loader)" in track for track in tracks), tracks)
        self.assertTrue(any("(copies), ranges" in track for track in tracks), tracks)

    def test_on_the_thread_and_on_the_gpu(self):
        self.run_compiled(NAMED, *GPU_FLAGS)
        events = self.events()
        clear = self.only_event(events, "user_annotation", "clear")
        sets = [event for event in events if event.get("cat") == "gpu_memset"]
        projected = self.only_event(events, "gpu_user_annotation", "clear")
        self.assertEqual((len(sets), clear["args"]["GPU operations"], clear["tid"]), (2, 2, clear["pid"]))
        self.assertAlmostEqual(projected["ts"], min(event["ts"] for event in sets), places=2)
        self.assertAlmostEqual(projected["ts"] + projected["dur"], max(event["ts"] + event["dur"] for event in sets), places=2)
        begin = self.only_event(events, "user_annotation", "across")
        end = [event for event in events if event["ph"] == "e" and event["name"] == "across"][0]
        self.assertEqual((begin["ph"], begin["id"], begin["tid"]), ("b", end["id"], clear["tid"]))
        self.assertNotEqual(end["args"]["thread"], clear["tid"])
        self.assertGreater(end["ts"], clear["ts"] + clear["dur"])
        self.assertEqual({row["Range"]: row["GPU ops"] for row in self.rows("nvtx-gpu")}, {"clear": 2, "across": 2})

    def test_on_the_streams_own_tracks(self):
        """HolisticTraceAnalysis gives an operation the last of the ranges of its own track that it lies in."""
        self.run_compiled(NAMED, *GPU_FLAGS)
        events = self.events("--ranges-on-streams")
        place = lambda event: (event["pid"], event["tid"])
        sets = [event for event in events if event.get("cat") == "gpu_memset"]
        spans = [event for event in events if event.get("cat") == "gpu_user_annotation"]
        self.assertEqual([span["name"] for span in spans], ["clear"])
        self.assertEqual({place(event) for event in sets + spans}, {place(sets[0])})
        self.assertLess(events.index(spans[0]), events.index(sets[0]))
        self.assertFalse([event for event in events if event["name"] == "thread_name" and event["args"]["name"].endswith(", ranges")])
        refused = self.run_gpuprof("export", "--format", "csv", "--ranges-on-streams", self.only_trace())
        self.assertEqual(refused.returncode, 2)
        self.assertIn("does not support --ranges-on-streams", refused.stderr)

    def test_payloads(self):
        self.run_compiled(COLLECTIVE, *FLAGS)
        events = self.events()
        reduce = self.only_event(events, "user_annotation", "ncclAllReduce")["args"]
        self.assertEqual((reduce["domain"], reduce["category"], reduce["color"]), ("NCCL", "collectives", "#112233"))
        self.assertEqual(reduce["fields"], {"NCCL communicator ID": 77, "Message size [bytes]": 4096, "Rank": 3,
                                            "Reduction operation": "Max"})
        self.assertEqual(self.only_event(events, "user_annotation", "loss")["args"]["payload"], 0.25)

    def test_domains_are_read_again_from_exports(self):
        """What NCCL's ranges say depends on it: making communicators is set-up."""
        self.run_compiled(COLLECTIVE, *FLAGS)
        trace = self.only_trace()
        for form, name in (("chrome", "t.json"), ("sqlite", "t.sqlite")):
            self.run_gpuprof("export", "--format", form, "-o", self.path(name), trace)
            result = self.run_gpuprof("summary", "--by", "nvtx", "--format", "json", self.path(name))
            self.assertIn(("NCCL", "ncclAllReduce"), [(row["Domain"], row["Range"]) for row in json.loads(result.stdout)["rows"]], form)

    def test_deep_nesting_and_pops_without_a_push(self):
        result = self.run_compiled(DEEP, *FLAGS)
        self.assertEqual(result.stdout, "99999 0 -1\n")
        self.assertEqual({(row["Range"], row["Style"]): (row["Count"], row["Open"]) for row in self.rows("nvtx")}, {
            ("deep", "push/pop"): (100000, 0), ("open", "push/pop"): (1, 1), ("never ended", "start/end"): (1, 1)})

    def test_texts_beyond_what_is_kept(self):
        program = [self.compile("program", DIFFERENT, *FLAGS), self.path("t.gpuprof")]
        result = self.run_program(program, GPUPROF_CHROME="none", GPUPROF_OUTPUT="t", GPUPROF_RINGS="memory")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLess(int(result.stdout), 24 << 10)
        rows = self.rows("nvtx")
        self.assertEqual((len(rows), {row["Count"] for row in rows}), (32001, {1}))

    def test_ranges_are_summed_up_without_a_gpu(self):
        result = self.run_compiled(COLLECTIVE, *FLAGS)
        self.assertIn("made no CUDA call that was recorded; ranges and marks: 2\n", result.stderr)
        self.assertRegex(result.stderr, r"\n +0ns .* ncclAllReduce \(NCCL\)\n")
        reduce, mark = self.one_by_one()
        self.assertEqual(reduce["Start"], 0)
        self.assertGreaterEqual(mark["Start"], reduce["End"])

    def test_moments_count_from_the_first_call(self):
        self.run_compiled(EARLY, *GPU_FLAGS)
        early, mark, late = self.one_by_one()
        moments = (early["Start"], mark["Start"], early["End"], late["Start"], 0, late["End"])
        self.assertEqual(moments, tuple(sorted(moments)))
        self.assertEqual(self.one_by_one("--start", "1ns"), [])

    def test_off_although_the_path_is_inherited(self):
        result = self.run_compiled(OFF, *FLAGS, GPUPROF_TRACE="gpu", NVTX_INJECTION64_PATH=support.LIBRARY)
        self.assertEqual(result.stdout, "-2 -2\n")
        self.assertEqual(self.files(".gpuprof"), [])


if __name__ == "__main__":
    support.main()
