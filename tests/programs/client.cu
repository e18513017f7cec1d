/*
 * client [WORD...]: a program that is a CUPTI client itself, like torch.profiler.  It subscribes.
 * In each of three sessions it runs some steps, enables record kinds, discards the records of the
 * first steps, and prints those of the others.  The output is the same whether or not another
 * profiler records the process.  Words:
 *
 *   early       calls CUPTI before CUDA is initialized
 *   small       buffers for a few records
 *   threads     three threads run steps, one flushes
 *   silent      never flushes during a session
 *   callbacks   a callback for every call of the runtime
 *   fork        a child does the same, where CUDA does not work
 *   clock       records with the program's own clock
 *   hurry       waits for the device only at the end of a session
 *   refuse      provides no buffer: every record is dropped
 *   finalize    cuptiFinalize after each session
 *   kernels     records of kernels only
 */
#include "check.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <cupti.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CUPTI(call)                                                                                \
	do {                                                                                       \
		CUptiResult cupti_result = (call);                                                 \
		if (cupti_result) {                                                                \
			fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call,              \
				(int)cupti_result);                                                \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { SESSIONS = 3, WAIT = 2, WARM_UP = 2, ACTIVE = 5, BYTES = 4096, STREAMS = 3 };

__global__ void k_step(int *out)
{
	if (out && threadIdx.x == 0)
		*out = 1;
}

__global__ void k_small()
{
}

static std::set<std::string> words;
static std::atomic<unsigned long long> steps;

static bool is_on(const char *word)
{
	return words.count(word) != 0;
}

/* ---- buffers, managed as in torch.profiler ---- */

struct buffer {
	uint8_t *memory;
	size_t valid_bytes;
};

static std::mutex lock;
static std::set<uint8_t *> given; /* buffers that CUPTI holds */
static std::vector<buffer> ready;
static unsigned long long unknown_buffers;

static void CUPTIAPI request(uint8_t **memory, size_t *bytes, size_t *most_records)
{
	std::lock_guard<std::mutex> guard(lock);

	*most_records = 0;
	*bytes = is_on("small") ? 1024 : 1 << 20;
	*memory = is_on("refuse") ? NULL : (uint8_t *)aligned_alloc(8, *bytes);
	if (*memory)
		given.insert(*memory);
	else
		*bytes = 0;
}

static void CUPTIAPI complete(CUcontext, uint32_t, uint8_t *memory, size_t, size_t valid_bytes)
{
	std::lock_guard<std::mutex> guard(lock);

	unknown_buffers += given.erase(memory) == 0;
	ready.push_back({memory, valid_bytes});
}

static void drop_ready()
{
	std::lock_guard<std::mutex> guard(lock);

	for (auto &one : ready)
		free(one.memory);
	ready.clear();
}

static bool has_given()
{
	std::lock_guard<std::mutex> guard(lock);

	return !given.empty();
}

/* ---- callbacks ---- */

static CUpti_SubscriberHandle subscriber;
static std::atomic<unsigned long long> contexts, entered, left_well;

/* The value stored in correlationData at the begin of a call must be there at its end. */
static void on_call(const CUpti_CallbackData *call)
{
	if (call->callbackSite == CUPTI_API_ENTER) {
		entered++;
		*call->correlationData = call->correlationId + (uint64_t)7;
	} else if (*call->correlationData == call->correlationId + (uint64_t)7) {
		left_well++;
	}
}

static void CUPTIAPI callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	if (user != &subscriber)
		exit(1);
	if (domain == CUPTI_CB_DOMAIN_RESOURCE && cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		contexts++;
	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API)
		on_call((const CUpti_CallbackData *)data);
}

static void subscribe()
{
	CUpti_SubscriberHandle other;

	CUPTI(cuptiSubscribe(&subscriber, callback, &subscriber));
	if (cuptiSubscribe(&other, callback, NULL) != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		exit(1);
	CUPTI(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED));
}

/* ---- the records of a session ---- */

static uint64_t own_clock()
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 5000000 + 3 * ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}

static uint64_t now()
{
	uint64_t ns;

	if (is_on("clock"))
		return own_clock();
	CUPTI(cuptiGetTimestamp(&ns));
	return ns;
}

struct found {
	std::map<std::string, unsigned long long> counts;
	std::map<uint32_t, uint64_t> external; /* by correlation id */
	std::set<uint32_t> calls, operations;
	uint64_t since, until;
	unsigned long long records, out_of_time;
};

