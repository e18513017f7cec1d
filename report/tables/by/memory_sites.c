/*
 * Memory by call site: what was left, what libraries keep, the peak, what was allocated over and
 * over, and what waited.
 */
#include "report/tables/breakdown.h"

#include <errno.h>
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
	if (!memory)
		return NULL;
	if (gp_memory_sites_of(scope->models, scope->model_count, &scope->devices, GP_MEMORY_ALL,
			       memory) != 0) {
		free_memory(memory);
		return NULL;
	}
	scope->memory = memory;
	scope->free_memory = free_memory;
	return memory;
}

static void put_where(struct gp_scope *scope, struct gp_table *sheet,
		      const struct gp_memory_site *row)
{
	gp_table_put_text(sheet, gp_allocation_name(row->kind));
	gp_table_cell(sheet, row->device < scope->devices.count
				     ? gp_value_whole(scope->devices.entries[row->device].number)
				     : gp_value_none());
}

static void put_site(struct gp_table *sheet, const struct gp_call_site *site)
{
	gp_table_put_text(sheet, site->place);
	gp_table_put_text(sheet, site->callers);
}

/* Call put for every row, with its site. */
static int fill_by(struct gp_scope *scope, struct gp_table *sheet,
		   void (*put)(struct gp_scope *scope, struct gp_table *sheet,
			       const struct gp_memory_site *row, const struct gp_call_site *site))
{
	const struct gp_memory_sites *memory = gp_scope_memory(scope);

	for (uint32_t i = 0; memory && i < memory->row_count; i++) {
		struct gp_call_site site = gp_call_sites_at(memory->sites, memory->rows[i].site);

		put(scope, sheet, &memory->rows[i], &site);
	}
	return memory ? 0 : -ENOMEM;
}

/* ---- what is left ---- */

static void put_left(struct gp_scope *scope, struct gp_table *sheet,
		     const struct gp_memory_site *row, const struct gp_call_site *site)
{
	if (row->left_blocks == 0 || site->owner[0] != '\0')
		return;
	gp_table_put_whole(sheet, row->left_bytes);
	gp_table_put_whole(sheet, row->left_blocks);
	put_where(scope, sheet, row);
	put_site(sheet, site);
}

static const struct gp_table_head never_freed = {"memory-leak", "Never freed", left_columns,
						 COUNT(left_columns)};

/* Where nothing can be missing in the trace, it is told as what it is. */
static int fill_left(struct gp_scope *scope, struct gp_table *sheet)
{
	if (gp_memory_sites_knows_leaks(scope->models, scope->model_count))
		sheet->head = &never_freed;
	return fill_by(scope, sheet, put_left);
}

/* Not all was freed where libraries keep some of it. */
static const char *say_nothing_leaked(struct gp_scope *scope)
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
	.nothing = "every block that was allocated through CUDA while it was recorded was freed",
	.say_nothing = say_nothing_leaked,
	.head = {"memory-leak", "Not freed while it was recorded", left_columns,
		 COUNT(left_columns)},
	.sort_column = 0,
	.fill = fill_left,
};

static void put_kept(struct gp_scope *scope, struct gp_table *sheet,
		     const struct gp_memory_site *row, const struct gp_call_site *site)
{
	if (site->owner[0] == '\0')
		return;
	gp_table_put_whole(sheet, row->left_bytes);
	gp_table_put_whole(sheet, row->left_blocks);
	gp_table_put_whole(sheet, row->peak_bytes);
	put_where(scope, sheet, row);
	gp_table_put_text(sheet, site->owner);
	put_site(sheet, site);
}

static int fill_kept(struct gp_scope *scope, struct gp_table *sheet)
{
	return fill_by(scope, sheet, put_kept);
}

const struct gp_breakdown gp_breakdown_memory_cache = {
	.help = "what libraries took from CUDA for caches and handles, and had at the end",
	.nothing =
		"no library was seen to allocate for itself; they are known by call stacks, which --stacks=none leaves out",
	.head = {"memory-cache", "Kept by libraries", kept_columns, COUNT(kept_columns)},
	.sort_column = 0,
	.fill = fill_kept,
};

