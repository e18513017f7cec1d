/*
 * Memory by call site: never freed, kept by libraries, at the peak, allocated repeatedly, calls
 * that waited.
 */
#include "report/tables/breakdown.h"

#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/analysis/memory/memory_sites.h"

#define WHERE_COLUMNS                                                                              \
	{"Memory", GP_UNIT_TEXT},                                                                  \
	{                                                                                          \
		"Device", GP_UNIT_NUMBER                                                           \
	}
#define SITE_COLUMNS                                                                               \
	{"Call site", GP_UNIT_TEXT},                                                               \
	{                                                                                          \
		"Called by", GP_UNIT_TEXT                                                          \
	}

static const struct gp_table_column left_columns[] = {
	{"Bytes", GP_UNIT_BYTES},
	{"Blocks", GP_UNIT_COUNT},
	WHERE_COLUMNS,
	SITE_COLUMNS,
};

static const struct gp_table_column kept_columns[] = {
	{"Bytes", GP_UNIT_BYTES},    {"Blocks", GP_UNIT_COUNT},
	{"At peak", GP_UNIT_BYTES},  WHERE_COLUMNS,
	{"Allocator", GP_UNIT_TEXT}, SITE_COLUMNS,
};

static const struct gp_table_column peak_columns[] = {
	{"Peak %", GP_UNIT_PERCENT},
	{"Bytes", GP_UNIT_BYTES},
	{"Blocks", GP_UNIT_COUNT},
	{"At", GP_UNIT_NS},
	WHERE_COLUMNS,
	{"Allocator", GP_UNIT_TEXT},
	SITE_COLUMNS,
};

static const struct gp_table_column churn_columns[] = {
	{"Time", GP_UNIT_NS},
	{"Allocs", GP_UNIT_COUNT},
	{"At once", GP_UNIT_COUNT},
	{"Temporary", GP_UNIT_COUNT},
	{"Bytes", GP_UNIT_BYTES},
	{"Avg life", GP_UNIT_NS},
	WHERE_COLUMNS,
	SITE_COLUMNS,
};

static const struct gp_table_column wait_columns[] = {
	{"Waited", GP_UNIT_NS}, {"Waits", GP_UNIT_COUNT}, {"Longest", GP_UNIT_NS},
	{"Total", GP_UNIT_NS},  {"Calls", GP_UNIT_COUNT}, {"API", GP_UNIT_TEXT},
	SITE_COLUMNS,
};

static void free_memory(void *memory)
{
	gp_memory_sites_free(memory);
	free(memory);
}

const struct gp_memory_sites *gp_scope_memory(struct gp_scope *scope)
{
	struct gp_memory_sites *memory = scope->memory;

	if (memory)
		return memory;
	memory = calloc(1, sizeof(*memory));
	gp_memory_sites_of(scope->models, scope->model_count, &scope->devices, GP_MEMORY_ALL,
			   memory);
	scope->memory = memory;
	scope->free_memory = free_memory;
	return memory;
}

static void put_where(struct gp_scope *scope, struct gp_table *table,
		      const struct gp_memory_site *row)
{
	gp_table_put_text(table, gp_allocation_name(row->kind));
	gp_table_cell(table, row->device < scope->devices.count
				     ? gp_value_whole(scope->devices.entries[row->device].number)
				     : gp_value_none());
}

static void put_site(struct gp_table *table, const struct gp_call_site *site)
{
	gp_table_put_text(table, site->place);
	gp_table_put_text(table, site->callers);
}

/* Call put for every row, with its site. */
static int fill_by(struct gp_scope *scope, struct gp_table *table,
		   void (*put)(struct gp_scope *scope, struct gp_table *table,
			       const struct gp_memory_site *row, const struct gp_call_site *site))
{
	const struct gp_memory_sites *memory = gp_scope_memory(scope);

	for (uint32_t i = 0; memory && i < memory->row_count; i++) {
		struct gp_call_site site = gp_call_sites_at(memory->sites, memory->rows[i].site);

		put(scope, table, &memory->rows[i], &site);
	}
	return 0;
}

/* ---- never freed ---- */

static void put_left(struct gp_scope *scope, struct gp_table *table,
		     const struct gp_memory_site *row, const struct gp_call_site *site)
{
	if (row->left_blocks == 0 || site->owner[0] != '\0')
		return;
	gp_table_put_whole(table, row->left_bytes);
	gp_table_put_whole(table, row->left_blocks);
	put_where(scope, table, row);
	put_site(table, site);
}

static const struct gp_table_head never_freed = {"memory-leak", "Never freed", left_columns,
						 COUNT(left_columns)};

/* Titled as leaked only if the trace cannot lack frees. */
static int fill_left(struct gp_scope *scope, struct gp_table *table)
{
	if (gp_memory_sites_knows_leaks(scope->models, scope->model_count))
		table->head = &never_freed;
	return fill_by(scope, table, put_left);
}

/* Libraries may still keep memory. */
static const char *explain_no_leak(struct gp_scope *scope)
{
	const struct gp_memory_sites *memory = gp_scope_memory(scope);
	uint64_t kept_bytes = 0;
	char text[128];

	for (uint32_t i = 0; memory && i < memory->row_count; i++)
		if (memory->rows[i].kind != GP_MEMORY_IPC)
			kept_bytes += memory->rows[i].left_bytes;
	if (kept_bytes == 0)
		return gp_breakdown_memory_leak.nothing;
	snprintf(text, sizeof(text), "nothing leaked; %s is kept by libraries: --by memory-cache",
		 gp_format_bytes(kept_bytes).text);
	return gp_scope_text_of(scope, gp_scope_text(scope, text));
}

