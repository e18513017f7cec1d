#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/breakdown.h"
#include "tests/report/model_builder.h"

/* Names as NCCL's versions have them; NULL: none of NCCL's. */
static const struct {
	const char *name, *collective, *type;
} kernels[] = {
	{"_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE",
	 "AllReduce", "bf16"},
	{"ncclDevKernel_AllReduce_Sum_f32_TREE_LL(ncclDevKernelArgsStorage<4096ul>)", "AllReduce",
	 "f32"},
	{"ncclDevKernel_ReduceScatter_Sum_u32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	 "ReduceScatter", "u32"},
	{"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "AllGather", NULL},
	{"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "SendRecv", NULL},
	{"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "Generic", NULL},
	{"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
	 "AllReduce", "float"},
	{"ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)",
	 "Broadcast", "int8_t"},
	{"ncclAllReduceRingLLKernel_sum_f16(ncclColl)", "AllReduce", "f16"},
	{"all_reduce_of_mine", NULL, NULL},
};

static void check(size_t number)
{
	struct build b = build_begin(1);
	uint32_t name = build_name(&b, kernels[number].name), shape = build_shape(&b, 24, 512);
	struct gp_scope scope;
	struct gp_table sheet;
	struct gp_model *model;
	struct gp_op *op;

	build_device(&b, 0, "GPU");
	op = build_op(&b, GP_OP_KERNEL, 13, 1000, 2000, 0);
	op->name = name;
	op->shape = shape;
	model = build_end(&b);
	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_collective, &scope, &sheet), 0);
	assert_int_equal(gp_table_rows(&sheet), kernels[number].collective != NULL);
	if (kernels[number].collective) {
		const struct gp_value *row = gp_table_row(&sheet, 0);

		assert_int_equal(row[1].whole, 1000);
		assert_int_equal(row[9].whole, 24); /* channels */
		assert_int_equal(row[12].whole, 13);
		assert_string_equal(row[13].text, kernels[number].collective);
		if (kernels[number].type)
			assert_string_equal(row[14].text, kernels[number].type);
		else
			assert_int_equal(row[14].kind, GP_VALUE_NONE);
	}
	gp_table_close(&sheet);
	gp_scope_close(&scope);
	gp_model_free(model);
}

static void names_and_grids_tell(void **state)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		check(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names_and_grids_tell)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
