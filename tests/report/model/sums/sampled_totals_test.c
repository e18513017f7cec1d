/* sampled_totals: totals of a run from its windows, each event in the window that launched it. */

#include "tests/unit.h"

#include <math.h>

#include "report/model/recorded.h"
#include "report/model/sums/sampled_totals.h"
#include "tests/report/model_builder.h"

#define WINDOWS   5
#define PERIOD_NS 1000
#define OPEN_NS   100
#define END_NS    5550
#define ERROR     76.495 /* of residuals -12.088, -11.978, -1.978, 8.022, 18.022; f = 0.1099 */

/*
 * The first window begins at 1000, each lasts 100, a pause 900; the run ends at 5550.  So the first
 * window stands for 550, and the others for 1000 each.  A window has as many launches as its number,
 * from 1 on; the kernel of each runs for 50 ns after the window's end.
 */
static struct gp_model *build_sampled(void)
{
	struct build b = build_begin(1);
	uint32_t id = 1;

	build_info(&b, GP_INFO_OPTIONS, "OUTPUT=x\nSAMPLE=1%\nWAIT=all");
	build_device(&b, 0, "GPU");
	build_gate(&b, false, GP_GATE_START, 0);
	for (uint64_t window = 1; window <= WINDOWS; window++) {
		uint64_t start_ns = window * PERIOD_NS;

		build_gate(&b, true, GP_GATE_SAMPLE, start_ns);
		for (uint64_t i = 0; i < window; i++, id++) {
			build_call(&b, 100, BUILD_LAUNCH, start_ns + 10 * i, 5, id);
			build_op(&b, GP_OP_KERNEL, 7, start_ns + OPEN_NS + 60 * i,
				 start_ns + OPEN_NS + 60 * i + 50, id);
		}
		build_call(&b, 100, BUILD_DEVICE_SYNC, start_ns + 90, 10, 0);
		build_gate(&b, false, GP_GATE_SAMPLE, start_ns + OPEN_NS);
	}
	b.model->end_ns = END_NS;
	return build_end(&b);
}

static void assert_estimate(const struct gp_sampled_totals *totals, enum gp_sampled_total total,
			    double value, double error)
{
	const struct gp_estimate *estimate = &totals->totals[total];

	if (!(fabs(estimate->value - value) <= 1e-6 * value) ||
	    !(fabs(estimate->error - error) <= 1e-3 * error + 1e-3))
		fail_msg("%d: %g +- %g, not %g +- %g", (int)total, estimate->value, estimate->error,
			 value, error);
}

static void windows_stand_for_the_time_from_the_first_on(void **state)
{
	struct gp_model *model = build_sampled();
	struct gp_sampled_totals totals;

	assert_int_equal(gp_sampled_totals_of(&totals, &model, 1), 0);
	assert_int_equal(totals.extent.windows, WINDOWS);
	assert_int_equal(totals.extent.recorded_ns, WINDOWS * OPEN_NS);
	assert_int_equal(totals.extent.whole_ns, END_NS - PERIOD_NS);
	assert_int_equal(totals.extent.before_ns, PERIOD_NS);
	assert_estimate(&totals, GP_SAMPLED_LAUNCHES, 145.5, ERROR);
	assert_estimate(&totals, GP_SAMPLED_OPERATIONS, 145.5, ERROR);
	assert_estimate(&totals, GP_SAMPLED_GPU_NS, 145.5 * 50, 50 * ERROR);
	assert_estimate(&totals, GP_SAMPLED_WAIT_NS, 455, 0);
	assert_estimate(&totals, GP_SAMPLED_COPIED_BYTES, 0, 0);
	gp_model_free(model);
}

static void processes_are_summed(void **state)
{
	struct gp_model *models[] = {build_sampled(), build_sampled()};
	struct gp_sampled_totals totals;

	assert_int_equal(gp_sampled_totals_of(&totals, models, 2), 0);
	assert_int_equal(totals.extent.windows, 2 * WINDOWS);
	assert_estimate(&totals, GP_SAMPLED_LAUNCHES, 291, sqrt(2) * ERROR);
	for (int i = 0; i < 2; i++)
		gp_model_free(models[i]);
}

static void other_parts_are_no_sample(void **state)
{
	struct gp_model *model = build_sampled();
	struct gp_sampled_totals totals;

	assert_true(gp_recorded_is_sampled(model) && !gp_recorded_knows_memory(model));
	strcpy(strstr(model->info[GP_INFO_OPTIONS], "SAMPLE"), "DELAY=1");
	assert_true(!gp_recorded_is_sampled(model) && gp_recorded_knows_memory(model));
	assert_int_equal(gp_sampled_totals_of(&totals, &model, 1), 0);
	assert_int_equal(totals.extent.windows, 0);
	for (int i = 0; i < GP_SAMPLED_TOTALS; i++)
		assert_true(isnan(totals.totals[i].value) && isnan(totals.totals[i].error));
	gp_model_free(model);
}

static void assert_row(struct gp_sampled_rows *rows, uint32_t row, double value, double error)
{
	struct gp_estimate estimate = gp_sampled_rows_estimate(rows, row);

	if (!(fabs(estimate.value - value) <= 1e-6 * value) ||
	    !(fabs(estimate.error - error) <= 1e-3 * error + 1e-3))
		fail_msg("row %u: %g +- %g, not %g +- %g", row, estimate.value, estimate.error,
			 value, error);
}

/* A row with every operation has the total. */
static void rows_have_their_part(void **state)
{
	struct gp_model *models[] = {build_sampled(), build_sampled()};
	struct gp_sampled_rows *rows = gp_sampled_rows_new(models, 2);

	assert_non_null(rows);
	for (uint32_t i = models[0]->op_count; i-- > 0;) /* in any order */
		assert_int_equal(gp_sampled_rows_add(rows, 0, &models[0]->ops[i], 3), 0);
	assert_row(rows, 3, 145.5 * 50, 50 * ERROR);
	assert_true(isnan(gp_sampled_rows_estimate(rows, 2).value));
	assert_true(isnan(gp_sampled_rows_estimate(rows, 4).value));
	gp_sampled_rows_free(rows);

	rows = gp_sampled_rows_new(models, 2);
	for (size_t model = 0; model < 2; model++)
		for (uint32_t i = 0; i < models[model]->op_count; i++)
			assert_int_equal(
				gp_sampled_rows_add(rows, model, &models[model]->ops[i], 0), 0);
	assert_row(rows, 0, 291 * 50, sqrt(2) * 50 * ERROR);
	gp_sampled_rows_free(rows);
	for (int i = 0; i < 2; i++)
		gp_model_free(models[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_stand_for_the_time_from_the_first_on),
		cmocka_unit_test(processes_are_summed),
		cmocka_unit_test(other_parts_are_no_sample),
		cmocka_unit_test(rows_have_their_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