/* ---- the peak ---- */

static void put_peak(struct gp_scope *scope, struct gp_table *sheet,
		     const struct gp_memory_site *row, const struct gp_call_site *site)
{
	const struct gp_memory_row *account = &gp_scope_memory(scope)->ledger.rows[row->account];
	uint64_t start = scope->start_unix_ns;

	if (row->peak_blocks == 0)
		return;
	gp_table_cell(sheet,
		      gp_value_percent((double)row->peak_bytes, (double)account->peak_bytes));
	gp_table_put_whole(sheet, row->peak_bytes);
	gp_table_put_whole(sheet, row->peak_blocks);
	gp_table_put_whole(sheet, account->peak_time > start ? account->peak_time - start : 0);
	put_where(scope, sheet, row);
	gp_table_put_text(sheet, site->owner);
	put_site(sheet, site);
}

static int fill_peak(struct gp_scope *scope, struct gp_table *sheet)
{
	return fill_by(scope, sheet, put_peak);
}

const struct gp_breakdown gp_breakdown_memory_peak = {
	.help = "memory at the peak, by call site",
	.nothing = "no memory was allocated through CUDA while it was recorded",
	.head = {"memory-peak", "At the peak", peak_columns, COUNT(peak_columns)},
	.sort_column = 1,
	.fill = fill_peak,
};

/* ---- over and over ---- */

static void put_churn(struct gp_scope *scope, struct gp_table *sheet,
		      const struct gp_memory_site *row, const struct gp_call_site *site)
{
	if (row->allocations <= row->blocks_at_once)
		return;
	gp_table_put_whole(sheet, row->allocate_ns + row->free_ns);
	gp_table_put_whole(sheet, row->allocations);
	gp_table_put_whole(sheet, row->blocks_at_once);
	gp_table_put_whole(sheet, row->temporary);
	gp_table_put_whole(sheet, row->allocated_bytes);
	gp_table_cell(sheet, row->frees > 0
				     ? gp_value_real((double)row->lived_ns / (double)row->frees)
				     : gp_value_none());
	put_where(scope, sheet, row);
	put_site(sheet, site);
}

static int fill_churn(struct gp_scope *scope, struct gp_table *sheet)
{
	return fill_by(scope, sheet, put_churn);
}

const struct gp_breakdown gp_breakdown_memory_churn = {
	.help = "what was allocated again and again, and what its calls cost, by call site",
	.nothing = "nothing was allocated again after it had been freed",
	.head = {"memory-churn", "Allocated again and again", churn_columns, COUNT(churn_columns)},
	.sort_column = 0,
	.fill = fill_churn,
};

/* ---- waits ---- */

static void put_wait(struct gp_table *sheet, const struct gp_memory_calls *row,
		     const struct gp_call_site *site)
{
	gp_table_put_whole(sheet, row->waited_ns);
	gp_table_put_whole(sheet, row->waits);
	gp_table_put_whole(sheet, row->longest_ns);
	gp_table_put_whole(sheet, row->ns);
	gp_table_put_whole(sheet, row->calls);
	gp_table_put_text(sheet, gp_model_api(row->api_model, row->api).name);
	put_site(sheet, site);
}

static int fill_wait(struct gp_scope *scope, struct gp_table *sheet)
{
	const struct gp_memory_sites *memory = gp_scope_memory(scope);

	for (uint32_t i = 0; memory && i < memory->call_count; i++) {
		struct gp_call_site site = gp_call_sites_at(memory->sites, memory->calls[i].site);

		if (memory->calls[i].waits > 0)
			put_wait(sheet, &memory->calls[i], &site);
	}
	return memory ? 0 : -ENOMEM;
}

const struct gp_breakdown gp_breakdown_memory_wait = {
	.help = "allocations and frees that waited for the GPU, by call site",
	.nothing = "no allocation or free waited for the GPU",
	.head = {"memory-wait", "Allocations and frees that waited for the GPU", wait_columns,
		 COUNT(wait_columns)},
	.sort_column = 0,
	.fill = fill_wait,
};
