/* Copies and calls of different vendors are the same rows. */
#include "report/diff/vendor_names.h"

#include "run_builder.h"
#include "tests/unit.h"

static double count_of(const struct gp_run_set *set, enum gp_named_kind kind, const char *name)
{
	const struct gp_named_figure *row = gp_named_find(&set->runs[0].figures.named[kind], name);

	return row ? row->count : 0;
}

static void calls_of_cuda_are_those_of_hip(void **state)
{
	struct gp_run_set cuda = runs_make(1, 0), hip = runs_make(1, 0);

	runs_name(&cuda, GP_NAMED_CALL, "cudaLaunchKernel", 7, 7e3);
	runs_name(&cuda, GP_NAMED_CALL, "cudaStreamSynchronize", 2, 2e3);
	runs_name(&hip, GP_NAMED_CALL, "hipLaunchKernel", 5, 5e3);
	runs_name(&hip, GP_NAMED_CALL, "hipMemcpyWithStream", 1, 1e3);
	gp_vendor_names_match(&hip, &cuda);
	assert_true(count_of(&cuda, GP_NAMED_CALL, "cudaLaunchKernel, hipLaunchKernel") == 7);
	assert_true(count_of(&hip, GP_NAMED_CALL, "cudaLaunchKernel, hipLaunchKernel") == 5);
	assert_true(count_of(&cuda, GP_NAMED_CALL, "cudaStreamSynchronize") == 2);
	assert_true(count_of(&hip, GP_NAMED_CALL, "hipMemcpyWithStream") == 1);
	gp_run_set_free(&cuda);
	gp_run_set_free(&hip);
}

/* Where no side lacks the kind of memory, it stays. */
static void copies_are_the_same_if_a_side_does_not_know_their_memory(void **state)
{
	struct gp_run_set known = runs_make(1, 0), unknown = runs_make(1, 0);

	runs_name(&known, GP_NAMED_OTHER, "[memcpy HtoD pageable]", 2, 2e3);
	runs_name(&known, GP_NAMED_OTHER, "[memcpy HtoD pinned]", 3, 3e3);
	runs_name(&known, GP_NAMED_OTHER, "[memcpy DtoH pinned]", 1, 1e3);
	runs_name(&known, GP_NAMED_OTHER, "[memcpy DtoD]", 6, 6e3);
	runs_name(&unknown, GP_NAMED_OTHER, "[memcpy HtoD unknown]", 4, 4e3);
	runs_name(&unknown, GP_NAMED_OTHER, "[memcpy DtoH pinned]", 8, 8e3);
	gp_vendor_names_match(&known, &unknown);
	assert_true(count_of(&known, GP_NAMED_OTHER, "[memcpy HtoD]") == 5);
	assert_true(count_of(&unknown, GP_NAMED_OTHER, "[memcpy HtoD]") == 4);
	assert_true(count_of(&known, GP_NAMED_OTHER, "[memcpy DtoH pinned]") == 1);
	assert_true(count_of(&known, GP_NAMED_OTHER, "[memcpy DtoD]") == 6);
	gp_run_set_free(&known);
	gp_run_set_free(&unknown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_cuda_are_those_of_hip),
		cmocka_unit_test(copies_are_the_same_if_a_side_does_not_know_their_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
