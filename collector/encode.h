/*
 * encode: packs records into the payload of a trace chunk (gpuprof/trace.h): one loop over the
 * table of gpuprof/field.def for all kinds.  One thread at a time per encoder.
 */
#ifndef COLLECTOR_ENCODE_H
#define COLLECTOR_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/field.h"
#include "gpuprof/record.h"

/* One field: its place, and the prediction of its next value. */
struct gp_step {
	uint64_t mask;   /* the bits of the field, after the shift */
	uint64_t stride; /* all ones: the last change is expected again */
	uint64_t length; /* all ones: the value is relative to the record's first field */
	uint64_t last;
	uint64_t change;
	uint16_t word; /* the aligned 8 bytes that contain the field */
	uint16_t shift;
};

struct gp_layout {
	uint8_t slots;  /* 0 = unknown kind, or variable */
	uint8_t fields; /* number of fields */
	uint16_t first; /* index of the first step */
	uint8_t clock;  /* enum clock in encode.c: the time domain of field 0 */
	uint8_t high;   /* field with bits 32.. of the duration in field 1; 0 = none */
};

struct gp_encoder {
	uint8_t *start;
	uint8_t *at;
	uint8_t *limit;
	uint32_t records;
	uint64_t ends[3]; /* by clock: end of the last record */
	struct gp_layout layouts[GP_RECORD_KIND_LIMIT];
	struct gp_step steps[GP_FIELDS];
};

/* Once per encoder. */
void gp_encode_init(struct gp_encoder *encoder);

/* Begin a payload in the caller's memory. */
void gp_encode_begin(struct gp_encoder *encoder, uint8_t *payload, size_t size_bytes);

/* Slots of a record in a ring; 0 = not a record known to this version. */
uint32_t gp_encode_slots(const struct gp_encoder *encoder, const struct gp_record *record);

/*
 * Append a valid record (a string followed by its text), aligned to 8 bytes.  False: it does not
 * fit, nothing was appended.
 */
bool gp_encode(struct gp_encoder *encoder, const struct gp_record *record);

/*
 * Remove the last record, before which the payload ended at `at`; only gp_encode_begin() may
 * follow.
 */
void gp_encode_cut(struct gp_encoder *encoder, uint8_t *at);

static inline uint32_t gp_encode_bytes(const struct gp_encoder *encoder)
{
	return (uint32_t)(encoder->at - encoder->start);
}

#endif
