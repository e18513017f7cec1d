/*
 * roofline: how much a kernel computed and moved, and how near it came to the peaks of its GPU,
 * from its hardware counters (--counters, --roofline).
 *
 * The roofline model: a kernel takes at least the time in which the GPU computes its operations at
 * its peak, and at least the time in which a memory moves its bytes at its peak.  The greatest of
 * these times is its roof.  Peaks are those of a clock cycle, times the clock that was measured
 * together with the kernel.
 */
#ifndef REPORT_ANALYSIS_DEVICE_ROOFLINE_H
#define REPORT_ANALYSIS_DEVICE_ROOFLINE_H

#include <stdint.h>

enum gp_roofline_role {
#define ROLE(ID, ...) GP_ROLE_##ID,
#include "report/analysis/device/roofline_metric.def"
#undef ROLE
	GP_ROLES
};

/* The role of each metric, to be freed; GP_ROLES: none.  NULL: no memory. */
enum gp_roofline_role *gp_roofline_roles(char *const *metrics, uint32_t count);

/* What limits a kernel: memories first. */
enum gp_roofline_unit {
	GP_ROOF_DRAM,
	GP_ROOF_L2,
	GP_ROOF_L1,
	GP_ROOF_FP32,
	GP_ROOF_FP64,
	GP_ROOF_FP16,
	GP_ROOF_BF16_TENSOR,
	GP_ROOF_FP16_TENSOR,
	GP_ROOF_TF32_TENSOR,
	GP_ROOF_FP8_TENSOR,
	/* pipes, by the part of the time in which they issue: no operations, no peak */
	GP_ROOF_FMA_PIPE,
	GP_ROOF_FP64_PIPE,
	GP_ROOF_ALU_PIPE,
	GP_ROOF_TENSOR_PIPE,
	GP_ROOFS
};
#define GP_ROOF_MEMORIES   3
#define GP_ROOF_OPERATIONS GP_ROOF_FMA_PIPE /* units before this one have a peak */

/* "DRAM", "FP32", "BF16 tensor", ... */
extern const char *const gp_roofline_units[GP_ROOFS];

enum gp_roofline_bound {
	GP_BOUND_UNKNOWN, /* a counter is missing */
	GP_BOUND_MEMORY,
	GP_BOUND_COMPUTE,
	GP_BOUND_LATENCY, /* far below all peaks: the kernel waits, or has too little work */
};

/* "memory", "compute", "latency"; "" if it is unknown. */
extern const char *const gp_roofline_bounds[];

/* Not known: NAN. */
struct gp_roofline {
	double time_s;
	double work[GP_ROOF_OPERATIONS]; /* of a launch: bytes, or operations */
	double peak[GP_ROOF_OPERATIONS]; /* bytes or operations per second */
	double part[GP_ROOFS];           /* of the peak, 0 to 1 */
	/*
	 * operations of all kinds; of the tensor cores alone if the others were not measured.
	 * Unknown also if the tensor cores made some that are not counted, such as those of FP16
	 * and TF32 by mma.sync on GH100
	 */
	double flops;
	/*
	 * the greatest part; and how much faster the kernel would be at that peak, which is a bound,
	 * not a forecast
	 */
	double roof, speedup;
	enum gp_roofline_unit unit; /* of the greatest part */
	enum gp_roofline_bound bound;
};

/* means: of the launches of one kernel, by role; NAN where it was not measured. */
struct gp_roofline gp_roofline_of(const double means[GP_ROLES]);

#endif
