#include "report/model/memory_stats.h"

#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"

bool gp_memory_is_of_device(uint8_t kind)
{
	return kind == GP_MEMORY_DEVICE || kind == GP_MEMORY_ASYNC || kind == GP_MEMORY_ARRAY ||
	       kind == GP_MEMORY_PHYSICAL;
}

bool gp_memory_is_of_host(uint8_t kind)
{
	return kind == GP_MEMORY_PINNED || kind == GP_MEMORY_REGISTERED;
}

void gp_memory_apply(uint64_t *now_bytes, const struct gp_memory_event *event)
{
	if (event->op == GP_MEMORY_ALLOC)
		*now_bytes += event->bytes;
	else
		*now_bytes -= event->bytes < *now_bytes ? event->bytes : *now_bytes;
}

/* An event of one process on the time axis of all: memory or usage; neither is its end. */
struct moment {
	uint64_t unix_ns;
	const struct gp_model *model;
	const struct gp_memory_event *memory;
	const struct gp_usage *usage;
};

GP_COMPARE_BY(compare_moments, struct moment, unix_ns)

static uint32_t collect_model(const struct gp_model *model, struct moment *moments)
{
	uint64_t end_ns = gp_model_end_ns(model);
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->memory_count; i++)
		moments[count++] =
			(struct moment){.unix_ns = model->base_unix_ns + model->memory[i].time_ns,
					.model = model,
					.memory = &model->memory[i]};
	for (uint32_t i = 0; i < model->usage_count; i++)
		moments[count++] =
			(struct moment){.unix_ns = model->base_unix_ns + model->usages[i].time_ns,
					.model = model,
					.usage = &model->usages[i]};
	for (uint32_t i = 0; i < count; i++)
		if (moments[i].unix_ns > model->base_unix_ns + end_ns)
			end_ns = moments[i].unix_ns - model->base_unix_ns;
	if (!model->losses.live)
		moments[count++] =
			(struct moment){.unix_ns = model->base_unix_ns + end_ns, .model = model};
	return count;
}

static int collect(struct gp_model *const *models, size_t model_count, struct moment **moments,
		   uint32_t *count)
{
	uint64_t capacity = 1;

	for (size_t i = 0; i < model_count; i++)
		capacity += (uint64_t)models[i]->memory_count + models[i]->usage_count + 1;
	*count = 0;
	*moments = capacity < UINT32_MAX ? gp_spill_take(capacity * sizeof(**moments)) : NULL;
	if (!*moments)
		return -ENOMEM;
	for (size_t i = 0; i < model_count; i++)
		*count += collect_model(models[i], *moments + *count);
	return gp_array_sort(*moments, *count, sizeof(**moments), compare_moments, NULL);
}

static struct gp_memory_row *find_row(struct gp_memory_stats *stats, size_t device, uint8_t kind)
{
	struct gp_memory_row *rows;

	for (size_t i = 0; i < stats->row_count; i++)
		if (stats->rows[i].device == device && stats->rows[i].kind == kind)
			return &stats->rows[i];
	rows = realloc(stats->rows, (stats->row_count + 1) * sizeof(*rows));
	if (!rows)
		return NULL;
	stats->rows = rows;
	rows[stats->row_count] = (struct gp_memory_row){.device = device, .kind = kind};
	return &rows[stats->row_count++];
}

/* An allocation of no bytes succeeds with no address: there is nothing to free. */
static int apply_to_row(struct gp_memory_stats *stats, size_t device, uint8_t kind,
			const struct moment *moment)
{
	struct gp_memory_row *row = find_row(stats, device, kind);
	const struct gp_memory_event *event = moment->memory;

	if (!row)
		return -ENOMEM;
	if (event->address == 0)
		return 0;
	if (event->op == GP_MEMORY_ALLOC) {
		row->allocations++;
		row->allocated_bytes += event->bytes;
	} else if (event->op == GP_MEMORY_FREE && event->other != GP_NONE) {
		row->frees++;
		row->freed_bytes += event->bytes;
	}
	gp_memory_apply(&row->now_bytes, event);
	if (row->now_bytes > row->peak_bytes) {
		row->peak_bytes = row->now_bytes;
		row->peak_unix_ns = moment->unix_ns;
	}
	return 0;
}

