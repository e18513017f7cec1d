#include "report/symbols/unique_names.h"

#include <errno.h>
#include <stdlib.h>

int gp_kernels_tell_apart(struct gp_names *names, const struct gp_model *const *models,
			  size_t model_count)
{
	const char **kernels;
	size_t count = 0, known = 0;

	for (size_t i = 0; i < model_count; i++)
		count += models[i]->name_count;
	kernels = calloc(count + 1, sizeof(*kernels));
	for (size_t i = 0; i < model_count; i++)
		for (uint32_t k = 0; k < models[i]->name_count; k++)
			if (models[i]->names[k])
				kernels[known++] = models[i]->names[k];
	gp_names_tell_apart(names, kernels, known);
	free(kernels);
	return 0;
}
