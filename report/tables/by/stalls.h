/* stalls: the stall samples (--stalls) of all processes, added up, for the summary and the tables. */
#ifndef REPORT_TABLES_BY_STALLS_H
#define REPORT_TABLES_BY_STALLS_H

#include "report/symbols/source_text.h"
#include "report/tables/breakdown_scope.h"

/* Keys of a tally, each a number of gp_scope_text(), but the line; those not asked for are 0. */
enum gp_stall_key { GP_STALL_KERNEL, GP_STALL_FILE, GP_STALL_LINE, GP_STALL_REASON };
enum gp_stall_sum { GP_STALL_SAMPLES, GP_STALL_NOT_ISSUED };

/* keys: a bit for each key by which samples are told apart. */
void gp_stalls_add(struct gp_scope *scope, unsigned keys, struct gp_tally *tally);
#define GP_STALL_BIT(key) (1u << GP_STALL_##key)

uint64_t gp_stalls_total(const struct gp_tally *tally);

/* The files as they were when the recording began. */
struct gp_source_text *gp_stalls_sources(const struct gp_scope *scope);

#endif
