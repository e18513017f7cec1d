/* roofline: peaks, work and verdicts from known counters, by the formulas of Nsight Compute. */
#include "report/analysis/device/roofline.h"

#include <math.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "tests/unit.h"

#define NEAR(value, expected)                                                                      \
	assert_true(fabs((value) - (double)(expected)) <= 1e-9 * fabs((double)(expected)))

struct known {
	enum gp_roofline_role role;
	double value;
};

/* An H200: 10 us of a kernel, without its work. */
static const struct known device[] = {
	{GP_ROLE_TIME, 10000},     {GP_ROLE_SM_CLOCK, 2e9},    {GP_ROLE_DRAM_CLOCK, 3e9},
	{GP_ROLE_L2_CLOCK, 1.5e9}, {GP_ROLE_L1_CLOCK, 2e9},    {GP_ROLE_DRAM_PEAK, 1504},
	{GP_ROLE_L2_PEAK, 9024},   {GP_ROLE_L1_PEAK, 67584},   {GP_ROLE_FP32_PEAK, 16896},
	{GP_ROLE_FP64_PEAK, 8448}, {GP_ROLE_FP16_PEAK, 16896}, {GP_ROLE_BF16_TENSOR_PEAK, 1081344},
};

static void set(double *means, const struct known *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		means[values[i].role] = values[i].value;
}

static struct gp_roofline of(const struct known *values, size_t count)
{
	double means[GP_ROLES];

	for (int i = 0; i < GP_ROLES; i++)
		means[i] = (double)NAN;
	set(means, device, COUNT(device));
	set(means, values, count);
	return gp_roofline_of(means);
}
#define OF(...)                                                                                    \
	of((const struct known[]){__VA_ARGS__},                                                    \
	   sizeof((const struct known[]){__VA_ARGS__}) / sizeof(struct known))

static void metrics_have_roles(void **state)
{
	static char *const metrics[] = {"gpu__time_duration.sum", "dram__bytes_op_read.sum",
					"sm__ops_path_tensor_src_bf16_dst_fp32.sum", "k"};
	enum gp_roofline_role *roles = gp_roofline_roles(metrics, 4);

	assert_non_null(roles);
	assert_int_equal(roles[0], GP_ROLE_TIME);
	assert_int_equal(roles[1], GP_ROLE_DRAM_READ);
	assert_int_equal(roles[2], GP_ROLE_BF16_TENSOR);
	assert_int_equal(roles[3], GP_ROLES);
	free(roles);
}

static void peaks_are_at_the_measured_clock(void **state)
{
	struct gp_roofline roofline = OF({GP_ROLE_L2, 0});

	NEAR(roofline.peak[GP_ROOF_DRAM], 1504 * 3e9);
	NEAR(roofline.peak[GP_ROOF_L2], 9024 * 1.5e9);
	NEAR(roofline.peak[GP_ROOF_L1], 67584 * 2e9);
	NEAR(roofline.peak[GP_ROOF_FP32], 2 * 16896 * 2e9);
	NEAR(roofline.peak[GP_ROOF_FP64], 2 * 8448 * 2e9);
	NEAR(roofline.peak[GP_ROOF_FP16], 4 * 16896 * 2e9);
	NEAR(roofline.peak[GP_ROOF_BF16_TENSOR], 1081344 / 2 * 2e9); /* dense */
	assert_true(isnan(roofline.peak[GP_ROOF_FP8_TENSOR]));
}

static void operations_are_added(void **state)
{
	struct gp_roofline roofline = OF({GP_ROLE_FFMA, 100}, {GP_ROLE_FADD, 10}, {GP_ROLE_FMUL, 1},
					 {GP_ROLE_DFMA, 7}, {GP_ROLE_DADD, 0}, {GP_ROLE_DMUL, 0},
					 {GP_ROLE_HFMA, 5}, {GP_ROLE_HADD, 1}, {GP_ROLE_HMUL, 1});

	NEAR(roofline.work[GP_ROOF_FP32], 211);
	NEAR(roofline.work[GP_ROOF_FP64], 14);
	NEAR(roofline.work[GP_ROOF_FP16], 24);
	NEAR(roofline.flops, 249);
}

static void memory_bound(void **state)
{
	/* 10 us at 90 % of 4.512 TB/s */
	struct gp_roofline roofline =
		OF({GP_ROLE_DRAM_READ, 30e6}, {GP_ROLE_DRAM_WRITE, 10.608e6}, {GP_ROLE_L2, 41e6},
		   {GP_ROLE_L1, 41e6}, {GP_ROLE_FFMA, 1e6}, {GP_ROLE_FADD, 0}, {GP_ROLE_FMUL, 0});

	assert_int_equal(roofline.bound, GP_BOUND_MEMORY);
	assert_int_equal(roofline.unit, GP_ROOF_DRAM);
	NEAR(roofline.roof, 0.9);
	NEAR(roofline.speedup, 1 / 0.9);
}

