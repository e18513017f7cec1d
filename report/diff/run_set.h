/*
 * run_set: the figures of repeated runs of a program.
 *
 * A run is a trace file, or a folder with the traces of all its processes: its .gpuprof files or,
 * if it has none, the files of other profilers (.json, .json.gz, .sqlite).  Only one run at a time
 * is in memory, and of a large one (gp_traces_are_many()) only one process.
 */
#ifndef REPORT_DIFF_RUN_SET_H
#define REPORT_DIFF_RUN_SET_H

#include <stddef.h>
#include <stdint.h>

#include "report/diff/figures.h"
#include "report/diff/machine.h"

struct gp_run_figures {
	char *name; /* the path as given */
	struct gp_figures figures;
	/* why records are missing, one sentence without a full stop; NULL = complete */
	char *partial;
};

/*
 * Set run->partial if records of this process of the run are missing and it is not set yet.
 * Returns 0 or -ENOMEM.
 */
int gp_run_note_partial(struct gp_run_figures *run, const struct gp_model *model);

/* Zeroed = empty. */
struct gp_run_set {
	struct gp_run_figures *runs;
	uint32_t count, capacity;
	struct gp_machine machine; /* of the first run */
};

/*
 * Add the runs at these paths to the set.  All must come from one machine and have the same
 * recording options, else -EXDEV.  Returns 0 or a negative errno value, and a one-line error
 * message.
 */
int gp_run_set_load(struct gp_run_set *set, char *const *paths, size_t count, char *message,
		    size_t message_bytes);
void gp_run_set_free(struct gp_run_set *set);

/*
 * The run with the median time from the first to the last CUDA call; of an even number, the shorter
 * one of the middle two.  The set is not empty.
 */
const struct gp_run_figures *gp_run_set_middle(const struct gp_run_set *set);

/* The processes of a run, by start time. */
struct gp_run_models {
	struct gp_model **models;
	uint32_t count, capacity;
};

/* Load the run at that path.  Returns as gp_run_set_load(); call gp_run_models_free() anyway. */
int gp_run_models_load(struct gp_run_models *run, const char *path, char *message,
		       size_t message_bytes);
void gp_run_models_free(struct gp_run_models *run);

/* Store the values of a metric in all runs in values[set->count]. */
void gp_run_set_metric(const struct gp_run_set *set, enum gp_metric metric, double *values);

enum gp_named_field { GP_NAMED_COUNT, GP_NAMED_TOTAL, GP_NAMED_MEDIAN, GP_NAMED_OCCUPANCY };

/* The same for a field of a name.  A run without the name has 0; for MEDIAN and OCCUPANCY, NAN. */
void gp_run_set_named(const struct gp_run_set *set, enum gp_named_kind kind, const char *name,
		      enum gp_named_field field, double *values);

/*
 * All names of that kind in the runs of both sets (NULL = none), sorted, each once: pointers into
 * the sets.  Free the array.  Returns 0 or -ENOMEM.
 */
int gp_run_set_names(const struct gp_run_set *a, const struct gp_run_set *b,
		     enum gp_named_kind kind, const char ***names, uint32_t *count);

void gp_sort_doubles(double *values, uint32_t count);

/* The median of values, which it sorts; NAN if there are none, or one is NAN. */
double gp_median(double *values, uint32_t count);

#endif
