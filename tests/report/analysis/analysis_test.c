/* Of many processes with a device each, each has the parts of its own run. */
#include <stdlib.h>

#include "report/analysis/analysis.h"
#include "tests/report/model_builder.h"
#include "tests/unit.h"

#define MS        1000000ull
#define PROCESSES 250u
#define STEPS     2000u

/* A loop of 2 ms a step, with two kernels and two idle gaps. */
static struct gp_model *build_process(uint8_t device_id)
{
	struct build b = build_begin(100u + device_id);

	build_device(&b, device_id, "GPU");
	for (uint32_t i = 0; i < 2 * STEPS; i++) {
		uint64_t at_ns = (i + 1) * MS;
		struct gp_op *op;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, 5000, i + 1);
		op = build_op(&b, GP_OP_KERNEL, 7, at_ns + 6000, at_ns + 500000, i + 1);
		op->device_id = device_id;
		op->name = i % 2;
	}
	build_name(&b, "scale");
	build_name(&b, "add");
	return build_end(&b);
}

static void each_of_many_processes_has_its_steps(void **state)
{
	struct gp_model *models[PROCESSES];
	struct gp_kinds *kinds = gp_kinds_new(NULL, NULL, 0);
	struct gp_device_list devices = {0};
	struct gp_analysis basis;

	(void)state;
	assert_non_null(kinds);
	for (uint32_t i = 0; i < PROCESSES; i++)
		models[i] = build_process((uint8_t)i);
	assert_int_equal(gp_device_list_all(&devices, models, PROCESSES), 0);
	assert_int_equal(gp_analysis_of(&basis, models, PROCESSES, &devices, kinds, 0), 0);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		uint64_t state_ns[GP_STATES] = {0};

		assert_int_equal(basis.steps[i].counts[GP_RUN_STEADY], STEPS);
		gp_analysis_add_part(&basis, i, GP_RUN_STEADY, state_ns);
		assert_in_range(gp_state_busy_ns(state_ns), 2 * (STEPS - 1) * 494000ull,
				2 * STEPS * 494000ull);
	}
	assert_int_equal(gp_analysis_main_process(&basis), 0); /* the first of equal ones */
	gp_analysis_free(&basis);
	gp_device_list_free(&devices);
	gp_kinds_free(kinds);
	for (uint32_t i = 0; i < PROCESSES; i++)
		gp_model_free(models[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_of_many_processes_has_its_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
