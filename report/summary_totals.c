/* The page of processes of which there are totals alone (report/pass/totals.h). */
#include "report/summary_part.h"

#include <errno.h>
#include <stdlib.h>

#include "report/format.h"
#include "report/pass/totals.h"

/* Of a summary with all that there is: on one core, as docs/PERFORMANCE.md has it. */
#define NS_A_BYTE    70
#define MEMORY_TIMES 13

bool gp_summary_has_totals(struct gp_model *const *models, size_t model_count)
{
	for (size_t i = 0; i < model_count; i++)
		if (models[i]->totals)
			return true;
	return false;
}

/* ---- how busy the GPUs were ---- */

static int find_possible(struct gp_busy *busy, struct gp_model *const *model)
{
	struct gp_busy_parts parts;
	int result = gp_busy_parts_of(&parts, model, 1, gp_busy_window(model, 1));

	if (result == 0)
		busy->possible_ns = parts.total_ns;
	free(parts.intervals);
	return result;
}

/* Of several processes on one GPU it was as busy as with the one that used it most, at least. */
static int add_busy(struct gp_busy *busy, struct gp_model *const *model,
		    const struct gp_cover_device *device)
{
	struct gp_busy one = {0};
	uint64_t late_ns, ns = gp_cover_ns(&(*model)->totals->cover, device->device, &late_ns);
	int result = find_possible(&one, model);

	one.inside_ns = ns < one.possible_ns ? ns : one.possible_ns;
	one.outside_ns = ns - one.inside_ns;
	if (one.inside_ns >= busy->inside_ns)
		*busy = one;
	return result;
}

static int add_busy_of(struct gp_busy *busy, struct gp_model *const *model,
		       struct gp_device_list *devices)
{
	const struct gp_cover *cover = &(*model)->totals->cover;
	int result = 0;

	for (uint32_t i = 0; i < cover->device_count && result == 0; i++) {
		size_t at =
			gp_device_list_find(devices, *model, (uint16_t)cover->devices[i].device);

		result = at == SIZE_MAX ? -ENOMEM : add_busy(&busy[at], model, &cover->devices[i]);
	}
	return result;
}

struct gp_busy *gp_summary_busy_of_totals(struct gp_model *const *models, size_t model_count,
					  struct gp_device_list *devices)
{
	/* the list may grow by what has no record of its device */
	struct gp_busy *busy =
		calloc(devices->count + model_count * GP_DEVICE_LIMIT + 1, sizeof(*busy));
	int result = busy ? 0 : -ENOMEM;

	for (size_t i = 0; i < model_count && result == 0; i++)
		if (models[i]->totals)
			result = add_busy_of(busy, &models[i], devices);
	for (size_t i = 0; i < devices->count && result == 0; i++)
		if (busy[i].possible_ns == 0)
			result = find_possible(&busy[i], models);
	if (result == 0)
		return busy;
	free(busy);
	return NULL;
}

/* ---- memory ---- */

static struct gp_memory_row *row_of(struct gp_memory_stats *memory, size_t device, uint8_t kind)
{
	struct gp_memory_row *rows;

	for (size_t i = 0; i < memory->row_count; i++)
		if (memory->rows[i].device == device && memory->rows[i].kind == kind)
			return &memory->rows[i];
	rows = realloc(memory->rows, (memory->row_count + 1) * sizeof(*rows));
	if (!rows)
		return NULL;
	memory->rows = rows;
	rows[memory->row_count] = (struct gp_memory_row){.device = device, .kind = kind};
	return &rows[memory->row_count++];
}

/* The clock of the ticks runs evenly, and the timeline begins with the first anchor. */
static uint64_t unix_ns(const struct gp_model *model, uint64_t ticks)
{
	uint64_t first = model->totals->sums.first_ticks;
	double ns = ticks > first ? (double)(ticks - first) * model->ns_per_tick : 0;

	return model->base_unix_ns + model->first_call_ns + (uint64_t)ns;
}

/* Peaks of several processes need not be at one time: the largest is the row's. */
static int add_memory(struct gp_memory_stats *memory, const struct gp_model *model,
		      struct gp_device_list *devices, const struct gp_live_memory_row *one)
{
	size_t device = one->device == GP_LIVE_HOST
				? SIZE_MAX
				: gp_device_list_find(devices, model, (uint16_t)one->device);
	struct gp_memory_row *row;

