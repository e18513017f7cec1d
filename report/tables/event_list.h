/*
 * list: every GPU operation, API call, launch or range in the order of their starts, what
 * changed between them, what was waited for: the tables of `gpuprof trace`.
 *
 * Rows are written as they are found; what it takes in memory is four bytes for each event, 24 for
 * each of what is made of them.
 */
#ifndef REPORT_TABLES_EVENT_LIST_H
#define REPORT_TABLES_EVENT_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/device/curves.h"
#include "report/tables/breakdown_scope.h"
#include "report/document/table_writer.h"

struct gp_event_list {
	const char *word; /* argument of `gpuprof trace` */
	const char *help;
	const char *things; /* for the message "no GPU operation ..." */
	struct gp_table_head head;
	uint32_t (*count)(const struct gp_model *model);
	bool (*has)(const struct gp_model *model,
		    uint32_t index); /* whether it has a row; NULL: all have */
	uint64_t (*start)(const struct gp_model *model,
			  uint32_t index); /* ns on the model's timeline */
	/* Write the row of an event. */
	void (*write)(struct gp_scope *scope, const struct gp_model *model, uint32_t index,
		      int64_t start_ns, struct gp_table_writer *writer);
	/*
	 * Compute rows that are not events of the model, in the order of time; then the functions
	 * above are NULL.  Returns 0 or -errno.
	 */
	int (*make)(struct gp_curve *rows, const struct gp_model *model);
	void (*write_point)(struct gp_scope *scope, const struct gp_model *model,
			    const struct gp_curve_point *row, int64_t start_ns,
			    struct gp_table_writer *writer);
};

/* The event lists defined in other files; event_list.c has those of operations and calls. */
extern const struct gp_event_list gp_event_list_exec, gp_event_list_host, gp_event_list_nvtx;
extern const struct gp_event_list gp_event_list_queue, gp_event_list_bandwidth, gp_event_list_path;

/* All event lists; ends with NULL. */
extern const struct gp_event_list *const gp_event_lists[];

/* The event list of that word, or NULL. */
const struct gp_event_list *gp_event_list_find(const char *word);

/*
 * The rows to write: those that start in from_ns to to_ns - 1, relative to scope.start_unix_ns.
 * from_ns 0 includes earlier ones, too: ranges may begin before the first call.
 */
struct gp_event_list_part {
	uint64_t from_ns, to_ns;
	uint64_t limit; /* at most this many rows; 0 = all */
};

/*
 * Write those rows; *rows is their number.  Returns 0, -ENOMEM or -EOVERFLOW; write errors are in
 * the writer.
 */
int gp_event_list_write(const struct gp_event_list *list, struct gp_scope *scope,
			const struct gp_event_list_part *part, struct gp_table_writer *writer,
			uint64_t *rows);

#endif
