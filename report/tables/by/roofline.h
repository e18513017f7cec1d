/*
 * roofline: the kernels that --counters measured, by name, grid and block, for the tables, the
 * summary and the page.
 */
#ifndef REPORT_TABLES_BY_ROOFLINE_H
#define REPORT_TABLES_BY_ROOFLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/analysis/device/roofline.h"
#include "report/tables/breakdown_scope.h"

struct gp_roofline_row {
	uint64_t name; /* for gp_scope_kernel_of() */
	uint32_t device;
	uint32_t grid[3], block[3];
	uint64_t launches, measured;
	uint64_t total_ns;  /* of all launches */
	double theoretical; /* occupancy, in percent; NAN: unknown */
	double achieved;
	struct gp_roofline roofline;
};

struct gp_roofline_rows {
	struct gp_roofline_row *rows; /* most time first */
	uint32_t count;
	uint64_t all_ns; /* of all kernels, measured or not */
};

/*
 * The peaks of a device, as means over its measured kernels weighted by their time: what the clocks
 * were while they ran.
 */
struct gp_roofline_ceilings {
	uint32_t device;
	double peak[GP_ROOF_OPERATIONS]; /* NAN: unknown */
};

/* Whether a model has hardware counters of gpuprof. */
bool gp_roofline_any(struct gp_model *const *models, size_t model_count);

/* Returns 0, -ENOMEM or -EOVERFLOW; close the rows in any case. */
int gp_roofline_open(struct gp_scope *scope, struct gp_roofline_rows *rows);
void gp_roofline_close(struct gp_roofline_rows *rows);

/* The next device of the rows from `device` on; false: there is none. */
bool gp_roofline_ceilings_of(const struct gp_roofline_rows *rows, uint32_t device,
			     struct gp_roofline_ceilings *ceilings);

#endif