/* The maximum error of converted clock times. */
static void note_time(found &all, uint64_t start, uint64_t end)
{
	const uint64_t slack = 20000;

	if (start + slack < all.since || end + slack < start || end > all.until + slack)
		all.out_of_time++;
}

static void note_call(found &all, const CUpti_ActivityAPI *call, CUpti_CallbackDomain domain)
{
	const char *name = NULL;

	if (cuptiGetCallbackName(domain, call->cbid, &name) != CUPTI_SUCCESS)
		name = "newer than CUPTI";
	all.counts[std::string("call ") + name]++;
	all.calls.insert(call->correlationId);
	note_time(all, call->start, call->end);
}

static void note(found &all, const CUpti_Activity *record)
{
	auto kernel = (const CUpti_ActivityKernel8 *)record;
	auto copy = (const CUpti_ActivityMemcpy5 *)record;
	auto set = (const CUpti_ActivityMemset4 *)record;
	auto external = (const CUpti_ActivityExternalCorrelation *)record;

	all.records++;
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		all.counts[std::string("kernel ") + kernel->name]++;
		all.operations.insert(kernel->correlationId);
		note_time(all, kernel->start, kernel->end);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		all.counts["copy kind " + std::to_string(copy->copyKind) + " of " + std::to_string(copy->bytes)]++;
		all.operations.insert(copy->correlationId);
		note_time(all, copy->start, copy->end);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		all.counts["set of " + std::to_string(set->bytes)]++;
		all.operations.insert(set->correlationId);
		note_time(all, set->start, set->end);
		break;
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		all.counts["external of kind " + std::to_string(external->externalKind)]++;
		all.external[external->correlationId] = external->externalId;
		break;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		note_call(all, (const CUpti_ActivityAPI *)record, CUPTI_CB_DOMAIN_RUNTIME_API);
		break;
	case CUPTI_ACTIVITY_KIND_DRIVER:
		note_call(all, (const CUpti_ActivityAPI *)record, CUPTI_CB_DOMAIN_DRIVER_API);
		break;
	case CUPTI_ACTIVITY_KIND_OVERHEAD: /* overhead of CUPTI itself: their number varies */
		break;
	default:
		all.counts["kind " + std::to_string(record->kind)]++;
	}
}

static void print(int session, const found &all)
{
	unsigned long long with_call = 0, with_step = 0;
	std::set<uint64_t> ids;

	for (auto id : all.operations) {
		with_call += all.calls.count(id);
		if (all.external.count(id)) {
			with_step++;
			ids.insert(all.external.at(id));
		}
	}
	for (auto &one : all.counts)
		printf("session %d: %s: %llu\n", session, one.first.c_str(), one.second);
	printf("session %d: operations %zu, with a call %llu, with a step %llu, of steps %zu, out of time %llu\n", session,
	       all.operations.size(), with_call, with_step, ids.size(), all.out_of_time);
}

static void read_ready(found &all)
{
	std::lock_guard<std::mutex> guard(lock);

	for (auto &one : ready) {
		CUpti_Activity *record = NULL;

		while (cuptiActivityGetNextRecord(one.memory, one.valid_bytes, &record) == CUPTI_SUCCESS)
			note(all, record);
	}
}

/* ---- sessions ---- */

static const CUpti_ActivityKind kinds[] = {
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	CUPTI_ACTIVITY_KIND_MEMCPY,
	CUPTI_ACTIVITY_KIND_MEMSET,
	CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
	CUPTI_ACTIVITY_KIND_RUNTIME,
	CUPTI_ACTIVITY_KIND_DRIVER,
	CUPTI_ACTIVITY_KIND_OVERHEAD,
};

static void enable_kinds()
{
	uint8_t per_thread = 0;
	size_t bytes = sizeof(per_thread);

	printf("buffers by thread can be set: %d\n",
	       cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &bytes, &per_thread) == 0);
	CUPTI(cuptiActivityRegisterCallbacks(request, complete));
	for (auto kind : kinds) {
		CUPTI(cuptiActivityEnable(kind));
		if (is_on("kernels"))
			return;
	}
	CUPTI(cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, 0));
}

static void disable_kinds()
{
	for (auto kind : kinds) {
		CUPTI(cuptiActivityDisable(kind));
		if (is_on("kernels"))
			return;
	}
}

