/*
 * run_set: the figures of repeated runs of a program.
 *
 * A run is a trace file, or a folder with the traces of all of its processes: its .gpuprof files,
 * or, where it has none, what other profilers wrote (.json, .json.gz, .sqlite).  One run at a time
 * is in memory.
 */
#ifndef REPORT_DIFF_RUN_SET_H
#define REPORT_DIFF_RUN_SET_H

#include <stddef.h>
#include <stdint.h>

#include "report/diff/figures.h"
#include "report/diff/machine.h"

struct gp_run_figures {
	char *name; /* the path that was given */
	struct gp_figures figures;
	/* why records are missing, one sentence without a full stop; NULL = none are */
	char *partial;
};

/*
 * Say of a run why records of one of its processes are missing, if any are and nothing is said yet.
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
 * The runs of these paths, added to the set.  All are to be made on one machine in one way, or it
 * is -EXDEV.  Returns 0 or a negative errno value, with one line for the user in message.
 */
int gp_run_set_load(struct gp_run_set *set, char *const *paths, size_t count, char *message,
		    size_t message_bytes);
void gp_run_set_free(struct gp_run_set *set);

/*
 * The run in the middle of all by the time from its first to its last CUDA call; of an even number,
 * the shorter of two.  There is one.
 */
const struct gp_run_figures *gp_run_set_middle(const struct gp_run_set *set);

/* The processes of a run, that which began first first. */
struct gp_run_models {
	struct gp_model **models;
	uint32_t count, capacity;
};

/* Of the run at that path.  gp_run_models_free() in either case.  Returns as gp_run_set_load(). */
int gp_run_models_load(struct gp_run_models *run, const char *path, char *message,
		       size_t message_bytes);
void gp_run_models_free(struct gp_run_models *run);

/*
 * The values of a metric in all runs into values[set->count]; of a kind of named figures, what
 * field() gives of each.
 */
void gp_run_set_metric(const struct gp_run_set *set, enum gp_metric metric, double *values);

enum gp_named_field { GP_NAMED_COUNT, GP_NAMED_TOTAL, GP_NAMED_MEDIAN, GP_NAMED_OCCUPANCY };

/* 0 where a run has none of that name; of MEDIAN and OCCUPANCY, NAN. */
void gp_run_set_named(const struct gp_run_set *set, enum gp_named_kind kind, const char *name,
		      enum gp_named_field field, double *values);

/*
 * Every name of that kind that any run of one or the other set (NULL = none) has, once, in order:
 * pointers into the sets.  Free the array.  Returns 0 or -ENOMEM.
 */
int gp_run_set_names(const struct gp_run_set *a, const struct gp_run_set *b,
		     enum gp_named_kind kind, const char ***names, uint32_t *count);

void gp_sort_doubles(double *values, uint32_t count);

/* The median of values, which are sorted on the way; NAN where there is none, or one is NAN. */
double gp_median(double *values, uint32_t count);

#endif
