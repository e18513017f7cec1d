#include "report/model/devices.h"

#include <errno.h>
#include <stdlib.h>

void gp_device_list_free(struct gp_device_list *devices)
{
	free(devices->entries);
	*devices = (struct gp_device_list){0};
}

static const char *name_of(const struct gp_model *model, const struct gp_record_device *record)
{
	const char *name = record ? model->device_names[record - model->devices] : NULL;

	return name ? name : "";
}

static bool is_taken(const struct gp_device_list *devices, uint32_t number)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->entries[i].number == number)
			return true;
	return false;
}

static uint32_t choose_number(struct gp_device_list *devices, uint16_t device_id)
{
	if (!is_taken(devices, device_id))
		return device_id;
	while (is_taken(devices, devices->least_free))
		devices->least_free++;
	return devices->least_free;
}

static size_t find_known(const struct gp_device_list *devices, const struct gp_gpu *gpu)
{
	for (size_t i = 0; i < devices->count; i++)
		if (gp_gpu_is_same(&devices->entries[i].gpu, gpu))
			return i;
	return SIZE_MAX;
}

size_t gp_device_list_known(const struct gp_device_list *devices, const struct gp_model *model,
			    uint16_t device_id)
{
	struct gp_gpu gpu = gp_gpu_of(model, device_id);

	return find_known(devices, &gpu);
}

/*
 * Facts that another process has of a known GPU. Written once: afterwards several threads may read.
 */
static void learn(struct gp_device_entry *entry, const struct gp_model *model,
		  const struct gp_gpu *gpu)
{
	const struct gp_record_link *pcie =
		entry->pcie ? NULL : gp_model_link(model, gpu->device_id, GP_LINK_PCIE);

	if (!entry->gpu.rank && gpu->rank)
		entry->gpu.rank = gpu->rank;
	if (pcie)
		entry->pcie = pcie;
}

size_t gp_device_list_find(struct gp_device_list *devices, const struct gp_model *model,
			   uint16_t device_id)
{
	const struct gp_record_device *record = gp_model_device(model, device_id);
	struct gp_gpu gpu = gp_gpu_of(model, device_id);
	size_t known = find_known(devices, &gpu);
	struct gp_device_entry *entries;

	if (known != SIZE_MAX) {
		learn(&devices->entries[known], model, &gpu);
		return known;
	}
	entries = realloc(devices->entries, (devices->count + 1) * sizeof(*entries));
	if (!entries)
		return SIZE_MAX;
	devices->entries = entries;
	entries[devices->count] =
		(struct gp_device_entry){.device_id = device_id,
					 .number = choose_number(devices, device_id),
					 .gpu = gpu,
					 .record = record,
					 .pcie = gp_model_link(model, device_id, GP_LINK_PCIE),
					 .name = name_of(model, record)};
	return devices->count++;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct gp_device_entry *left = a, *right = b;

	return (left->number > right->number) - (left->number < right->number);
}

/* Returns whether there was memory. */
static bool add_devices(struct gp_device_list *devices, const struct gp_model *model)
{
	size_t found = 0;

	for (uint32_t i = 0; found != SIZE_MAX && i < model->device_count; i++)
		found = gp_device_list_find(devices, model, model->devices[i].device_id);
	for (uint32_t i = 0; found != SIZE_MAX && i < model->op_count;
	     i = gp_model_stream_end(model, i))
		found = gp_device_list_find(devices, model, model->ops[i].device_id);
	return found != SIZE_MAX;
}

int gp_device_list_all(struct gp_device_list *devices, struct gp_model *const *models,
		       size_t model_count)
{
	for (size_t i = 0; i < model_count; i++)
		if (!add_devices(devices, models[i]))
			return -ENOMEM;
	if (devices->count > 1)
		qsort(devices->entries, devices->count, sizeof(*devices->entries), compare_numbers);
	return 0;
}

bool *gp_device_list_used(struct gp_device_list *devices, const struct gp_model *model)
{
	size_t count = devices->count;
	bool *used = calloc(count + 1, sizeof(*used));

	for (uint32_t i = 0; used && i < model->op_count; i = gp_model_stream_end(model, i)) {
		size_t device = gp_device_list_find(devices, model, model->ops[i].device_id);

		if (device < count)
			used[device] = true;
	}
	return used;
}

bool gp_device_list_is_renumbered(const struct gp_device_list *devices)
{
	for (size_t i = 0; i < devices->count; i++)
		if (devices->entries[i].number != devices->entries[i].device_id)
			return true;
	return false;
}
