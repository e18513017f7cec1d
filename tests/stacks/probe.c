/*
 * The recorder of call stacks as a library, for programs without CUDA.  Tests load it into an
 * interpreter or another program, record, and read the trace.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/clock.h"
#include "collector/collector.h"
#include "collector/sys.h"
#include "stacks/python.h"
#include "stacks/stack.h"

#define POLLUTION_KIB 2048u
#define CACHE_LINE    64u

#define EXPORT __attribute__((visibility("default")))

EXPORT int probe_start(const char *trace);
EXPORT uint32_t probe_capture(void);
EXPORT uint32_t probe_capture_in_thread(void);
EXPORT uint32_t probe_repeat(uint32_t count);
EXPORT int32_t probe_compare(uint32_t offsets[GP_STACK_DEPTH]);
EXPORT double probe_time(uint32_t polluted_kib);
EXPORT int probe_sample(uint32_t period_us);
EXPORT uint32_t probe_stop_samples(void);
EXPORT int probe_stop(void);

int probe_start(const char *trace)
{
	const struct gp_collector_config config = {.trace_path = trace,
						   .ring_place = GP_RINGS_MEMORY};
	int error = gp_collector_start(&config);

	return error != 0 ? error : gp_stack_start();
}

uint32_t probe_capture(void)
{
	return gp_stack_capture();
}

static void *capture(void *id)
{
	*(uint32_t *)id = gp_stack_capture();
	return NULL;
}

/* Captures on a thread that the interpreter does not know. */
uint32_t probe_capture_in_thread(void)
{
	pthread_t thread;
	uint32_t id = 0;

	if (pthread_create(&thread, NULL, capture, &id) == 0)
		pthread_join(thread, NULL);
	return id;
}

/* Captures `count` times; returns the common id, or 0 if the ids differ. */
uint32_t probe_repeat(uint32_t count)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < count; i++) {
		/* forces all calls to come from the same place, including the first */
		__asm__ volatile("" : "+r"(i));
		uint32_t id = gp_stack_capture();

		first = i == 0 ? id : first;
		if (id != first)
			return 0;
	}
	return first;
}

static __thread struct gp_python_walk *remembering, *forgetting;

static bool is_same(const struct gp_python_past *a, const struct gp_python_past *b)
{
	if (a->count != b->count || a->is_cut != b->is_cut || a->number != b->number)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (memcmp(&a->frames[i], &b->frames[i], sizeof(a->frames[i])) != 0)
			return false;
	return true;
}

/*
 * The number of Python frames that a walk with memory finds, and their positions in the code; -1: a
 * walk without memory finds others.
 */
int32_t probe_compare(uint32_t offsets[GP_STACK_DEPTH])
{
	if (forgetting == NULL) {
		remembering = calloc(1, sizeof(*remembering));
		forgetting = calloc(1, sizeof(*forgetting));
	}
	if (remembering == NULL || forgetting == NULL)
		return -1;
	gp_python_begin(remembering);
	uint64_t number = gp_python_walk(remembering);

	forgetting->module_id = 0; /* as if the remembered stacks were another interpreter's */
	gp_python_begin(forgetting);
	if (gp_python_walk(forgetting) != number || !is_same(remembering->last, forgetting->last))
		return -1;
	for (uint32_t i = 0; i < remembering->last->count; i++)
		offsets[i] = remembering->last->frames[i].offset;
	return (int32_t)remembering->last->count;
}

/* Duration of a capture in ns, after polluted_kib of other memory were touched. */
double probe_time(uint32_t polluted_kib)
{
	static char other[POLLUTION_KIB << 10];

	for (size_t i = 0; i < sizeof(other) && i < (size_t)polluted_kib << 10; i += CACHE_LINE)
		other[i]++;
	uint64_t start = gp_clock_ticks(), middle = gp_clock_ticks();

	gp_stack_capture();
	uint64_t end = gp_clock_ticks();

	return ((double)(end - middle) - (double)(middle - start)) * 1e9 /
	       (double)gp_clock_ticks_per_second();
}

static struct {
	pthread_t thread;
	uint64_t period_ns;
	uint32_t ends; /* atomic */
	uint32_t passes;
} sampling;

static void *sample(void *unused)
{
	(void)unused;
	gp_emit_always_waits();
	gp_stack_begin_samples(sampling.period_ns, 0);
	while (gp_load32_acquire(&sampling.ends) == 0) {
		uint64_t rest_ns = gp_stack_sample(gp_sys_now_ns(), true);

		sampling.passes++;
		gp_sys_sleep(rest_ns < sampling.period_ns ? rest_ns : sampling.period_ns);
	}
	gp_stack_end_samples();
	return NULL;
}

/* Starts a profiler thread that samples the other threads. */
int probe_sample(uint32_t period_us)
{
	sampling.period_ns = (uint64_t)period_us * 1000u;
	sampling.ends = 0;
	return pthread_create(&sampling.thread, NULL, sample, NULL);
}

/* Stops sampling; returns the number of wakeups. */
uint32_t probe_stop_samples(void)
{
	gp_store32_release(&sampling.ends, 1);
	pthread_join(sampling.thread, NULL);
	return sampling.passes;
}

int probe_stop(void)
{
	return gp_collector_stop(10000000000u);
}
