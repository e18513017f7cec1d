#include "report/analysis/device/roofline.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"

/*
 * A kernel that reaches less than this part of each peak is bound by latency: the limit of Nsight
 * Compute's rule for bottlenecks.  roofline_test.c holds it.
 */
#define LEAST_PART 0.6
#define BUSY_PART  0.01 /* of a pipe that does something */

#define MOST_NAMES 3

static const char *const names[GP_ROLES][MOST_NAMES] = {
#define ROLE(ID, ...) [GP_ROLE_##ID] = {__VA_ARGS__},
#include "report/analysis/device/roofline_metric.def"
#undef ROLE
};

const char *const gp_roofline_units[GP_ROOFS] = {
	[GP_ROOF_DRAM] = "DRAM",
	[GP_ROOF_L2] = "L2",
	[GP_ROOF_L1] = "L1",
	[GP_ROOF_FP32] = "FP32",
	[GP_ROOF_FP64] = "FP64",
	[GP_ROOF_FP16] = "FP16",
	[GP_ROOF_BF16_TENSOR] = "BF16 tensor",
	[GP_ROOF_FP16_TENSOR] = "FP16 tensor",
	[GP_ROOF_TF32_TENSOR] = "TF32 tensor",
	[GP_ROOF_FP8_TENSOR] = "FP8 tensor",
	[GP_ROOF_FMA_PIPE] = "FMA pipe",
	[GP_ROOF_FP64_PIPE] = "FP64 pipe",
	[GP_ROOF_ALU_PIPE] = "ALU pipe",
	[GP_ROOF_TENSOR_PIPE] = "tensor pipe",
};

const char *const gp_roofline_bounds[] = {
	[GP_BOUND_UNKNOWN] = "",
	[GP_BOUND_MEMORY] = "memory",
	[GP_BOUND_COMPUTE] = "compute",
	[GP_BOUND_LATENCY] = "latency",
};

/*
 * Peaks as Nsight Compute's charts of the roofline have them (section files of ncu 2025.3.1:
 * SpeedOfLight_HierarchicalSingle..., ...Double..., ...Half..., ...TensorChart).  An FFMA is two
 * operations; a packed HFMA is four.  The peaks of the tensor cores are those of sparse matrices:
 * of dense ones it is the half.
 */
static const struct {
	enum gp_roofline_role peak, clock;
	double operations;
} peaks[GP_ROOF_OPERATIONS] = {
	[GP_ROOF_DRAM] = {GP_ROLE_DRAM_PEAK, GP_ROLE_DRAM_CLOCK, 1},
	[GP_ROOF_L2] = {GP_ROLE_L2_PEAK, GP_ROLE_L2_CLOCK, 1},
	[GP_ROOF_L1] = {GP_ROLE_L1_PEAK, GP_ROLE_L1_CLOCK, 1},
	[GP_ROOF_FP32] = {GP_ROLE_FP32_PEAK, GP_ROLE_SM_CLOCK, 2},
	[GP_ROOF_FP64] = {GP_ROLE_FP64_PEAK, GP_ROLE_SM_CLOCK, 2},
	[GP_ROOF_FP16] = {GP_ROLE_FP16_PEAK, GP_ROLE_SM_CLOCK, 4},
	[GP_ROOF_BF16_TENSOR] = {GP_ROLE_BF16_TENSOR_PEAK, GP_ROLE_SM_CLOCK, 0.5},
	[GP_ROOF_FP16_TENSOR] = {GP_ROLE_FP16_TENSOR_PEAK, GP_ROLE_SM_CLOCK, 0.5},
	[GP_ROOF_TF32_TENSOR] = {GP_ROLE_TF32_TENSOR_PEAK, GP_ROLE_SM_CLOCK, 0.5},
	[GP_ROOF_FP8_TENSOR] = {GP_ROLE_FP8_TENSOR_PEAK, GP_ROLE_SM_CLOCK, 0.5},
};

static enum gp_roofline_role role_of(const char *metric)
{
	for (int role = 0; role < GP_ROLES; role++)
		for (size_t i = 0; i < MOST_NAMES && names[role][i]; i++)
			if (strcmp(names[role][i], metric) == 0)
				return (enum gp_roofline_role)role;
	return GP_ROLES;
}

enum gp_roofline_role *gp_roofline_roles(char *const *metrics, uint32_t count)
{
	enum gp_roofline_role *roles = calloc((size_t)count + 1, sizeof(*roles));

	for (uint32_t i = 0; i < count; i++)
		roles[i] = role_of(metrics[i]);
	return roles;
}

