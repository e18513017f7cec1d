/*
 * figures: what a run of a program amounts to: one number for each metric, and what each kernel,
 * other operation, API function, and function of the host took.  A run is all processes of it.
 *
 * Figures are those of the summary, from the same functions.  Sums of times and numbers are
 * doubles: exact up to 2^53.
 */
#ifndef REPORT_DIFF_FIGURES_H
#define REPORT_DIFF_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/model.h"
#include "report/document/table.h"

enum gp_metric {
#define GP_METRIC(NAME, name, words, unit, kind, recorded, gated, meaning) GP_METRIC_##NAME,
#include "report/diff/metric.def"
#undef GP_METRIC
	GP_METRICS
};

enum gp_metric_kind { GP_METRIC_EXACT, GP_METRIC_TIME };

/* What the recording must have had for the metric to be known. */
enum gp_metric_source { GP_METRIC_OF_GPU, GP_METRIC_OF_MEMORY, GP_METRIC_OF_WAITS };

struct gp_metric_row {
	const char *name, *words, *meaning;
	enum gp_unit unit;
	enum gp_metric_kind kind;
	enum gp_metric_source source;
	bool gated;
};

extern const struct gp_metric_row gp_metric_rows[GP_METRICS];

/* The metric of that name, or GP_METRICS. */
enum gp_metric gp_metric_find(const char *name);

/* What has a name and happened some times. */
struct gp_named_figure {
	/* valid UTF-8 without control characters; a kernel's is mangled, as every build has it */
	char *name;
	double count, total_ns; /* of leaks: bytes */
	double median_ns; /* NAN: no such operation had a time; of the host: it is not known */
	/* kernels: theoretical, the mean of all launches, 0 to 1; NAN = not known */
	double occupancy;
};

struct gp_named_list {
	struct gp_named_figure *rows; /* by name */
	uint32_t count;
};

enum gp_named_kind {
	GP_NAMED_KERNEL,
	GP_NAMED_OTHER, /* "[memcpy HtoD pageable]" */
	GP_NAMED_CALL,  /* API functions */
	GP_NAMED_HOST,  /* what Python did (report/analysis/host/host_place.h); count: looks */
	GP_NAMED_LEAK,  /* call sites of what was never freed; count: blocks, total: bytes */
	GP_NAMED_KINDS
};

/* Zeroed = empty. */
struct gp_figures {
	double values[GP_METRICS]; /* NAN = not known; NEW_KERNELS is for whoever compares */
	struct gp_named_list named[GP_NAMED_KINDS];
};

/* The models are one run.  Returns 0 or -ENOMEM; gp_figures_free() in either case. */
int gp_figures_of(struct gp_model *const *models, size_t model_count, struct gp_figures *figures);
void gp_figures_free(struct gp_figures *figures);

/* The row of that name, or NULL. */
const struct gp_named_figure *gp_named_find(const struct gp_named_list *list, const char *name);

/*
 * What a kernel is called in figures: as every build of the program has it
 * (report/symbols/demangle.h).  To be freed; NULL: no memory.
 */
char *gp_kernel_figure_name(const char *recorded);

/* By name, each to be found then; those of one name become one. */
void gp_named_sort(struct gp_named_list *list);

#endif
