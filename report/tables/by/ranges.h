/* ranges: common code of the breakdowns by NVTX range. */
#ifndef REPORT_TABLES_BY_RANGES_H
#define REPORT_TABLES_BY_RANGES_H

#include "report/tables/breakdown_scope.h"

/* Ranges of one text, domain and style are one row. */
struct gp_range_key {
	uint64_t text, domain, style; /* text and domain: gp_scope_text() */
};

struct gp_range_key gp_range_key_of(struct gp_scope *scope, const struct gp_model *model,
				    const struct gp_range *range);

/* The columns that identify a range, and their cells. */
#define GP_RANGE_COLUMNS                                                                           \
	{"Style", GP_UNIT_TEXT}, {"Domain", GP_UNIT_TEXT},                                         \
	{                                                                                          \
		"Range", GP_UNIT_TEXT                                                              \
	}
void gp_range_put_key(struct gp_scope *scope, struct gp_table *table, struct gp_range_key key);

#define GP_RANGE_NOTHING(what)                                                                     \
	"no " what                                                                                 \
	" in this trace; put NVTX ranges into the program, and record with --trace=default (torch.profiler records those of torch.profiler.record_function)"

#endif
