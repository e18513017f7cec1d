/* hw_fit: the levels of each kind of work, from samples that cover several together. */
#include <math.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/device/hw_fit.h"
#include "tests/unit.h"

#define INTERVAL_NS 1000000u
#define SAMPLES     200u
#define MOST_WORK   2000u

/* Work of each label, and the samples that their levels result in. */
struct scene {
	struct gp_hw_work work[MOST_WORK];
	size_t work_count;
	struct gp_record_hw_sample samples[SAMPLES];
	struct gp_hw_estimate estimates[4];
};

/* Levels by label: percent of SMs in thousandths, bytes a ns of DRAM reads. */
static const double sm_levels[] = {90000, 40000, 0, 70000};
static const double read_levels[] = {500, 2000, 50, 1000};

static void add(struct scene *s, uint32_t label, uint64_t start_ns, uint64_t end_ns)
{
	assert_true(s->work_count < MOST_WORK);
	s->work[s->work_count++] = (struct gp_hw_work){start_ns, end_ns, label};
}

static uint64_t overlap(const struct gp_hw_work *work, const struct gp_record_hw_sample *sample)
{
	uint64_t from_ns = work->start_ns > sample->start_ns ? work->start_ns : sample->start_ns;
	uint64_t to_ns = work->end_ns < sample->end_ns ? work->end_ns : sample->end_ns;

	return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void take_samples(struct scene *s)
{
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct gp_record_hw_sample *sample = &s->samples[i];
		double sm = 0, read = 0;

		*sample = (struct gp_record_hw_sample){
			.absent = ~(1u << GP_HW_SM_ACTIVE | 1u << GP_HW_DRAM_READ),
			.start_ns = (uint64_t)i * INTERVAL_NS,
			.end_ns = (uint64_t)(i + 1) * INTERVAL_NS};
		for (size_t w = 0; w < s->work_count; w++) {
			double ns = (double)overlap(&s->work[w], sample);

			sm += ns / INTERVAL_NS * sm_levels[s->work[w].label];
			read += ns * read_levels[s->work[w].label];
		}
		sample->value[GP_HW_SM_ACTIVE] = (uint64_t)(sm + 0.5);
		sample->value[GP_HW_DRAM_READ] = (uint64_t)(read + 0.5);
	}
}

static void fit(struct scene *s, uint32_t labels)
{
	take_samples(s);
	gp_hw_fit(s->samples, SAMPLES, 0, s->work, s->work_count, labels, s->estimates);
}

static void assert_levels(const struct scene *s, uint32_t label)
{
	const struct gp_hw_estimate *estimate = &s->estimates[label];
	double read_bytes_per_s = read_levels[label] * 1e9;

	assert_true(fabs(estimate->level[GP_HW_SM_ACTIVE] - sm_levels[label]) < 500);
	assert_true(fabs(estimate->level[GP_HW_DRAM_READ] - read_bytes_per_s) < 2e10);
	assert_true(estimate->error[GP_HW_SM_ACTIVE] < 1000);
}

/* Kernels of 20 to 70 us, far shorter than the interval, in changing numbers. */
static void work_shorter_than_the_interval_has_its_own_levels(void **state)
{
	struct scene s = {.work_count = 0};
	uint64_t at_ns = 0;

	for (uint32_t i = 0; i < 1500; i++) {
		uint32_t label = (i / 7 + i * i % 5) % 3;
		uint64_t length_ns = 20000 + i * 7919u % 50000;

		add(&s, label, at_ns, at_ns + length_ns);
		at_ns += length_ns + i % 3 * 30000;
	}
	fit(&s, 4);
	for (uint32_t label = 0; label < 3; label++)
		assert_levels(&s, label);
	/* the fourth never ran */
	assert_true(isnan(s.estimates[3].level[GP_HW_SM_ACTIVE]));
}

/* Two kernels that always follow each other cannot be distinguished; the third one can. */
static void work_that_always_comes_together_is_not_known(void **state)
{
	struct scene s = {.work_count = 0};

	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint64_t at_ns = (uint64_t)i * INTERVAL_NS;
		uint64_t share_ns = i * 7919u % 5 * 100000;

		add(&s, 0, at_ns, at_ns + share_ns / 2);
		add(&s, 1, at_ns + share_ns / 2, at_ns + share_ns);
		add(&s, 3, at_ns + 500000, at_ns + 500000 + i % 7 * 50000);
	}
	fit(&s, 4);
	assert_true(isnan(s.estimates[0].level[GP_HW_SM_ACTIVE]));
	assert_true(isnan(s.estimates[1].level[GP_HW_SM_ACTIVE]));
	assert_true(s.estimates[0].error[GP_HW_SM_ACTIVE] > 3000);
	assert_levels(&s, 3);
}

/* Work that ran all the time has the level of the samples; the idle GPU adds nothing. */
static void work_beside_idle_time(void **state)
{
	struct scene s = {.work_count = 0};

	for (uint32_t i = 0; i < SAMPLES; i += 2)
		add(&s, 1, (uint64_t)i * INTERVAL_NS, (uint64_t)(i + 1) * INTERVAL_NS);
	fit(&s, 2);
	assert_levels(&s, 1);
	assert_true(isnan(s.estimates[1].level[GP_HW_NVLINK_SENT])); /* absent in each sample */
}

/*
 * Eight streams fill the GPU together: each sample has the same level, whatever the number.  Such
 * samples tell nothing of a single kernel, and nothing of them is in the level of the other label.
 */
static void work_on_several_streams_is_not_known(void **state)
{
	struct scene s = {.work_count = 0};

	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint64_t at_ns = (uint64_t)i * INTERVAL_NS;

		if (i % 2 != 0)
			add(&s, 3, at_ns, at_ns + 200000 + i * 7919u % 5 * 100000);
		for (uint32_t k = 0; i % 2 == 0 && k < 5 + i % 3; k++)
			add(&s, 0, at_ns, at_ns + INTERVAL_NS);
	}
	take_samples(&s);
	for (uint32_t i = 0; i < SAMPLES; i += 2)
		s.samples[i].value[GP_HW_SM_ACTIVE] = GP_HW_ALL;
	gp_hw_fit(s.samples, SAMPLES, 0, s.work, s.work_count, 4, s.estimates);
	assert_true(isnan(s.estimates[0].level[GP_HW_SM_ACTIVE]));
	assert_true(isnan(s.estimates[0].level[GP_HW_DRAM_READ]));
	assert_levels(&s, 3);
}

/* A copy in the background of a kernel, for less than a fifth of the sample. */
static void a_short_copy_beside_a_kernel_counts(void **state)
{
	struct scene s = {.work_count = 0};

	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint64_t at_ns = (uint64_t)i * INTERVAL_NS;

		add(&s, 1, at_ns, at_ns + INTERVAL_NS - i % 7 * 50000);
		add(&s, 2, at_ns, at_ns + i * 7919u % 5 * 40000);
	}
	fit(&s, 3);
	assert_levels(&s, 1);
	assert_levels(&s, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_shorter_than_the_interval_has_its_own_levels),
		cmocka_unit_test(work_that_always_comes_together_is_not_known),
		cmocka_unit_test(work_beside_idle_time),
		cmocka_unit_test(work_on_several_streams_is_not_known),
		cmocka_unit_test(a_short_copy_beside_a_kernel_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
