/*
 * metric_set: the named sets of hardware/metric_set.def, and which of their metrics a chip collects:
 * samples (PM) in one pass; counters of kernels (RANGE) in several, each kernel in one of them.
 *
 * 	struct gp_metric_choice choice;
 *
 * 	gp_metric_set_choose(&choice, &host, "GH100", gp_metric_set_find("timeline"));
 * 	choice.config.image        of choice.taken[0 ... taken_count - 1]
 * 	gp_profiler_config_close(&choice.config);
 */
#ifndef HARDWARE_METRIC_SET_H
#define HARDWARE_METRIC_SET_H

#include <stddef.h>

#include "hardware/profiler_host.h"

#define GP_METRIC_SET_MOST    72
#define GP_METRIC_MOST_PASSES 16u

/* Names of one quantity on different chips; unused ones are NULL. */
struct gp_metric_names {
	const char *names[4];
};

struct gp_metric_set {
	const char *name;
	enum gp_profiler_kind kind;
	const char *meaning;
	const struct gp_metric_names *metrics;
	size_t count; /* at most GP_METRIC_SET_MOST */
};

enum gp_metric_set_id {
#define GP_METRIC_SET(NAME, name, KIND, meaning, ...) GP_METRIC_SET_##NAME,
#include "hardware/metric_set.def"
#undef GP_METRIC_SET
	GP_METRIC_SETS
};

/* The sets of --roofline: together at most GP_METRIC_SET_MOST metrics, which metric_set.c proves. */
#define GP_METRIC_SETS_OF_ROOFLINE(X) X(ROOFLINE) X(TENSOR) X(PIPES) X(MEMORY)

extern const struct gp_metric_set gp_metric_sets[GP_METRIC_SETS];

/* NULL: there is no such set. */
const struct gp_metric_set *gp_metric_set_find(const char *name);

enum gp_metric_fit {
	GP_METRIC_TAKEN,
	GP_METRIC_LACKING,   /* the chip has none of the names */
	GP_METRIC_TOO_LARGE, /* it needs several passes alone */
	GP_METRIC_LEFT_OUT,  /* those before it exclude it, or have all passes */
};

struct gp_metric_choice {
	/* With the image of the taken metrics.  RANGE: each has its counters in one of the passes. */
	struct gp_profiler_config config;
	const char *taken[GP_METRIC_SET_MOST]; /* each once */
	size_t taken_count;
	/* by position in the set: the chip's name, or the first one if it has none */
	const char *names[GP_METRIC_SET_MOST];
	enum gp_metric_fit fits[GP_METRIC_SET_MOST];
};

/*
 * Costs one config, and some more for each metric if all of them need several passes.  Close
 * choice->config after success.  -ENOTSUP: the chip has none of the metrics, or no such profiler.
 */
int gp_metric_set_choose(struct gp_metric_choice *choice, struct gp_profiler_host *host,
			 const char *chip, const struct gp_metric_set *set);

/* The passes of metrics together; 0: they exclude each other, or one is unknown. */
size_t gp_metric_passes(struct gp_profiler_host *host, const char *chip, enum gp_profiler_kind kind,
			const char *const *metrics, size_t count);

#endif
