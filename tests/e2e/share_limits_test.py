"""Where sharing CUPTI with a client of it ends, or meets other threads; share_test.py has what it is for."""
import json
import os
import subprocess
import unittest

import support
from support import BARE, LAUNCHED, PLAIN, Case, own_lines

CUDA = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
FLAGS = ["-I" + os.path.join(CUDA, "include"), "-I" + os.path.join(CUDA, "extras", "CUPTI", "include"),
         "-L" + os.path.join(support.BUILD, "sim"), "-lcudart", "-lcupti", "-ldl", "-pthread"]

HEAD = r"""
#include <cuda_runtime.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned int sets, graphs;
static CUpti_SubscriberHandle subscriber;

static void ignore(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
}

static void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*most = 0;
	*buffer = aligned_alloc(8, *bytes = 65536);
}

static void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	CUpti_Activity *record = NULL;

	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		sets += record->kind == CUPTI_ACTIVITY_KIND_MEMSET;
		graphs += record->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
	}
	free(buffer);
}

/* Whether that thread of this process waits for something. */
static int waits(int thread)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		fclose(file);
	}
	return state == 'S';
}
"""

SUBSCRIBE_SOURCE = HEAD + r"""
int main(void)
{
	char name[64] = "nobody";
	CUpti_SubscriberParams params = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE, .subscriberName = "test",
					 .oldSubscriberName = name, .oldSubscriberSize = sizeof(name)};
	struct { CUpti_SubscriberParams params; uint8_t several; uint8_t rest[64]; } later = {params, 1};
	CUpti_SubscriberHandle other;

	cudaFree(0);
	later.params.structSize = sizeof(later);
	printf("%d ", cuptiSubscribe_v2(&subscriber, ignore, NULL, &params));
	printf("%d ", cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
	printf("%d ", cuptiSubscribe_v2(&other, ignore, NULL, NULL));
	printf("%d ", cuptiSubscribe_v2(&other, ignore, NULL, &later.params));
	params.structSize = 1;
	printf("%d ", cuptiSubscribe_v2(&other, ignore, NULL, &params));
	printf("%d\n", cuptiUnsubscribe(subscriber));
	return 0;
}
"""

# A libcupti of the program's that has a subscription of its own to give, as later versions do.
SEVERAL_SOURCE = r"""
#include <stdint.h>
int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t cbid) { return handle == (void *)77 ? 70 : 71; }
int cuptiEnableDomain(uint32_t enable, void *handle, int domain) { return handle == (void *)77 ? 72 : 73; }
int cuptiEnableAllDomains(uint32_t enable, void *handle) { return handle == (void *)77 ? 74 : 75; }
int cuptiUnsubscribe(void *handle) { return handle == (void *)77 ? 76 : 77; }
"""
OTHER_HANDLE_SOURCE = HEAD + r"""
int main(void)
{
	CUpti_SubscriberHandle other = (CUpti_SubscriberHandle)77;

	cudaFree(0);
	printf("%d ", cuptiSubscribe(&subscriber, ignore, NULL));
	printf("%d ", cuptiEnableCallback(1, other, CUPTI_CB_DOMAIN_RUNTIME_API, 20));
	printf("%d ", cuptiEnableDomain(1, other, CUPTI_CB_DOMAIN_RUNTIME_API));
	printf("%d ", cuptiEnableAllDomains(1, other));
	printf("%d ", cuptiUnsubscribe(other));
	printf("%d ", cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, 20));
	printf("%d\n", cuptiUnsubscribe(subscriber));
	return 0;
}
"""

# A libcupti for us, which lets the program act in the middle of one of its functions; then it calls the real one.
BETWEEN_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REAL(name) dlvsym(dlopen("libcupti.so.13", RTLD_NOW), name, "libcupti.so.13") /* which is not seen */

static void pass(const char *name)
{
	void (*act)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "act_between");

	if (act && getenv("ACT_IN") && !strcmp(getenv("ACT_IN"), name))
		act();
}
int cuptiSubscribe(void *handle, void *callback, void *user)
{
	pass("cuptiSubscribe");
	return ((int (*)(void *, void *, void *))REAL("cuptiSubscribe"))(handle, callback, user);
}
int cuptiEnableDomain(uint32_t on, void *handle, int domain)
{
	pass("cuptiEnableDomain");
	return ((int (*)(uint32_t, void *, int))REAL("cuptiEnableDomain"))(on, handle, domain);
}
"""

# Another thread does something while the first is in CUPTI, which goes on when the other is done, or waits.
BETWEEN_HEAD = HEAD + r"""
static atomic_int is_between, is_done, other_id;

