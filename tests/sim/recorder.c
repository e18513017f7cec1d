/*
 * An injection library that records everything that CUPTI reports.  It made tests/data/cupti, and
 * the parity test compares the simulated device with it.  Also works on a GPU.
 *
 *	CUDA_INJECTION64_PATH=recorder.so RECORDER_OUT=name [RECORDER_CUPTI=library] program
 *
 * NAME.buf: each buffer as four little-endian u64 (magic, valid bytes, address, stream) and its
 * valid bytes.  NAME.txt: the version, clocks read back to back, callbacks and records in order of
 * arrival, the texts that records point to, and the number of records of each kind; and "graph"
 * lines: the reports about graphs and their nodes, with the ids of copies and originals.
 */
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAGIC        0x46425543
#define BUFFER_BYTES ((size_t)1 << 20)

int InitializeInjection(void);

/* CUPTI functions, found by name, so that any version can be used. */
#define FUNCTIONS(F)                                                                               \
	F(cuptiSubscribe)                                                                          \
	F(cuptiEnableCallback)                                                                     \
	F(cuptiActivityEnable)                                                                     \
	F(cuptiActivityRegisterCallbacks)                                                          \
	F(cuptiActivityFlushAll)                                                                   \
	F(cuptiActivityGetNextRecord)                                                              \
	F(cuptiGetVersion)                                                                         \
	F(cuptiGetCallbackName)                                                                    \
	F(cuptiGetTimestamp)                                                                       \
	F(cuptiGetGraphId)                                                                         \
	F(cuptiGetGraphNodeId)

#define DECLARE(name) __typeof__(name) *name;
static struct {
	FUNCTIONS(DECLARE)
} cupti;

static FILE *buffers, *text;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long counts[CUPTI_ACTIVITY_KIND_COUNT];

/* All kinds that tests/data/cupti has, in the order in which they were enabled there. */
static const int kinds[] = {1, 2, 10, 4, 5, 8, 9, 17, 22, 36, 37, 38, 49, 50, 52};

static void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = calloc(1, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*max_records = 0;
}

static void write_name(const CUpti_Activity *record)
{
	const char *name = NULL;

	if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		name = ((const CUpti_ActivityKernel10 *)record)->name;
	if (record->kind == CUPTI_ACTIVITY_KIND_MEMORY2)
		name = ((const CUpti_ActivityMemory4 *)record)->name;
	if (name)
		fprintf(text, "name %lx %s\n", (unsigned long)name, name);
}

