/*
 * breakdown: the tables of `gpuprof summary --by`: recorded data grouped by one property.  A new
 * table is a new file in report/tables/by/ (or a part of one) that defines a struct gp_breakdown,
 * and one row in report/tables/breakdown.c.  docs/reference/tables.md describes the columns.
 */
#ifndef REPORT_TABLES_BREAKDOWN_H
#define REPORT_TABLES_BREAKDOWN_H

#include "report/tables/breakdown_scope.h"
#include "report/analysis/memory/memory_sites.h"
#include "report/document/table.h"

/* How the table of a large job is made, whose ranks are read one after the other. */
enum gp_breakdown_job {
	GP_BREAKDOWN_ADDED,  /* the rows of all ranks are added (report/document/table_sum.h) */
	GP_BREAKDOWN_OF_JOB, /* from a gp_job alone */
	GP_BREAKDOWN_OF_ONE  /* not at all: it has single events, or a tree */
};

struct gp_breakdown {
	/* word of --by: selects all tables that share it; NULL = head.name */
	const char *word;
	const char *help; /* one line */
	/* message if the table has no row: the reason, and how to get rows */
	const char *nothing;
	/*
	 * The same message if it depends on the trace; valid while the scope is open.  NULL =
	 * always nothing.
	 */
	const char *(*say_nothing)(struct gp_scope *scope);
	struct gp_table_head head;
	/*
	 * column of the default order (gp_table_sort()); GP_TABLE_AS_ADDED: no other order is
	 * possible
	 */
	size_t sort_column;
	/* the column before which a line that is too wide is folded; 0 = any */
	size_t fold_before;
	/*
	 * Add the rows, in any order.  Returns 0, -ENOMEM or -EOVERFLOW; table->error counts, too.
	 */
	int (*fill)(struct gp_scope *scope, struct gp_table *table);
	/* rows keep the order in which they were added, unless the user asks for another */
	bool is_in_order;
	enum gp_breakdown_job job;
};

/* All tables, in the order of the help; ends with NULL. */
extern const struct gp_breakdown *const gp_breakdowns[];

/* Whether a word of --by selects this table. */
bool gp_breakdown_is(const struct gp_breakdown *breakdown, const char *word);

/*
 * Open the table, fill and sort it.  Returns 0, -ENOMEM or -EOVERFLOW; close the table in any case.
 */
int gp_breakdown_make(const struct gp_breakdown *breakdown, struct gp_scope *scope,
		      struct gp_table *table);

extern const struct gp_breakdown gp_breakdown_kernel, gp_breakdown_grid, gp_breakdown_gpu;
extern const struct gp_breakdown gp_breakdown_api_gpu;
extern const struct gp_breakdown gp_breakdown_copy_time, gp_breakdown_copy_size;
extern const struct gp_breakdown gp_breakdown_api, gp_breakdown_thread, gp_breakdown_failure;
extern const struct gp_breakdown gp_breakdown_stream, gp_breakdown_context;
extern const struct gp_breakdown gp_breakdown_device, gp_breakdown_process, gp_breakdown_missing;
extern const struct gp_breakdown gp_breakdown_host, gp_breakdown_unfinished;
extern const struct gp_breakdown gp_breakdown_exec, gp_breakdown_occupancy;
extern const struct gp_breakdown gp_breakdown_time, gp_breakdown_idle, gp_breakdown_gap;
extern const struct gp_breakdown gp_breakdown_gap_site;
extern const struct gp_breakdown gp_breakdown_kind, gp_breakdown_kind_kernel;
extern const struct gp_breakdown gp_breakdown_collective;
extern const struct gp_breakdown gp_breakdown_queue_kernel, gp_breakdown_queue_stream;
extern const struct gp_breakdown gp_breakdown_concurrency_device, gp_breakdown_concurrency_stream;
extern const struct gp_breakdown gp_breakdown_sequence, gp_breakdown_tuning;
extern const struct gp_breakdown gp_breakdown_iteration, gp_breakdown_nvtx_time;
extern const struct gp_breakdown gp_breakdown_phase, gp_breakdown_operator;
extern const struct gp_breakdown gp_breakdown_line;
extern const struct gp_breakdown gp_breakdown_critical_path;
extern const struct gp_breakdown gp_breakdown_memory;
extern const struct gp_breakdown gp_breakdown_memory_leak, gp_breakdown_memory_cache;
extern const struct gp_breakdown gp_breakdown_memory_peak, gp_breakdown_memory_churn;
extern const struct gp_breakdown gp_breakdown_memory_wait, gp_breakdown_memory_pool;
extern const struct gp_breakdown gp_breakdown_torch_category;
extern const struct gp_breakdown gp_breakdown_torch_segment, gp_breakdown_torch_block;
extern const struct gp_breakdown gp_breakdown_graph;
extern const struct gp_breakdown gp_breakdown_sync, gp_breakdown_overhead, gp_breakdown_module;
extern const struct gp_breakdown gp_breakdown_stack, gp_breakdown_stack_api, gp_breakdown_caller;
extern const struct gp_breakdown gp_breakdown_unified;
extern const struct gp_breakdown gp_breakdown_unified_address, gp_breakdown_unified_fault;
extern const struct gp_breakdown gp_breakdown_nvtx, gp_breakdown_nvtx_group, gp_breakdown_nvtx_gpu,
	gp_breakdown_nvtx_kernel;
extern const struct gp_breakdown gp_breakdown_nvtx_launch, gp_breakdown_nvtx_sequence;
extern const struct gp_breakdown gp_breakdown_nvtx_counter, gp_breakdown_nvtx_value;
extern const struct gp_breakdown gp_breakdown_collective_rank, gp_breakdown_rank;
extern const struct gp_breakdown gp_breakdown_bus_bandwidth, gp_breakdown_axis;
extern const struct gp_breakdown gp_breakdown_counter, gp_breakdown_roofline,
	gp_breakdown_roofline_peak;
extern const struct gp_breakdown gp_breakdown_hw_activity, gp_breakdown_hw_traffic,
	gp_breakdown_hw_kernel;
extern const struct gp_breakdown gp_breakdown_hw_range, gp_breakdown_hw_phase, gp_breakdown_hw_part,
	gp_breakdown_hw_step;
extern const struct gp_breakdown gp_breakdown_energy, gp_breakdown_clock_reason,
	gp_breakdown_energy_kernel;
extern const struct gp_breakdown gp_breakdown_stall_reason, gp_breakdown_stall_kernel,
	gp_breakdown_stall_line, gp_breakdown_stall_source;

/* Memory by call site: gathered once for all tables, owned by the scope. */
const struct gp_memory_sites *gp_scope_memory(struct gp_scope *scope);

#endif
