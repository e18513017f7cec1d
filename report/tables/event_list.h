/*
 * chronicle: every GPU operation, API call, launch or range in the order of their starts, what
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
	const char *word; /* of `gpuprof trace` */
	const char *help;
	const char *things; /* what there may be none of: "GPU operation" */
	struct gp_table_head head;
	uint32_t (*count)(const struct gp_model *model);
	bool (*has)(const struct gp_model *model, uint32_t index);       /* a row; NULL: all have */
	uint64_t (*start)(const struct gp_model *model, uint32_t index); /* ns on its timeline */
	/* One row, of that start. */
	void (*write)(struct gp_scope *scope, const struct gp_model *model, uint32_t index,
		      int64_t start_ns, struct gp_table_writer *writer);
	/*
	 * Rows that are no events of the model: they are made of it, in the order of time; then the
	 * functions above are NULL.  0 or -errno.
	 */
	int (*make)(struct gp_curve *rows, const struct gp_model *model);
	void (*write_point)(struct gp_scope *scope, const struct gp_model *model,
			    const struct gp_curve_point *row, int64_t start_ns,
			    struct gp_table_writer *writer);
};

/* The parts of several files: chronicle.c has those of operations and calls. */
extern const struct gp_event_list gp_event_list_exec, gp_event_list_host, gp_event_list_nvtx;
extern const struct gp_event_list gp_event_list_queue, gp_event_list_bandwidth, gp_event_list_path;

/* The chronicles; ends with NULL. */
extern const struct gp_event_list *const gp_event_lists[];

/* The one of that word, or NULL. */
const struct gp_event_list *gp_event_list_find(const char *word);

/*
 * Which rows: those that start at from_ns or later, and before to_ns, counted from
 * scope.start_unix_ns.  From 0 on are all: ranges may begin before the first call.
 */
struct gp_event_list_part {
	uint64_t from_ns, to_ns;
	uint64_t limit; /* the first so many of them; 0 = all */
};

/* Write those rows; *rows is how many there were.  Returns 0, -ENOMEM or -EOVERFLOW; what fails in
 * writing, the writer knows. */
int gp_event_list_write(const struct gp_event_list *chronicle, struct gp_scope *scope,
			const struct gp_event_list_part *part, struct gp_table_writer *writer,
			uint64_t *rows);

#endif
