#include "inject/client_clock.h"

#include <stddef.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/sys.h"
#include "inject/cupti_versions.h"
#include "inject/client_calls.h"

#define KINDS    64u
#define READINGS 64u
#define TRIES    8u

#define SPINS       100
#define SLEEP_NS    20000u
#define MOST_SLEEPS 1000

/*
 * Offsets of the times in each kind of record, up to five; the first is the start.  CUPTI versions
 * only append to records, so the offsets hold for all; a shorter record lacks the later times.
 */
#define MOST_TIMES 5u
static const uint8_t offsets[KINDS][MOST_TIMES] = {
	[CUPTI_ACTIVITY_KIND_MEMCPY] = {16, 24},
	[CUPTI_ACTIVITY_KIND_MEMSET] = {16, 24},
	[CUPTI_ACTIVITY_KIND_KERNEL] = {16, 24, 32, 120, 128},
	[CUPTI_ACTIVITY_KIND_DRIVER] = {8, 16},
	[CUPTI_ACTIVITY_KIND_RUNTIME] = {8, 16},
	[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = {16, 24, 32, 120, 128},
	[CUPTI_ACTIVITY_KIND_MARKER] = {8},
	[CUPTI_ACTIVITY_KIND_OVERHEAD] = {24, 32},
	[CUPTI_ACTIVITY_KIND_CDP_KERNEL] = {8, 16, 96, 104, 112},
	[CUPTI_ACTIVITY_KIND_PREEMPTION] = {8},
	[CUPTI_ACTIVITY_KIND_ENVIRONMENT] = {8},
	[CUPTI_ACTIVITY_KIND_MEMCPY2] = {16, 24},
	[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = {16, 24},
	[CUPTI_ACTIVITY_KIND_OPENACC_DATA] = {64, 72},
	[CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH] = {64, 72},
	[CUPTI_ACTIVITY_KIND_OPENACC_OTHER] = {64, 72},
	[CUPTI_ACTIVITY_KIND_CUDA_EVENT] = {40},
	[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = {8, 16},
	[CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT] = {16},
	[CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT_INSTANCE] = {16},
	[CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC] = {16},
	[CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC_INSTANCE] = {16},
	[CUPTI_ACTIVITY_KIND_MEMORY] = {24, 32},
	[CUPTI_ACTIVITY_KIND_OPENMP] = {16, 24},
	[CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API] = {8, 16},
	[CUPTI_ACTIVITY_KIND_MEMORY2] = {32},
	[CUPTI_ACTIVITY_KIND_MEMORY_POOL] = {56},
	[CUPTI_ACTIVITY_KIND_GRAPH_TRACE] = {8, 16},
	[CUPTI_ACTIVITY_KIND_JIT] = {16, 24},
	[GP_CUPTI_KIND_DEVICE_GRAPH_TRACE] = {8, 16},
	[GP_CUPTI_KIND_MEM_DECOMPRESS] = {48, 56},
	[GP_CUPTI_KIND_GRAPH_HOST_NODE] = {40, 48},
	[GP_CUPTI_KIND_COMPUTE_ENGINE_CTX_SWITCH] = {8},
	[GP_CUPTI_KIND_HOST_LAUNCH] = {32, 40},
};

struct reading {
	uint64_t ns, ticks;
};

static struct {
	uint64_t (*read_cupti_ns)(void);
	uint64_t clock; /* CUpti_TimestampCallbackFunc, NULL = the client has none */
	uint32_t lock;  /* for the fields below; held by a thread that reads or converts */
	/* a wait for the lock has timed out, and the lock was not released since */
	uint32_t is_stuck;
	uint32_t count;
	/* in order; the last one is overwritten if the others are full */
	struct reading readings[READINGS];
} times;

static uint64_t read_time(const void *record, uint8_t offset)
{
	uint64_t ns;

	memcpy(&ns, (const uint8_t *)record + offset, sizeof(ns));
	return ns;
}

static bool has_time(uint32_t kind, uint32_t i, size_t bytes)
{
	return kind < KINDS && i < MOST_TIMES && offsets[kind][i] != 0 &&
	       offsets[kind][i] + sizeof(uint64_t) <= bytes;
}

uint64_t gp_client_clock_time_of(const CUpti_Activity *record, size_t bytes)
{
	uint32_t kind = (uint32_t)record->kind;

	return has_time(kind, 0, bytes) ? read_time(record, offsets[kind][0]) : 0;
}

void gp_client_clock_init(uint64_t (*read_cupti_ns)(void))
{
	times.read_cupti_ns = read_cupti_ns;
}

/*
 * The client's threads and the fetching thread contend here for a few instructions, during which no
 * client function is called.  The wait is bounded: the holder may have lost its CPU, or be
 * interrupted by this signal handler.
 */
static bool lock_times(void)
{
	for (int i = 0; i < SPINS; i++) {
		if (gp_replace32(&times.lock, 0, 1))
			return true;
		gp_pause();
	}
	for (int i = 0; i < MOST_SLEEPS && gp_load32(&times.is_stuck) == 0; i++) {
		gp_sys_sleep(SLEEP_NS);
		if (gp_replace32(&times.lock, 0, 1))
			return true;
	}
	gp_store32(&times.is_stuck, 1);
	return false;
}

static void unlock_times(void)
{
	gp_store32(&times.is_stuck, 0);
	gp_store32_release(&times.lock, 0);
}

bool gp_client_clock_set(CUpti_TimestampCallbackFunc clock)
{
	uint64_t before;

	if (!lock_times())
		return false;
	before = gp_swap64(&times.clock, (uintptr_t)clock);
	if (before != (uintptr_t)clock)
		times.count = 0;
	unlock_times();
	if (before != 0 && before != (uintptr_t)clock)
		gp_client_calls_await();
	return true;
}

/*
 * The narrowest of several readings: the duration of a reading bounds the distance of both times.
 */
static struct reading read_both(CUpti_TimestampCallbackFunc clock)
{
	struct reading best = {0, 0};
	uint64_t narrowest_ns = UINT64_MAX;

	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t before_ns = times.read_cupti_ns(), ticks = clock(),
			 after_ns = times.read_cupti_ns();

		if (after_ns - before_ns >= narrowest_ns)
			continue;
		narrowest_ns = after_ns - before_ns;
		best = (struct reading){before_ns + narrowest_ns / 2, ticks};
	}
	return best;
}

/* Drop every second reading if the table is full; the first one stays. */
static void thin_out(void)
{
	for (uint32_t i = 1; i < READINGS / 2; i++)
		times.readings[i] = times.readings[2 * i];
	times.count = READINGS / 2;
}

static void add(struct reading now)
{
	if (times.count != 0 && now.ns <= times.readings[times.count - 1].ns)
		return; /* CUPTI's clock is the wall clock, which may be set back */
	if (times.count == READINGS)
		thin_out();
	times.readings[times.count++] = now;
}

/* If another thread holds the lock, its reading serves as well. */
static void read_client(CUpti_TimestampCallbackFunc clock)
{
	struct reading now = read_both(clock);

	if (!lock_times())
		return;
	if (gp_load64(&times.clock) == (uintptr_t)clock)
		add(now);
	unlock_times();
}

void gp_client_clock_read(void)
{
	uint64_t clock;

	if (gp_load64(&times.clock) == 0)
		return;
	clock = gp_client_calls_enter(&times.clock);
	if (clock != 0)
		read_client((CUpti_TimestampCallbackFunc)(uintptr_t)clock);
	gp_client_calls_leave();
}

/* The two readings around a time, or the two nearest ones. */
static const struct reading *find(uint64_t ns)
{
	uint32_t i = times.count - 2;

	while (i > 0 && times.readings[i].ns > ns)
		i--;
	return &times.readings[i];
}

static uint64_t convert(uint64_t ns)
{
	const struct reading *near;
	double slope;

	if (ns == 0 || times.count < 2)
		return ns;
	near = find(ns);
	slope = (double)(int64_t)(near[1].ticks - near[0].ticks) /
		(double)(int64_t)(near[1].ns - near[0].ns);
	return near[0].ticks + (uint64_t)(int64_t)((double)(int64_t)(ns - near[0].ns) * slope);
}

static void convert_time(CUpti_Activity *copy, uint8_t offset)
{
	uint64_t converted = convert(read_time(copy, offset));

	memcpy((uint8_t *)copy + offset, &converted, sizeof(converted));
}

bool gp_client_clock_convert(CUpti_Activity *copy, size_t bytes)
{
	uint32_t kind = (uint32_t)copy->kind;

	if (gp_load64(&times.clock) == 0 || !has_time(kind, 0, bytes))
		return true;
	if (!lock_times())
		return false;
	for (uint32_t i = 0; has_time(kind, i, bytes); i++)
		convert_time(copy, offsets[kind][i]);
	unlock_times();
	return true;
}