static void start_other(pthread_t *thread, void *(*body)(void *))
{
	if (pthread_create(thread, NULL, body, NULL))
		exit(1);
}

static void begin_other(void)
{
	alarm(30);
	other_id = (int)syscall(SYS_gettid);
	while (!is_between)
		;
}
"""
START_SOURCE = BETWEEN_HEAD + r"""
void act_between(void)
{
	is_between = 1;
	while (!is_done && !waits(other_id))
		;
}

static void *subscribe(void *unused)
{
	begin_other();
	printf("%d\n", cuptiSubscribe(&subscriber, ignore, NULL));
	is_done = 1;
	return NULL;
}

int main(void)
{
	pthread_t thread;
	void *memory;

	start_other(&thread, subscribe);
	while (!other_id)
		;
	if (cudaMalloc(&memory, 4096))
		return 1;
	pthread_join(thread, NULL);
	for (int i = 0; i < 5; i++)
		cudaMemset(memory, 0, 4096);
	return cudaDeviceSynchronize();
}
"""
HOLD_SOURCE = BETWEEN_HEAD + r"""
static int while_held;

void act_between(void)
{
	is_between = 1;
	while (!is_done)
		;
}

static void *enable(void *unused)
{
	begin_other();
	while_held = cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, 20);
	is_done = 1;
	return NULL;
}

int main(void)
{
	pthread_t thread;

	cudaFree(0);
	if (cuptiSubscribe(&subscriber, ignore, NULL))
		return 1;
	start_other(&thread, enable);
	printf("%d ", cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
	pthread_join(thread, NULL);
	printf("%d ", while_held);
	printf("%d\n", cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, 20));
	return 0;
}
"""

GRAPH_SOURCE = HEAD + r"""
static void *memory;
static cudaStream_t stream;

static cudaGraphExec_t make_graph(void)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal))
		exit(1);
	for (int i = 0; i < 3; i++)
		cudaMemsetAsync(memory, 0, 4096, stream);
	if (cudaStreamEndCapture(stream, &graph) || cudaGraphInstantiate(&executable, graph, 0))
		exit(1);
	return executable;
}

static void launch(cudaGraphExec_t graph, int times)
{
	for (int i = 0; i < times; i++)
		cudaGraphLaunch(graph, stream);
	cudaStreamSynchronize(stream);
}

int main(void)
{
	cudaGraphExec_t before, within, after;

	if (cudaMalloc(&memory, 4096) || cudaStreamCreate(&stream))
		return 1;
	launch(before = make_graph(), 1);
	if (cuptiActivityRegisterCallbacks(request, complete) || cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE))
		return 1;
	launch(within = make_graph(), 2);
	launch(before, 1);
	cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	cuptiActivityFlushAll(0);
	printf("%u\n", graphs);
	launch(within, 3);
	launch(before, 1);
	return 0;
}
"""


# It looks CUPTI's functions up in a way that is not seen, subscribes to nothing, and takes the records for itself.
RIVAL_SOURCE = r"""
#define _GNU_SOURCE
#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char ptx[] = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n";
static void *library;
static unsigned int kernels;

#define FIND(name) ((__typeof__(&name))dlvsym(library, #name, "libcupti.so.13"))

static void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*most = 0;
	*buffer = aligned_alloc(8, *bytes = 65536);
}

/* What it has not asked for itself, it does not free. */
static void complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	CUpti_Activity *record = NULL;

	while (FIND(cuptiActivityGetNextRecord)(buffer, valid, &record) == CUPTI_SUCCESS)
		kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

int main(void)
{
	CUcontext context;
	CUfunction kernel;
	CUmodule module;
	CUdevice device;

	if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
	    cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&kernel, module, "k"))
		return 1;
	library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return 2;
	FIND(cuptiActivityFlushAll)(0); /* whoever has given CUPTI buffers gets them back */
	if (FIND(cuptiActivityRegisterCallbacks)(request, complete) ||
	    FIND(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		return 2;
	for (int i = 0; i < 600; i++) {
		if (cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) || cuCtxSynchronize())
			return 3;
		usleep(3000);
	}
	FIND(cuptiActivityFlushAll)(0);
	printf("%d\n", kernels >= 590);
	return 0;
}
"""


# A client in a library that ends, and is unloaded with all that it gave, while the program goes on.
UNLOADED_SOURCE = HEAD + r"""
static atomic_int is_inside, ends, is_outside;

