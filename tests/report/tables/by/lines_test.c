/* GPU time by line: what lines launch, what the backward pass launches for them, and without a line. */
#include "tests/unit.h"

#include "report/tables/breakdown.h"
#include "tests/report/training_builder.h"

#define ADDMM "Model.forward (model.py:10)"
#define RELU  "Model.forward (model.py:11)"

enum { SHARE, TOTAL, LAUNCHED, BACKWARD, LIKELY, ESTIMATED, COUNT_OF, PID, LINE };

static void assert_row(const struct gp_table *table, const char *line, uint64_t launched_ns,
		       uint64_t backward_ns, uint64_t count)
{
	for (size_t i = 0; i < gp_table_rows(table); i++) {
		const struct gp_value *row = gp_table_row(table, i);

		if (strcmp(row[LINE].text, line) != 0)
			continue;
		assert_int_equal(row[TOTAL].whole, launched_ns + backward_ns);
		assert_int_equal(row[LAUNCHED].whole, launched_ns);
		assert_int_equal(row[BACKWARD].whole, backward_ns);
		assert_int_equal(row[COUNT_OF].whole, count);
		assert_int_equal(row[PID].whole, 1);
		return;
	}
	fail();
}

static double likely_of(const struct gp_table *table, const char *line)
{
	for (size_t i = 0; i < gp_table_rows(table); i++)
		if (strcmp(gp_table_row(table, i)[LINE].text, line) == 0)
			return gp_table_row(table, i)[LIKELY].real;
	return -1;
}

/* Each launch takes 10 ns. */
static void rows_are_lines(void **state)
{
	struct training t = training_begin();
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table table;

	training_forward(&t, 10, "addmm")->is_estimated = true;
	training_forward(&t, 10, "addmm");
	training_forward(&t, 11, "relu");
	training_launch(&t, TRAINING_PROGRAM, "/home/me/train.py@7", "adam");
	training_node(&t, "ReluBackward0", 1);
	training_node(&t, "AddmmBackward0", 1);
	training_node(&t, "AddmmBackward0", 2);
	training_engine(&t, "torch::autograd::AccumulateGrad::apply > at::_ops::add__Tensor::call");
	training_engine(&t, "c10d::Reducer::autograd_hook > at::_ops::copy_::call");
	model = training_end(&t);
	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_line, &scope, &table), 0);
	assert_int_equal(gp_table_rows(&table), 4);
	assert_row(&table, ADDMM, 20, 30, 5);
	assert_row(&table, RELU, 10, 10, 2);
	assert_row(&table, "work (train.py:7)", 10, 0, 1);
	assert_row(&table, "(backward pass: communication)", 0, 10, 1);
	assert_true(gp_table_row(&table, 0)[ESTIMATED].real == 20);
	assert_true(likely_of(&table, RELU) == 0);
	gp_table_close(&table);
	gp_scope_close(&scope);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
