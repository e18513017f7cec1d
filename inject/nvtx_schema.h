/*
 * nvtx_schema: what the bytes of NVTX payloads mean, as the program registers it.  Schemas stay for the life of the process.
 * Any thread; nothing here waits.
 */
#ifndef INJECT_NVTX_SCHEMA_H
#define INJECT_NVTX_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/nvtx_message.h"

#include <nvtx3/nvToolsExtPayload.h>

#define GP_SCHEMAS         512u /* of all domains; more are refused */
#define GP_SCHEMA_POINTERS 8u

/* An entry that leads out of the payload's bytes: a string's address, or the handle of a registered one. */
struct gp_schema_pointer {
	uint32_t offset_bytes;
	bool is_registered;
	bool is_message; /* the string is the event's message */
};

struct gp_schema {
	uint32_t is_there; /* atomic, set last */
	uint32_t pointer_count;
	uint32_t size_bytes; /* of a payload; 0 = it varies, or cannot be told */
	uint64_t given_id;   /* the program's number for it, from then on */
	struct gp_known_text *domain;
	struct gp_known_text *text; /* GP_STRING_SCHEMA */
	struct gp_schema_pointer pointers[GP_SCHEMA_POINTERS];
};

/* Return the number by which payloads and other schemas refer to it; 0: it cannot be kept. */
uint64_t gp_schema_register(struct gp_known_text *domain,
			    const nvtxPayloadSchemaAttr_t *attributes);
uint64_t gp_schema_register_enum(struct gp_known_text *domain,
				 const nvtxPayloadEnumAttr_t *attributes);

/* NULL: it is not known in this domain. */
const struct gp_schema *gp_schema_find(struct gp_known_text *domain, uint64_t given_id);

/* Its number in the recording that is live, in which all schemas are defined from then on. */
uint32_t gp_schema_emit(const struct gp_schema *schema);

#endif
