/*
 * python_samples: the time that samples of Python's stacks stand for (GP_RECORD_SAMPLE), and the
 * threads' functions by them, as spans that nest.
 *
 * A sample stands for the time to the middle between it and the next one on either side,
 * GP_PYTHON_SAMPLE_REACH_NS at most: time further from any sample is not known. So sums are about
 * the same at any rate of samples. If the recorder had each call of a function, the thread was in
 * none where there is no sample.
 */
#ifndef REPORT_ANALYSIS_HOST_PYTHON_SAMPLES_H
#define REPORT_ANALYSIS_HOST_PYTHON_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model/model.h"

#define GP_PYTHON_SAMPLE_REACH_NS 125000000u

/* The most that a sample of the model stands for, before it and after it. */
uint64_t gp_python_sample_reach_ns(const struct gp_model *model);

struct gp_sample_time {
	uint64_t start_ns, end_ns;
};

/* The time of a run of equal samples, by its index in model->samples. */
struct gp_sample_time gp_python_sample_time(const struct gp_model *model, uint32_t index);

/* "Python sample", or "Python stack" if it was read from recorded calls of functions. */
const char *gp_python_sample_name(const struct gp_model *model);

/* Whether a sample's time begins where that of the one before ends, of the same thread. */
bool gp_python_sample_follows(const struct gp_model *model, uint32_t index);

/* The first sample of the thread that comes after that one's. */
uint32_t gp_python_samples_end(const struct gp_model *model, uint32_t first);

/*
 * A function, for as long as samples in a row found it called by the same ones, at any line.
 * Python's own import functions are left out: the module's code stands below the one that imports
 * it.
 */
struct gp_host_span {
	uint64_t start_ns, end_ns;
	uint32_t frame; /* at its first sample: an index in frames */
	uint32_t depth; /* how many callers it has here */
	uint32_t samples;
	/* the first one: an index in turns; GP_NONE = it stayed where it was found */
	uint32_t turn;
	bool is_imported; /* by its caller, or without one: a module's code */
};

/*
 * From then on samples found a function of Python's at another instruction, perhaps of another
 * line.
 */
struct gp_host_turn {
	uint64_t start_ns;
	uint32_t frame;
	uint32_t next; /* of the same span; GP_NONE = none */
};

/*
 * A sample takes a few bytes of a file and may open GP_FRAME_DEPTH spans: the limit of spans and
 * turns of a model, and so many for each sample beyond the first ones. Samples of deep programs open
 * some 20 each.
 */
#define GP_HOST_MOST_SPANS       (8u << 20)
#define GP_HOST_FIRST_SPANS      (1u << 18)
#define GP_HOST_SPANS_PER_SAMPLE 32u

/*
 * How many functions of each stack have spans, from the outermost on, and how many spans of
 * functions that they call are left out for that.
 */
struct gp_host_depth {
	uint32_t functions;
	uint64_t left_out;
};
struct gp_host_depth gp_host_spans_depth(const struct gp_model *model);

/*
 * The spans of a thread, whose samples are [first, end), down to that depth of the model; by start,
 * callers before their callees. turns: NULL = not wanted. gp_spill_free() frees *spans and *turns
 * in either case. Returns 0, -ENOMEM or -EOVERFLOW.
 */
int gp_host_spans_find(const struct gp_model *model, uint32_t first, uint32_t end,
		       struct gp_host_depth depth, struct gp_host_span **spans, uint32_t *count,
		       struct gp_host_turn **turns);

/* Says to a user how many were left out, if any. */
void gp_host_depth_explain(const struct gp_host_depth *depth, FILE *out);

/* "Python (sampled), thread 1234 (name)" */
#define GP_HOST_TRACK_BYTES 96
const char *gp_host_track_name(const struct gp_model *model, uint32_t thread_id,
			       char text[GP_HOST_TRACK_BYTES]);

#endif