const struct gp_breakdown gp_breakdown_memory_leak = {
	.help = "blocks that were never freed, by call site",
	.nothing = "every block that was allocated through CUDA while recording was on was freed",
	.say_nothing = explain_no_leak,
	.head = {"memory-leak", "Not freed while recording was on", left_columns,
		 COUNT(left_columns)},
	.sort_column = 0,
	.fill = fill_left,
};

static void put_kept(struct gp_scope *scope, struct gp_table *table,
		     const struct gp_memory_site *row, const struct gp_call_site *site)
{
	if (site->owner[0] == '\0')
		return;
	gp_table_put_whole(table, row->left_bytes);
	gp_table_put_whole(table, row->left_blocks);
	gp_table_put_whole(table, row->peak_bytes);
	put_where(scope, table, row);
	gp_table_put_text(table, site->owner);
	put_site(table, site);
}

static int fill_kept(struct gp_scope *scope, struct gp_table *table)
{
	return fill_by(scope, table, put_kept);
}

const struct gp_breakdown gp_breakdown_memory_cache = {
	.help = "memory that libraries kept for caches and handles until the end",
	.nothing =
		"no allocation by a library was found; libraries are known by call stacks, which --stacks=none leaves out",
	.head = {"memory-cache", "Kept by libraries", kept_columns, COUNT(kept_columns)},
	.sort_column = 0,
	.fill = fill_kept,
};

/* ---- the peak ---- */

static void put_peak(struct gp_scope *scope, struct gp_table *table,
		     const struct gp_memory_site *row, const struct gp_call_site *site)
{
	const struct gp_memory_row *account = &gp_scope_memory(scope)->ledger.rows[row->account];
	uint64_t start = scope->start_unix_ns;

	if (row->peak_blocks == 0)
		return;
	gp_table_cell(table,
		      gp_value_percent((double)row->peak_bytes, (double)account->peak_bytes));
	gp_table_put_whole(table, row->peak_bytes);
	gp_table_put_whole(table, row->peak_blocks);
	gp_table_put_whole(table, account->peak_time > start ? account->peak_time - start : 0);
	put_where(scope, table, row);
	gp_table_put_text(table, site->owner);
	put_site(table, site);
}

static int fill_peak(struct gp_scope *scope, struct gp_table *table)
{
	return fill_by(scope, table, put_peak);
}

const struct gp_breakdown gp_breakdown_memory_peak = {
	.help = "memory at the peak, by call site",
	.nothing = "no memory was allocated through CUDA while recording was on",
	.head = {"memory-peak", "At the peak", peak_columns, COUNT(peak_columns)},
	.sort_column = 1,
	.fill = fill_peak,
};

/* ---- allocated repeatedly ---- */

static void put_churn(struct gp_scope *scope, struct gp_table *table,
		      const struct gp_memory_site *row, const struct gp_call_site *site)
{
	if (row->allocations <= row->blocks_at_once)
		return;
	gp_table_put_whole(table, row->allocate_ns + row->free_ns);
	gp_table_put_whole(table, row->allocations);
	gp_table_put_whole(table, row->blocks_at_once);
	gp_table_put_whole(table, row->temporary);
	gp_table_put_whole(table, row->allocated_bytes);
	gp_table_cell(table, row->frees > 0
				     ? gp_value_real((double)row->lived_ns / (double)row->frees)
				     : gp_value_none());
	put_where(scope, table, row);
	put_site(table, site);
}

static int fill_churn(struct gp_scope *scope, struct gp_table *table)
{
	return fill_by(scope, table, put_churn);
}

const struct gp_breakdown gp_breakdown_memory_churn = {
	.help = "repeated allocations, and the cost of their calls, by call site",
	.nothing = "nothing was allocated again after it had been freed",
	.head = {"memory-churn", "Repeated allocations", churn_columns, COUNT(churn_columns)},
	.sort_column = 0,
	.fill = fill_churn,
};

/* ---- waits ---- */

static void put_wait(struct gp_table *table, const struct gp_memory_calls *row,
		     const struct gp_call_site *site)
{
	gp_table_put_whole(table, row->waited_ns);
	gp_table_put_whole(table, row->waits);
	gp_table_put_whole(table, row->longest_ns);
	gp_table_put_whole(table, row->ns);
	gp_table_put_whole(table, row->calls);
	gp_table_put_text(table, gp_model_api(row->api_model, row->api).name);
	put_site(table, site);
}

static int fill_wait(struct gp_scope *scope, struct gp_table *table)
{
	const struct gp_memory_sites *memory = gp_scope_memory(scope);

	for (uint32_t i = 0; memory && i < memory->call_count; i++) {
		struct gp_call_site site = gp_call_sites_at(memory->sites, memory->calls[i].site);

		if (memory->calls[i].waits > 0)
			put_wait(table, &memory->calls[i], &site);
	}
	return 0;
}

const struct gp_breakdown gp_breakdown_memory_wait = {
	.help = "allocations and frees that waited for the GPU, by call site",
	.nothing = "no allocation or free waited for the GPU",
	.head = {"memory-wait", "Allocations and frees that waited for the GPU", wait_columns,
		 COUNT(wait_columns)},
	.sort_column = 0,
	.fill = fill_wait,
};