/* The first call lasts until the client has ended, and waits for it. */
static void complete_late(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	is_inside = 1;
	while (!is_outside && !(ends && waits(getpid())))
		;
	complete(context, stream, buffer, bytes, valid);
	is_outside = 1;
}

static uint64_t own_clock(void)
{
	static atomic_ullong now;

	return now += 1000;
}

void begin(void)
{
	if (cuptiSubscribe(&subscriber, ignore, NULL) || cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API) ||
	    cuptiActivityRegisterTimestampCallback(own_clock) || cuptiActivityRegisterCallbacks(request, complete_late) ||
	    cuptiActivityFlushPeriod(1) || cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET))
		exit(3);
}

void end(void)
{
	while (!is_inside)
		usleep(100);
	ends = 1;
	if (cuptiFinalize())
		exit(4);
	printf("%d\n", is_outside);
}
"""
UNLOADER_SOURCE = r"""
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	void *memory;

	if (cudaMalloc(&memory, 4096))
		return 1;
	for (int session = 0; session < 20; session++) {
		void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

		if (!library)
			return 2;
		((void (*)(void))dlsym(library, "begin"))();
		for (int i = 0; i < 7; i++)
			cudaMemset(memory, 0, 4096);
		cudaDeviceSynchronize();
		((void (*)(void))dlsym(library, "end"))();
		dlclose(library);
		if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
			return 5;
		for (int i = 0; i < 7; i++)
			cudaMemset(memory, 0, 4096);
		usleep(20000);
	}
	return cudaDeviceSynchronize();
}
"""

# Programs that nobody takes the records of.
HEALTHY_SOURCE = r"""
#include <cuda.h>
#include <string.h>
#include <unistd.h>

static const char ptx[] = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n";

