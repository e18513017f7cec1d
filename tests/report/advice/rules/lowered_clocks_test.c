/* lowered-clocks: how much the clocks cost, and which reasons it names. */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"

#define MS 1000000u

#define SAMPLES 40
#define EVERY   (100 * MS)

/*
 * Four seconds, in which the GPU works for `busy_ms` of each 100.  The first `lowered` samples have
 * that reason and clock.
 */
static struct gp_model *build_run(uint32_t busy_ms, uint32_t lowered, uint32_t reasons,
				  uint16_t clock_mhz)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i <= SAMPLES; i++) {
		uint64_t at_ns = (uint64_t)i * EVERY;
		bool is_lowered = i < lowered;
		uint32_t sample;

		build_call(&b, 100, BUILD_LAUNCH, at_ns, MS, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 2 * MS, at_ns + (2 + busy_ms) * MS, i + 1);
		sample = BUILD_GROW(&b, energies, energy_count);
		b.model->energies[sample] = (struct gp_energy){
			.time_ns = at_ns,
			.reasons = is_lowered ? reasons : 0,
			.clock_mhz = is_lowered ? clock_mhz : 2000,
		};
	}
	return build_end(&b);
}

/* The saving, 0 = no finding. */
static uint64_t saved(struct gp_model *model, const char *words, bool is_doubtful)
{
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "lowered-clocks");
	uint64_t saves_ns = found ? found->saves_ns : 0;

	if (found) {
		assert_non_null(strstr(found->found, words));
		assert_int_equal(found->is_doubtful, is_doubtful);
	}
	gp_advice_free(&advice);
	gp_model_free(model);
	return saves_ns;
}

/* Half of the time with three quarters of the clock: a quarter of that time. */
static void the_clock_is_lower_while_the_gpu_works(void **state)
{
	uint64_t saves_ns = saved(build_run(90, 20, 0x20, 1500),
				  "for 50.0 % of the sampled time, to 1500 MHz on average instead "
				  "of 2000: temperature",
				  false);

	assert_in_range(saves_ns, 20 * 90 * MS / 4 - 2, 20 * 90 * MS / 4);
}

static void a_power_cap_may_be_no_fault(void **state)
{
	assert_in_range(saved(build_run(90, 40, 0x4, 1600), "power cap", true), 1, SAMPLES * EVERY);
}

/* The general reason of the hardware is named only if it is alone. */
static void a_specific_reason_is_named(void **state)
{
	assert_in_range(saved(build_run(90, 40, 0x8 | 0x80, 1000), "power brake", false), 1,
			SAMPLES * EVERY);
	assert_in_range(saved(build_run(90, 40, 0x8, 1000), "hardware slowdown", false), 1,
			SAMPLES * EVERY);
}

static void an_idle_gpu_loses_nothing(void **state)
{
	assert_int_equal(saved(build_run(1, 40, 0x20, 1500), "", false), 0);
}

/* The GPU is idle, or the user has set the clocks. */
static void other_reasons_are_no_limit(void **state)
{
	assert_int_equal(saved(build_run(90, 40, 0x1 | 0x2 | 0x10, 1000), "", false), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_is_lower_while_the_gpu_works),
		cmocka_unit_test(a_power_cap_may_be_no_fault),
		cmocka_unit_test(a_specific_reason_is_named),
		cmocka_unit_test(an_idle_gpu_loses_nothing),
		cmocka_unit_test(other_reasons_are_no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
