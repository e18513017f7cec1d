#include "report/diff/kernel_names.h"
#include "run_builder.h"
#include "tests/unit.h"

static struct gp_named_list *kernels_of(struct gp_run_set *set)
{
	return &set->runs[0].figures.named[GP_NAMED_KERNEL];
}

static void name_kernel(struct gp_run_set *set, uint32_t kernel, const char *name)
{
	struct gp_named_figure *row = &kernels_of(set)->rows[kernel];

	free(row->name);
	row->name = strdup(name);
	row->count = kernel + 1;
}

/* One set is as another recorder writes its trace; either may be the first. */
static void check_match(bool other_first)
{
	struct gp_run_set own = runs_make(1, 3), other = runs_make(1, 3);
	const struct gp_named_figure *row;
	const char **names;
	uint32_t count;

	name_kernel(&own, 0, "_Z3mapIiEvPT_");
	name_kernel(&own, 1, "_Z6kernelPf");
	name_kernel(&own, 2, "triton_add");
	name_kernel(&other, 0, "only_here(int)");
	name_kernel(&other, 1, "triton_add");
	name_kernel(&other, 2, "void map<int>(int*)");
	if (other_first)
		gp_kernel_names_match(&other, &own);
	else
		gp_kernel_names_match(&own, &other);
	row = gp_named_find(kernels_of(&other), "_Z3mapIiEvPT_");
	assert_non_null(row);
	assert_int_equal((int)row->count, 3);
	assert_non_null(gp_named_find(kernels_of(&other), "only_here(int)"));
	assert_non_null(gp_named_find(kernels_of(&other), "triton_add"));
	assert_non_null(gp_named_find(kernels_of(&own), "_Z3mapIiEvPT_"));
	assert_non_null(gp_named_find(kernels_of(&own), "_Z6kernelPf"));
	assert_int_equal(gp_run_set_names(&own, &other, GP_NAMED_KERNEL, &names, &count), 0);
	assert_int_equal(count, 4);
	free(names);
	gp_run_set_free(&own);
	gp_run_set_free(&other);
}

static void demangled_names_are_those_of_mangled_ones(void **state)
{
	check_match(false);
	check_match(true);
}

static void sets_without_kernels_stay_so(void **state)
{
	struct gp_run_set none = {0}, empty = runs_make(1, 0);

	gp_kernel_names_match(&none, &empty);
	assert_int_equal(kernels_of(&empty)->count, 0);
	gp_run_set_free(&none);
	gp_run_set_free(&empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(demangled_names_are_those_of_mangled_ones),
		cmocka_unit_test(sets_without_kernels_stay_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
