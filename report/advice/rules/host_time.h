/*
 * host_time: what is known of the host while a GPU had nothing to do for long.
 *
 * gpuprof records CUDA's calls and the program's ranges, not what the host computes.  But a call
 * that was made by a compiler, just before, within or at the end of such a time, tells that it was
 * compiling then, or loading what it had compiled before: its caches are read by the same
 * functions.  Ranges of XLA tell for how long it compiled; and calls that load code, how long that
 * took.  A range names what the thread that the GPU waited for was at.  An import is told where the
 * thread that the GPU waited for was in none before.
 */
#ifndef REPORT_ADVICE_RULES_HOST_TIME_H
#define REPORT_ADVICE_RULES_HOST_TIME_H

#include <stdbool.h>
#include <stdio.h>

#include "report/advice/rules/advisor.h"

/* When a compiler made a call. */
enum gp_host_moment { GP_HOST_BEFORE = 1, GP_HOST_WITHIN = 2, GP_HOST_AFTER = 4 };

struct gp_host_time {
	uint64_t total_ns;
	uint64_t xla_ns;  /* while XLA compiled */
	uint64_t load_ns; /* in calls that load code, of the thread with most of them */
	enum gp_compiler compiler;
	unsigned moments;    /* of that compiler: enum gp_host_moment */
	enum gp_tuner tuner; /* that made the call at the end */
	/*
	 * In which the thread of that call was for four fifths of the time, the innermost; NULL or
	 * "": in none.
	 */
	const char *range;
};

/* Of a idle_gap of the present process. */
struct gp_host_time gp_host_time_of(const struct gp_advisor *advisor,
				    const struct gp_idle_gap_at *at);

/*
 * The range that names such a time best: the innermost in which that thread was for four fifths of
 * it.  On the process's timeline; NULL: there is none.
 */
const char *gp_host_range_of(const struct gp_model *model, uint32_t thread, uint64_t start_ns,
			     uint64_t end_ns);

/*
 * The longest part of that time in which the thread was in no recorded call, and its calls around
 * that; NULL: it made none there.
 */
struct gp_host_pause {
	const struct gp_call *before, *after;
	uint64_t start_ns, end_ns;
};
struct gp_host_pause gp_host_pause_of(const struct gp_model *model, uint32_t thread,
				      uint64_t start_ns, uint64_t end_ns);

/* Whether the call at its end was made in an import, and by no compiler. */
bool gp_host_time_ends_in_import(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at);

/*
 * "; CuPy was compiling, or loading what it had compiled, when it began", "; loading code took
 * 45.13ms of it", or of what stands for "it"; nothing where nothing is known.
 */
void gp_host_time_tell(const struct gp_host_time *host, const char *of, FILE *out);

/* What helps against that compiler's time. */
const char *gp_host_time_change(enum gp_compiler compiler);

/*
 * What helps against it; false, and nothing is printed: what the host did is not known, or it was
 * loading code most of the time.
 */
bool gp_host_time_advise(const struct gp_host_time *host, FILE *out);

#endif