/* The same source as the peaks: additions and products are one operation each, packed ones two. */
static void count_work(const double *means, double *work)
{
	const double *m = means;

	work[GP_ROOF_DRAM] = m[GP_ROLE_DRAM_READ] + m[GP_ROLE_DRAM_WRITE];
	work[GP_ROOF_L2] = m[GP_ROLE_L2];
	work[GP_ROOF_L1] = m[GP_ROLE_L1];
	work[GP_ROOF_FP32] = m[GP_ROLE_FADD] + m[GP_ROLE_FMUL] + 2 * m[GP_ROLE_FFMA];
	work[GP_ROOF_FP64] = m[GP_ROLE_DADD] + m[GP_ROLE_DMUL] + 2 * m[GP_ROLE_DFMA];
	work[GP_ROOF_FP16] = 2 * m[GP_ROLE_HADD] + 2 * m[GP_ROLE_HMUL] + 4 * m[GP_ROLE_HFMA];
	work[GP_ROOF_BF16_TENSOR] = m[GP_ROLE_BF16_TENSOR];
	work[GP_ROOF_FP16_TENSOR] = m[GP_ROLE_FP16_TENSOR];
	work[GP_ROOF_TF32_TENSOR] = m[GP_ROLE_TF32_TENSOR];
	work[GP_ROOF_FP8_TENSOR] = m[GP_ROLE_FP8_TENSOR];
}

/* The known ones; NAN if none is. */
static double sum_of(const double *values, int first, int end)
{
	double sum = (double)NAN;

	for (int i = first; i < end; i++)
		if (!isnan(values[i]))
			sum = isnan(sum) ? values[i] : sum + values[i];
	return sum;
}

/*
 * Operations of all kinds; those of a kernel for tensor cores are known without the others, which
 * are few.  Not known if the tensor pipes were busy without a counted operation.
 */
static double all_operations(const struct gp_roofline *roofline)
{
	double tensor = sum_of(roofline->work, GP_ROOF_BF16_TENSOR, GP_ROOF_OPERATIONS);
	bool is_busy = roofline->part[GP_ROOF_TENSOR_PIPE] > BUSY_PART;

	if (!(tensor > 0) && (is_busy || isnan(roofline->work[GP_ROOF_FP32])))
		return (double)NAN;
	return sum_of(roofline->work, GP_ROOF_MEMORIES, GP_ROOF_OPERATIONS);
}

static void take_parts(struct gp_roofline *roofline, const double *means)
{
	static const enum gp_roofline_role pipes[] = {GP_ROLE_FMA_PIPE, GP_ROLE_FP64_PIPE,
						      GP_ROLE_ALU_PIPE, GP_ROLE_TENSOR_PIPE};

	for (int i = 0; i < GP_ROOF_OPERATIONS; i++) {
		double peak = means[peaks[i].peak] * means[peaks[i].clock] * peaks[i].operations;

		roofline->peak[i] = peak > 0 ? peak : (double)NAN;
		roofline->part[i] = roofline->time_s > 0 ? roofline->work[i] / roofline->time_s /
								   roofline->peak[i]
							 : (double)NAN;
	}
	for (int i = GP_ROOF_OPERATIONS; i < GP_ROOFS; i++)
		roofline->part[i] = means[pipes[i - GP_ROOF_OPERATIONS]] / 100;
}

static void find_roof(struct gp_roofline *roofline)
{
	for (int i = 0; i < GP_ROOFS; i++)
		if (!isnan(roofline->part[i]) && !(roofline->part[i] <= roofline->roof)) {
			roofline->roof = roofline->part[i];
			roofline->unit = (enum gp_roofline_unit)i;
		}
	roofline->speedup = roofline->roof > 0 ? fmax(1, 1 / roofline->roof) : (double)NAN;
}

static enum gp_roofline_bound judge(const struct gp_roofline *roofline)
{
	bool has_memory = !isnan(sum_of(roofline->part, 0, GP_ROOF_MEMORIES));
	bool has_compute = !isnan(roofline->flops) || !isnan(roofline->part[GP_ROOF_FMA_PIPE]);

	if (roofline->roof >= LEAST_PART)
		return roofline->unit < GP_ROOF_MEMORIES ? GP_BOUND_MEMORY : GP_BOUND_COMPUTE;
	return has_memory && has_compute ? GP_BOUND_LATENCY : GP_BOUND_UNKNOWN;
}

struct gp_roofline gp_roofline_of(const double means[GP_ROLES])
{
	struct gp_roofline roofline = {.time_s = means[GP_ROLE_TIME] / 1e9, .roof = (double)NAN};

	count_work(means, roofline.work);
	take_parts(&roofline, means);
	roofline.flops = all_operations(&roofline);
	find_roof(&roofline);
	roofline.bound = judge(&roofline);
	return roofline;
}
