/*
 * decode: the bytes of a chunk or of a ring, taken apart into records.
 *
 * Safe on any input: what is not understood is counted, nothing is trusted.
 */
#ifndef REPORT_TRACE_DECODE_H
#define REPORT_TRACE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "report/trace/record_visitor.h"
#include "report/trace/trace_read.h"

/* Where records go. */
struct gp_record_sink {
	gp_record_visit *visit;
	void *owner;
};

struct gp_decoded {
	uint64_t records; /* given to the sink */
	uint64_t unknown; /* not understood */
};

/*
 * Decode the payload of a valid chunk (gpuprof/trace.h) of form PACKED, KEPT or SLOTS; the records
 * of any other are unknown.  Adds to *decoded.  Returns 0, or what the sink returned.
 */
int gp_decode_chunk(const struct gp_chunk *chunk, const struct gp_record_sink *sink,
		    struct gp_decoded *decoded);

/*
 * The same of a PACKED or KEPT chunk where calls, kernels and ranges are only added up
 * (report/model/sums): of these, what is in no sum is stepped over, and anything in the records.
 */
int gp_decode_chunk_for_sums(const struct gp_chunk *chunk, const struct gp_record_sink *sink,
			     struct gp_decoded *decoded);

/*
 * The same for slots as they stand in a ring (gpuprof/record.h), beginning with a record; the ring
 * is of that thread, or shared (0).
 */
int gp_decode_slots(const uint8_t *slots, size_t slot_count, uint32_t ring_thread,
		    const struct gp_record_sink *sink, struct gp_decoded *decoded);

/* The number of slots of the record that begins at `slot`; 0 if it cannot be one. */
size_t gp_decode_record_slots(const uint8_t *slot);

#endif
