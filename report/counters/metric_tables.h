/* metric_tables: the tables of `gpuprof metrics`: what the GPUs of a chip can measure. */
#ifndef REPORT_COUNTERS_METRIC_TABLES_H
#define REPORT_COUNTERS_METRIC_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "hardware/profiler_host.h"
#include "report/document/table.h"

struct gp_metric_request {
	struct gp_profiler_host *host;
	const char *chip;
	enum gp_profiler_kind kind;
	bool with_ends; /* .sum, .avg.per_second, ... */
	char *const *words;
	size_t word_count;
};

struct gp_metric_table {
	struct gp_table_head head; /* its name is the word after `gpuprof metrics` */
	/* Returns 0; else an exit status, after a line for the user. */
	int (*fill)(const struct gp_metric_request *request, struct gp_table *table);
};

/* All tables; the last one has no name. */
extern const struct gp_metric_table gp_metric_tables[];

/* The chip of a GPU such as "H200"; else the name itself. */
const char *gp_metric_chip_of(const char *name);

#endif
