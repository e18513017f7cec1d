#include "inject/share_times.h"

#include <stddef.h>
#include <string.h>

#include "collector/atomic.h"

#define KINDS    64u
#define READINGS 64u
#define TRIES    8u

/* Where the times lie: of each kind up to five, the first is the beginning. */
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
	[CUPTI_ACTIVITY_KIND_MEMCPY2] = {16, 24},
	[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = {16, 24},
	[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = {8, 16},
	[CUPTI_ACTIVITY_KIND_MEMORY2] = {32},
	[CUPTI_ACTIVITY_KIND_MEMORY_POOL] = {56},
	[CUPTI_ACTIVITY_KIND_GRAPH_TRACE] = {8, 16},
	[CUPTI_ACTIVITY_KIND_JIT] = {16, 24},
};

struct reading {
	uint64_t ns, ticks;
};

static struct {
	uint64_t (*read_cupti_ns)(void);
	uint64_t clock; /* CUpti_TimestampCallbackFunc, NULL = the client has none */
	uint32_t taken; /* what follows, by a thread that reads or converts */
	uint32_t count;
	struct reading
		readings[READINGS]; /* in order; the last replaces itself where the rest is full */
} times;

static uint64_t read_time(const void *record, uint8_t offset)
{
	uint64_t ns;

	memcpy(&ns, (const uint8_t *)record + offset, sizeof(ns));
	return ns;
}

uint64_t gp_share_time_of(const CUpti_Activity *record)
{
	uint32_t kind = (uint32_t)record->kind;

	return kind < KINDS && offsets[kind][0] != 0 ? read_time(record, offsets[kind][0]) : 0;
}

void gp_share_times_init(uint64_t (*read_cupti_ns)(void))
{
	times.read_cupti_ns = read_cupti_ns;
}

/* The client's threads and the fetching thread meet here, for a microsecond each. */
static void take(void)
{
	while (!gp_replace32(&times.taken, 0, 1))
		gp_pause();
}

static void give_back(void)
{
	gp_store32_release(&times.taken, 0);
}

void gp_share_times_clock(CUpti_TimestampCallbackFunc clock)
{
	take();
	if (gp_swap64(&times.clock, (uintptr_t)clock) != (uintptr_t)clock)
		times.count = 0;
	give_back();
}

/* The narrowest of some: how long it takes to read says how far apart the two may be. */
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

/* Every second one goes where all places are taken: the first stays. */
static void thin_out(void)
{
	for (uint32_t i = 1; i < READINGS / 2; i++)
		times.readings[i] = times.readings[2 * i];
	times.count = READINGS / 2;
}

static void add(struct reading now)
{
	if (times.count != 0 && now.ns <= times.readings[times.count - 1].ns)
		return; /* CUPTI's clock is the wall clock, and may be set back */
	if (times.count == READINGS)
		thin_out();
	times.readings[times.count++] = now;
}

void gp_share_times_read(void)
{
	CUpti_TimestampCallbackFunc clock;

	if (gp_load64(&times.clock) == 0)
		return;
	take();
	clock = (CUpti_TimestampCallbackFunc)(uintptr_t)gp_load64(&times.clock);
	if (clock != NULL)
		add(read_both(clock));
	give_back();
}

/* The two readings around a time, or those that are nearest. */
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

void gp_share_times_convert(CUpti_Activity *copy, size_t bytes)
{
	uint32_t kind = (uint32_t)copy->kind;

	if (gp_load64(&times.clock) == 0 || kind >= KINDS)
		return;
	take();
	for (uint32_t i = 0; i < MOST_TIMES && offsets[kind][i] != 0; i++) {
		uint64_t converted;

		if (offsets[kind][i] + sizeof(converted) > bytes)
			break;
		converted = convert(read_time(copy, offsets[kind][i]));
		memcpy((uint8_t *)copy + offsets[kind][i], &converted, sizeof(converted));
	}
	give_back();
}
