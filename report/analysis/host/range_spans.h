/*
 * range_spans: the program's ranges on the streams: from the first to the last operation that was
 * started inside. Only push/pop ranges; those of one thread nest, and so do their spans on a stream
 * that only this thread uses.
 */
#ifndef REPORT_ANALYSIS_HOST_RANGE_SPANS_H
#define REPORT_ANALYSIS_HOST_RANGE_SPANS_H

#include <stdint.h>

#include "report/model/model.h"

/* Most ranges of a thread that are open at the same time: later ones have no spans. */
#define GP_RANGE_SPANS_OPEN 64u

struct gp_range_span {
	uint64_t start_ns, end_ns;
	uint32_t range;
	uint32_t stream; /* index in first_ops */
};

/*
 * Finds the spans on streams, which are runs of operations that begin with first_ops[]. They are
 * sorted by (stream, start, longest first); *deep grows by the ranges that were left out because
 * too many were open. Returns 0, -ENOMEM or -EOVERFLOW; free *spans in any case.
 */
int gp_range_spans_find(const struct gp_model *model, const uint32_t *first_ops,
			uint32_t stream_count, struct gp_range_span **spans, uint32_t *count,
			uint64_t *deep);

#endif
