/* rename: gives rows of the figures of runs other names. */
#ifndef REPORT_DIFF_RENAME_H
#define REPORT_DIFF_RENAME_H

#include "report/diff/run_set.h"

struct gp_rename {
	char *from, *to;
};

/* Zeroed = empty. */
struct gp_renames {
	struct gp_rename *rows;
	uint32_t count, capacity;
};

/* Takes ownership of `to`; copies `from`. */
void gp_renames_add(struct gp_renames *renames, const char *from, char *to);
void gp_renames_free(struct gp_renames *renames);

/* Sort by `from`, for gp_rename_named(). */
void gp_renames_sort(struct gp_renames *renames);

/* Rename the rows of that kind in all runs of the set. */
void gp_rename_named(const struct gp_renames *renames, struct gp_run_set *set,
		     enum gp_named_kind kind);

#endif
