/* The page of processes of which there are totals alone (report/model/sums/totals.h). */
#include "report/summary/part.h"

#include <errno.h>
#include <stdlib.h>

#include "report/base/text/format.h"
#include "report/model/sums/totals.h"

/* Of a summary with all that there is: on one core, as docs/design/performance.md has it. */
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

/* What one process did on a device. */
struct use {
	size_t device; /* in the list */
	struct gp_model *model;
	const struct gp_cover_device *cover;
};

struct uses {
	struct use *uses;
	size_t count;
	/* room for what is of one device */
	struct gp_model **models;
	const struct gp_cover_device **covers;
};

static void free_uses(struct uses *uses)
{
	free(uses->uses);
	free(uses->models);
	free(uses->covers);
}

static int gather_uses(struct uses *uses, struct gp_model *const *models, size_t model_count,
		       struct gp_device_list *devices)
{
	size_t room = 1;

	for (size_t i = 0; i < model_count; i++)
		room += gp_totals_of(models[i])->cover.device_count;
	*uses = (struct uses){
		.uses = calloc(room, sizeof(*uses->uses)),
		.models = calloc(room, sizeof(struct gp_model *)),
		.covers = calloc(room, sizeof(struct gp_cover_device *)),
	};
	if (!uses->uses || !uses->models || !uses->covers)
		return -ENOMEM;
	for (size_t i = 0; i < model_count; i++) {
		const struct gp_totals *totals = gp_totals_of(models[i]);

		for (uint32_t j = 0; j < totals->cover.device_count; j++) {
			const struct gp_cover_device *cover = &totals->cover.devices[j];
			size_t at =
				gp_device_list_find(devices, models[i], (uint16_t)cover->device);

			if (at == SIZE_MAX)
				return -ENOMEM;
			uses->uses[uses->count++] = (struct use){at, models[i], cover};
		}
	}
	return 0;
}

/* As gp_busy_device_parts() has it. */
static int find_possible(struct gp_busy *busy, struct gp_model *const *users, size_t user_count,
			 struct gp_model *const *models, size_t model_count)
{
	struct gp_window window = gp_busy_window(models, model_count);
	struct gp_busy_parts parts;
	bool in_part = false;
	int result;

	for (size_t i = 0; i < user_count; i++)
		in_part |= users[i]->gate_count > 0;
	result = in_part ? gp_busy_parts_of(&parts, users, user_count, window)
			 : gp_busy_parts_of(&parts, models, model_count, window);
	if (result == 0)
		busy->possible_ns = parts.total_ns;
	free(parts.intervals);
	return result;
}

static int measure(struct gp_busy *busy, struct uses *uses, size_t device,
		   struct gp_model *const *models, size_t model_count)
{
	uint64_t ns, late_ns = 0;
	uint32_t count = 0;
	int result;

	for (size_t i = 0; i < uses->count; i++) {
		if (uses->uses[i].device != device)
			continue;
		uses->models[count] = uses->uses[i].model;
		uses->covers[count++] = uses->uses[i].cover;
		late_ns += uses->uses[i].cover->late_ns;
	}
	result = find_possible(busy, uses->models, count, models, model_count);
	if (result == 0)
		result = gp_cover_union(uses->covers, count, &ns, &busy->more_ns);
	if (result != 0)
		return result;
	busy->inside_ns = ns < busy->possible_ns ? ns : busy->possible_ns;
	busy->outside_ns = ns - busy->inside_ns;
	busy->more_ns += late_ns;
	return 0;
}

struct gp_busy *gp_summary_busy_of_totals(struct gp_model *const *models, size_t model_count,
					  struct gp_device_list *devices)
{
	struct gp_busy *busy = NULL;
	struct uses uses;
	int result = gather_uses(&uses, models, model_count, devices);

	if (result == 0)
		busy = calloc(devices->count + 1, sizeof(*busy));
	for (size_t i = 0; busy && result == 0 && i < devices->count; i++)
		result = measure(&busy[i], &uses, i, models, model_count);
	free_uses(&uses);
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

/*
 * What other processes say of a device is as true: the last one counts.  A row has it, also where
 * nothing was allocated.
 */
static int add_usage(struct gp_memory_stats *memory, const struct gp_model *model,
		     struct gp_device_list *devices, const struct gp_record_usage *usage)
{
	uint64_t free_bytes =
		usage->free_bytes < usage->total_bytes ? usage->free_bytes : usage->total_bytes;
	struct gp_memory_usage one = {
		.device = gp_device_list_find(devices, model, usage->device_id),
		.unix_ns = unix_ns(model, usage->ticks),
		.total_bytes = usage->total_bytes,
		.in_use_bytes = usage->total_bytes - free_bytes,
	};
	struct gp_memory_usage *usages;
	size_t at = 0;

	if (one.device == SIZE_MAX || !row_of(memory, one.device, GP_MEMORY_OF_DEVICE))
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
		const struct gp_totals *totals = gp_totals_of(models[i]);

		for (uint32_t j = 0; j < totals->memory.row_count && result == 0; j++)
			result = add_memory(memory, models[i], devices, &totals->memory.rows[j]);
		for (uint32_t j = 0; j < totals->usage_count && result == 0; j++)
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
		const struct gp_totals *totals = gp_totals_of(summary->models[i]);

		ranges += totals->sums.ranges;
		marks += totals->sums.marks;
	}
	if (ranges + marks == 0)
		return;
	fprintf(summary->out, "  ranges of the program: %s", gp_format_count(ranges).text);
	if (marks > 0)
		fprintf(summary->out, ", marks: %s", gp_format_count(marks).text);
	fputc('\n', summary->out);
}

static void print_more_busy(const struct gp_summary *summary)
{
	uint64_t late_ns = 0, more_ns = 0;

	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_totals *totals = gp_totals_of(summary->models[i]);

		for (uint32_t j = 0; j < totals->cover.device_count; j++)
			late_ns += totals->cover.devices[j].late_ns;
	}
	for (size_t i = 0; i < summary->devices.count; i++)
		more_ns += summary->busy[i].more_ns;
	if (late_ns > 0)
		fprintf(summary->out,
			"  GPUs were busy for up to %s more, with what came into the trace late\n",
			gp_format_ns(late_ns).text);
	if (more_ns > late_ns)
		fprintf(summary->out,
			"  GPUs were busy for up to %s more: processes used one at the same time, and of the earlier part only sums are kept\n",
			gp_format_ns(more_ns - late_ns).text);
}

int gp_summary_print_one_pass(const struct gp_summary *summary)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < summary->model_count; i++)
		bytes += gp_totals_of(summary->models[i])->file_bytes;
	print_more_busy(summary);
	print_ranges(summary);
	fprintf(summary->out, "\nRead in one pass: %s; medians are within 6 %%\n",
		gp_format_bytes(bytes).text);
	fputs("  not here: advice, the loop, why GPUs were idle, GPU time of ranges, where calls failed, leaks, gpuprof's own cost\n",
	      summary->out);
	fprintf(summary->out,
		"  all of it: gpuprof summary --full FILE (about %s of CPU, %s of memory or disk)\n",
		gp_format_ns(bytes * NS_A_BYTE).text, gp_format_bytes(bytes * MEMORY_TIMES).text);
	return 0;
}
