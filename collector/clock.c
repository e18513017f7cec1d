#include "collector/clock.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/sys.h"

#define NS_PER_SECOND  1000000000u
#define TRIES          8
#define SETTLE_NS      1000000u
#define DETACH_WAIT_NS 1000000000u

enum source { SOURCE_UNKNOWN, SOURCE_COUNTER, SOURCE_MONOTONIC };

static uint32_t source;
static uint64_t ticks_per_second = NS_PER_SECOND;
static uint64_t first_ticks, first_ns;
static uint64_t cupti_clock; /* address of the function, 0 = none */
static uint32_t reading_cupti;

#if defined(__x86_64__)
#define COUNTER "tsc"

static uint64_t read_counter(void)
{
	return __rdtsc();
}

static bool is_invariant(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
}
#elif defined(__aarch64__)
#define COUNTER "arch_sys_counter"

static uint64_t read_counter(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

static bool is_invariant(void)
{
	return true;
}
#else
#define COUNTER ""

static uint64_t read_counter(void)
{
	return 0;
}

static bool is_invariant(void)
{
	return false;
}
#endif

static bool kernel_trusts_counter(void)
{
	char name[24];

	gp_sys_read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
			 sizeof(name));
	return strcmp(name, COUNTER) == 0;
}

static uint64_t read_clock_ns(clockid_t clock)
{
	struct timespec now = {0, 0};

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* Concurrent threads choose the same. */
static void choose_source(void)
{
	bool trusted = is_invariant() && kernel_trusts_counter();

	gp_store32(&source, trusted ? SOURCE_COUNTER : SOURCE_MONOTONIC);
}

static bool is_counter(void)
{
	if (gp_load32(&source) == SOURCE_UNKNOWN)
		choose_source();
	return gp_load32(&source) == SOURCE_COUNTER;
}

const char *gp_clock_name(void)
{
	return is_counter() ? COUNTER : "monotonic";
}

uint64_t gp_clock_ticks(void)
{
	int saved;
	uint64_t ticks;

	if (__builtin_expect(gp_load32(&source) == SOURCE_COUNTER, 1))
		return read_counter();
	saved = errno;
	ticks = is_counter() ? read_counter() : read_clock_ns(CLOCK_MONOTONIC);
	errno = saved;
	return ticks;
}

uint64_t gp_clock_ticks_per_second(void)
{
	return gp_load64(&ticks_per_second);
}

static void update_rate(uint64_t ticks, uint64_t now_ns)
{
	if (is_counter() && now_ns > first_ns)
		gp_store64(&ticks_per_second, (uint64_t)((unsigned __int128)(ticks - first_ticks) *
							 NS_PER_SECOND / (now_ns - first_ns)));
}

void gp_clock_reset(void)
{
	gp_store64(&cupti_clock, 0);
	gp_store32(&reading_cupti, 0);
}

void gp_clock_settle(void)
{
	struct gp_record_anchor anchor;
	uint64_t passed_ns = read_clock_ns(CLOCK_MONOTONIC) - first_ns;

	if (is_counter() && passed_ns < SETTLE_NS)
		gp_sys_sleep(SETTLE_NS - passed_ns);
	gp_clock_read_anchor(&anchor);
}

void gp_clock_set_cupti(uint64_t (*read_ns)(void))
{
	uint64_t give_up_ns = gp_sys_now_ns() + DETACH_WAIT_NS;

	gp_swap64(&cupti_clock, (uintptr_t)read_ns);
	/* The caller may be about to shut down CUPTI: let a running call end. */
	while (read_ns == NULL && gp_load32_ordered(&reading_cupti) && gp_sys_now_ns() < give_up_ns)
		gp_sys_sleep(50000);
}

/* Tick reads that the CPU does not reorder with the clock read between them. */
static uint64_t fenced_ticks(void)
{
#if defined(__x86_64__)
	_mm_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#endif
	return gp_clock_ticks();
}

static void read_host_clocks(struct gp_record_anchor *anchor)
{
	uint64_t best = UINT64_MAX;

	for (int try = 0; try < TRIES; try++) {
		uint64_t before = fenced_ticks();
		uint64_t monotonic_ns = read_clock_ns(CLOCK_MONOTONIC);
		uint64_t realtime_ns = read_clock_ns(CLOCK_REALTIME);
		uint64_t gap = fenced_ticks() - before;

		if (gap >= best)
			continue;
		best = gap;
		anchor->ticks = before + gap / 2;
		anchor->monotonic_ns = monotonic_ns;
		anchor->realtime_ns = realtime_ns;
	}
	anchor->gap_ticks = best < UINT32_MAX ? (uint32_t)best : UINT32_MAX;
}

void gp_clock_start(void)
{
	struct gp_record_anchor anchor;

	read_host_clocks(&anchor);
	first_ticks = anchor.ticks;
	first_ns = anchor.monotonic_ns;
}

static void read_cupti_clock(struct gp_record_anchor *anchor, uint64_t (*read_ns)(void))
{
	uint64_t best = UINT64_MAX;

	for (int try = 0; try < TRIES; try++) {
		uint64_t before = fenced_ticks();
		uint64_t now_ns = read_ns();
		uint64_t gap = fenced_ticks() - before;

		if (now_ns == 0 || gap >= best)
			continue;
		best = gap;
		anchor->cupti_ns = now_ns;
		anchor->cupti_ticks = before + gap / 2;
	}
	if (anchor->cupti_ns != 0 && best > anchor->gap_ticks)
		anchor->gap_ticks = best < UINT32_MAX ? (uint32_t)best : UINT32_MAX;
}

void gp_clock_read_anchor(struct gp_record_anchor *anchor)
{
	uint64_t (*read_ns)(void);

	*anchor = (struct gp_record_anchor){.kind = GP_RECORD_ANCHOR, .slots = 2};
	read_host_clocks(anchor);
	update_rate(anchor->ticks, anchor->monotonic_ns);
	gp_swap32(&reading_cupti, 1);
	read_ns = (uint64_t(*)(void))(uintptr_t)gp_load64_ordered(&cupti_clock);
	if (read_ns != NULL)
		read_cupti_clock(anchor, read_ns);
	gp_store32_release(&reading_cupti, 0);
}
