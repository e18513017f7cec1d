#include "report/summary/part.h"

#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/model/peak_bandwidth.h"
#include "report/base/text/format.h"
#include "report/symbols/names.h"
#include "report/model/recorded.h"
#include "report/base/stats.h"

/* On one screen, rows with a smaller share of the time are hidden. */
#define LEAST_SHARE 0.01
/* The first MOST_LARGE rows are always shown if they have this share. */
#define LARGE_SHARE 0.1
#define MOST_LARGE  5

#define TIME_COLUMNS                                                                               \
	{"Time %", GP_UNIT_PERCENT}, {"Total", GP_UNIT_NS},                                        \
	{                                                                                          \
		"Calls", GP_UNIT_COUNT                                                             \
	}
#define SPREAD_COLUMNS                                                                             \
	{"Avg", GP_UNIT_NS}, {"Med", GP_UNIT_NS}, {"Min", GP_UNIT_NS}, {"Max", GP_UNIT_NS},        \
	{                                                                                          \
		"StdDev", GP_UNIT_NS                                                               \
	}

static const struct gp_table_column usual_columns[] = {
	TIME_COLUMNS,
	SPREAD_COLUMNS,
	{"Name", GP_UNIT_TEXT},
};

/* With the share of autotuning. */
static const struct gp_table_column tuning_columns[] = {
	TIME_COLUMNS,
	SPREAD_COLUMNS,
	{"Tuning %", GP_UNIT_PERCENT},
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column failure_columns[] = {
	TIME_COLUMNS,
	{"Failed", GP_UNIT_COUNT},
	SPREAD_COLUMNS,
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column copy_columns[] = {
	{"Bytes", GP_UNIT_BYTES},    {"Count", GP_UNIT_COUNT},    {"Avg size", GP_UNIT_BYTES},
	{"Min size", GP_UNIT_BYTES}, {"Max size", GP_UNIT_BYTES}, {"Time", GP_UNIT_NS},
	{"GB/s", GP_UNIT_GB_PER_S},  {"Peak %", GP_UNIT_PERCENT}, {"Kind", GP_UNIT_TEXT},
};

static const struct gp_table_head usual_head = {"gpu", NULL, usual_columns, COUNT(usual_columns)};
static const struct gp_table_head tuning_head = {"gpu", NULL, tuning_columns,
						 COUNT(tuning_columns)};
static const struct gp_table_head failure_head = {"api", NULL, failure_columns,
						  COUNT(failure_columns)};
static const struct gp_table_head copies_head = {"copy", NULL, copy_columns, COUNT(copy_columns)};

/* A table that is filled from groups. */
struct listing {
	const struct gp_summary *summary;
	const struct gp_groups *groups;
	struct gp_table table;
	struct gp_names *names; /* of kernels; NULL for API calls */
	size_t limit;           /* of rows; 0 = no limit */
	uint64_t total_ns;
};

static const char *label_of(const struct listing *listing, const struct gp_group *group)
{
	if (!listing->names)
		return group->key;
	if (group->key[0] != GP_ACTIVITY_KERNEL)
		return group->key + 1;
	return listing->summary->options->full_names
		       ? gp_names_full(listing->names, group->key + 1)
		       : gp_names_short(listing->names, group->key + 1);
}

static struct gp_value value_if(bool is_known, double value)
{
	return is_known ? gp_value_real(value) : gp_value_none();
}

/* Empty cells if no duration is known. */
static void put_times(struct gp_table *table, const struct gp_stats *stats)
{
	bool is_known = stats->count > 0;

	gp_table_cell(table, value_if(is_known, stats->mean));
	gp_table_cell(table, value_if(is_known, stats->median));
	gp_table_cell(table, is_known ? gp_value_whole(stats->min) : gp_value_none());
	gp_table_cell(table, is_known ? gp_value_whole(stats->max) : gp_value_none());
	gp_table_cell(table, value_if(is_known, stats->deviation));
}

static void put_group(struct listing *listing, struct gp_group *group)
{
	struct gp_stats stats = gp_group_stats(group);
	struct gp_table *table = &listing->table;

	gp_table_cell(table, group->is_separate ? gp_value_none()
						: gp_value_percent((double)group->total_ns,
								   (double)listing->total_ns));
	gp_table_put_whole(table, group->total_ns);
	gp_table_put_whole(table, group->count);
	if (table->head == &failure_head)
		gp_table_cell(table,
			      group->failed ? gp_value_whole(group->failed) : gp_value_none());
	put_times(table, &stats);
	if (table->head == &tuning_head)
		gp_table_cell(table, group->separate_ns > 0
					     ? gp_value_percent((double)group->separate_ns,
								(double)group->total_ns)
					     : gp_value_none());
	gp_table_cell(table, gp_value_text(label_of(listing, group)));
}

/* How many rows and how much time the limit hides; how to see them is the last line of a screen. */
static void print_hidden(const struct listing *listing, const uint32_t *order, uint32_t shown)
{
	const struct gp_groups *groups = listing->groups;
	uint64_t hidden_ns = 0;

	for (uint32_t i = shown; i < groups->count; i++)
		if (!groups->rows[order[i]].is_separate)
			hidden_ns += groups->rows[order[i]].total_ns;
	fprintf(listing->summary->out, "  ... %s more, %s (%s %%)%s\n",
		gp_format_count(groups->count - shown).text, gp_format_ns(hidden_ns).text,
		gp_format_percent((double)hidden_ns, (double)listing->total_ns).text,
		listing->summary->options->brief ? ""
						 : ": `gpuprof summary --top 0 FILE` shows all");
}

/* How many of the first rows have at least that share; at least 1. */
static uint32_t rows_with(const struct listing *listing, const uint32_t *order, double share)
{
	const struct gp_groups *groups = listing->groups;
	uint32_t count = 1;

	while (count < groups->count && !groups->rows[order[count]].is_separate &&
	       (double)groups->rows[order[count]].total_ns >= share * (double)listing->total_ns)
		count++;
	return count;
}

/* A single hidden row is shown: "... 1 more" would need the same line. */
static uint32_t rows_shown(const struct listing *listing, const uint32_t *order)
{
	const struct gp_summary_options *options = listing->summary->options;
	uint32_t count = listing->groups->count, worth, large;
	size_t shown = listing->limit > 0 ? listing->limit : count;

	if (options->brief) {
		worth = rows_with(listing, order, LEAST_SHARE);
		large = rows_with(listing, order, LARGE_SHARE);
		if (shown < large)
			shown = large < MOST_LARGE ? large : MOST_LARGE;
		if (shown > worth)
			shown = worth;
	}
	return count <= shown + 1 ? count : (uint32_t)shown;
}

static size_t columns_limit(const struct gp_summary *summary)
{
	return summary->options->full_names ? 0 : gp_summary_columns(summary);
}

static int print_listing(struct listing *listing)
{
	uint32_t *order = gp_groups_by_time(listing->groups);
	uint32_t shown;
	int result;

	shown = rows_shown(listing, order);
	for (uint32_t i = 0; i < shown; i++)
		put_group(listing, &listing->groups->rows[order[i]]);
	result = gp_table_print(&listing->table, listing->summary->out,
				columns_limit(listing->summary));
	if (shown < listing->groups->count)
		print_hidden(listing, order, shown);
	free(order);
	return result;
}

static void print_counted(FILE *out, uint64_t count, const char *one, const char *many)
{
	if (count > 0)
		fprintf(out, ", %s %s", gp_format_count(count).text, count == 1 ? one : many);
}

/* Make the short names of all kernels unique. */
static int tell_apart(const struct listing *listing)
{
	const struct gp_groups *groups = listing->groups;
	const char **kernels = calloc((size_t)groups->count + 1, sizeof(*kernels));
	size_t count = 0;

	for (uint32_t i = 0; i < groups->count; i++)
		if (groups->rows[i].key[0] == GP_ACTIVITY_KERNEL)
			kernels[count++] = groups->rows[i].key + 1;
	gp_names_tell_apart(listing->names, kernels, count);
	free(kernels);
	return 0;
}

static bool has_tuning(const struct gp_groups *operations)
{
	for (uint32_t i = 0; i < operations->count; i++)
		if (operations->rows[i].separate_ns > 0)
			return true;
	return false;
}

static int print_gpu(const struct gp_summary *summary)
{
	const struct gp_activity *activity = &summary->activity;
	struct listing listing = {
		.summary = summary,
		.groups = &activity->operations,
		.names = gp_names_new(),
		.limit = summary->rows.operations,
		.total_ns = gp_groups_time_ns(&activity->operations),
	};
	int result = tell_apart(&listing);

	fprintf(summary->out, "\nGPU activities: %s in all", gp_format_ns(listing.total_ns).text);
	print_counted(summary->out, activity->kernels, "kernel", "kernels");
	print_counted(summary->out, activity->copies, "copy", "copies");
	print_counted(summary->out, activity->sets, "memset", "memsets");
	print_counted(summary->out, activity->graphs, "whole graph", "whole graphs");
	fputs("\n", summary->out);
	gp_table_open(&listing.table,
		      has_tuning(&activity->operations) ? &tuning_head : &usual_head);
	if (result == 0)
		result = print_listing(&listing);
	gp_names_free(listing.names);
	gp_table_close(&listing.table);
	return result;
}

/* "startup" means creating contexts, streams, graphs and modules. */
static const char *which_calls(const struct gp_summary *summary)
{
	size_t count = 0, usual = 0, others = 0;

	for (size_t i = 0; i < summary->model_count; i++) {
		count += gp_recorded_kind(summary->models[i], "api-all");
		usual += gp_recorded_kind(summary->models[i], "default");
		others += summary->models[i]->recorder != NULL;
	}
	if (others > 0)
		return " (those that the profiler recorded)";
	if (usual < summary->model_count)
		return " (those that --trace asked for; --trace=api-all records every one)";
	if (count == summary->model_count)
		return " (all of them)";
	if (count > 0)
		return " (all of some processes; of others launches, copies, memory, waits, startup)";
	return " (launches, copies, memory, waits, startup; --trace=api-all records every one)";
}

static int print_api(const struct gp_summary *summary)
{
	struct listing listing = {
		.summary = summary,
		.groups = &summary->activity.calls,
		.limit = summary->rows.calls,
		.total_ns = gp_groups_time_ns(&summary->activity.calls),
	};
	int result;

	fprintf(summary->out, "\nAPI calls: %s in all%s\n", gp_format_ns(listing.total_ns).text,
		which_calls(summary));
	gp_table_open(&listing.table, summary->activity.failures > 0 ? &failure_head : &usual_head);
	result = print_listing(&listing);
	gp_table_close(&listing.table);
	return result < 0 || !summary->basis ? result : gp_summary_print_failures(summary);
}

static void put_copies(struct gp_table *table, const struct gp_group *group)
{
	gp_table_put_whole(table, group->bytes);
	gp_table_put_whole(table, group->count);
	gp_table_put_whole(table, (group->bytes + group->count / 2) / group->count);
	gp_table_put_whole(table, group->least_bytes);
	gp_table_put_whole(table, group->most_bytes);
	gp_table_put_whole(table, group->total_ns);
	gp_table_cell(table, gp_value_rate(group->timed_bytes, group->total_ns));
	gp_table_cell(table,
		      gp_copy_peak_is_known(group->without_peak, group->peak_ns, group->total_ns)
			      ? gp_value_percent((double)group->peak_ns, (double)group->total_ns)
			      : gp_value_none());
	gp_table_cell(table, gp_value_text(group->key + 1));
}

static int print_copies(const struct gp_summary *summary)
{
	const struct gp_groups *groups = &summary->activity.operations;
	uint32_t *order = gp_groups_by_time(groups);
	struct gp_table table;
	int result;

	gp_table_open(&table, &copies_head);
	for (uint32_t i = 0; i < groups->count; i++)
		if (groups->rows[order[i]].key[0] == GP_ACTIVITY_OTHER)
			put_copies(&table, &groups->rows[order[i]]);
	fputs("\nMemory copies and memsets\n", summary->out);
	result = gp_table_print(&table, summary->out, gp_summary_columns(summary));
	free(order);
	gp_table_close(&table);
	return result;
}

int gp_summary_print_activity(const struct gp_summary *summary)
{
	const struct gp_activity *activity = &summary->activity;
	bool copies = activity->copies + activity->sets > 0, brief = summary->options->brief;
	int result = 0;

	if (activity->operations.count > 0)
		result = print_gpu(summary);
	if (result == 0 && copies && brief)
		gp_summary_print_copies_in_brief(summary);
	if (result == 0 && activity->calls.count > 0)
		result = print_api(summary);
	if (result == 0 && copies && !brief)
		result = print_copies(summary);
	return result;
}