int main(int argc, char **argv)
{
	int launches = !strcmp(argv[1], "busy") ? 500 : !strcmp(argv[1], "short") ? 8 : !strcmp(argv[1], "pauses") ? 6 : 0;
	int copies = !strcmp(argv[1], "copies") ? 500 : 0;
	CUdeviceptr memory;
	CUcontext context;
	CUfunction kernel;
	CUmodule module;
	CUdevice device;

	if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) ||
	    cuMemAlloc(&memory, 4096) || cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&kernel, module, "k"))
		return 1;
	for (int i = 0; i < launches; i++) {
		if (cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) || cuCtxSynchronize())
			return 2;
		usleep(launches == 6 ? 400000 : 4000);
	}
	for (int i = 0; i < copies; i++) {
		if (cuMemsetD8(memory, 0, 4096) || cuCtxSynchronize())
			return 2;
		usleep(4000);
	}
	if (!launches && !copies)
		sleep(2);
	return 0;
}
"""
HEALTHY = (("idle", ()), ("copies", ()), ("short", ()), ("pauses", ()), ("busy", ()), ("busy", ("--after-launches=100000",)),
           ("busy", ("--delay=3600",)), ("busy", ("--duration=0.1",)), ("busy", ("--launches=10",)), ("busy", ("--kernels=none",)),
           ("busy", ("--capture-range=cudaProfilerApi",)), ("busy", ("--trace=memory",)), ("busy", ("--graphs=graph",)))


class ShareLimits(Case):

    def summary(self):
        return self.run_gpuprof("summary", self.only_trace()).stdout

    def test_the_option_leaves_the_client_to_cupti(self):
        """Whoever comes first has it: we, here, and the client is told so by CUPTI itself."""
        program = os.path.join(support.BUILD, "programs", "client")
        result = self.run_program([program], LAUNCHED, ["--share=off", "--output=t"])
        self.assertEqual(result.returncode, 1)
        self.assertIn("cuptiSubscribe(&subscriber, callback, &subscriber): 39", result.stderr)
        self.assertEqual(self.files(".gpuprof"), ["t.gpuprof"])

    def test_with_the_option_a_client_that_comes_first_has_cupti(self):
        program = os.path.join(support.BUILD, "programs", "client")
        plain = self.run_program([program, "early"], PLAIN)
        result = self.run_program([program, "early"], BARE, GPUPROF_SHARE="off")
        self.assertEqual((result.returncode, result.stdout), (0, plain.stdout), result.stderr)
        self.assertTrue(any("another profiler" in line for line in own_lines(result.stderr)), result.stderr)

    def test_the_newer_way_to_subscribe(self):
        program = self.compile("subscribe", SUBSCRIBE_SOURCE, *FLAGS)
        result = self.run_program([program])
        self.assertEqual((result.returncode, result.stdout), (0, "0 0 39 39 1 0\n"), result.stderr)

    def test_a_subscription_that_is_not_ours_is_cuptis(self):
        self.compile("several.so", SEVERAL_SOURCE, "-shared", "-fPIC", "-Wl,-soname,several.so")
        program = self.compile("other", OTHER_HANDLE_SOURCE, "-L" + self.folder, "-l:several.so", "-Wl,-rpath," + self.folder, *FLAGS)
        result = self.run_program([program])
        self.assertEqual((result.returncode, result.stdout), (0, "0 70 72 74 76 0 0\n"), result.stderr)

    def between(self, source, function):
        library = self.compile("between.so", BETWEEN_SOURCE, "-shared", "-fPIC", "-Wl,--no-as-needed", *FLAGS)
        program = self.compile("program", source, "-rdynamic", *FLAGS)
        return self.run_program([program], LAUNCHED, ["--cupti=" + library, "--output=t"], ACT_IN=function)

    def test_a_client_that_comes_while_another_thread_initialises_cuda(self):
        result = self.between(START_SOURCE, "cuptiSubscribe")
        self.assertEqual((result.returncode, result.stdout), (0, "0\n"), result.stderr)
        self.assertNotIn("another profiler", result.stderr)
        self.assertIn("memset", self.summary())

    def test_two_threads_of_a_client_do_not_change_the_same_at_once(self):
        """One that would have to wait for too long is told to come again."""
        result = self.between(HOLD_SOURCE, "cuptiEnableDomain")
        self.assertEqual((result.returncode, result.stdout), (0, "0 13 0\n"), result.stderr)

    def test_a_client_that_is_not_seen_and_takes_the_records(self):
        """It works as without us; our trace says what it lacks, and why."""
        program = self.compile("rival", RIVAL_SOURCE, *FLAGS, "-lcuda")
        self.assertEqual(self.run_program([program], PLAIN).stdout, "1\n")
        result = self.run_program([program], LAUNCHED, ["--output=t", "--flush-ms=10"])
        self.assertEqual((result.returncode, result.stdout), (0, "1\n"), result.stderr)
        self.assertEqual(sum("another profiler in the program takes CUPTI's records" in line for line in own_lines(result.stderr)), 1,
                         result.stderr)
        self.assertIn("note: another profiler in the program took CUPTI's records", self.summary())

    def test_a_client_that_is_unloaded_after_its_end(self):
        """It gets its buffers back by then, and none of its functions is called any more."""
        library = self.compile("client.so", UNLOADED_SOURCE, "-shared", "-fPIC", *FLAGS)
        program = self.compile("program", UNLOADER_SOURCE, *FLAGS)
        result = self.run_program([program, library], LAUNCHED, ["--output=t", "--flush-ms=10"])
        self.assertEqual((result.returncode, result.stdout), (0, "1\n" * 20), result.stderr)

    def test_where_there_is_nobody_else_nobody_is_found(self):
        """Whatever the program does or leaves, and whatever of it is recorded; each goes on for long enough."""
        program = self.compile("healthy", HEALTHY_SOURCE, *FLAGS, "-lcuda")
        runs = []
        for number, (way, options) in enumerate(HEALTHY):
            line, variables = support.command(LAUNCHED, [program, way], ["--flush-ms=10", f"--output=t{number}", *options])
            runs.append(subprocess.Popen(line, env=support.environment(**variables), cwd=self.folder, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, universal_newlines=True))
        for (way, options), process in zip(HEALTHY, runs):
            with self.subTest(way, options=options):
                said = process.communicate(timeout=support.LIMIT_S)[1]
                self.assertEqual(process.returncode, 0, said)
                self.assertNotIn("another profiler", said)

    def test_a_client_that_wants_whole_graphs(self):
        """It has them; our trace has them in place of the nodes, also of what is launched later, and says so."""
        program = self.compile("graph", GRAPH_SOURCE, *FLAGS)
        self.assertEqual(self.run_program([program], PLAIN).stdout, "2\n")
        result = self.run_program([program], LAUNCHED, ["--output=t"])
        self.assertEqual((result.returncode, result.stdout), (0, "2\n"), result.stderr)
        self.assertIn("asked CUPTI for whole graphs", self.summary())
        with open(self.path("t.json"), encoding="utf-8") as file:
            names = [event["name"] for event in json.load(file)["traceEvents"] if event.get("cat", "").startswith("gpu_")]
        self.assertEqual(sorted(names), ["Memset (Device)"] * 9 + ["graph 5"] * 5)


if __name__ == "__main__":
    support.main()
