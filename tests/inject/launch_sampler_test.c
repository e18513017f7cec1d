/* launch_sampler: first of each kind, random gaps, and their mean by the cost of a capture. */
#include "tests/unit.h"

#include <pthread.h>
#include <string.h>

#include "gpuprof/count.h"
#include "inject/launch_sampler.h"

#define TICKS_PER_US 3000u

/* A thread that launches the kinds of a list in turn. */
struct thread {
	struct gp_launch_sampler sampler;
	uint64_t now_ticks;
	uint64_t interval_ticks; /* from launch to launch, without captures */
	uint64_t cost_ticks;     /* of a capture */
	uint32_t kinds;          /* launches begin again after so many */
	uint64_t first_kind;
	bool captures; /* into a graph */
};

static int clear_kinds(void **state)
{
	memset(gp_launch_sampler_kinds, 0, sizeof(gp_launch_sampler_kinds));
	return 0;
}

static bool launch(struct thread *thread, uint64_t number)
{
	uint64_t kind =
		(thread->first_kind + number % thread->kinds + 1) * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t began_ticks = thread->now_ticks += thread->interval_ticks;

	if (!gp_launch_sampler_takes(&thread->sampler, kind, thread->captures))
		return false;
	thread->now_ticks += thread->cost_ticks;
	gp_launch_sampler_took(&thread->sampler, began_ticks, thread->now_ticks);
	return true;
}

static uint32_t count_samples(struct thread *thread, uint32_t launches)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < launches; i++)
		count += launch(thread, i);
	return count;
}

static struct thread make_thread(uint64_t interval_ns, uint64_t cost_ns)
{
	return (struct thread){.now_ticks = 12345,
			       .interval_ticks = interval_ns * TICKS_PER_US / 1000,
			       .cost_ticks = cost_ns * TICKS_PER_US / 1000,
			       .kinds = 7};
}

/* Runs first: of a process the first 512 samples. */
static void a_short_program_has_samples(void **state)
{
	struct thread thread = make_thread(1000, 400);

	assert_in_range(count_samples(&thread, 1000), 200, 330); /* 250 */
	assert_true(count_samples(&thread, 3000) < 512);
}

/* At most 0.5 % of the time, and not much less where launches are so frequent. */
static void samples_cost_half_a_percent(void **state)
{
	static const struct {
		uint64_t interval_ns, cost_ns;
		double least, most; /* launches a sample */
	} cases[] = {
		{3000, 400, 25, 31},   /* launch-bound, C++: 26.7 */
		{14000, 400, 5.5, 7},  /* a training step: 5.7 */
		{14000, 1200, 16, 20}, /* with deep stacks: 17.1 */
		{1000, 200, 38, 46},   /* 40 */
		{200000, 400, 1, 1.1}, /* so rare that each is taken */
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct thread thread = make_thread(cases[i].interval_ns, cases[i].cost_ns);
		uint32_t count;
		double gap;

		count_samples(&thread, 20000); /* settles */
		count = count_samples(&thread, 400000);
		gap = 400000.0 / count;
		assert_true(gap >= cases[i].least && gap <= cases[i].most);
		if (cases[i].least > 1)
			assert_true(count * (double)cases[i].cost_ns <=
				    0.0051 * 400000 * (double)cases[i].interval_ns);
	}
}

/* The thread's speed changes by a hundred; so does the gap. */
static void the_gap_follows_the_thread(void **state)
{
	struct thread thread = make_thread(100000, 400);
	uint32_t slow, fast;

	count_samples(&thread, 2000);
	slow = count_samples(&thread, 10000);
	thread.interval_ticks /= 100;
	count_samples(&thread, 50000);
	fast = count_samples(&thread, 100000);
	assert_true(slow > 9000);
	assert_true(fast > 100000 / 100 && fast < 100000 / 70);
}

/* A thread that was stopped within a capture does not stop sampling, nor does a long pause. */
static void single_delays_change_little(void **state)
{
	struct thread thread = make_thread(3000, 400);
	uint64_t cost_ticks = thread.cost_ticks;
	uint32_t count;

	count_samples(&thread, 20000);
	thread.cost_ticks = 1000000000;
	while (!launch(&thread, 0))
		;
	thread.cost_ticks = cost_ticks;
	thread.now_ticks += 60000000000;
	count = count_samples(&thread, 100000);
	assert_true(count > 100000 / 40 && count < 100000 / 20);
}

