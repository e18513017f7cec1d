#include "report/summary/part.h"

#include <stdbool.h>
#include <stdio.h>

#include "gpuprof/count.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/model/recorded.h"
#include "report/analysis/memory/reserved_pool.h"
#include "report/base/tally.h"
#include "report/model/process_name.h"

static const struct gp_table_column columns[] = {
	{"Peak", GP_UNIT_BYTES},   {"At", GP_UNIT_OFFSET},    {"Allocated", GP_UNIT_BYTES},
	{"Allocs", GP_UNIT_COUNT}, {"Freed", GP_UNIT_BYTES},  {"Frees", GP_UNIT_COUNT},
	{"Left", GP_UNIT_BYTES},   {"Blocks", GP_UNIT_COUNT}, {"Memory", GP_UNIT_TEXT},
};

static const struct gp_table_head head = {"memory", NULL, columns, COUNT(columns)};

void gp_summary_put_memory_kind(const struct gp_summary *summary, struct gp_table *table,
				const struct gp_memory_row *row, const char *all)
{
	const char *kind = row->kind == GP_MEMORY_OF_DEVICE ? all : gp_allocation_name(row->kind);

	if (row->device < summary->devices.count)
		gp_table_put_words(table, "GPU %u%s%s",
				   summary->devices.entries[row->device].number, *kind ? " " : "",
				   kind);
	else
		gp_table_put_text(table, kind);
}

void gp_summary_put_peak(const struct gp_summary *summary, struct gp_table *table,
			 const struct gp_memory_row *row)
{
	gp_table_put_whole(table, row->peak_bytes);
	gp_table_cell(table, row->peak_bytes > 0
				     ? gp_value_moment((int64_t)(row->peak_time -
								 summary->window.start_unix_ns))
				     : gp_value_none());
}

void gp_summary_print_left_note(const struct gp_summary *summary)
{
	for (size_t i = 0; i < summary->memory.row_count; i++) {
		const struct gp_memory_row *row = &summary->memory.rows[i];

		if (row->allocated_bytes - row->freed_bytes <= row->peak_bytes)
			continue;
		fputs("  Left: the sum over processes of memory not freed at their ends; Peak: the most at one time\n",
		      summary->out);
		return;
	}
}

static void put_row(const struct gp_summary *summary, struct gp_table *table,
		    const struct gp_memory_row *row)
{
	gp_summary_put_peak(summary, table, row);
	gp_table_put_whole(table, row->allocated_bytes);
	gp_table_put_whole(table, row->allocations);
	gp_table_put_whole(table, row->freed_bytes);
	gp_table_put_whole(table, row->frees);
	gp_table_put_whole(table, row->allocated_bytes - row->freed_bytes);
	gp_table_put_whole(table, row->allocations - row->frees);
	gp_summary_put_memory_kind(summary, table, row, "all but managed");
}

/* The sum of a device is left out if it has one kind only. */
static bool is_worth_a_row(const struct gp_memory_stats *memory, size_t index)
{
	const struct gp_memory_row *row = &memory->rows[index];
	size_t parts = 0;

	if (row->kind != GP_MEMORY_OF_DEVICE)
		return row->allocations > 0;
	for (size_t i = 0; i < memory->row_count; i++)
		parts += memory->rows[i].device == row->device && memory->rows[i].allocations > 0 &&
			 gp_memory_is_of_device(memory->rows[i].kind);
	return parts > 1;
}

static int print_rows(const struct gp_summary *summary)
{
	struct gp_table table;
	int result = 0;

	gp_table_open(&table, &head);
	for (size_t i = 0; i < summary->memory.row_count; i++)
		if (is_worth_a_row(&summary->memory, i))
			put_row(summary, &table, &summary->memory.rows[i]);
	if (table.cell_count > 0)
		result = gp_table_print(&table, summary->out, gp_summary_columns(summary));
	if (result == 0)
		gp_summary_print_left_note(summary);
	gp_summary_print_reserved(summary);
	gp_table_close(&table);
	return result;
}

/* Whether every process recorded its allocations all the time; *any: at least one, sometimes. */
static bool knows_all(const struct gp_summary *summary, bool *any)
{
	bool all = true;

	*any = false;
	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_model *model = summary->models[i];
		bool recorded = gp_recorded_knows_memory(model);

		*any |= recorded;
		all &= recorded && model->gate_count == 0;
	}
	return all;
}

