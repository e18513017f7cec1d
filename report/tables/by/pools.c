/* Memory pools: allocations, and reserved but unused memory. */
#include "report/tables/breakdown.h"

#include <errno.h>
#include <stdlib.h>

#include "gpuprof/count.h"

#define SEVERAL UINT64_MAX

enum { NOW, MOST_USED, ALLOCATED, RESERVED, UNUSED, TRIMS };

enum { TRIMMED = 3 }; /* value of gp_record_pool.op */

static const struct gp_table_column columns[] = {
	{"Reserved", GP_UNIT_BYTES},  {"Unused", GP_UNIT_BYTES}, {"Unused %", GP_UNIT_PERCENT},
	{"Most used", GP_UNIT_BYTES}, {"Left", GP_UNIT_BYTES},   {"Allocated", GP_UNIT_BYTES},
	{"Allocs", GP_UNIT_COUNT},    {"Trims", GP_UNIT_COUNT},  {"PID", GP_UNIT_NUMBER},
	{"Device", GP_UNIT_NUMBER},   {"Pool", GP_UNIT_ADDRESS},
};

/*
 * cudaMallocAsync uses the current pool of the device and does not name it; it is certain only if
 * the device has one pool.  For each device: that pool, 0 = none, or SEVERAL.
 */
static void find_only_pools(const struct gp_model *model, uint64_t only[GP_DEVICE_LIMIT])
{
	for (uint32_t i = 0; i < GP_DEVICE_LIMIT; i++)
		only[i] = 0;
	for (uint32_t i = 0; i < model->pool_count; i++) {
		uint64_t *pool = &only[model->pools[i].device_id];

		*pool = *pool == 0 || *pool == model->pools[i].address ? model->pools[i].address
								       : SEVERAL;
	}
}

static uint64_t pool_of(const struct gp_memory_event *event, const uint64_t only[GP_DEVICE_LIMIT])
{
	if (event->pool != 0)
		return event->pool;
	return only[event->device_id] == SEVERAL ? 0 : only[event->device_id];
}

static void take_event(struct gp_scope *scope, struct gp_tally *tally, uint64_t process,
		       const struct gp_memory_event *event, const uint64_t only[GP_DEVICE_LIMIT])
{
	const struct gp_model *model = scope->models[process];
	bool allocates = event->op == GP_MEMORY_ALLOC;
	const struct gp_memory_event *allocation;
	struct gp_tally_row *row;

	if (event->memory_kind != GP_MEMORY_ASYNC || (!allocates && event->other == GP_NONE))
		return;
	allocation = allocates ? event : &model->memory[event->other];
	row = gp_tally_find(tally,
			    (const uint64_t[GP_TALLY_KEYS]){
				    process, gp_scope_device(scope, model, allocation->device_id),
				    pool_of(allocation, only)});
	if (!allocates) {
		row->sums[NOW] -= event->bytes;
		return;
	}
	row->count++;
	row->sums[ALLOCATED] += event->bytes;
	row->sums[NOW] += event->bytes;
	if (row->sums[NOW] > row->sums[MOST_USED])
		row->sums[MOST_USED] = row->sums[NOW];
}

/* If false, only the pool's own counters are known. */
static bool knows_allocations(const struct gp_scope *scope, uint64_t process)
{
	return (scope->models[process]->unknown & GP_UNKNOWN_ALLOCATIONS) == 0;
}

static void take_pool(struct gp_scope *scope, struct gp_tally *tally, uint64_t process,
		      const struct gp_record_pool *pool)
{
	struct gp_tally_row *row = gp_tally_find(
		tally,
		(const uint64_t[GP_TALLY_KEYS]){
			process, gp_scope_device(scope, scope->models[process], pool->device_id),
			pool->address});
	uint64_t unused = pool->reserved_bytes > pool->used_bytes
				  ? pool->reserved_bytes - pool->used_bytes
				  : 0;

	row->sums[TRIMS] += pool->op == TRIMMED;
	if (pool->reserved_bytes > row->sums[RESERVED])
		row->sums[RESERVED] = pool->reserved_bytes;
	if (unused > row->sums[UNUSED])
		row->sums[UNUSED] = unused;
	if (!knows_allocations(scope, process) && pool->used_bytes > row->sums[MOST_USED])
		row->sums[MOST_USED] = pool->used_bytes;
}

static void put_if_known(struct gp_scope *scope, struct gp_table *table,
			 const struct gp_tally_row *row, uint64_t value)
{
	gp_table_cell(table, knows_allocations(scope, row->key[0]) ? gp_value_whole(value)
								   : gp_value_none());
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	(void)total;
	gp_table_put_whole(table, row->sums[RESERVED]);
	gp_table_put_whole(table, row->sums[UNUSED]);
	gp_table_cell(table,
		      gp_value_percent((double)row->sums[UNUSED], (double)row->sums[RESERVED]));
	gp_table_put_whole(table, row->sums[MOST_USED]);
	put_if_known(scope, table, row, row->sums[NOW]);
	put_if_known(scope, table, row, row->sums[ALLOCATED]);
	put_if_known(scope, table, row, row->count);
	gp_table_put_whole(table, row->sums[TRIMS]);
	gp_scope_put_process(scope, table, scope->models[row->key[0]]);
	gp_table_put_whole(table, row->key[1]);
	gp_table_cell(table, row->key[2] == 0 ? gp_value_none() : gp_value_whole(row->key[2]));
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	uint64_t *only = malloc(GP_DEVICE_LIMIT * sizeof(*only));
	struct gp_tally tally = {0};

	for (size_t m = 0; m < scope->model_count; m++) {
		const struct gp_model *model = scope->models[m];

		find_only_pools(model, only);
		for (uint32_t i = 0; i < model->memory_count; i++)
			take_event(scope, &tally, m, &model->memory[i], only);
		for (uint32_t i = 0; i < model->pool_count; i++)
			take_pool(scope, &tally, m, &model->pools[i]);
	}
	free(only);
	return gp_scope_rows(scope, table, &tally, 0, put_row);
}

const struct gp_breakdown gp_breakdown_memory_pool = {
	.help = "memory pools: reserved, used, unused",
	.nothing = "no memory pool was used",
	.head = {"memory-pool",
		 "Memory pools (Reserved, Unused: the most that there was; Left: at the end)",
		 columns, COUNT(columns)},
	.sort_column = 0,
	.fill = fill,
};