	if (one->device != GP_LIVE_HOST && device == SIZE_MAX)
		return -ENOMEM;
	row = row_of(memory, device, one->kind);
	if (!row)
		return -ENOMEM;
	row->allocations += one->allocations;
	row->allocated_bytes += one->allocated_bytes;
	row->frees += one->frees;
	row->freed_bytes += one->freed_bytes;
	row->now_bytes += one->now_bytes;
	if (one->peak_bytes > row->peak_bytes) {
		row->peak_bytes = one->peak_bytes;
		row->peak_unix_ns = unix_ns(model, one->peak_ticks);
	}
	return 0;
}

/* What other processes say of a device is as true: the last one counts. */
static int add_usage(struct gp_memory_stats *memory, const struct gp_model *model,
		     struct gp_device_list *devices, const struct gp_record_usage *usage)
{
	struct gp_memory_usage one = {
		.device = gp_device_list_find(devices, model, usage->device_id),
		.unix_ns = unix_ns(model, usage->ticks),
		.total_bytes = usage->total_bytes,
		.in_use_bytes = usage->total_bytes - usage->free_bytes,
	};
	struct gp_memory_usage *usages;
	size_t at = 0;

	if (one.device == SIZE_MAX)
		return -ENOMEM;
	while (at < memory->usage_count && memory->usages[at].device != one.device)
		at++;
	if (at < memory->usage_count) {
		if (memory->usages[at].unix_ns <= one.unix_ns)
			memory->usages[at] = one;
		return 0;
	}
	usages = realloc(memory->usages, (at + 1) * sizeof(*usages));
	if (!usages)
		return -ENOMEM;
	usages[at] = one;
	memory->usages = usages;
	memory->usage_count++;
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct gp_memory_row *left = a, *right = b;

	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return left->kind - right->kind;
}

int gp_summary_memory_of_totals(struct gp_model *const *models, size_t model_count,
				struct gp_device_list *devices, struct gp_memory_stats *memory)
{
	int result = 0;

	*memory = (struct gp_memory_stats){0};
	for (size_t i = 0; i < model_count && result == 0; i++) {
		const struct gp_totals *totals = models[i]->totals;

		for (uint32_t j = 0; totals && j < totals->memory.row_count && result == 0; j++)
			result = add_memory(memory, models[i], devices, &totals->memory.rows[j]);
		for (uint32_t j = 0; totals && j < totals->usage_count && result == 0; j++)
			result = add_usage(memory, models[i], devices, &totals->usages[j]);
	}
	if (result != 0)
		gp_memory_stats_free(memory);
	else if (memory->row_count > 0)
		qsort(memory->rows, memory->row_count, sizeof(*memory->rows), compare_rows);
	return result;
}

/* ---- what is not on the page ---- */

static void print_ranges(const struct gp_summary *summary)
{
	uint64_t ranges = 0, marks = 0;

	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_totals *totals = summary->models[i]->totals;

		ranges += totals ? totals->sums.ranges : 0;
		marks += totals ? totals->sums.marks : 0;
	}
	if (ranges + marks == 0)
		return;
	fprintf(summary->out, "  ranges of the program: %s", gp_format_count(ranges).text);
	if (marks > 0)
		fprintf(summary->out, ", marks: %s", gp_format_count(marks).text);
	fputc('\n', summary->out);
}

static void print_late(const struct gp_summary *summary)
{
	uint64_t late_ns = 0;

	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_totals *totals = summary->models[i]->totals;

		for (uint32_t j = 0; totals && j < totals->cover.device_count; j++)
			late_ns += totals->cover.devices[j].late_ns;
	}
	if (late_ns > 0)
		fprintf(summary->out,
			"  GPUs were busy for up to %s more, with what came into the trace late\n",
			gp_format_ns(late_ns).text);
}

int gp_summary_print_one_pass(const struct gp_summary *summary)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < summary->model_count; i++)
		bytes += summary->models[i]->totals ? summary->models[i]->totals->file_bytes : 0;
	print_late(summary);
	print_ranges(summary);
	fprintf(summary->out, "\nRead in one pass: %s; medians are within 6 %%\n",
		gp_format_bytes(bytes).text);
	fputs("  not here: advice, why GPUs were idle, GPU time of ranges, where calls failed, "
	      "leaks, gpuprof's own cost\n",
	      summary->out);
	fprintf(summary->out,
		"  all of it: gpuprof summary --full FILE (about %s of CPU, %s of memory or "
		"disk)\n",
		gp_format_ns(bytes * NS_A_BYTE).text, gp_format_bytes(bytes * MEMORY_TIMES).text);
	return 0;
}