/* Each launch of a loop gets samples, whatever its length: the gaps have no period. */
static void no_launch_of_a_loop_is_left_out(void **state)
{
	static const uint32_t lengths[] = {2, 26, 27, 53, 54, 108};

	for (size_t i = 0; i < COUNT(lengths); i++) {
		struct thread thread = make_thread(3000, 400);
		uint32_t length = lengths[i], counts[108] = {0};

		thread.kinds = length;
		count_samples(&thread, 20000 / length * length);
		for (uint32_t n = 0; n < 16000 * length; n++)
			counts[n % length] += launch(&thread, n);
		for (uint32_t n = 0; n < length; n++)
			assert_in_range(counts[n], 400, 800); /* 600, standard deviation 24 */
	}
}

static void the_first_of_each_kind_is_taken(void **state)
{
	struct thread one = make_thread(1000, 400), other = make_thread(1000, 400);
	uint32_t first = 0, again = 0;

	one.kinds = other.kinds = 1;
	other.now_ticks += 777; /* seeds differ */
	count_samples(&one, 10000);
	count_samples(&other, 10000);
	for (uint64_t kind = 1000; kind < 1500; kind++) {
		one.first_kind = other.first_kind = kind;
		first += launch(&one, 0);
		first += launch(&other, 0); /* kinds are those of a thread */
		again += launch(&one, 0);
	}
	/* all, but for those whose places in the table others have */
	assert_in_range(first, 990, 1000);
	assert_true(again < 50);
}

/* Kinds without end fill the table, and are sampled as others then. */
static void kinds_without_end_cost_no_more(void **state)
{
	struct thread thread = make_thread(3000, 400);
	uint32_t count;

	thread.kinds = UINT32_MAX;
	assert_true(count_samples(&thread, 4 * GP_LAUNCH_SAMPLER_KINDS) <
		    GP_LAUNCH_SAMPLER_KINDS + 4 * GP_LAUNCH_SAMPLER_KINDS / 20);
	thread.first_kind = UINT64_C(1) << 40;
	count = count_samples(&thread, 100000);
	assert_true(count < 100000 / 20);
}

static void each_captured_launch_is_taken(void **state)
{
	struct thread thread = make_thread(1000, 400);

	count_samples(&thread, 10000);
	thread.captures = true;
	assert_int_equal(count_samples(&thread, 1000), 1000);
	thread.captures = false;
	assert_true(count_samples(&thread, 1000) < 50);
	thread.captures = true; /* without end */
	assert_true(count_samples(&thread, 100000) < GP_LAUNCH_SAMPLER_CAPTURED + 100000 / 50);
}

static void *sample_in_thread(void *context)
{
	struct thread *thread = context;

	thread->first_kind = count_samples(thread, 100000);
	return NULL;
}

static void threads_sample_side_by_side(void **state)
{
	struct thread threads[4];
	pthread_t handles[4];

	for (int i = 0; i < 4; i++) {
		threads[i] = make_thread(3000, 400);
		threads[i].now_ticks += (uint64_t)i;
		assert_int_equal(pthread_create(&handles[i], NULL, sample_in_thread, &threads[i]),
				 0);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(handles[i], NULL), 0);
		assert_true(threads[i].first_kind > 100000 / 40 &&
			    threads[i].first_kind < 100000 / 20);
	}
	assert_int_not_equal(threads[0].sampler.thread, threads[1].sampler.thread);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_short_program_has_samples, clear_kinds),
		cmocka_unit_test_setup(samples_cost_half_a_percent, clear_kinds),
		cmocka_unit_test_setup(the_gap_follows_the_thread, clear_kinds),
		cmocka_unit_test_setup(single_delays_change_little, clear_kinds),
		cmocka_unit_test_setup(no_launch_of_a_loop_is_left_out, clear_kinds),
		cmocka_unit_test_setup(the_first_of_each_kind_is_taken, clear_kinds),
		cmocka_unit_test_setup(kinds_without_end_cost_no_more, clear_kinds),
		cmocka_unit_test_setup(each_captured_launch_is_taken, clear_kinds),
		cmocka_unit_test_setup(threads_sample_side_by_side, clear_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
