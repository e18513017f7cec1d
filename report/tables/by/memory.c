/* Allocations and frees, by API function, kind of memory and device. */
#include "report/tables/breakdown.h"

#include "gpuprof/count.h"
#include "report/trace/cuda_names.h"
#include "report/model/memory_stats.h"

#define NO_DEVICE UINT64_MAX

enum { SIZES };
enum { CALL_NS };

static const struct gp_table_column columns[] = {
	{"Total", GP_UNIT_BYTES},
	{"Count", GP_UNIT_COUNT},
	GP_HISTOGRAM_COLUMNS(GP_UNIT_BYTES),
	{"API time", GP_UNIT_NS},
	{"Operation", GP_UNIT_TEXT},
	{"Memory", GP_UNIT_TEXT},
	{"Device", GP_UNIT_NUMBER},
	{"API", GP_UNIT_TEXT},
};

static void take_event(struct gp_scope *scope, struct gp_tally *tally, const struct gp_model *model,
		       const struct gp_memory_event *event)
{
	const struct gp_call *call = event->call == GP_NONE ? NULL : &model->calls[event->call];
	const char *api = call ? gp_model_api(model, call->api).name : "(the context's end)";
	const uint64_t key[GP_TALLY_KEYS] = {
		event->op,
		event->memory_kind,
		gp_memory_is_of_host(event->memory_kind)
			? NO_DEVICE
			: gp_scope_device(scope, model, event->device_id),
		gp_scope_text(scope, api),
	};
	struct gp_tally_row *row = gp_tally_find(tally, key);

	row->count++;
	row->sums[CALL_NS] += call ? call->duration_ns : 0;
	gp_tally_value(tally, row, SIZES, event->bytes);
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	(void)total;
	gp_table_put_whole(table, row->series[SIZES].total);
	gp_table_put_whole(table, row->count);
	gp_scope_put_spread(table, &row->series[SIZES]);
	gp_table_put_whole(table, row->sums[CALL_NS]);
	gp_table_put_text(table, row->key[0] == GP_MEMORY_ALLOC ? "allocate" : "free");
	gp_table_put_text(table, gp_allocation_name((uint8_t)row->key[1]));
	gp_table_cell(table,
		      row->key[2] == NO_DEVICE ? gp_value_none() : gp_value_whole(row->key[2]));
	gp_table_put_text(table, gp_scope_text_of(scope, row->key[3]));
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (size_t i = 0; i < scope->model_count; i++)
		for (uint32_t e = 0; e < scope->models[i]->memory_count; e++)
			take_event(scope, &tally, scope->models[i], &scope->models[i]->memory[e]);
	return gp_scope_rows(scope, table, &tally, 0, put_row);
}

const struct gp_breakdown gp_breakdown_memory = {
	.help = "allocations and frees by API function, kind of memory and device",
	.nothing =
		"no memory was allocated through CUDA while recording was on; `gpuprof summary FILE` shows the recorded data",
	.head = {"memory", "Allocations and frees", columns, COUNT(columns)},
	.sort_column = 0,
	.fill = fill,
};
