#include "report/model/gpu_numbers.h"

#include <stdlib.h>

#include "report/base/array.h"

void gp_gpu_numbers_free(struct gp_gpu_numbers *numbers)
{
	for (uint32_t i = 0; i < numbers->count; i++)
		gp_gpu_free(&numbers->gpus[i].gpu);
	free(numbers->gpus);
	*numbers = (struct gp_gpu_numbers){0};
}

void gp_gpu_numbers_next(struct gp_gpu_numbers *numbers)
{
	numbers->known = numbers->count;
	for (uint32_t i = 0; i < GP_DEVICE_LIMIT; i++)
		numbers->of_device[i] = GP_NONE;
}

static bool is_taken(const struct gp_gpu_numbers *numbers, uint32_t number)
{
	for (uint32_t i = 0; i < numbers->count; i++)
		if (numbers->gpus[i].number == number)
			return true;
	return false;
}

static uint32_t choose_number(const struct gp_gpu_numbers *numbers, uint16_t device_id)
{
	uint32_t number = device_id;

	if (is_taken(numbers, number))
		for (number = 0; is_taken(numbers, number);)
			number++;
	return number;
}

static uint32_t find(struct gp_gpu_numbers *numbers, struct gp_gpu gpu, bool *is_new)
{
	for (uint32_t i = 0; i < numbers->known; i++)
		if (gp_gpu_is_same(&numbers->gpus[i].gpu, &gpu)) {
			gp_gpu_learn(&numbers->gpus[i].gpu, &gpu);
			return i;
		}
	if (gp_array_grow(&numbers->gpus, &numbers->capacity, numbers->count,
			  sizeof(*numbers->gpus)) < 0)
		return GP_NONE;
	if (gp_gpu_keep(&gpu) < 0) {
		gp_gpu_free(&gpu);
		return GP_NONE;
	}
	*is_new = true;
	numbers->gpus[numbers->count] =
		(struct gp_gpu_number){.gpu = gpu, .number = choose_number(numbers, gpu.device_id)};
	return numbers->count++;
}

uint32_t gp_gpu_numbers_find(struct gp_gpu_numbers *numbers, const struct gp_model *model,
			     uint16_t device_id, bool *is_new)
{
	uint32_t *at = &numbers->of_device[device_id % GP_DEVICE_LIMIT];
	bool ignored = false;

	is_new = is_new ? is_new : &ignored;
	*is_new = false;
	if (*at == GP_NONE)
		*at = find(numbers, gp_gpu_of(model, device_id), is_new);
	return *at == GP_NONE ? device_id : numbers->gpus[*at].number;
}
