/* rank_activity: the shares of a rank's time in which its GPU works, in its own parts and in a job's. */
#include "tests/unit.h"

#include <stdlib.h>

#include "report/tables/by/rank_activity.h"
#include "tests/report/model_builder.h"

#define PART_NS 100u
#define END_NS  (PART_NS * GP_RANK_PARTS)
#define BEGIN   1000u

/*
 * One operation after the other, each half as long as a part, of which every second one communicates:
 * in the first half of the time each part has both, in the second half only the first.
 */
static struct gp_model *work(void)
{
	struct build b = build_begin(1);
	uint32_t names[] = {build_name(&b, "work"),
			    build_name(&b, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")};

	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i < 2 * GP_RANK_PARTS; i++) {
		uint64_t start_ns = BEGIN + i * PART_NS / 2;

		if (i % 2 == 0 || i < GP_RANK_PARTS)
			build_op(&b, GP_OP_KERNEL, 7, start_ns, start_ns + PART_NS / 2, 0)->name =
				names[i % 2];
	}
	build_call(&b, 100, BUILD_LAUNCH, BEGIN, END_NS, 0);
	b.model->first_ns = BEGIN;
	b.model->last_ns = BEGIN + END_NS;
	return build_end(&b);
}

static struct gp_rank_activity activity_of(void)
{
	struct gp_model *model = work();
	struct gp_rank_activity activity;
	struct gp_kinds *kinds = gp_kinds_new(NULL, (char[64]){""}, 64);

	assert_int_equal(gp_rank_activity_of(model, kinds, &activity), 0);
	gp_kinds_free(kinds);
	gp_model_free(model);
	return activity;
}

static void each_part_has_its_share(void **state)
{
	struct gp_rank_activity activity = activity_of();

	(void)state;
	assert_int_equal(activity.start_ns, BEGIN);
	assert_int_equal(activity.end_ns, BEGIN + END_NS);
	for (size_t i = 0; i < GP_RANK_PARTS; i++) {
		assert_int_equal(activity.shares[GP_RANK_COMPUTES][i], GP_RANK_SHARE_MOST / 2);
		assert_int_equal(activity.shares[GP_RANK_BUSY][i],
				 i < GP_RANK_PARTS / 2 ? GP_RANK_SHARE_MOST
						       : GP_RANK_SHARE_MOST / 2);
	}
}

/* The job begins a quarter of the rank's time earlier, and ends as much later. */
static void the_parts_of_a_job_are_those_of_its_time(void **state)
{
	struct gp_rank_activity activity = activity_of();
	uint8_t shares[GP_RANK_PARTS];

	(void)state;
	gp_rank_activity_cut(&activity, GP_RANK_BUSY, (int64_t)BEGIN - END_NS / 2, 2 * END_NS,
			     shares);
	for (size_t i = 0; i < GP_RANK_PARTS; i++)
		assert_int_equal(shares[i], i < GP_RANK_PARTS / 4 || i >= GP_RANK_PARTS / 4 * 3
						    ? GP_RANK_SHARE_NONE
					    : i < GP_RANK_PARTS / 2 ? GP_RANK_SHARE_MOST
								    : GP_RANK_SHARE_MOST / 2);
}

static void a_rank_without_work_was_not_recorded(void **state)
{
	const struct gp_rank_activity activity = {0};
	uint8_t shares[GP_RANK_PARTS];

	(void)state;
	gp_rank_activity_cut(&activity, GP_RANK_BUSY, 0, END_NS, shares);
	for (size_t i = 0; i < GP_RANK_PARTS; i++)
		assert_int_equal(shares[i], GP_RANK_SHARE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_has_its_share),
		cmocka_unit_test(the_parts_of_a_job_are_those_of_its_time),
		cmocka_unit_test(a_rank_without_work_was_not_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
