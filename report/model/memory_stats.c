#include "report/model/memory_stats.h"

#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/model/recorded.h"
#include "report/model/sums/totals.h"

void gp_memory_apply(uint64_t *now_bytes, const struct gp_memory_event *event)
{
	if (event->op == GP_MEMORY_ALLOC)
		*now_bytes += event->bytes;
	else
		*now_bytes -= event->bytes < *now_bytes ? event->bytes : *now_bytes;
}

struct making {
	struct gp_memory_ledger ledger;
	struct gp_memory_usage *usages;
	uint32_t usage_count, usage_capacity;
	struct gp_device_list *devices;
};

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
	bool is_known = !gp_recorded_is_sampled(model);
	uint64_t end_ns = gp_model_end_ns(model);
	uint32_t count = 0;

	for (uint32_t i = 0; is_known && i < model->memory_count; i++)
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
	if (!model->losses.live && is_known)
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

/* Returns 0 or -ENOMEM. */
static int find_device(struct making *making, const struct gp_model *model, uint16_t device_id,
		       uint8_t kind, size_t *device)
{
	*device = GP_MEMORY_OF_HOST;
	if (gp_memory_is_of_host(kind))
		return 0;
	*device = gp_device_list_find(making->devices, model, device_id);
	return *device == SIZE_MAX ? -ENOMEM : 0;
}

/* An allocation of no bytes succeeds with no address: there is nothing to free. */
static int apply_memory(struct making *making, const struct moment *moment)
{
	const struct gp_memory_event *event = moment->memory;
	struct gp_memory_ledger *ledger = &making->ledger;
	size_t device;
	int result =
		find_device(making, moment->model, event->device_id, event->memory_kind, &device);

	if (result != 0)
		return result;
	if (event->address == 0)
		return gp_memory_ledger_open(ledger, device, event->memory_kind);
	if (event->op == GP_MEMORY_ALLOC)
		return gp_memory_ledger_allocate(ledger, device, event->memory_kind, event->bytes,
						 moment->unix_ns);
	if (event->other != GP_NONE)
		gp_memory_ledger_release(ledger, device, event->memory_kind, event->bytes, true);
	return 0;
}

/* The latest counts.  A row has it, also where nothing was allocated. */
static int put_usage(struct making *making, struct gp_memory_usage usage)
{
	uint32_t at = 0;
	int result = gp_memory_ledger_open(&making->ledger, usage.device, GP_MEMORY_OF_DEVICE);

	while (at < making->usage_count && making->usages[at].device != usage.device)
		at++;
	if (result == 0)
		result = gp_array_grow(&making->usages, &making->usage_capacity,
				       making->usage_count, sizeof(usage));
	if (result != 0 || (at < making->usage_count && making->usages[at].unix_ns > usage.unix_ns))
		return result;
	making->usage_count += at == making->usage_count;
	making->usages[at] = usage;
	return 0;
}

static struct gp_memory_usage usage_of(size_t device, uint64_t unix_ns, uint64_t free_bytes,
				       uint64_t total_bytes)
{
	return (struct gp_memory_usage){
		.device = device,
		.unix_ns = unix_ns,
		.total_bytes = total_bytes,
		.in_use_bytes = free_bytes < total_bytes ? total_bytes - free_bytes : 0,
	};
}

static int apply_usage(struct making *making, const struct moment *moment)
{
	const struct gp_usage *told = moment->usage;
	size_t device = gp_device_list_find(making->devices, moment->model, told->device_id);
	struct gp_memory_usage usage =
		usage_of(device, moment->unix_ns, told->free_bytes, told->total_bytes);
	const struct gp_memory_row *own =
		gp_memory_ledger_row(&making->ledger, device, GP_MEMORY_OF_DEVICE);

	usage.own_bytes = own ? own->now_bytes : 0;
	return device < SIZE_MAX ? put_usage(making, usage) : -ENOMEM;
}

/* The blocks that a process did not free are gone with it. */
static int apply_end(struct making *making, const struct moment *moment)
{
	const struct gp_model *model = moment->model;
	int result = 0;

	for (uint32_t i = 0; i < model->memory_count && result == 0; i++) {
		const struct gp_memory_event *event = &model->memory[i];
		size_t device;

		if (event->op != GP_MEMORY_ALLOC || event->other != GP_NONE)
			continue;
		result = find_device(making, model, event->device_id, event->memory_kind, &device);
		if (result == 0)
			gp_memory_ledger_release(&making->ledger, device, event->memory_kind,
						 event->bytes, false);
	}
	return result;
}

