/*
 * floor: an injection library with the minimal cost of recording through CUPTI.
 *
 *	CUDA_INJECTION64_PATH=.../floor.so FLOOR_CUPTI=.../libcupti.so FLOOR_GRAPHS=node|graph
 *	FLOOR_CALLBACKS=1 FLOOR_WITHOUT=PART,... FLOOR_ATTRIBUTES=NUMBER=VALUE,... FLOOR_BUFFER=BYTES
 *	PROGRAM
 *
 * It uses the same kinds, buffers and settings as gpuprof for GPU operations, and a thread that
 * flushes as often.  It discards the records.  With FLOOR_CALLBACKS it also enables gpuprof's
 * default callbacks, with an empty body, and the other default kinds.  At exit it prints the number
 * of bytes of records.  A program can switch it by floor_start() and floor_stop() (bench/gpu,
 * bench/floor_parts); initially it is on.
 *
 * FLOOR_WITHOUT leaves out parts: "subscribe" (and so all callbacks), "runtime" and "driver" (the
 * callbacks of a domain), "kinds" (all records), "kernels", "flush" (records are delivered at exit),
 * "start" (it is off initially).  FLOOR_ATTRIBUTES sets attributes of CUPTI by their numbers.
 */
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpuprof/count.h"
#include "gpuprof/record.h"
#include "inject/api_table.h"

#define PERIOD_NS 50000000

int InitializeInjection(void);
void floor_start(void);
void floor_stop(void);

#define FUNCTIONS(X)                                                                               \
	X(cuptiSubscribe)                                                                          \
	X(cuptiEnableCallback)                                                                     \
	X(cuptiActivityEnable)                                                                     \
	X(cuptiActivityDisable)                                                                    \
	X(cuptiActivityRegisterCallbacks)                                                          \
	X(cuptiActivitySetAttribute)                                                               \
	X(cuptiActivityFlushAll)

static struct {
#define POINTER(f) __typeof__(f) *f;
	FUNCTIONS(POINTER)
} cupti;

/* The beginning of a free buffer. */
struct spare {
	struct spare *next;
};

static CUpti_SubscriberHandle subscriber;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct spare *spares;
static atomic_size_t received;
static size_t buffer_bytes = (size_t)256 << 10;

static void on_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	pthread_mutex_lock(&lock);
	*buffer = (uint8_t *)spares;
	if (spares)
		spares = spares->next;
	pthread_mutex_unlock(&lock);
	if (!*buffer)
		*buffer = aligned_alloc(4096, buffer_bytes);
	*size = *buffer ? buffer_bytes : 0;
	*max_records = 0;
}

static void on_complete(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct spare *spare = (struct spare *)buffer;

	(void)ctx;
	(void)stream;
	(void)size;
	received += valid;
	pthread_mutex_lock(&lock);
	spare->next = spares;
	spares = spare;
	pthread_mutex_unlock(&lock);
}

static void on_callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			const void *call)
{
	(void)data;
	(void)domain;
	(void)id;
	(void)call;
}

static void *flush(void *unused)
{
	struct timespec period = {.tv_nsec = PERIOD_NS};

	for (;;) {
		nanosleep(&period, NULL);
		cupti.cuptiActivityFlushAll(0);
	}
	return unused;
}

static void finish(void)
{
	cupti.cuptiActivityFlushAll(1);
	fprintf(stderr, "floor: %zu bytes of records\n", received);
}

static int find_cupti(void)
{
	const char *path = getenv("FLOOR_CUPTI");
	void *library = dlopen(path ? path : "libcupti.so.13", RTLD_NOW);
	int complete = library != NULL;

#define FIND(f) complete = complete && (*(void **)&cupti.f = dlsym(library, #f)) != NULL;
	FUNCTIONS(FIND)
	return complete;
}

/* A word of FLOOR_WITHOUT. */
static int is_without(const char *part)
{
	const char *list = getenv("FLOOR_WITHOUT"), *at = list;
	size_t length = strlen(part);

	while (at && (at = strstr(at, part)) != NULL) {
		if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
			return 1;
		at += length;
	}
	return 0;
}

