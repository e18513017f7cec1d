/* Time spent in the driver and CUPTI: synchronization, overhead, loading and compiling code. */
#include "report/tables/breakdown.h"

#include <stdio.h>

#include "gpuprof/count.h"
#include "report/trace/cuda_names.h"

enum { CACHE_BYTES };

static const struct gp_table_column sync_columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Kind", GP_UNIT_TEXT},
};

static const struct gp_table_column module_columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Cache size", GP_UNIT_BYTES},
	{"Source", GP_UNIT_TEXT},
	{"Operation", GP_UNIT_TEXT},
};

/* Count one of that kind, from start to end. */
static struct gp_tally_row *count(struct gp_tally *tally, uint64_t source, uint64_t kind,
				  uint64_t duration_ns)
{
	struct gp_tally_row *row = gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){source, kind});

	row->count++;
	gp_tally_value(tally, row, 0, duration_ns);
	return row;
}

static uint64_t span_of(uint64_t start_ns, uint64_t end_ns)
{
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

static void put_times(struct gp_table *table, const struct gp_tally_row *row, double total)
{
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_scope_put_spread(table, &row->series[0]);
}

/* ---- synchronizations ---- */

static void put_sync(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		     double total)
{
	(void)scope;
	put_times(table, row, total);
	gp_table_put_text(table, gp_sync_name((uint16_t)row->key[1]));
}

static int fill_syncs(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (size_t m = 0; m < scope->model_count; m++)
		for (uint32_t i = 0; i < scope->models[m]->sync_count; i++) {
			const struct gp_record_sync *sync = &scope->models[m]->syncs[i];

			count(&tally, 0, sync->sync_kind, span_of(sync->start_ns, sync->end_ns));
		}
	return gp_scope_rows(scope, table, &tally, 0, put_sync);
}

/* ---- overheads ---- */

static void put_overhead(struct gp_scope *scope, struct gp_table *table,
			 const struct gp_tally_row *row, double total)
{
	(void)scope;
	put_times(table, row, total);
	gp_table_put_text(table, gp_overhead_name((uint32_t)row->key[1]));
}

static int fill_overheads(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (size_t m = 0; m < scope->model_count; m++)
		for (uint32_t i = 0; i < scope->models[m]->overhead_count; i++) {
			const struct gp_overhead *overhead = &scope->models[m]->overheads[i];

			count(&tally, 0, overhead->overhead_kind,
			      span_of(overhead->start_ns, overhead->end_ns));
		}
	return gp_scope_rows(scope, table, &tally, 0, put_overhead);
}

/* ---- code: compiled, loaded, looked up ---- */

enum source { FROM_JIT, FROM_DRIVER, FROM_CALLS };

static void take_jits(struct gp_tally *tally, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->jit_count; i++) {
		const struct gp_record_jit *jit = &model->jits[i];

		struct gp_tally_row *row =
			count(tally, FROM_JIT, (uint64_t)jit->op_kind << 8 | jit->entry_kind,
			      span_of(jit->start_ns, jit->end_ns));

		if (jit->cache_bytes > row->sums[CACHE_BYTES])
			row->sums[CACHE_BYTES] = jit->cache_bytes;
	}
}

/* Count the overheads of loading code. */
static void take_loading(struct gp_tally *tally, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->overhead_count; i++) {
		const struct gp_overhead *overhead = &model->overheads[i];

		if (gp_overhead_is_of_code(overhead->overhead_kind))
			count(tally, FROM_DRIVER, overhead->overhead_kind,
			      span_of(overhead->start_ns, overhead->end_ns));
	}
}

static void take_call(struct gp_tally *tally, const struct gp_scope_call *at)
{
	if (at->class == GP_API_MODULE)
		count(tally, FROM_CALLS, at->name, at->call->duration_ns);
}

static void put_jit_name(struct gp_table *table, uint64_t kinds)
{
	char text[64];

	snprintf(text, sizeof(text), "%s %s", gp_jit_op_name((uint8_t)(kinds >> 8)),
		 gp_jit_entry_name((uint8_t)kinds));
	gp_table_put_text(table, text);
}

static void put_module(struct gp_scope *scope, struct gp_table *table,
		       const struct gp_tally_row *row, double total)
{
	static const char *const sources[] = {"compiler", "driver", "API call"};

	put_times(table, row, total);
	gp_table_cell(table, row->sums[CACHE_BYTES] > 0 ? gp_value_whole(row->sums[CACHE_BYTES])
							: gp_value_none());
	gp_table_put_text(table, sources[row->key[0]]);
	if (row->key[0] == FROM_JIT)
		put_jit_name(table, row->key[1]);
	else if (row->key[0] == FROM_DRIVER)
		gp_table_put_text(table, gp_overhead_name((uint32_t)row->key[1]));
	else
		gp_table_put_text(table, gp_scope_text_of(scope, row->key[1]));
}

static int fill_modules(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	gp_scope_calls(scope, &tally, take_call);
	for (size_t m = 0; m < scope->model_count; m++) {
		take_jits(&tally, scope->models[m]);
		take_loading(&tally, scope->models[m]);
	}
	return gp_scope_rows(scope, table, &tally, 0, put_module);
}

const struct gp_breakdown gp_breakdown_sync = {
	.help = "synchronizations: what the host and streams waited for",
	.nothing =
		"the objects of synchronization calls were not recorded: gpuprof-run --trace=default,sync records them; `gpuprof summary --by api FILE` has the calls",
	.head = {"sync", "Synchronizations", sync_columns, COUNT(sync_columns)},
	.sort_column = 1,
	.fill = fill_syncs,
};

const struct gp_breakdown gp_breakdown_overhead = {
	.help = "overhead that CUPTI and the driver report",
	.nothing = "CUPTI reported no overhead",
	.head = {"overhead", "Overheads that CUPTI reports", sync_columns, COUNT(sync_columns)},
	.sort_column = 1,
	.fill = fill_overheads,
};

const struct gp_breakdown gp_breakdown_module = {
	.help = "code: compiled, loaded, looked up",
	.nothing =
		"no compilation or loading of code was recorded; --trace=api-all records every call",
	.head = {"module", "Code", module_columns, COUNT(module_columns)},
	.sort_column = 1,
	.fill = fill_modules,
};