static int apply(struct making *making, const struct moment *moment)
{
	if (moment->memory)
		return apply_memory(making, moment);
	return moment->usage ? apply_usage(making, moment) : apply_end(making, moment);
}

/* Ends after which nothing comes change nothing. */
static uint32_t drop_last_ends(const struct moment *moments, uint32_t count)
{
	while (count > 0 && !moments[count - 1].memory && !moments[count - 1].usage)
		count--;
	return count;
}

/* ---- models that have sums alone ---- */

/* The clock of the ticks runs evenly, and the timeline begins with the first anchor. */
static uint64_t unix_ns_of(const struct gp_model *model, uint64_t ticks)
{
	uint64_t first = model->totals->sums.first_ticks;
	double ns = ticks > first ? (double)(ticks - first) * model->ns_per_tick : 0;

	return model->base_unix_ns + model->first_call_ns + (uint64_t)ns;
}

static int add_row(struct making *making, const struct gp_model *model,
		   const struct gp_memory_row *one)
{
	struct gp_memory_ledger *ledger = &making->ledger;
	struct gp_memory_row *row;
	size_t device;
	int result = find_device(making, model, (uint16_t)one->device, one->kind, &device);

	if (result == 0)
		result = gp_memory_ledger_open(ledger, device, one->kind);
	if (result != 0)
		return result;
	row = gp_memory_ledger_row(ledger, device, one->kind);
	row->allocations += one->allocations;
	row->allocated_bytes += one->allocated_bytes;
	row->frees += one->frees;
	row->freed_bytes += one->freed_bytes;
	row->now_bytes += one->now_bytes;
	if (one->peak_bytes > row->peak_bytes) {
		row->peak_bytes = one->peak_bytes;
		row->peak_time = unix_ns_of(model, one->peak_time);
	}
	return 0;
}

static int add_totals(struct making *making, const struct gp_model *model)
{
	const struct gp_totals *totals = gp_totals_of(model);
	const struct gp_memory_ledger *ledger = &totals->memory.ledger;
	bool is_known = !gp_recorded_is_sampled(model);
	int result = 0;

	for (uint32_t i = 0; is_known && i < ledger->row_count && result == 0; i++)
		result = add_row(making, model, &ledger->rows[i]);
	for (uint32_t i = 0; i < totals->usage_count && result == 0; i++) {
		const struct gp_record_usage *told = &totals->usages[i];
		size_t device = gp_device_list_find(making->devices, model, told->device_id);

		result =
			device == SIZE_MAX
				? -ENOMEM
				: put_usage(making, usage_of(device, unix_ns_of(model, told->ticks),
							     told->free_bytes, told->total_bytes));
	}
	return result;
}

/* ---- all ---- */

GP_COMPARE_BY_TWO(compare_rows, struct gp_memory_row, device, kind)

int gp_memory_stats_of(struct gp_model *const *models, size_t model_count,
		       struct gp_device_list *devices, struct gp_memory_stats *stats)
{
	struct making making = {.devices = devices};
	struct moment *moments = NULL;
	uint32_t count = 0;
	int result = collect(models, model_count, &moments, &count);

	count = result == 0 ? drop_last_ends(moments, count) : 0;
	for (uint32_t i = 0; result == 0 && i < count; i++)
		result = apply(&making, &moments[i]);
	gp_spill_free(moments);
	for (size_t i = 0; result == 0 && i < model_count; i++)
		result = add_totals(&making, models[i]);
	if (result == 0)
		result = gp_array_sort(making.ledger.rows, making.ledger.row_count,
				       sizeof(*making.ledger.rows), compare_rows, NULL);
	*stats = (struct gp_memory_stats){making.ledger.rows, making.ledger.row_count,
					  making.usages, making.usage_count};
	if (result < 0)
		gp_memory_stats_free(stats);
	return result;
}

void gp_memory_stats_free(struct gp_memory_stats *stats)
{
	free(stats->rows);
	free(stats->usages);
	*stats = (struct gp_memory_stats){0};
}

uint64_t gp_memory_stats_peak_bytes(const struct gp_memory_stats *stats)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < stats->row_count; i++)
		if (stats->rows[i].kind == GP_MEMORY_OF_DEVICE && stats->rows[i].peak_bytes > bytes)
			bytes = stats->rows[i].peak_bytes;
	return bytes;
}
