#include "report/gpu_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "report/array.h"

static const uint8_t unknown[16];

void gp_gpu_numbers_free(struct gp_gpu_numbers *numbers)
{
	free(numbers->gpus);
	*numbers = (struct gp_gpu_numbers){0};
}

void gp_gpu_numbers_next(struct gp_gpu_numbers *numbers)
{
	numbers->known = numbers->count;
	for (uint32_t i = 0; i < GP_DEVICE_LIMIT; i++)
		numbers->of_device[i] = GP_NONE;
}

static bool is_same(const struct gp_gpu_number *gpu, const struct gp_gpu_number *other)
{
	if (memcmp(gpu->uuid, unknown, 16) != 0 && memcmp(other->uuid, unknown, 16) != 0)
		return memcmp(gpu->uuid, other->uuid, 16) == 0;
	return gpu->device_id == other->device_id;
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

static uint32_t find(struct gp_gpu_numbers *numbers, struct gp_gpu_number gpu, bool *is_new)
{
	for (uint32_t i = 0; i < numbers->known; i++)
		if (is_same(&numbers->gpus[i], &gpu))
			return i;
	if (gp_array_grow(&numbers->gpus, &numbers->capacity, numbers->count,
			  sizeof(*numbers->gpus)) < 0)
		return GP_NONE;
	*is_new = true;
	gpu.number = choose_number(numbers, gpu.device_id);
	numbers->gpus[numbers->count] = gpu;
	return numbers->count++;
}

uint32_t gp_gpu_numbers_find(struct gp_gpu_numbers *numbers, const struct gp_model *model,
			     uint16_t device_id, bool *is_new)
{
	const struct gp_record_device *record;
	struct gp_gpu_number gpu = {.device_id = device_id};
	uint32_t *at = &numbers->of_device[device_id % GP_DEVICE_LIMIT];
	bool ignored = false;

	is_new = is_new ? is_new : &ignored;
	*is_new = false;
	if (*at == GP_NONE) {
		record = gp_model_device(model, device_id);
		if (record)
			memcpy(gpu.uuid, record->uuid, sizeof(gpu.uuid));
		*at = find(numbers, gpu, is_new);
	}
	return *at == GP_NONE ? device_id : numbers->gpus[*at].number;
}