static void on_complete(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint64_t head[4] = {MAGIC, valid, (uint64_t)(uintptr_t)buffer, stream};
	CUpti_Activity *record = NULL;

	(void)ctx;
	(void)size;
	pthread_mutex_lock(&lock);
	fwrite(head, sizeof(head), 1, buffers);
	fwrite(buffer, 1, valid, buffers);
	while (cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		counts[record->kind]++;
		fprintf(text, "rec %u @%u\n", record->kind, (unsigned)((uint8_t *)record - buffer));
		write_name(record);
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static const char *graph_event(CUpti_CallbackId id)
{
	switch (id) {
	case CUPTI_CBID_RESOURCE_GRAPH_CREATED:
		return "created";
	case CUPTI_CBID_RESOURCE_GRAPH_CLONED:
		return "cloned";
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
		return "node-created";
	case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
		return "node-cloned";
	default:
		return NULL;
	}
}

static void on_graph(CUpti_CallbackId id, const CUpti_GraphData *data)
{
	uint64_t node = 0, original_node = 0;
	uint32_t graph = 0, original = 0;

	if (!graph_event(id))
		return;
	if (data->graph)
		cupti.cuptiGetGraphId(data->graph, &graph);
	if (data->originalGraph)
		cupti.cuptiGetGraphId(data->originalGraph, &original);
	if (data->node)
		cupti.cuptiGetGraphNodeId(data->node, &node);
	if (data->originalNode)
		cupti.cuptiGetGraphNodeId(data->originalNode, &original_node);
	pthread_mutex_lock(&lock);
	fprintf(text, "graph %s graph %u original %u node %lx original %lx type %d\n",
		graph_event(id), graph, original, node, original_node, (int)data->nodeType);
	pthread_mutex_unlock(&lock);
}

static void on_callback(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			const CUpti_CallbackData *data)
{
	const char *name = NULL;
	uint64_t now = 0;
	int exiting = data->callbackSite == CUPTI_API_EXIT;

	(void)unused;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
		on_graph(id, ((const CUpti_ResourceData *)(const void *)data)->resourceDescriptor);
		return;
	}
	cupti.cuptiGetCallbackName(domain, id, &name);
	cupti.cuptiGetTimestamp(&now);
	pthread_mutex_lock(&lock);
	fprintf(text, "cb %s %s %s corr %u tid %ld ctx %u ts %lu sym %s ret %d\n",
		domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "rt" : "drv", name ? name : "?",
		exiting ? "exit" : "enter", data->correlationId, syscall(SYS_gettid),
		data->contextUid, now, data->symbolName ? data->symbolName : "-",
		exiting && data->functionReturnValue ? *(int *)data->functionReturnValue : 0);
	pthread_mutex_unlock(&lock);
}

static void finish(void)
{
	cupti.cuptiActivityFlushAll(1);
	pthread_mutex_lock(&lock);
	for (int kind = 0; kind < CUPTI_ACTIVITY_KIND_COUNT; kind++)
		if (counts[kind])
			fprintf(text, "count kind %d %lu\n", kind, counts[kind]);
	fclose(buffers);
	fclose(text);
}

static FILE *open_output(const char *suffix)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", getenv("RECORDER_OUT"), suffix);
	return fopen(path, "w");
}

static int find_cupti(void)
{
	const char *name = getenv("RECORDER_CUPTI");
	void *library = dlopen(name ? name : "libcupti.so.13", RTLD_NOW);
	int complete = library != NULL;

#define FIND(f) complete = complete && (*(void **)&cupti.f = dlsym(library, #f)) != NULL;
	FUNCTIONS(FIND)
	return complete;
}

static void write_clocks(void)
{
	struct timespec real, monotonic;
	uint32_t version = 0;
	uint64_t now = 0;

	cupti.cuptiGetVersion(&version);
	clock_gettime(CLOCK_REALTIME, &real);
	cupti.cuptiGetTimestamp(&now);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	fprintf(text, "version %u\n", version);
	fprintf(text, "clock cupti %lu realtime %lu monotonic %lu\n", now,
		real.tv_sec * 1000000000ul + real.tv_nsec,
		monotonic.tv_sec * 1000000000ul + monotonic.tv_nsec);
}

/* The calls whose callbacks are in tests/data/cupti. */
static int is_wanted(const char *name)
{
	static const char *const parts[] = {"Launch",    "Malloc", "Free",  "Alloc",
					    "Memcpy",    "Memset", "Event", "Synchronize",
					    "MemCreate", "MemMap"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i]))
			return 1;
	return 0;
}

static void enable_calls(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain)
{
	const char *name;

	for (uint32_t id = 1; id < 1000; id++)
		if (!cupti.cuptiGetCallbackName(domain, id, &name) && is_wanted(name))
			cupti.cuptiEnableCallback(1, subscriber, domain, id);
}

int InitializeInjection(void)
{
	CUpti_SubscriberHandle subscriber;

	if (!getenv("RECORDER_OUT") || !find_cupti())
		return 1;
	buffers = open_output(".buf");
	text = open_output(".txt");
	if (!buffers || !text ||
	    cupti.cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)on_callback, NULL))
		return 1;
	write_clocks();
	cupti.cuptiActivityRegisterCallbacks(on_request, on_complete);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		fprintf(text, "enable %d -> %d\n", kinds[i],
			cupti.cuptiActivityEnable((CUpti_ActivityKind)kinds[i]));
	enable_calls(subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	enable_calls(subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
	for (uint32_t id = 0; id < CUPTI_CBID_RESOURCE_SIZE; id++)
		if (graph_event(id))
			cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
	atexit(finish);
	return 1;
}
