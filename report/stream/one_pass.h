/*
 * one_pass: sums over a trace in one pass, by all cores, in memory that does not grow with it.
 *
 * Chunks decode alone (gpuprof/trace.h), so threads take them as they come, from the reader's
 * windows. Calls and operations become sums there; all other records, mostly definitions and
 * allocations, go to the loader's thread in the order of the file. The result is the same for any
 * number of threads.
 */
#ifndef REPORT_STREAM_ONE_PASS_H
#define REPORT_STREAM_ONE_PASS_H

#include "report/model/sums/totals.h"
#include "report/trace/decode.h"

struct gp_one_pass;

/*
 * The sink takes all records but events, in the order of the file. NULL: no memory. If no threads
 * can be started, the caller's does all the work.
 */
struct gp_one_pass *gp_one_pass_new(const struct gp_record_sink *sink);
void gp_one_pass_free(struct gp_one_pass *pass);

/*
 * A chunk of form PACKED or KEPT.  Returns 0, or a negative errno value: of this one, or of one
 * before.
 */
int gp_one_pass_chunk(struct gp_one_pass *pass, const struct gp_chunk *chunk);

/*
 * For gp_trace_swap_windows(), which is called before all chunks: these stay where they are until
 * they are decoded.  The context is the pass.
 */
uint8_t *gp_one_pass_swap(void *pass, uint8_t *window);

/* All chunks up to here are done with; then records one by one.  Both return as the above. */
int gp_one_pass_drain(struct gp_one_pass *pass);
int gp_one_pass_record(struct gp_one_pass *pass, const struct gp_record_view *seen);

/*
 * The end: *totals has all sums, gp_totals_free() frees it; *unknown: records that were not
 * understood.
 */
int gp_one_pass_end(struct gp_one_pass *pass, struct gp_totals *totals, uint64_t *unknown);

#endif
