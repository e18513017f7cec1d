/*
 * stacks: compares the cost of a call stack with libunwind and the C library: medians in ns, without
 * the cost of reading the clock, and the ratio to unw_backtrace().
 *
 *	make bench-stacks
 *
 * Below DEPTH distinct functions the stack is captured repeatedly, from the same place
 * ("unchanged"), or as on a thread that has never captured one ("all changed").  In between, other
 * memory of a given size is touched, which replaces the contents of the caches.  In the second half
 * of the tables the captures alternate between OPERATIONS places, as in a training step: all share
 * the outer half of the frames; the inner half has its own functions and depth at each place.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "collector/collector.h"
#include "stacks/stack.h"
#include "stacks/walk.h"
#include "tests/stacks/forget.h"

#define FUNCTIONS    100
#define SAMPLES      1001
#define MOST_FRAMES  256
#define POLLUTION_MB 2
#define OPERATIONS   25

static struct gp_walk *last_walk, *new_walk;
static char pollution[POLLUTION_MB << 20];
static void *pcs[MOST_FRAMES];
static double ns_per_tick;
/* the C library's; libunwind has a function of this name, too */
static int (*libc_backtrace)(void **buffer, int size);

/* ---- the compared methods ---- */

static void take_nothing(void)
{
	__asm__ volatile("" : : : "memory");
}

static void take_ours(void)
{
	gp_stack_capture();
}

static void walk_ours(void)
{
	struct gp_place place;

	GP_PLACE_HERE(place);
	gp_walk(last_walk, place);
	__asm__ volatile("" : : : "memory");
}

static void walk_ours_changed(void)
{
	struct gp_place place;

	forget_walks(new_walk);
	GP_PLACE_HERE(place);
	gp_walk(new_walk, place);
	__asm__ volatile("" : : : "memory");
}

static void take_unw_backtrace(void)
{
	unw_backtrace(pcs, MOST_FRAMES);
}

static void take_unw_step(void)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t pc;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
	while (unw_step(&cursor) > 0);
}

static void take_backtrace(void)
{
	libc_backtrace(pcs, MOST_FRAMES);
}

static const struct way {
	const char *name;
	void (*take)(void);
} ways[] = {
	{"timer", take_nothing},
	{"ours: gp_stack_capture, unchanged", take_ours},
	{"ours: native walk, unchanged", walk_ours},
	{"ours: native walk, all changed", walk_ours_changed},
	{"libunwind unw_backtrace (no id)", take_unw_backtrace},
	{"libunwind unw_step (no id)", take_unw_step},
	{"C library backtrace (no id)", take_backtrace},
};

#define WAYS  ((int)(sizeof(ways) / sizeof(ways[0])))
#define TIMER 0
#define OURS  1
#define PEER  4

/* ---- the callers ---- */

typedef int caller(int depth, size_t polluted_bytes);
static caller *const callers[FUNCTIONS];
static void (*innermost)(size_t polluted_bytes);
static int spread; /* distance between successive functions in the table */

static int call_next(int depth, size_t polluted_bytes)
{
	return callers[(depth + depth * spread) % FUNCTIONS](depth, polluted_bytes);
}

/* ---- measuring ---- */

static int compare_samples(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void pollute(size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 64)
		pollution[i]++;
}

static uint64_t sample(const struct way *way, size_t polluted_bytes)
{
	unsigned core;

	pollute(polluted_bytes);
	uint64_t start = __rdtscp(&core);

	way->take();
	return __rdtscp(&core) - start;
}

static double medians[WAYS];

static uint64_t samples[WAYS][SAMPLES];

static double ratios[SAMPLES]; /* of ours to unw_backtrace() immediately after it, sorted */