static void set_attribute(int attribute, size_t value)
{
	size_t bytes = sizeof(value);

	if (cupti.cuptiActivitySetAttribute((CUpti_ActivityAttribute)attribute, &bytes, &value))
		fprintf(stderr, "floor: CUPTI refused attribute %d\n", attribute);
}

static void set_attributes(void)
{
	const char *list = getenv("FLOOR_ATTRIBUTES"), *buffer = getenv("FLOOR_BUFFER");
	int attribute, length;
	size_t value;

	set_attribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, 16);
	while (list && sscanf(list, "%d=%zu%n", &attribute, &value, &length) == 2) {
		set_attribute(attribute, value);
		list += length + (list[length] == ',');
	}
	if (buffer)
		buffer_bytes = strtoul(buffer, NULL, 10);
}

static const CUpti_ActivityKind kernels[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
static const CUpti_ActivityKind copies[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
					    CUPTI_ACTIVITY_KIND_MEMSET};
static const CUpti_ActivityKind whole_graphs[] = {CUPTI_ACTIVITY_KIND_GRAPH_TRACE};
static const CUpti_ActivityKind other_kinds[] = {
	CUPTI_ACTIVITY_KIND_MEMORY_POOL, CUPTI_ACTIVITY_KIND_JIT, CUPTI_ACTIVITY_KIND_OVERHEAD};

static int set_kinds(int on, const CUpti_ActivityKind *kinds, size_t count)
{
	int failed = 0;

	for (size_t i = 0; i < count; i++)
		failed |= (on ? cupti.cuptiActivityEnable(kinds[i])
			      : cupti.cuptiActivityDisable(kinds[i])) != CUPTI_SUCCESS;
	return failed;
}

/*
 * All calls of gpuprof's table except events, which it does not record by default.  A call unknown
 * to this libcupti is not an error.
 */
static void set_callbacks(int on)
{
	uint32_t count;
	const struct gp_api_entry *entries = gp_api_table(&count);

	for (uint32_t i = 0; i < count; i++)
		if (entries[i].class != GP_API_EVENT &&
		    !is_without(GP_API_IS_DRIVER(entries[i].api) ? "driver" : "runtime"))
			cupti.cuptiEnableCallback((uint32_t)on, subscriber,
						  GP_API_IS_DRIVER(entries[i].api)
							  ? CUPTI_CB_DOMAIN_DRIVER_API
							  : CUPTI_CB_DOMAIN_RUNTIME_API,
						  GP_API_CBID(entries[i].api));
}

static int set_all(int on)
{
	const char *graphs = getenv("FLOOR_GRAPHS");
	int failed = 0;

	if (!is_without("kinds") && !is_without("kernels"))
		failed |= set_kinds(on, kernels, COUNT(kernels));
	if (!is_without("kinds"))
		failed |= set_kinds(on, copies, COUNT(copies));
	if (graphs && !strcmp(graphs, "graph"))
		failed |= set_kinds(on, whole_graphs, COUNT(whole_graphs));
	if (getenv("FLOOR_CALLBACKS")) {
		if (!is_without("kinds"))
			failed |= set_kinds(on, other_kinds, COUNT(other_kinds));
		if (!is_without("subscribe"))
			set_callbacks(on);
	}
	return failed;
}

void floor_start(void)
{
	set_all(1);
}

void floor_stop(void)
{
	set_all(0);
}

int InitializeInjection(void)
{
	pthread_t thread;

	if (!find_cupti() ||
	    (!is_without("subscribe") &&
	     cupti.cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)on_callback, NULL))) {
		fprintf(stderr, "floor: cannot load libcupti, or another client uses it\n");
		return 1;
	}
	set_attributes();
	if (cupti.cuptiActivityRegisterCallbacks(on_request, on_complete) ||
	    (!is_without("start") && set_all(1)) ||
	    (!is_without("flush") && pthread_create(&thread, NULL, flush, NULL)))
		fprintf(stderr, "floor: CUPTI refused a record kind or callback\n");
	atexit(finish);
	return 1;
}
