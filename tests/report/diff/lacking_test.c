/* What only one side has is named once, and is no change. */
#include "report/diff/lacking.h"

#include <math.h>

#include "run_builder.h"
#include "tests/unit.h"

static void check(const struct gp_run_set *a, const struct gp_run_set *b, const char *expected)
{
	char *text = gp_lacking_tell(a, b);

	assert_string_equal(text, expected);
	free(text);
}

static void forget(struct gp_run_set *set, enum gp_metric_source source)
{
	for (int metric = 0; metric < GP_METRICS; metric++)
		if (gp_metric_rows[metric].source == source)
			runs_set(set, (enum gp_metric)metric, (double)NAN);
}

static void equal_data_is_not_named(void **state)
{
	struct gp_run_set a = runs_make(2, 1), b = runs_make(2, 1);

	check(&a, &b, "");
	forget(&a, GP_METRIC_OF_MEMORY);
	forget(&b, GP_METRIC_OF_MEMORY);
	runs_set(&a, GP_METRIC_STEP, (double)NAN); /* of which another sentence tells */
	runs_name(&b, GP_NAMED_PHASE, "forward", 9, 9e6);
	check(&a, &b, "");
	runs_set(&a, GP_METRIC_STEP, 5e6);
	check(&a, &b, "only B has data on phases of the step: they are not compared");
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

static void data_of_one_side_is_named_once(void **state)
{
	struct gp_run_set a = runs_make(2, 1), b = runs_make(2, 1);

	runs_name(&a, GP_NAMED_LINE, "main (a.py:7)", 1, 0);
	forget(&b, GP_METRIC_OF_MEMORY);
	check(&a, &b, "only A has data on call stacks, memory: they are not compared");
	check(&b, &a, "only B has data on call stacks, memory: they are not compared");
	runs_set(&b, GP_METRIC_ALLOCATIONS, 5);
	check(&a, &b, "only A has data on call stacks, memory never freed: they are not compared");
	runs_set(&b, GP_METRIC_ALLOCATIONS, (double)NAN);
	runs_name(&b, GP_NAMED_HOST, "main (a.py)", 9, 9e6);
	runs_set(&a, GP_METRIC_PAGEABLE_ASYNC, (double)NAN);
	check(&a, &b,
	      "only A has data on call stacks, memory; only B has data on Python functions on the host, asynchronous copies of pageable memory: they are not compared");
	b.runs[0].figures.values[GP_METRIC_PAGEABLE_ASYNC] = (double)NAN; /* one run has it */
	check(&b, &a,
	      "only A has data on Python functions on the host, asynchronous copies of pageable memory; only B has data on call stacks, memory: they are not compared");
	gp_run_set_free(&a);
	gp_run_set_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_data_is_not_named),
		cmocka_unit_test(data_of_one_side_is_named_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
