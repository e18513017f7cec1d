/*
 * decode: splits the bytes of a chunk or a ring into records.
 *
 * Safe on any input: invalid records are counted, and nothing is trusted.
 */
#ifndef REPORT_TRACE_DECODE_H
#define REPORT_TRACE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "report/trace/record_visitor.h"
#include "report/trace/trace_read.h"

/* The receiver of records. */
struct gp_record_sink {
	gp_record_visit *visit;
	void *owner;
};

struct gp_decoded {
	uint64_t records; /* passed to the sink */
	uint64_t unknown; /* invalid */
};

/*
 * Decodes the payload of a valid chunk (gpuprof/trace.h) of form PACKED, KEPT or SLOTS; the records
 * of other forms count as unknown. Adds to *decoded. Returns 0, or the sink's result.
 */
int gp_decode_chunk(const struct gp_chunk *chunk, const struct gp_record_sink *sink,
		    struct gp_decoded *decoded);

/*
 * As gp_decode_chunk() for PACKED and KEPT chunks if calls, kernels and ranges are only summed up
 * (report/model/sums): fields that no sum uses are skipped, and have any value in the records.
 */
int gp_decode_chunk_for_sums(const struct gp_chunk *chunk, const struct gp_record_sink *sink,
			     struct gp_decoded *decoded);

/*
 * As gp_decode_chunk() for slots of a ring (gpuprof/record.h) that begin with a record.
 * ring_thread: the ring's thread; 0 = shared.
 */
int gp_decode_slots(const uint8_t *slots, size_t slot_count, uint32_t ring_thread,
		    const struct gp_record_sink *sink, struct gp_decoded *decoded);

/* The number of slots of the record at `slot`; 0 if it is invalid. */
size_t gp_decode_record_slots(const uint8_t *slot);

#endif
