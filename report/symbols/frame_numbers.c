#include "report/symbols/frame_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"

static struct gp_frame_numbers_of *append(struct gp_frame_numbers *all,
					  const struct gp_model *model)
{
	size_t bytes = ((size_t)model->frame_count + 1) * sizeof(uint32_t);
	uint32_t *numbers = malloc(bytes);

	gp_array_grow(&all->models, &all->capacity, all->count, sizeof(*all->models));
	memset(numbers, 0xff, bytes); /* GP_NONE */
	all->last = all->count++;
	all->models[all->last] = (struct gp_frame_numbers_of){model, numbers, NULL};
	return &all->models[all->last];
}

struct gp_frame_numbers_of *gp_frame_numbers_of(struct gp_frame_numbers *all,
						const struct gp_model *model)
{
	if (all->last < all->count && all->models[all->last].model == model)
		return &all->models[all->last];
	for (uint32_t i = all->count; i-- > 0;)
		if (all->models[i].model == model) {
			all->last = i;
			return &all->models[i];
		}
	return append(all, model);
}

void gp_frame_numbers_free(struct gp_frame_numbers *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		free(all->models[i].numbers);
		free(all->models[i].more);
	}
	free(all->models);
	*all = (struct gp_frame_numbers){0};
}
