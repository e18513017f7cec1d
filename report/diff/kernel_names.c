#include "report/diff/kernel_names.h"

#include <stdlib.h>
#include <string.h>

#include "report/diff/rename.h"
#include "report/symbols/names.h"

/* List the mangled names with their meanings. */
static void learn(struct gp_renames *meanings, struct gp_names *names, const char *const *kernels,
		  uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const char *full = gp_names_full(names, kernels[i]);

		if (strcmp(full, kernels[i]) != 0)
			gp_renames_add(meanings, full, strdup(kernels[i]));
	}
	gp_renames_sort(meanings);
}

void gp_kernel_names_match(struct gp_run_set *a, struct gp_run_set *b)
{
	struct gp_names *names = gp_names_new();
	struct gp_renames meanings = {0};
	const char **kernels = NULL;
	uint32_t count;

	gp_run_set_names(a, b, GP_NAMED_KERNEL, &kernels, &count);
	learn(&meanings, names, kernels, count);
	gp_rename_named(&meanings, a, GP_NAMED_KERNEL);
	gp_rename_named(&meanings, b, GP_NAMED_KERNEL);
	gp_renames_free(&meanings);
	gp_names_free(names);
	free(kernels);
}