static int compare_ratios(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void find_ratios(uint64_t timer_ticks)
{
	for (int i = 0; i < SAMPLES; i++)
		ratios[i] = ((double)samples[OURS][i] - (double)timer_ticks) /
			    ((double)samples[PEER][i] - (double)timer_ticks);
	qsort(ratios, SAMPLES, sizeof(double), compare_ratios);
}

static void find_median(int way)
{
	qsort(samples[way], SAMPLES, sizeof(uint64_t), compare_samples);
	medians[way] = (double)samples[way][SAMPLES / 2] * ns_per_tick;
}

static void find_results(void)
{
	find_median(TIMER);
	find_ratios(samples[TIMER][SAMPLES / 2]);
	for (int way = TIMER + 1; way < WAYS; way++)
		find_median(way);
}

static __attribute__((noinline)) void measure(size_t polluted_bytes)
{
	int times = polluted_bytes == 0
			    ? 2
			    : 1; /* the first sample differs by the cache contents of the others */

	for (int i = 0; i < SAMPLES; i++)
		for (int way = 0; way < WAYS; way++)
			for (int j = 0; j < times; j++)
				samples[way][i] = sample(&ways[way], polluted_bytes);
	find_results();
}

static int turn_way, turn, half;

static __attribute__((noinline)) void take_turn(size_t polluted_bytes)
{
	samples[turn_way][turn] = sample(&ways[turn_way], polluted_bytes);
}

/* The number of frames below a place differs by at most two from the number above it. */
static __attribute__((noinline)) void measure_by_turns(size_t polluted_bytes)
{
	innermost = take_turn;
	for (turn_way = 0; turn_way < WAYS; turn_way++)
		for (turn = 0; turn < SAMPLES; turn++) {
			spread = turn % OPERATIONS;
			call_next(half + turn % 5 - 2, polluted_bytes);
		}
	find_results();
}

/* One function in eight has a frame of variable size, which is found through rbp. */
#define CALLER(n)                                                                                  \
	static __attribute__((noinline, optimize("omit-frame-pointer"))) int caller_##n(           \
		int depth, size_t polluted_bytes)                                                  \
	{                                                                                          \
		volatile char block[16 + (n) % 7 * 8];                                             \
		char *more = (n) % 8 == 0 ? __builtin_alloca(16 + (size_t)depth % 3 * 16) : NULL;  \
                                                                                                   \
		block[0] = (char)depth;                                                            \
		if (more != NULL)                                                                  \
			*(volatile char *)more = 1;                                                \
		if (depth == 0)                                                                    \
			innermost(polluted_bytes);                                                 \
		else                                                                               \
			call_next(depth - 1, polluted_bytes);                                      \
		return block[0];                                                                   \
	}
#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define ALL(X)                                                                                     \
	X(0)                                                                                       \
	X(1)                                                                                       \
	X(2)                                                                                       \
	X(3)                                                                                       \
	X(4)                                                                                       \
	X(5)                                                                                       \
	X(6)                                                                                       \
	X(7)                                                                                       \
	X(8)                                                                                       \
	X(9)                                                                                       \
	TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7) TEN(X, 8) TEN(X, 9)
ALL(CALLER)
#define NAME(n) caller_##n,
static caller *const callers[FUNCTIONS] = {ALL(NAME)};

static void find_clock(void)
{
	const uint64_t rate = gp_clock_ticks_per_second();

	ns_per_tick = 1e9 / (double)rate;
}

static void print_table(bool by_turns, size_t polluted_bytes)
{
	static const int depths[] = {10, 30, 60, 100};
	static const char *const quarters[] = {"ours / unw_backtrace: median (goal: 0.35)",
					       "  first quartile", "  third quartile"};
	static const int quarter_at[] = {SAMPLES / 2, SAMPLES / 4, SAMPLES * 3 / 4};
	double results[WAYS][4], quarters_of[3][4];

	for (int i = 0; i < 4; i++) {
		half = by_turns ? depths[i] / 2 - 2 : 0;
		spread = 0;
		innermost = by_turns ? measure_by_turns : measure;
		/* measure() and its callers are frames, too */
		call_next(depths[i] - half - 5, polluted_bytes);
		for (int way = 0; way < WAYS; way++)
			results[way][i] = medians[way];
		for (int j = 0; j < 3; j++)
			quarters_of[j][i] = ratios[quarter_at[j]];
	}
	printf("\n%-42s %8s %8s %8s %8s   ns, %zu KiB of other memory touched between\n",
	       by_turns ? "frames, alternating operations" : "frames", "10", "30", "60", "100",
	       polluted_bytes / 1024);
	for (int way = 1; way < WAYS; way++) {
		printf("%-42s", ways[way].name);
		for (int i = 0; i < 4; i++)
			printf(" %8.0f", results[way][i] - results[0][i]);
		printf("\n");
	}
	for (int j = 0; j < 3; j++) {
		printf("%-42s", quarters[j]);
		for (int i = 0; i < 4; i++)
			printf(" %8.2f", quarters_of[j][i]);
		printf("\n");
	}
}

int main(void)
{
	char folder[] = "/tmp/gpuprof-bench-XXXXXX", path[64];

	if (mkdtemp(folder) == NULL)
		return 1;
	snprintf(path, sizeof(path), "%s/trace", folder);
	const struct gp_collector_config config = {.trace_path = path,
						   .ring_place = GP_RINGS_MEMORY};

	last_walk = calloc(1, sizeof(*last_walk));
	new_walk = calloc(1, sizeof(*new_walk));
	if (last_walk == NULL || new_walk == NULL || gp_collector_start(&config) != 0 ||
	    gp_stack_start() != 0)
		return 1;
	gp_walk_init(last_walk);
	gp_walk_init(new_walk);
	find_clock();
	*(void **)&libc_backtrace = dlsym(dlopen("libc.so.6", RTLD_LAZY), "backtrace");
	if (libc_backtrace == NULL)
		return 1;
	unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD);
	for (int by_turns = 0; by_turns < 2; by_turns++) {
		print_table(by_turns, 0);
		print_table(by_turns, 256u << 10);
		print_table(by_turns, sizeof(pollution));
	}
	gp_collector_stop(10000000000u);
	remove(gp_collector_trace_path());
	return remove(folder);
}
