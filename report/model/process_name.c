#include "report/model/process_name.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_DIGITS 9u
#define MOST_RANKS  (1u << 24) /* a larger number of ranks is an error of the environment */

static uint32_t number_of(const char *text)
{
	uint32_t number = 0;
	size_t i = 0;

	for (; text && text[i] >= '0' && text[i] <= '9' && i < MOST_DIGITS; i++)
		number = number * 10 + (uint32_t)(text[i] - '0');
	return i > 0 && text[i] == '\0' ? number : GP_NONE;
}

uint32_t gp_model_world_size(const struct gp_model *model)
{
	uint32_t size = number_of(model->info[GP_INFO_WORLD_SIZE]);

	return size == GP_NONE ? 0 : size;
}

uint32_t gp_model_rank(const struct gp_model *model)
{
	bool is_alone = gp_model_world_size(model) == 1;

	return is_alone ? GP_NONE : number_of(model->info[GP_INFO_RANK]);
}

uint32_t gp_models_world_size(struct gp_model *const *models, size_t count)
{
	uint32_t size = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t one = gp_model_world_size(models[i]), rank = gp_model_rank(models[i]);

		if (rank == GP_NONE)
			continue;
		if (one <= rank || one > MOST_RANKS || (size > 0 && one != size))
			return 0;
		size = one;
	}
	return size;
}

bool gp_models_have_all_ranks(struct gp_model *const *models, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (gp_model_rank(models[i]) == GP_NONE || models[i]->shares_rank ||
		    gp_model_world_size(models[i]) != count)
			return false;
	return true;
}

struct gp_process_name gp_process_name(const struct gp_model *model)
{
	struct gp_process_name name;
	uint32_t rank = gp_model_rank(model);

	if (rank == GP_NONE)
		snprintf(name.text, sizeof(name.text), "pid %u", model->pid);
	else if (model->shares_rank)
		snprintf(name.text, sizeof(name.text), "rank %u, pid %u", rank, model->pid);
	else
		snprintf(name.text, sizeof(name.text), "rank %u", rank);
	return name;
}

struct place {
	struct gp_model *model;
	uint32_t rank;
	size_t index; /* before sorting */
};

static int compare(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return left->index < right->index ? -1 : left->index > right->index;
}

int gp_process_order(struct gp_model **models, size_t count)
{
	struct place *places = calloc(count + 1, sizeof(*places));

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){models[i], gp_model_rank(models[i]), i};
	qsort(places, count, sizeof(*places), compare);
	for (size_t i = 0; i < count; i++) {
		models[i] = places[i].model;
		models[i]->shares_rank = false;
		if (i > 0 && places[i].rank != GP_NONE && places[i - 1].rank == places[i].rank)
			models[i - 1]->shares_rank = models[i]->shares_rank = true;
	}
	free(places);
	return 0;
}
