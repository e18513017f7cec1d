#include "report/diff/rename.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"

static int compare(const void *a, const void *b)
{
	const struct gp_rename *left = a, *right = b;

	return strcmp(left->from, right->from);
}

void gp_renames_add(struct gp_renames *renames, const char *from, char *to)
{
	struct gp_rename row = {strdup(from), to};

	gp_array_grow(&renames->rows, &renames->capacity, renames->count, sizeof(row));
	renames->rows[renames->count++] = row;
}

void gp_renames_free(struct gp_renames *renames)
{
	for (uint32_t i = 0; i < renames->count; i++) {
		free(renames->rows[i].from);
		free(renames->rows[i].to);
	}
	free(renames->rows);
}

void gp_renames_sort(struct gp_renames *renames)
{
	if (renames->count > 0)
		qsort(renames->rows, renames->count, sizeof(*renames->rows), compare);
}

static void rename_list(const struct gp_renames *renames, struct gp_named_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		struct gp_rename key = {.from = list->rows[i].name};
		const struct gp_rename *found =
			renames->count == 0 ? NULL
					    : bsearch(&key, renames->rows, renames->count,
						      sizeof(key), compare);
		char *name = found ? strdup(found->to) : NULL;

		if (!found)
			continue;
		free(list->rows[i].name);
		list->rows[i].name = name;
	}
	gp_named_sort(list);
}

void gp_rename_named(const struct gp_renames *renames, struct gp_run_set *set,
		     enum gp_named_kind kind)
{
	for (uint32_t i = 0; i < set->count; i++)
		rename_list(renames, &set->runs[i].figures.named[kind]);
}