static void print_usage(const struct gp_summary *summary, const struct gp_memory_usage *usage)
{
	uint64_t beyond =
		usage->in_use_bytes > usage->own_bytes ? usage->in_use_bytes - usage->own_bytes : 0;
	bool any, all = knows_all(summary, &any);

	fprintf(summary->out, "  GPU %u: the driver reports %s of %s in use at %s",
		summary->devices.entries[usage->device].number,
		gp_format_bytes(usage->in_use_bytes).text, gp_format_bytes(usage->total_bytes).text,
		gp_summary_moment(summary, usage->unix_ns).text);
	if (any)
		fprintf(summary->out, ", %s beyond the %s %sallocated here",
			gp_format_bytes(beyond).text, gp_format_bytes(usage->own_bytes).text,
			all ? "" : "known to be ");
	fputs(any ? "\n" : "; allocations were not recorded\n", summary->out);
}

/* ---- pools ---- */

enum { MOST_RESERVED };

/* One row for each pool of each process. */
static void gather_pools(const struct gp_summary *summary, struct gp_tally *tally)
{
	for (size_t m = 0; m < summary->model_count; m++)
		for (uint32_t i = 0; i < summary->models[m]->pool_count; i++) {
			const struct gp_record_pool *pool = &summary->models[m]->pools[i];
			struct gp_tally_row *row =
				gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){m, pool->device_id,
									       pool->address});

			if (pool->reserved_bytes > row->sums[MOST_RESERVED])
				row->sums[MOST_RESERVED] = pool->reserved_bytes;
		}
}

static int print_pools(const struct gp_summary *summary)
{
	struct gp_tally tally = {0};
	uint64_t most_bytes = 0;

	gather_pools(summary, &tally);
	for (uint32_t i = 0; i < tally.count; i++)
		if (tally.rows[i].sums[MOST_RESERVED] > most_bytes)
			most_bytes = tally.rows[i].sums[MOST_RESERVED];
	if (tally.count > 0)
		fprintf(summary->out, "  %s memory pool%s, at most %s reserved%s\n",
			gp_format_count(tally.count).text, tally.count == 1 ? "" : "s",
			gp_format_bytes(most_bytes).text, tally.count == 1 ? "" : " in one");
	gp_tally_free(&tally);
	return 0;
}

void gp_summary_print_reserved(const struct gp_summary *summary)
{
	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_model *model = summary->models[i];
		uint64_t bytes = gp_reserved_pool_bytes(model);

		if (bytes == 0)
			continue;
		fprintf(summary->out,
			"  %s of the peak%s%s is XLA's preallocated pool (XLA_PYTHON_CLIENT_PREALLOCATE): bytes in use are unknown\n",
			gp_format_bytes(bytes).text, summary->model_count > 1 ? " of " : "",
			summary->model_count > 1 ? gp_process_name(model).text : "");
		return;
	}
}

void gp_summary_print_memory_title(const struct gp_summary *summary)
{
	fprintf(summary->out, "\nMemory allocated through CUDA%s\n",
		gp_recorded_any_last_part(summary->models, summary->model_count)
			? " (in the kept part: blocks allocated before it are not counted)"
			: "");
}

bool gp_summary_lacks_memory(const struct gp_summary *summary)
{
	if (!gp_recorded_any_sampled(summary->models, summary->model_count))
		return summary->memory.row_count == 0;
	fputs("\nMemory allocated through CUDA: unknown, as --sample records no calls between its windows\n",
	      summary->out);
	return true;
}

int gp_summary_print_memory(const struct gp_summary *summary)
{
	const struct gp_memory_stats *memory = &summary->memory;
	bool any;
	int result;

	if (gp_summary_lacks_memory(summary))
		return 0;
	gp_summary_print_memory_title(summary);
	result = print_rows(summary);
	if (result == 0)
		result = print_pools(summary);
	for (size_t i = 0; i < memory->usage_count; i++)
		print_usage(summary, &memory->usages[i]);
	if (memory->usage_count > 0 && (knows_all(summary, &any) || any))
		fputs("    (beyond: contexts, modules, libraries, unused parts of pools, and other processes)\n",
		      summary->out);
	return result;
}
