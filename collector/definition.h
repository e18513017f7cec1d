/*
 * definition: the record kinds that other records refer to by id.  They are the last to be dropped,
 * because a missing definition devalues all its references.
 */
#ifndef COLLECTOR_DEFINITION_H
#define COLLECTOR_DEFINITION_H

#include <stdbool.h>

#include "gpuprof/record.h"

/* The payload of a range is a string, but belongs to that range only. */
static inline bool gp_is_definition(const struct gp_record *record)
{
	switch (record->kind) {
	case GP_RECORD_STRING:
		return ((const struct gp_record_string *)record)->space != GP_STRING_PAYLOAD;
	case GP_RECORD_SHAPE:
	case GP_RECORD_DEVICE:
	case GP_RECORD_CONTEXT:
	case GP_RECORD_STREAM:
	case GP_RECORD_FRAME:
	case GP_RECORD_MODULE:
		return true;
	default:
		return false;
	}
}

#endif
