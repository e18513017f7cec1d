/* GPU time by operator: the rows' operators, nodes, estimated shares and places. */
#include "tests/unit.h"

#include "report/tables/breakdown.h"
#include "tests/report/stack_builder.h"

enum { SHARE, TOTAL, COUNT_OF, AVG, ESTIMATED, PID, OPERATOR, NODE, PLACE };

/* A launch of a kernel that takes so long, at that stack; returns its call. */
static struct gp_call *launch(struct build *b, uint32_t stack, uint32_t name, uint64_t ns)
{
	uint32_t correlation = b->model->call_count + 1;
	uint64_t at_ns = 1000 * (uint64_t)correlation;
	struct gp_call *call = build_call(b, 1, BUILD_LAUNCH, at_ns, 5, correlation);

	build_op(b, GP_OP_KERNEL, 7, at_ns + 5, at_ns + 5 + ns, correlation)->name = name;
	call->stack = stack;
	return call;
}

static uint32_t in_training(struct build *b, uint8_t line)
{
	return build_python(b, BUILD_OUTERMOST, "/home/me/train.py", "step", line);
}

static void assert_row(const struct gp_table *table, size_t index, uint64_t total_ns,
		       uint64_t count, const char *operator_name, const char *node,
		       const char *place)
{
	const struct gp_value *row = gp_table_row(table, index);

	assert_int_equal(row[TOTAL].whole, total_ns);
	assert_int_equal(row[COUNT_OF].whole, count);
	assert_int_equal(row[PID].whole, 1);
	assert_string_equal(row[OPERATOR].text, operator_name);
	assert_string_equal(row[NODE].text ? row[NODE].text : "", node);
	assert_string_equal(row[PLACE].text ? row[PLACE].text : "", place);
}

/*
 * As torch.profiler has them: operators are frames without a file, below the user's lines; in the
 * backward pass, below a node.
 */
static void rows_are_operators_and_nodes(void **state)
{
	struct build b = build_begin(1);
	uint32_t gemm = build_name(&b, "gemm"), add = build_name(&b, "add");
	uint32_t forward =
		build_python(&b, build_python(&b, in_training(&b, 12), "", "aten::linear", 0), "",
			     "aten::addmm", 0);
	uint32_t other_line = build_python(&b, in_training(&b, 30), "", "aten::addmm", 0);
	uint32_t node = build_python(&b, BUILD_OUTERMOST, "", "AddmmBackward0", 0);
	uint32_t backward = build_python(&b, node, "", "aten::addmm", 0);
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table table;

	launch(&b, forward, gemm, 500);
	launch(&b, forward, gemm, 300)->is_estimated = true;
	launch(&b, other_line, gemm, 200);
	launch(&b, backward, gemm, 400);
	launch(&b, node, add, 100);
	launch(&b, in_training(&b, 40), add, 50);
	launch(&b, GP_NONE, add, 30);
	build_stacks_end(&b);
	model = build_end(&b);
	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_operator, &scope, &table), 0);
	assert_int_equal(gp_table_rows(&table), 4);
	assert_row(&table, 0, 1000, 3, "aten::addmm", "", "step (train.py:12)");
	assert_row(&table, 1, 400, 1, "aten::addmm", "AddmmBackward0", "");
	assert_row(&table, 2, 100, 1, "AddmmBackward0", "AddmmBackward0", "");
	assert_row(&table, 3, 80, 2, "add", "", "step (train.py:40)");
	assert_true(gp_table_row(&table, 0)[ESTIMATED].real == 30);
	assert_true(gp_table_row(&table, 1)[ESTIMATED].real == 0);
	assert_true(gp_table_row(&table, 3)[AVG].real == 40);
	gp_table_close(&table);
	gp_scope_close(&scope);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_operators_and_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
