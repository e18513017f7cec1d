/*
 * outside_cuda: the host's own work at the start or end of a program: the time without a CUDA call of
 * any thread (start-up, wind-down).
 */
#ifndef REPORT_ADVICE_RULES_OUTSIDE_CUDA_H
#define REPORT_ADVICE_RULES_OUTSIDE_CUDA_H

#include "report/analysis/idle/startup_shutdown.h"
#include "report/advice/rules/advisor.h"

struct gp_outside_cuda {
	uint64_t ns, whole_ns;       /* the host's part of the start or end, and all of it */
	uint64_t pieces, longest_ns; /* pieces 0: the longest one is a place to look at ... */
	uint64_t from, to;           /* ... between these functions: texts ... */
	uint32_t from_site, to_site; /* ... and sites */
	bool has_samples;            /* there are Python samples of it */
};

/*
 * From from_ns to the start of the last call that began by to_ns, within a start or end of the
 * present process, without NCCL.  False: it is too short, or too small a part.
 */
bool gp_outside_cuda_find(struct gp_advisor *advisor, const struct gp_end *end, uint64_t from_ns,
			  uint64_t to_ns, struct gp_outside_cuda *own);

/* Add it to its case, with the Python samples of that thread. */
void gp_outside_cuda_put(struct gp_advisor *advisor, struct gp_case *found,
			 const struct gp_end *end, uint32_t thread, struct gp_outside_cuda *own);

/* own_ns, whole_ns, and samples, or piece_count, longest_ns, from and to with their places. */
void gp_outside_cuda_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
				const struct gp_outside_cuda *own, struct gp_document *values);
/* clang-format off */
#define GP_OUTSIDE_CUDA_FOUND \
	"for {own_ns} of {whole_ns}, the program was in no recorded CUDA call" \
	"[{samples}|; that is in {piece_count} pieces between its calls, of {longest_ns} at most" \
	"|; the longest time between calls is {longest_ns}, from {from}[ at {from_place}] to {to}[ at {to_place}]]"
/* clang-format on */

#endif