static int apply_memory(struct gp_memory_stats *stats, struct gp_device_list *devices,
			const struct moment *moment)
{
	const struct gp_memory_event *event = moment->memory;
	size_t device = SIZE_MAX;
	int result = 0;

	if (!gp_memory_is_of_host(event->memory_kind)) {
		device = gp_device_list_find(devices, moment->model, event->device_id);
		if (device == SIZE_MAX)
			return -ENOMEM;
	}
	if (gp_memory_is_of_device(event->memory_kind))
		result = apply_to_row(stats, device, GP_MEMORY_OF_DEVICE, moment);
	return result < 0 ? result : apply_to_row(stats, device, event->memory_kind, moment);
}

static struct gp_memory_usage *find_usage(struct gp_memory_stats *stats, size_t device)
{
	struct gp_memory_usage *usages;

	for (size_t i = 0; i < stats->usage_count; i++)
		if (stats->usages[i].device == device)
			return &stats->usages[i];
	usages = realloc(stats->usages, (stats->usage_count + 1) * sizeof(*usages));
	if (!usages)
		return NULL;
	stats->usages = usages;
	return &usages[stats->usage_count++];
}

static int apply_usage(struct gp_memory_stats *stats, struct gp_device_list *devices,
		       const struct moment *moment)
{
	const struct gp_usage *said = moment->usage;
	size_t device = gp_device_list_find(devices, moment->model, said->device_id);
	struct gp_memory_usage *usage = device < SIZE_MAX ? find_usage(stats, device) : NULL;
	const struct gp_memory_row *own =
		usage ? find_row(stats, device, GP_MEMORY_OF_DEVICE) : NULL;

	if (!own)
		return -ENOMEM;
	*usage = (struct gp_memory_usage){
		.device = device,
		.unix_ns = moment->unix_ns,
		.total_bytes = said->total_bytes,
		.in_use_bytes = said->total_bytes - (said->free_bytes < said->total_bytes
							     ? said->free_bytes
							     : said->total_bytes),
		.own_bytes = own->now_bytes,
	};
	return 0;
}

static void take_away(struct gp_memory_stats *stats, size_t device, uint8_t kind, uint64_t bytes)
{
	struct gp_memory_row *row = find_row(stats, device, kind);

	if (!row)
		return;
	row->now_bytes -= bytes < row->now_bytes ? bytes : row->now_bytes;
}

/* What a process did not free is gone with it. */
static void apply_end(struct gp_memory_stats *stats, struct gp_device_list *devices,
		      const struct moment *moment)
{
	const struct gp_model *model = moment->model;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];
		size_t device = SIZE_MAX;

		if (event->op != GP_MEMORY_ALLOC || event->other != GP_NONE)
			continue;
		if (!gp_memory_is_of_host(event->memory_kind))
			device = gp_device_list_find(devices, model, event->device_id);
		take_away(stats, device, event->memory_kind, event->bytes);
		if (gp_memory_is_of_device(event->memory_kind))
			take_away(stats, device, GP_MEMORY_OF_DEVICE, event->bytes);
	}
}

static int apply(struct gp_memory_stats *stats, struct gp_device_list *devices,
		 const struct moment *moment)
{
	if (moment->memory)
		return apply_memory(stats, devices, moment);
	if (moment->usage)
		return apply_usage(stats, devices, moment);
	apply_end(stats, devices, moment);
	return 0;
}

/* Ends after which nothing comes change nothing. */
static uint32_t drop_last_ends(const struct moment *moments, uint32_t count)
{
	while (count > 0 && !moments[count - 1].memory && !moments[count - 1].usage)
		count--;
	return count;
}

static int compare_rows(const void *a, const void *b)
{
	const struct gp_memory_row *left = a, *right = b;

	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return left->kind - right->kind;
}

int gp_memory_stats_of(struct gp_model *const *models, size_t model_count,
		       struct gp_device_list *devices, struct gp_memory_stats *stats)
{
	struct moment *moments = NULL;
	uint32_t count = 0;
	int result;

	*stats = (struct gp_memory_stats){0};
	result = collect(models, model_count, &moments, &count);
	count = result == 0 ? drop_last_ends(moments, count) : 0;
	for (uint32_t i = 0; result == 0 && i < count; i++)
		result = apply(stats, devices, &moments[i]);
	gp_spill_free(moments);
	if (result < 0)
		gp_memory_stats_free(stats);
	else if (stats->row_count > 0)
		qsort(stats->rows, stats->row_count, sizeof(*stats->rows), compare_rows);
	return result;
}

void gp_memory_stats_free(struct gp_memory_stats *stats)
{
	free(stats->rows);
	free(stats->usages);
	*stats = (struct gp_memory_stats){0};
}
