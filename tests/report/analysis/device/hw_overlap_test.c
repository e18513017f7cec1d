/* hw_overlap: averages of samples over times, and how far they may be off. */
#include <math.h>

#include "gpuprof/count.h"
#include "report/analysis/device/hw_overlap.h"
#include "tests/unit.h"

#define MS     1000000u
#define OFFSET 5000000000u

/* Four samples of a millisecond: SMs 0, 40, 100 and 80 % active; 1, 2, 3 and 4 MB read. */
static struct gp_hw_average average_of(const struct gp_interval *times, size_t count)
{
	static const uint64_t percent[] = {0, 40, 100, 80};
	struct gp_record_hw_sample samples[COUNT(percent)];
	struct gp_interval moved[4];

	for (uint64_t i = 0; i < COUNT(percent); i++)
		samples[i] = (struct gp_record_hw_sample){
			.absent = ~(1u << GP_HW_SM_ACTIVE | 1u << GP_HW_DRAM_READ),
			.start_ns = i * MS,
			.end_ns = (i + 1) * MS,
			.value = {[GP_HW_SM_ACTIVE] = 1000 * percent[i],
				  [GP_HW_DRAM_READ] = (i + 1) * 1000000}};
	for (size_t i = 0; i < count; i++)
		moved[i] =
			(struct gp_interval){OFFSET + times[i].start_ns, OFFSET + times[i].end_ns};
	return gp_hw_average_of(samples, COUNT(samples), OFFSET, moved, count);
}

static void assert_active(const struct gp_hw_average *average, double percent, double error)
{
	assert_float_equal(average->level[GP_HW_SM_ACTIVE], 1000 * percent, 1e-6);
	assert_float_equal(average->error[GP_HW_SM_ACTIVE], 1000 * error, 1e-6);
}

static void whole_samples_are_exact(void **state)
{
	struct gp_hw_average average = average_of((struct gp_interval[]){{1 * MS, 3 * MS}}, 1);

	assert_active(&average, 70, 0);
	assert_float_equal(average.level[GP_HW_DRAM_READ], 2.5e9, 1);
	assert_float_equal(average.error[GP_HW_DRAM_READ], 0, 1);
	assert_int_equal(average.covered_ns, 2 * MS);
	assert_true(isnan(average.level[GP_HW_L2]));
	assert_true(isnan(average.error[GP_HW_L2]));
}

/* Half of a sample of 40 %: the half may have 0 to 80 %.  One of 0 or 100 % has it everywhere. */
static void a_cut_sample_may_have_all_on_one_side(void **state)
{
	struct gp_hw_average average = average_of((struct gp_interval[]){{3 * MS / 2, 3 * MS}}, 1);

	assert_active(&average, (40 / 2.0 + 100) / 1.5, 20 / 1.5);
	/* 2 MB read within 1 ms, of which the half may have all or nothing */
	assert_float_equal(average.error[GP_HW_DRAM_READ], 1e9 / 1.5, 1);
	average = average_of((struct gp_interval[]){{MS / 2, MS}, {2 * MS, 5 * MS / 2}}, 2);
	assert_active(&average, 50, 0);
	/* at most 100 % in the tenth inside; at least 33 % in nine tenths */
	average = average_of((struct gp_interval[]){{MS, 11 * MS / 10}}, 1);
	assert_active(&average, 40, 60);
	average = average_of((struct gp_interval[]){{MS, 19 * MS / 10}}, 1);
	assert_active(&average, 40, (36 - 30) / 0.9);
}

/* Two times in one sample are one part of it. */
static void parts_of_a_sample_are_added(void **state)
{
	const struct gp_interval halves[] = {{MS, 5 * MS / 4}, {3 * MS / 2, 7 * MS / 4}};
	const struct gp_interval adjoining[] = {{MS, 3 * MS / 2}, {3 * MS / 2, 2 * MS}};
	struct gp_hw_average average = average_of(halves, COUNT(halves));

	assert_active(&average, 40, 40);
	assert_int_equal(average.covered_ns, MS / 2);
	average = average_of(adjoining, COUNT(adjoining));
	assert_active(&average, 40, 0);
}

static void times_without_samples_do_not_count(void **state)
{
	struct gp_hw_average average =
		average_of((struct gp_interval[]){{3 * MS, 10 * MS}, {20 * MS, 30 * MS}}, 2);

	assert_active(&average, 80, 0);
	assert_int_equal(average.covered_ns, MS);
	average = average_of((struct gp_interval[]){{20 * MS, 30 * MS}}, 1);
	assert_int_equal(average.covered_ns, 0);
	assert_true(isnan(average.level[GP_HW_SM_ACTIVE]));
	average = average_of(NULL, 0);
	assert_int_equal(average.covered_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_samples_are_exact),
		cmocka_unit_test(a_cut_sample_may_have_all_on_one_side),
		cmocka_unit_test(parts_of_a_sample_are_added),
		cmocka_unit_test(times_without_samples_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
