/* process_name: the size of a job is what all of its ranks say. */
#include "tests/unit.h"

#include "report/model/process_name.h"
#include "tests/report/model_builder.h"

#define MODELS 3

struct said {
	const char *rank, *size; /* NULL: nothing */
};

static uint32_t size_of(const struct said said[MODELS])
{
	struct gp_model *models[MODELS];
	uint32_t size;

	for (uint32_t i = 0; i < MODELS; i++) {
		struct build b = build_begin(i + 1);

		if (said[i].rank)
			build_info(&b, GP_INFO_RANK, said[i].rank);
		if (said[i].size)
			build_info(&b, GP_INFO_WORLD_SIZE, said[i].size);
		models[i] = build_end(&b);
	}
	size = gp_models_world_size(models, MODELS);
	for (uint32_t i = 0; i < MODELS; i++)
		gp_model_free(models[i]);
	return size;
}

static void a_job_has_the_size_that_all_ranks_say(void **state)
{
	static const struct {
		struct said said[MODELS];
		uint32_t size;
	} cases[] = {
		{{{"0", "8"}, {"3", "8"}, {"7", "8"}}, 8},
		{{{"0", "8"}, {NULL, NULL}, {"7", "8"}}, 8}, /* not of the job */
		{{{"0", NULL}, {"3", "8"}, {"7", "8"}}, 0},
		{{{"0", "4"}, {"3", "8"}, {"7", "8"}}, 0},
		{{{"0", "8"}, {"3", "8"}, {"8", "8"}}, 0},
		{{{"0", "99999999"}, {"3", "99999999"}, {"7", "99999999"}}, 0},
		{{{NULL, "8"}, {NULL, NULL}, {NULL, NULL}}, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(size_of(cases[i].said), cases[i].size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_has_the_size_that_all_ranks_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
