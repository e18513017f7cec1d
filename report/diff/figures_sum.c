#include "report/diff/figures_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"

/* ---- metrics ---- */

static void stretch(struct gp_figures_sum *sum, const struct gp_figures_extent *extent)
{
	struct gp_figures_extent *all = &sum->extent;

	sum->extents_ns += extent->gpus * (double)(extent->end_unix_ns - extent->start_unix_ns);
	all->gpus += extent->gpus;
	if (extent->start_unix_ns == extent->end_unix_ns)
		return;
	if (all->end_unix_ns == 0 || extent->start_unix_ns < all->start_unix_ns)
		all->start_unix_ns = extent->start_unix_ns;
	if (extent->end_unix_ns > all->end_unix_ns)
		all->end_unix_ns = extent->end_unix_ns;
}

/* Of the main loop, or of all processes together, and no sum. */
static void set_others(const struct gp_figures_sum *sum, double *values)
{
	double wall_ns = (double)(sum->extent.end_unix_ns - sum->extent.start_unix_ns);
	double unused_ns = wall_ns * sum->extent.gpus - sum->extents_ns;

	if (!isnan(values[GP_METRIC_WALL]))
		values[GP_METRIC_WALL] = wall_ns;
	values[GP_METRIC_GPU_IDLE] += unused_ns;
	values[GP_METRIC_IDLE_UNUSED] += unused_ns;
	values[GP_METRIC_STEP] = sum->main.values[GP_METRIC_STEP];
	values[GP_METRIC_STEP_SPREAD] = sum->main.values[GP_METRIC_STEP_SPREAD];
	values[GP_METRIC_STEP_MEAN] = sum->main.values[GP_METRIC_STEP_MEAN];
	values[GP_METRIC_CLOCKS_LOWERED] /= sum->process_count;
}

/* ---- rows ---- */

static int add_row(struct gp_named_sum *sum, const struct gp_named_figure *row)
{
	uint32_t known = sum->names.count, at = gp_groups_find(&sum->names, row->name);

	gp_array_grow(&sum->rows, &sum->capacity, at, sizeof(*sum->rows));
	if (at == known)
		sum->rows[at] = (struct gp_named_figure){.occupancy = (double)NAN};
	sum->rows[at].count += row->count;
	sum->rows[at].total_ns += row->total_ns;
	if (!isnan(row->occupancy))
		sum->rows[at].occupancy = row->occupancy;
	return isnan(row->median_ns)
		       ? 0
		       : gp_groups_add(&sum->names, at, (uint64_t)llround(row->median_ns));
}

static void add_rows(struct gp_figures_sum *sum, const struct gp_figures *process)
{
	for (int kind = 0; kind < GP_NAMED_KINDS; kind++)
		for (uint32_t i = 0; kind != GP_NAMED_PHASE && i < process->named[kind].count; i++)
			add_row(&sum->named[kind], &process->named[kind].rows[i]);
}

static void list_rows(struct gp_named_sum *sum, struct gp_named_list *list)
{
	list->rows = calloc((size_t)sum->names.count + 1, sizeof(*list->rows));
	for (uint32_t i = 0; i < sum->names.count; i++) {
		struct gp_stats medians = gp_group_stats(&sum->names.rows[i]);
		struct gp_named_figure *row = &list->rows[i];

		*row = sum->rows[i];
		row->name = strdup(sum->names.rows[i].key);
		row->median_ns = medians.count > 0 ? medians.median : (double)NAN;
		list->count++;
	}
	gp_named_sort(list);
}

/* ---- the whole ---- */

int gp_figures_sum_add(struct gp_figures_sum *sum, struct gp_figures *process)
{
	bool is_main = sum->process_count++ == 0 || process->loop_ns > sum->main.loop_ns;

	add_rows(sum, process);
	stretch(sum, &process->extent);
	for (int i = 0; i < GP_METRICS; i++)
		sum->values[i] += process->values[i];
	if (!is_main) {
		gp_figures_free(process);
		return 0;
	}
	gp_figures_free(&sum->main);
	sum->main = *process;
	*process = (struct gp_figures){0};
	return 0;
}

int gp_figures_sum_end(struct gp_figures_sum *sum, struct gp_figures *figures)
{
	*figures = (struct gp_figures){.step_count = sum->main.step_count};
	memcpy(figures->values, sum->values, sizeof(figures->values));
	if (sum->process_count > 0)
		set_others(sum, figures->values);
	figures->named[GP_NAMED_PHASE] = sum->main.named[GP_NAMED_PHASE];
	sum->main.named[GP_NAMED_PHASE] = (struct gp_named_list){0};
	for (int kind = 0; kind < GP_NAMED_KINDS; kind++)
		if (kind != GP_NAMED_PHASE)
			list_rows(&sum->named[kind], &figures->named[kind]);
	return 0;
}

void gp_figures_sum_free(struct gp_figures_sum *sum)
{
	gp_figures_free(&sum->main);
	for (int kind = 0; kind < GP_NAMED_KINDS; kind++) {
		gp_groups_free(&sum->named[kind].names);
		free(sum->named[kind].rows);
	}
	*sum = (struct gp_figures_sum){0};
}
