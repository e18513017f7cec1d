/*
 * unfinished: the kernels that had not ended when all that is known of a process ends, by what is known of their launches: they had no record when
 * it was looked for one (gp_in_flight), or a last record that has no times.
 *
 * CUPTI gives no record of what began after a kernel that lasts: of several such launches the first one of all has not ended, of those behind
 * it in other threads nobody knows.
 */
#ifndef REPORT_UNFINISHED_H
#define REPORT_UNFINISHED_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model.h"

enum gp_unfinished_state {
	GP_UNFINISHED_HANGS,  /* it never ended, or not so far */
	GP_UNFINISHED_BEHIND, /* no record, and launched by its thread after another one without */
	GP_UNFINISHED_OPEN,   /* no record; whether it ended is not known */
	GP_UNFINISHED_FAILED, /* a kernel failed: this one, or another of these, or it never ran */
};

struct gp_unfinished {
	uint32_t call; /* index in calls */
	uint32_t name; /* index in names, or GP_NONE */
	uint64_t
		open_ns; /* for so long after its launch it is known not to have ended, or to have had no record */
	enum gp_unfinished_state state;
	bool asked; /* CUPTI was for its records, just before these were looked for */
};

struct gp_unfinished_list {
	struct gp_unfinished *rows; /* by the starts of the launches */
	uint32_t count, capacity;
	uint32_t unnamed; /* other launches without a record, which it was not looked for */
};

/* None of a model that has totals alone.  Returns 0 or -ENOMEM; gp_unfinished_free() in either case. */
int gp_unfinished_find(const struct gp_model *model, struct gp_unfinished_list *list);
void gp_unfinished_free(struct gp_unfinished_list *list);

/* The row's (mangled) kernel; "(unknown kernel)". */
const char *gp_unfinished_name(const struct gp_model *model, const struct gp_unfinished *row);

#endif
