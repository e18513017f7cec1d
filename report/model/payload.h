/*
 * payload: the bytes of an extended payload (NVTX), field by field.
 *
 * The program registered a schema, which is in the trace as text (GP_STRING_SCHEMA in
 * gpuprof/record.h); neither is trusted. Fields that only the program's memory can tell (pointers),
 * unions, and numbers of more than 64 bits are left out. Strings whose text was recorded, and
 * values of enumerations that have names, are text.
 */
#ifndef REPORT_MODEL_PAYLOAD_H
#define REPORT_MODEL_PAYLOAD_H

#include <stdint.h>

#include "report/model/model.h"

#define GP_PAYLOAD_MOST_FIELDS 64u /* of one payload; the rest is left out */

/* Valid during the call only. */
struct gp_payload_field {
	const char *name; /* "" if it has none; of a field in a field "outer.inner" */
	uint8_t kind;     /* enum gp_payload_kind; GP_PAYLOAD_NONE: it is text */
	uint64_t value;   /* as gp_range.payload */
	const char *text; /* with its NUL */
};

/*
 * Call sink for each field of a payload, which is an index in model->texts (GP_NONE: none). Returns
 * the number of fields.
 */
uint32_t gp_payload_decode(const struct gp_model *model, uint32_t payload,
			   void (*sink)(void *context, const struct gp_payload_field *field),
			   void *context);

/* The double with the bits of a GP_PAYLOAD_FLOATING value. */
double gp_payload_floating(uint64_t value);

#endif
