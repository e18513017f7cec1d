#include "tests/unit.h"

#include <string.h>

#include "report/cli/align_hosts.h"
#include "tests/report/model_builder.h"

static struct gp_model *model_of(const char *boot)
{
	struct build b = build_begin(1);

	b.model->info[GP_INFO_BOOT_ID] = strdup(boot);
	return build_end(&b);
}

/* Of one host there is nothing to align, and without collectives nothing tells the clocks. */
static void models_without_a_common_clock_stay(void **state)
{
	static const char *const boots[][2] = {{"a", "a"}, {"a", "b"}};

	for (size_t i = 0; i < 2; i++) {
		struct gp_model *models[] = {model_of(boots[i][0]), model_of(boots[i][1])};
		struct gp_model *before[] = {models[0], models[1]};

		assert_int_equal(gp_align_hosts(models, 2), 0);
		for (size_t k = 0; k < 2; k++) {
			assert_ptr_equal(models[k], before[k]);
			assert_false(models[k]->clock.is_known && models[k]->clock.operations > 0);
			gp_model_free(models[k]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_without_a_common_clock_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
