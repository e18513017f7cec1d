#include "report/tables/breakdown.h"

#include <string.h>

#include "report/model/recorded.h"

const struct gp_breakdown *const gp_breakdowns[] = {
	&gp_breakdown_kernel,
	&gp_breakdown_grid,
	&gp_breakdown_occupancy,
	&gp_breakdown_gpu,
	&gp_breakdown_time,
	&gp_breakdown_idle,
	&gp_breakdown_gap,
	&gp_breakdown_gap_site,
	&gp_breakdown_kind,
	&gp_breakdown_kind_kernel,
	&gp_breakdown_operator,
	&gp_breakdown_line,
	&gp_breakdown_collective,
	&gp_breakdown_collective_rank,
	&gp_breakdown_bus_bandwidth,
	&gp_breakdown_axis,
	&gp_breakdown_queue_kernel,
	&gp_breakdown_queue_stream,
	&gp_breakdown_concurrency_device,
	&gp_breakdown_concurrency_stream,
	&gp_breakdown_sequence,
	&gp_breakdown_iteration,
	&gp_breakdown_phase,
	&gp_breakdown_tuning,
	&gp_breakdown_critical_path,
	&gp_breakdown_exec,
	&gp_breakdown_stack,
	&gp_breakdown_caller,
	&gp_breakdown_api,
	&gp_breakdown_failure,
	&gp_breakdown_unfinished,
	&gp_breakdown_api_gpu,
	&gp_breakdown_stack_api,
	&gp_breakdown_sync,
	&gp_breakdown_copy_time,
	&gp_breakdown_copy_size,
	&gp_breakdown_memory,
	&gp_breakdown_memory_leak,
	&gp_breakdown_memory_cache,
	&gp_breakdown_memory_peak,
	&gp_breakdown_memory_churn,
	&gp_breakdown_memory_wait,
	&gp_breakdown_memory_pool,
	&gp_breakdown_torch_category,
	&gp_breakdown_torch_segment,
	&gp_breakdown_torch_block,
	&gp_breakdown_unified,
	&gp_breakdown_unified_address,
	&gp_breakdown_unified_fault,
	&gp_breakdown_graph,
	&gp_breakdown_module,
	&gp_breakdown_overhead,
	&gp_breakdown_nvtx,
	&gp_breakdown_nvtx_group,
	&gp_breakdown_nvtx_gpu,
	&gp_breakdown_nvtx_kernel,
	&gp_breakdown_nvtx_launch,
	&gp_breakdown_nvtx_sequence,
	&gp_breakdown_nvtx_counter,
	&gp_breakdown_nvtx_value,
	&gp_breakdown_counter,
	&gp_breakdown_roofline,
	&gp_breakdown_roofline_peak,
	&gp_breakdown_hw_activity,
	&gp_breakdown_hw_traffic,
	&gp_breakdown_hw_kernel,
	&gp_breakdown_hw_range,
	&gp_breakdown_hw_phase,
	&gp_breakdown_hw_part,
	&gp_breakdown_hw_step,
	&gp_breakdown_energy,
	&gp_breakdown_clock_reason,
	&gp_breakdown_energy_kernel,
	&gp_breakdown_stall_reason,
	&gp_breakdown_stall_kernel,
	&gp_breakdown_stall_line,
	&gp_breakdown_stall_source,
	&gp_breakdown_nvtx_time,
	&gp_breakdown_stream,
	&gp_breakdown_context,
	&gp_breakdown_device,
	&gp_breakdown_thread,
	&gp_breakdown_process,
	&gp_breakdown_rank,
	&gp_breakdown_missing,
	&gp_breakdown_host,
	NULL,
};

bool gp_breakdown_is(const struct gp_breakdown *breakdown, const char *word)
{
	return strcmp(breakdown->head.name, word) == 0 ||
	       (breakdown->word && strcmp(breakdown->word, word) == 0);
}

/*
 * The column PID has the ranks or names of processes in a job (gp_scope_put_process()), so its title
 * says that.  A table with a column Rank does not need it beside unique ranks.
 */
static int name_processes(const struct gp_scope *scope, struct gp_table *table)
{
	size_t count = table->head->column_count, at = gp_table_find_column(table->head, "PID");
	struct gp_table_column column;

	if (at == count)
		return 0;
	column = table->head->columns[at];
	if (!gp_scope_name_column(scope, &column))
		return 0;
	if (gp_table_find_column(table->head, column.title) < count)
		return gp_table_remove_column(table, at);
	return gp_table_set_column(table, at, &column);
}

/* Before the rows: those of other runs lack these cells. */
static int drop_sampled(struct gp_scope *scope, struct gp_table *table)
{
	size_t at = gp_table_find_column(table->head, GP_SAMPLED_TITLE);
	int result;

	scope->is_sampled = gp_recorded_any_sampled(scope->models, scope->model_count);
	if (at == table->head->column_count || scope->is_sampled)
		return 0;
	result = gp_table_remove_column(table, at);
	return result == 0 ? gp_table_remove_column(table, at) : result;
}

int gp_breakdown_make(const struct gp_breakdown *breakdown, struct gp_scope *scope,
		      struct gp_table *table)
{
	int result;

	gp_table_open(table, &breakdown->head);
	result = drop_sampled(scope, table);
	if (result == 0)
		result = breakdown->fill(scope, table);
	if (result == 0)
		result = table->error;
	if (result == 0)
		result = name_processes(scope, table);
	if (result < 0 || breakdown->is_in_order)
		return result;
	return gp_table_sort(table, breakdown->sort_column);
}