static void compute_bound(void **state)
{
	struct gp_roofline roofline = OF({GP_ROLE_DRAM_READ, 1e6}, {GP_ROLE_DRAM_WRITE, 1e6},
					 {GP_ROLE_BF16_TENSOR, 0.75 * 1081344 / 2 * 2e9 * 10e-6});

	assert_int_equal(roofline.bound, GP_BOUND_COMPUTE);
	assert_int_equal(roofline.unit, GP_ROOF_BF16_TENSOR);
	NEAR(roofline.roof, 0.75);
}

/* mma.sync on Hopper: busy pipes, at half of the operations that wgmma makes. */
static void a_busy_pipe_is_a_limit(void **state)
{
	struct gp_roofline roofline =
		OF({GP_ROLE_DRAM_READ, 1e6}, {GP_ROLE_DRAM_WRITE, 1e6}, {GP_ROLE_TENSOR_PIPE, 90},
		   {GP_ROLE_BF16_TENSOR, 0.5 * 1081344 / 2 * 2e9 * 10e-6});

	assert_int_equal(roofline.bound, GP_BOUND_COMPUTE);
	assert_int_equal(roofline.unit, GP_ROOF_TENSOR_PIPE);
	NEAR(roofline.roof, 0.9);
	NEAR(roofline.part[GP_ROOF_BF16_TENSOR], 0.5);
}

/* The limit of 60 %. */
static void latency_bound(void **state)
{
	const double most = 1504 * 3e9 * 10e-6;
	struct gp_roofline roofline = OF({GP_ROLE_DRAM_READ, 0.59 * most}, {GP_ROLE_DRAM_WRITE, 0},
					 {GP_ROLE_FMA_PIPE, 30});

	assert_int_equal(roofline.bound, GP_BOUND_LATENCY);
	roofline = OF({GP_ROLE_DRAM_READ, 0.1 * most}, {GP_ROLE_DRAM_WRITE, 0},
		      {GP_ROLE_FMA_PIPE, 60});
	assert_int_equal(roofline.bound, GP_BOUND_COMPUTE);
	roofline = OF({GP_ROLE_DRAM_READ, 0.61 * most}, {GP_ROLE_DRAM_WRITE, 0},
		      {GP_ROLE_FMA_PIPE, 30});
	assert_int_equal(roofline.bound, GP_BOUND_MEMORY);
}

static void no_verdict_without_counters(void **state)
{
	struct gp_roofline roofline = OF({GP_ROLE_DRAM_READ, 1e6}, {GP_ROLE_DRAM_WRITE, 1e6});

	assert_int_equal(roofline.bound, GP_BOUND_UNKNOWN); /* it may compute a lot */
	assert_true(isnan(roofline.flops));
	roofline = OF({GP_ROLE_TIME, (double)NAN}, {GP_ROLE_FFMA, 1}, {GP_ROLE_FADD, 1},
		      {GP_ROLE_FMUL, 1});
	assert_int_equal(roofline.bound, GP_BOUND_UNKNOWN);
	NEAR(roofline.flops, 4);
	assert_true(isnan(roofline.roof));
}

/* FP16 by mma.sync: the counted types have none. */
static void tensor_operations_that_are_not_counted(void **state)
{
	struct gp_roofline roofline = OF({GP_ROLE_DRAM_READ, 1e6}, {GP_ROLE_DRAM_WRITE, 1e6},
					 {GP_ROLE_TENSOR_PIPE, 80}, {GP_ROLE_BF16_TENSOR, 0},
					 {GP_ROLE_FFMA, 5}, {GP_ROLE_FADD, 0}, {GP_ROLE_FMUL, 0});

	assert_true(isnan(roofline.flops));
	assert_int_equal(roofline.bound, GP_BOUND_COMPUTE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_have_roles),
		cmocka_unit_test(peaks_are_at_the_measured_clock),
		cmocka_unit_test(operations_are_added),
		cmocka_unit_test(memory_bound),
		cmocka_unit_test(compute_bound),
		cmocka_unit_test(a_busy_pipe_is_a_limit),
		cmocka_unit_test(latency_bound),
		cmocka_unit_test(no_verdict_without_counters),
		cmocka_unit_test(tensor_operations_that_are_not_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