static void step(cudaStream_t stream, char *memory, char *pinned)
{
	uint64_t number = ++steps;
	int device;

	CUPTI(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, number));
	CHECK(cudaGetDevice(&device));
	CHECK(cudaMemcpyAsync(memory, pinned, BYTES, cudaMemcpyHostToDevice, stream));
	k_step<<<1, 32, 0, stream>>>((int *)memory);
	k_small<<<1, 32, 0, stream>>>();
	CHECK(cudaMemsetAsync(memory, 0, BYTES / 2, stream));
	CHECK(cudaMemcpyAsync(pinned, memory, BYTES, cudaMemcpyDeviceToHost, stream));
	CUPTI(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL));
}

struct work {
	cudaStream_t streams[STREAMS];
	char *memory[STREAMS], *pinned[STREAMS];
};

static void take_steps(work &own, int count)
{
	if (!is_on("threads")) {
		for (int i = 0; i < count; i++)
			step(own.streams[0], own.memory[0], own.pinned[0]);
		return;
	}
	std::vector<std::thread> threads;
	for (int t = 0; t < STREAMS; t++)
		threads.emplace_back([&own, t, count] {
			for (int i = 0; i < 20 * count; i++)
				step(own.streams[t], own.memory[t], own.pinned[t]);
		});
	for (int i = 0; i < 10; i++)
		CUPTI(cuptiActivityFlushAll(0));
	for (auto &thread : threads)
		thread.join();
}

static void wait_for_device()
{
	if (!is_on("hurry"))
		CHECK(cudaDeviceSynchronize());
}

/* Like torch.profiler, flushes only if CUPTI holds a buffer of the client. */
static void ask(uint32_t flag)
{
	if ((has_given() || is_on("refuse")) && !is_on("silent"))
		CUPTI(cuptiActivityFlushAll(flag));
}

static void hold_session(int session, work &own)
{
	found all = {};
	size_t dropped = 0;

	take_steps(own, WAIT);
	if (is_on("clock"))
		CUPTI(cuptiActivityRegisterTimestampCallback(own_clock));
	wait_for_device();
	enable_kinds();
	if (!is_on("hurry")) {
		take_steps(own, WARM_UP);
		CHECK(cudaDeviceSynchronize());
		ask(0);
		drop_ready();
	}
	all.since = now();
	take_steps(own, ACTIVE);
	wait_for_device();
	disable_kinds();
	take_steps(own, 1);
	CHECK(cudaDeviceSynchronize());
	all.until = now();
	ask(1);
	read_ready(all);
	print(session, all);
	drop_ready();
	CUPTI(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	printf("session %d: any dropped: %d, unknown buffers %llu\n", session, dropped != 0, unknown_buffers);
	if (!is_on("finalize"))
		return;
	CUPTI(cuptiUnsubscribe(subscriber));
	CUPTI(cuptiFinalize());
	subscribe();
}

static work prepare()
{
	work own;

	for (int i = 0; i < STREAMS; i++) {
		CHECK(cudaStreamCreateWithFlags(&own.streams[i], cudaStreamNonBlocking));
		CHECK(cudaMalloc(&own.memory[i], BYTES));
		CHECK(cudaMallocHost(&own.pinned[i], BYTES));
		step(own.streams[i], own.memory[i], own.pinned[i]);
	}
	return own;
}

static int work_in_child()
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		enable_kinds();
		k_small<<<1, 1>>>();
		bool failed = cudaGetLastError() != cudaSuccess;
		disable_kinds();
		_exit(failed ? 3 : 4);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		words.insert(argv[i]);
	if (is_on("early"))
		subscribe();
	CHECK(cudaFree(NULL));
	if (!is_on("early"))
		subscribe();
	work own = prepare();
	if (is_on("callbacks"))
		CUPTI(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
	for (int session = 1; session <= SESSIONS; session++)
		hold_session(session, own);
	if (is_on("fork"))
		printf("child %d\n", work_in_child());
	if (is_on("callbacks"))
		CUPTI(cuptiEnableDomain(0, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
	CUPTI(cuptiUnsubscribe(subscriber));
	printf("contexts %llu, entered %llu, left well %llu\n", contexts.load(), entered.load(), left_well.load());
	CHECK(cudaDeviceSynchronize());
	say("kernel.k_step", steps);
	say("kernel.k_small", steps);
	say("copies", 2 * steps);
	say("sets", steps);
	return 0;
}
