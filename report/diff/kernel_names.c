#include "report/diff/kernel_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/rename.h"
#include "report/symbols/names.h"

/* List the mangled names with their meanings. */
static int learn(struct gp_renames *meanings, struct gp_names *names, const char *const *kernels,
		 uint32_t count)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < count; i++) {
		const char *full = gp_names_full(names, kernels[i]);

		if (strcmp(full, kernels[i]) != 0)
			result = gp_renames_add(meanings, full, strdup(kernels[i]));
	}
	gp_renames_sort(meanings);
	return result;
}

int gp_kernel_names_match(struct gp_run_set *a, struct gp_run_set *b)
{
	struct gp_names *names = gp_names_new();
	struct gp_renames meanings = {0};
	const char **kernels = NULL;
	uint32_t count;
	int result = gp_run_set_names(a, b, GP_NAMED_KERNEL, &kernels, &count);

	if (result == 0)
		result = names ? learn(&meanings, names, kernels, count) : -ENOMEM;
	if (result == 0)
		result = gp_rename_named(&meanings, a, GP_NAMED_KERNEL);
	if (result == 0)
		result = gp_rename_named(&meanings, b, GP_NAMED_KERNEL);
	gp_renames_free(&meanings);
	gp_names_free(names);
	free(kernels);
	return result;
}
