/*
 * nvtx_schema: the layouts of NVTX payloads, registered by the program.  Schemas are permanent.
 * Any thread; no function blocks.
 */
#ifndef INJECT_NVTX_SCHEMA_H
#define INJECT_NVTX_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/nvtx_message.h"

#include <nvtx3/nvToolsExtPayload.h>

#define GP_SCHEMAS         512u /* over all domains; more are refused */
#define GP_SCHEMA_POINTERS 8u

/*
 * An entry that refers to data outside the payload: the address of a string, or the handle of a
 * registered one.
 */
struct gp_schema_pointer {
	uint32_t offset_bytes;
	bool is_registered;
	bool is_message; /* the string is the event's message */
};

struct gp_schema {
	uint32_t is_there; /* atomic, set last */
	uint32_t pointer_count;
	uint32_t size_bytes; /* of a payload; 0 = variable or unknown */
	uint64_t given_id;   /* the id that the program uses */
	struct gp_known_text *domain;
	struct gp_known_text *text; /* GP_STRING_SCHEMA */
	struct gp_schema_pointer pointers[GP_SCHEMA_POINTERS];
};

/* Returns the id that payloads and other schemas use; 0: the table is full. */
uint64_t gp_schema_register(struct gp_known_text *domain,
			    const nvtxPayloadSchemaAttr_t *attributes);
uint64_t gp_schema_register_enum(struct gp_known_text *domain,
				 const nvtxPayloadEnumAttr_t *attributes);

/* NULL: unknown in this domain. */
const struct gp_schema *gp_schema_find(struct gp_known_text *domain, uint64_t given_id);

/* Its id in the current recording; defines all schemas there at the first call. */
uint32_t gp_schema_emit(const struct gp_schema *schema);

#endif
