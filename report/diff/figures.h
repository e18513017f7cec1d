/*
 * figures: the numbers of one run of a program, with all its processes: one for each metric, and
 * count and time of each kernel, other operation, API function and function of the host.
 *
 * They are those of the summary, from the same functions.  Sums are doubles: exact up to 2^53.
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

/* The data that a recording needs for a metric to be known. */
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

/* Count and time of a name. */
struct gp_named_figure {
	/* valid UTF-8 without control characters; for kernels see gp_kernel_figure_name() */
	char *name;
	double count, total_ns; /* of leaks: bytes; NAN: unknown, in a sampled run */
	double median_ns;       /* NAN: no such operation had a time; always for host functions */
	/* kernels: theoretical occupancy, the mean of all launches, 0 to 1; NAN = unknown */
	double occupancy;
};

struct gp_named_list {
	struct gp_named_figure *rows; /* by name */
	uint32_t count;
};

enum gp_named_kind {
	/*
	 * phases of the step (report/analysis/loop/phases.h); count: steps that have it, total:
	 * the median of the host's time in it
	 */
	GP_NAMED_PHASE,
	/*
	 * ranks of a job; count: GPU operations, total: their time without communication, median:
	 * the step
	 */
	GP_NAMED_RANK,
	GP_NAMED_KERNEL,
	GP_NAMED_OTHER, /* "[memcpy HtoD pageable]" */
	GP_NAMED_CALL,  /* API functions */
	GP_NAMED_HOST,  /* Python functions (report/analysis/host/host_place.h); count: samples */
	GP_NAMED_LEAK,  /* call sites of memory never freed; count: blocks, total: bytes */
	/*
	 * lines of the user's code in the stacks of calls, only names, so the last kind and without
	 * a table: they tell how lines moved between two runs (report/diff/place_names.h)
	 */
	GP_NAMED_LINE,
	GP_NAMED_KINDS
};

/* The time of wall, and the number of GPUs that have idle time in it. */
struct gp_figures_extent {
	uint64_t start_unix_ns, end_unix_ns;
	uint32_t gpus;
};

/* Zeroed = empty. */
struct gp_figures {
	/* of a sampled run (--sample), only those of a step and those of energy are known */
	double values[GP_METRICS]; /* NAN = unknown; NEW_KERNELS comes from a comparison */
	uint32_t step_count;       /* of the main loop; 0 = unknown */
	uint64_t loop_ns;          /* of its steps */
	struct gp_figures_extent extent;
	struct gp_named_list named[GP_NAMED_KINDS];
};

/* The models are one run.  Returns 0 or -ENOMEM; call gp_figures_free() in either case. */
int gp_figures_of(struct gp_model *const *models, size_t model_count, struct gp_figures *figures);

/* The same for one of the processes of a run (report/diff/figures_sum.h). */
int gp_figures_of_process(struct gp_model *model, struct gp_figures *figures);
void gp_figures_free(struct gp_figures *figures);

/* The row of that name, or NULL. */
const struct gp_named_figure *gp_named_find(const struct gp_named_list *list, const char *name);

/*
 * The name of a kernel in figures: mangled, and the same in every build of the program
 * (report/symbols/demangle.h).  Free it; NULL: no memory.
 */
char *gp_kernel_figure_name(const char *recorded);

/* Sort by name, for gp_named_find(), and merge rows with equal names. */
void gp_named_sort(struct gp_named_list *list);

#endif
