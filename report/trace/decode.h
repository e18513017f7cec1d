/*
 * decode: the bytes of a chunk or of a ring, taken apart into records.
 *
 * Safe on any input: what is not understood is counted, nothing is trusted.
 */
#ifndef REPORT_TRACE_DECODE_H
#define REPORT_TRACE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprof/record.h"

union gp_any_record {
	struct gp_record head;
#define X(number, NAME, name) struct gp_record_##name name;
	GP_RECORD_KINDS(X)
#undef X
};

/* Where records go. */
struct gp_record_sink {
	/*
	 * Take one record of a known kind; text is the text of a string record (string.length_bytes
	 * bytes, not terminated), else NULL.  Both live until the return.  A negative result ends
	 * the decoding.
	 */
	int (*take)(void *context, const union gp_any_record *record, const char *text);
	void *context;
};

struct gp_decoded {
	uint64_t records; /* given to the sink */
	uint64_t unknown; /* not understood */
};

/*
 * Decode the payload of a valid chunk that holds `records` records (gpuprof/trace.h); adds to
 * *decoded. Returns 0, or what the sink returned.
 */
int gp_decode_payload(const uint8_t *payload, size_t bytes, uint32_t records,
		      const struct gp_record_sink *sink, struct gp_decoded *decoded);

/*
 * The same where calls, kernels and ranges are only added up (report/pass/sums): of these, what is
 * in no sum is stepped over, and anything in the records.
 */
int gp_decode_payload_for_sums(const uint8_t *payload, size_t bytes, uint32_t records,
			       const struct gp_record_sink *sink, struct gp_decoded *decoded);

/* The same for slots as they stand in a ring (gpuprof/record.h), beginning with a record. */
int gp_decode_slots(const uint8_t *slots, size_t slot_count, const struct gp_record_sink *sink,
		    struct gp_decoded *decoded);

/* The number of slots of the record that begins at `slot`; 0 if it cannot be one. */
size_t gp_decode_record_slots(const uint8_t *slot);

#endif
