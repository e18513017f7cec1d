/*
 * unfinished: kernels that had not ended at the end of the recording: they had no record when
 * gpuprof checked for one (gp_in_flight), or the last record of their stream has no times.
 *
 * CUPTI gives no record of a buffer in which one operation has not ended: kernels that ended long
 * ago have none either, until the last flush, which gives all. Of several launches without a
 * record, it is not known which one has not ended; of a stream's records without times, it is the
 * first.
 */
#ifndef REPORT_ANALYSIS_DEVICE_UNFINISHED_H
#define REPORT_ANALYSIS_DEVICE_UNFINISHED_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

enum gp_unfinished_state {
	GP_UNFINISHED_HANGS, /* it never ended, or not so far */
	/* at least one of those of this state, and of the others in the list, never ended */
	GP_UNFINISHED_ONE_OF,
	GP_UNFINISHED_CUT_OFF, /* it had not ended when the process did */
	GP_UNFINISHED_BEHIND,  /* nor had this one, which came after it in its stream */
	GP_UNFINISHED_OPEN,    /* whether it ended is not known */
	GP_UNFINISHED_FAILED,  /* a kernel failed: this one, or another of these, or it never ran */
};

struct gp_unfinished {
	uint32_t call; /* index in calls */
	uint32_t name; /* index in names, or GP_NONE */
	uint32_t op;   /* index in ops: its record, without times; GP_NONE = it has none */
	/* for so long after its launch it is known not to have ended, or to have had no record */
	uint64_t open_ns;
	enum gp_unfinished_state state;
	bool asked; /* CUPTI was asked for its records just before */
};

struct gp_unfinished_list {
	struct gp_unfinished *rows; /* by the starts of the launches */
	uint32_t count, capacity;
	uint32_t unnamed; /* other launches without a record, which were not checked */
	/* graphs, and asynchronous copies and memsets, without a record: they may not have ended */
	uint32_t others;
};

/*
 * None of a model that has totals alone.  Returns 0 or -ENOMEM; gp_unfinished_free() in either
 * case.
 */
int gp_unfinished_find(const struct gp_model *model, struct gp_unfinished_list *list);
void gp_unfinished_free(struct gp_unfinished_list *list);

/* The row's (mangled) kernel; "(unknown kernel)". */
const char *gp_unfinished_name(const struct gp_model *model, const struct gp_unfinished *row);

/* "never ended", for tables and exports. */
const char *gp_unfinished_state_name(enum gp_unfinished_state state);

#endif
