/*
 * field: gpuprof/field.def as a table: the place of each field in its record, and its prediction
 * rule (gpuprof/trace.h).
 */
#ifndef GPUPROF_FIELD_H
#define GPUPROF_FIELD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/record.h"

enum gp_field_rule {
	GP_RULE_LAST,
	GP_RULE_STRIDE,
	GP_RULE_AFTER,
	GP_RULE_LENGTH,
};

struct gp_field {
	uint8_t kind;  /* enum gp_record_kind; the fields of one kind are adjacent */
	uint8_t bytes; /* 1, 2, 4 or 8 */
	uint8_t rule;  /* enum gp_field_rule */
	uint8_t offset;
};

#define X(number, NAME, name) GP_FIELD_KIND_##name = number,
enum { GP_RECORD_KINDS(X) };
#undef X

static const struct gp_field gp_fields[] = {
#define GP_FIELD(record, member, width, how)                                                       \
	{GP_FIELD_KIND_##record, width, GP_RULE_##how, offsetof(struct gp_record_##record, member)},
#include "gpuprof/field.def"
#undef GP_FIELD
};

#define GP_FIELDS (sizeof(gp_fields) / sizeof(gp_fields[0]))

#define GP_MAX_FIELDS_PER_RECORD 32

#endif
