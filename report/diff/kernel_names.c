#include "report/diff/kernel_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/symbols/names.h"

struct meaning {
	const char *full; /* owned by the cache of names */
	char *mangled;
};

struct meanings {
	struct meaning *rows; /* sorted by full */
	uint32_t count;
};

static int compare_meanings(const void *a, const void *b)
{
	const struct meaning *left = a, *right = b;

	return strcmp(left->full, right->full);
}

static void forget(struct meanings *meanings)
{
	for (uint32_t i = 0; i < meanings->count; i++)
		free(meanings->rows[i].mangled);
	free(meanings->rows);
}

/* List the mangled names with their meanings. */
static int learn(struct meanings *meanings, struct gp_names *names, const char *const *kernels,
		 uint32_t count)
{
	meanings->rows = calloc((size_t)count + 1, sizeof(*meanings->rows));
	if (!meanings->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		struct meaning *row = &meanings->rows[meanings->count];

		row->full = gp_names_full(names, kernels[i]);
		if (strcmp(row->full, kernels[i]) == 0)
			continue;
		row->mangled = strdup(kernels[i]);
		if (!row->mangled)
			return -ENOMEM;
		meanings->count++;
	}
	qsort(meanings->rows, meanings->count, sizeof(*meanings->rows), compare_meanings);
	return 0;
}

static int rename_kernels(const struct meanings *meanings, struct gp_named_list *kernels)
{
	for (uint32_t i = 0; i < kernels->count; i++) {
		struct meaning key = {.full = kernels->rows[i].name};
		const struct meaning *found = bsearch(&key, meanings->rows, meanings->count,
						      sizeof(key), compare_meanings);
		char *name = found ? strdup(found->mangled) : NULL;

		if (found && !name)
			return -ENOMEM;
		if (!found)
			continue;
		free(kernels->rows[i].name);
		kernels->rows[i].name = name;
	}
	gp_named_sort(kernels);
	return 0;
}

static int rename_all(const struct meanings *meanings, struct gp_run_set *set)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < set->count; i++)
		result = rename_kernels(meanings, &set->runs[i].figures.named[GP_NAMED_KERNEL]);
	return result;
}

int gp_kernel_names_match(struct gp_run_set *a, struct gp_run_set *b)
{
	struct gp_names *names = gp_names_new();
	struct meanings meanings = {0};
	const char **kernels = NULL;
	uint32_t count;
	int result = gp_run_set_names(a, b, GP_NAMED_KERNEL, &kernels, &count);

	if (result == 0)
		result = names ? learn(&meanings, names, kernels, count) : -ENOMEM;
	if (result == 0)
		result = rename_all(&meanings, a);
	if (result == 0)
		result = rename_all(&meanings, b);
	forget(&meanings);
	gp_names_free(names);
	free(kernels);
	return result;
}
