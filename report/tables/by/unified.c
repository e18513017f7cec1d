/* Unified memory: migrations, faults, thrashing. */
#include "report/tables/breakdown.h"

#include <search.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/analysis/memory/memory_sites.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"
#include "report/base/tree.h"

/* Series 0: durations; 1: sizes; of events that have one. */
enum { TIMES, SIZES };
enum { FAULTS, TIMED_BYTES };

#define NO_DEVICE UINT64_MAX

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	{"Bytes", GP_UNIT_BYTES},
	{"Faults", GP_UNIT_COUNT},
	{"Avg size", GP_UNIT_BYTES},
	{"Min size", GP_UNIT_BYTES},
	{"Max size", GP_UNIT_BYTES},
	{"GB/s", GP_UNIT_GB_PER_S},
	{"PID", GP_UNIT_NUMBER},
	{"Device", GP_UNIT_NUMBER},
	{"Kind", GP_UNIT_TEXT},
};

static uint64_t device_of(struct gp_scope *scope, const struct gp_model *model,
			  const struct gp_record_unified *event)
{
	uint32_t device_id = gp_unified_device(event);

	return device_id != GP_NONE ? gp_scope_device(scope, model, (uint16_t)device_id)
				    : NO_DEVICE;
}

static void take_event(struct gp_scope *scope, struct gp_tally *tally, uint64_t process,
		       const struct gp_record_unified *event)
{
	const uint64_t key[GP_TALLY_KEYS] = {process, event->counter_kind,
					     device_of(scope, scope->models[process], event)};
	struct gp_tally_row *row = gp_tally_find(tally, key);
	bool timed = event->end_ns > event->start_ns;

	row->count++;
	if (timed)
		gp_tally_value(tally, row, TIMES, event->end_ns - event->start_ns);
	if (gp_unified_counts_bytes(event->counter_kind)) {
		gp_tally_value(tally, row, SIZES, event->value);
		row->sums[TIMED_BYTES] += timed ? event->value : 0;
	}
	row->sums[FAULTS] += event->counter_kind == GP_UNIFIED_CPU_FAULT   ? 1
			     : event->counter_kind == GP_UNIFIED_GPU_FAULT ? event->value
									   : 0;
}

static void put_sizes(struct gp_table *table, const struct gp_tally_series *series)
{
	struct gp_stats stats = gp_stats_of(series->values, series->count);

	gp_table_cell(table, series->count ? gp_value_real(stats.mean) : gp_value_none());
	gp_table_cell(table, series->count ? gp_value_whole(stats.min) : gp_value_none());
	gp_table_cell(table, series->count ? gp_value_whole(stats.max) : gp_value_none());
}

static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		    double total)
{
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->series[SIZES].total);
	gp_table_put_whole(table, row->sums[FAULTS]);
	put_sizes(table, &row->series[SIZES]);
	gp_table_cell(table, gp_value_rate(row->sums[TIMED_BYTES], row->series[TIMES].total));
	gp_scope_put_process(scope, table, scope->models[row->key[0]]);
	gp_table_cell(table,
		      row->key[2] == NO_DEVICE ? gp_value_none() : gp_value_whole(row->key[2]));
	gp_table_put_text(table, gp_unified_name((uint16_t)row->key[1]));
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (size_t m = 0; m < scope->model_count; m++)
		for (uint32_t i = 0; i < scope->models[m]->unified_count; i++)
			take_event(scope, &tally, m, &scope->models[m]->unifieds[i]);
	return gp_scope_rows(scope, table, &tally, 0, put_row);
}

/* ---- managed memory ---- */

/* A live allocation. */
struct managed {
	uint64_t address, end_address;
	uint32_t index; /* in memory */
	bool is_known;  /* it is counted in its row */
};

/* The managed memory of a process over time. */
struct managed_memory {
	const struct gp_model *model;
	struct managed *all; /* every allocation, by time */
	uint32_t count, begun;
	uint32_t seen; /* number of memory events processed */
	void *living;  /* a tree of the live ones */
};

/* Equal if they overlap: live allocations never do. */
static int compare_managed(const void *a, const void *b)
{
	const struct managed *left = a, *right = b;

	if (left->end_address <= right->address)
		return -1;
	return left->address >= right->end_address;
}

static void gather_managed(const struct gp_model *model, struct managed_memory *memory)
{
	uint32_t capacity = 0;

	*memory = (struct managed_memory){.model = model};
	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];

		if (event->op != GP_MEMORY_ALLOC || event->memory_kind != GP_MEMORY_MANAGED ||
		    event->bytes == 0 || event->bytes > UINT64_MAX - event->address)
			continue;
		gp_array_grow_spill(&memory->all, &capacity, memory->count, sizeof(*memory->all));
		memory->all[memory->count++] =
			(struct managed){event->address, event->address + event->bytes, i, false};
	}
}

static struct managed *find_living(const struct managed_memory *memory, uint64_t address)
{
	const struct managed key = {.address = address, .end_address = address + 1};
	void *const *found = tfind(&key, &memory->living, compare_managed);

	return found ? *found : NULL;
}

/* A live allocation that overlaps it was freed without a record. */
static void begin_managed(struct managed_memory *memory, struct managed *one)
{
	struct managed **found;

	while ((found = tsearch(one, &memory->living, compare_managed)) && *found != one)
		tdelete(one, &memory->living, compare_managed);
}

static void end_managed(struct managed_memory *memory, const struct gp_memory_event *event)
{
	struct managed *one = find_living(memory, event->address);

	if (one && event->other == one->index)
		tdelete(one, &memory->living, compare_managed);
}

/* Process the allocations up to that time, and the frees before it. */
static void go_on(struct managed_memory *memory, uint64_t until_ns)
{
	const struct gp_model *model = memory->model;

	for (; memory->seen < model->memory_count; memory->seen++) {
		const struct gp_memory_event *event = &model->memory[memory->seen];
		bool is_free = event->op != GP_MEMORY_ALLOC;

		if (event->time_ns > until_ns || (is_free && event->time_ns == until_ns))
			break;
		if (is_free)
			end_managed(memory, event);
		else if (memory->begun < memory->count &&
			 memory->all[memory->begun].index == memory->seen)
			begin_managed(memory, &memory->all[memory->begun++]);
	}
}

static void free_managed(struct managed_memory *memory)
{
	gp_tree_free(memory->living);
	gp_spill_free(memory->all);
}

/* ---- by call site of the allocation, or by address if unknown ---- */

/*
 * Sums: bytes by direction, faults of CPU and GPU, bytes with a time, and common properties of the row's
 * allocations.
 */
enum {
	MOVED_TO_DEVICE,
	MOVED_TO_HOST,
	MOVED_BETWEEN,
	HOST_FAULTS,
	DEVICE_FAULTS,
	TIMED,
	ALLOCATIONS,
	ADDRESS, /* 0: they differ */
	SIZE,    /* 0: they differ */
};

static const struct gp_table_column address_columns[] = {
	GP_SHARE_COLUMNS,
	{"HtoD", GP_UNIT_BYTES},
	{"DtoH", GP_UNIT_BYTES},
	{"DtoD", GP_UNIT_BYTES},
	{"CPU faults", GP_UNIT_COUNT},
	{"GPU faults", GP_UNIT_COUNT},
	{"GB/s", GP_UNIT_GB_PER_S},
	{"PID", GP_UNIT_NUMBER},
	{"Allocs", GP_UNIT_COUNT},
	{"Address", GP_UNIT_ADDRESS},
	{"Size", GP_UNIT_BYTES},
	{"Call site", GP_UNIT_TEXT},
	{"Called by", GP_UNIT_TEXT},
};

static bool is_by_address(uint16_t kind)
{
	return kind == GP_UNIFIED_HTOD || kind == GP_UNIFIED_DTOH || kind == GP_UNIFIED_DTOD ||
	       kind == GP_UNIFIED_CPU_FAULT || kind == GP_UNIFIED_GPU_FAULT;
}

/* The call site of an allocation; GP_NONE: it has no stack. */
static uint32_t site_of(struct gp_scope *scope, const struct gp_model *model,
			const struct managed *one)
{
	uint32_t call = model->memory[one->index].call;
	const struct gp_memory_sites *memory =
		call != GP_NONE && model->calls[call].stack != GP_NONE ? gp_scope_memory(scope)
								       : NULL;

	return memory ? gp_call_sites_find(memory->sites, model, &model->calls[call]) : GP_NONE;
}

static void count_allocation(struct gp_tally_row *row, struct managed *one)
{
	uint64_t bytes = one->end_address - one->address;

	if (one->is_known)
		return;
	one->is_known = true;
	if (row->sums[ALLOCATIONS]++ == 0) {
		row->sums[ADDRESS] = one->address;
		row->sums[SIZE] = bytes;
	}
	row->sums[ADDRESS] = row->sums[ADDRESS] == one->address ? one->address : 0;
	row->sums[SIZE] = row->sums[SIZE] == bytes ? bytes : 0;
}

/*
 * The row of the allocation's site, else of its address; without a known allocation, of the event's
 * address.
 */
static struct gp_tally_row *find_row(struct gp_scope *scope, struct gp_tally *tally,
				     uint64_t process, struct managed *one, uint64_t address)
{
	uint32_t site = one ? site_of(scope, scope->models[process], one) : GP_NONE;
	const uint64_t key[GP_TALLY_KEYS] = {process, one != NULL, site,
					     site != GP_NONE ? 0
					     : one           ? one->address
							     : address};
	struct gp_tally_row *row = gp_tally_find(tally, key);

	if (one)
		count_allocation(row, one);
	return row;
}

static void take_address(struct gp_tally *tally, struct gp_tally_row *row,
			 const struct gp_record_unified *event)
{
	static const uint8_t sums[] = {[GP_UNIFIED_HTOD] = MOVED_TO_DEVICE,
				       [GP_UNIFIED_DTOH] = MOVED_TO_HOST,
				       [GP_UNIFIED_CPU_FAULT] = HOST_FAULTS,
				       [GP_UNIFIED_GPU_FAULT] = DEVICE_FAULTS,
				       [GP_UNIFIED_DTOD] = MOVED_BETWEEN};
	uint16_t kind = event->counter_kind;

	row->sums[sums[kind]] += kind == GP_UNIFIED_CPU_FAULT ? 1 : event->value;
	if (event->end_ns <= event->start_ns || !gp_unified_counts_bytes(kind))
		return;
	gp_tally_value(tally, row, TIMES, event->end_ns - event->start_ns);
	row->sums[TIMED] += event->value;
}

/*
 * The number of allocations, address and size if they are the same for all, and call site; without
 * a known allocation, the address.
 */
static void put_allocations(struct gp_scope *scope, struct gp_table *table,
			    const struct gp_tally_row *row)
{
	bool is_known = row->key[1] != 0;
	uint64_t address = is_known ? row->sums[ADDRESS] : row->key[3];
	struct gp_call_site site = {.place = "", .callers = ""};

	if (row->key[2] != GP_NONE)
		site = gp_call_sites_at(gp_scope_memory(scope)->sites, (uint32_t)row->key[2]);
	gp_table_cell(table, is_known ? gp_value_whole(row->sums[ALLOCATIONS]) : gp_value_none());
	gp_table_cell(table, is_known && address == 0 ? gp_value_none() : gp_value_whole(address));
	gp_table_cell(table,
		      row->sums[SIZE] > 0 ? gp_value_whole(row->sums[SIZE]) : gp_value_none());
	gp_table_put_text(table, site.place);
	gp_table_put_text(table, site.callers);
}

static void put_address(struct gp_scope *scope, struct gp_table *table,
			const struct gp_tally_row *row, double total)
{
	gp_scope_put_share(table, row, total);
	for (size_t sum = MOVED_TO_DEVICE; sum <= DEVICE_FAULTS; sum++)
		gp_table_put_whole(table, row->sums[sum]);
	gp_table_cell(table, gp_value_rate(row->sums[TIMED], row->series[TIMES].total));
	gp_scope_put_process(scope, table, scope->models[row->key[0]]);
	put_allocations(scope, table, row);
}

/* Events, allocations and frees are all sorted by time. */
static void take_addresses(struct gp_scope *scope, uint64_t process, struct gp_tally *tally)
{
	const struct gp_model *model = scope->models[process];
	struct managed_memory memory;

	gather_managed(model, &memory);
	for (uint32_t i = 0; i < model->unified_count; i++) {
		const struct gp_record_unified *event = &model->unifieds[i];

		if (!is_by_address(event->counter_kind))
			continue;
		go_on(&memory, event->start_ns);
		take_address(tally,
			     find_row(scope, tally, process, find_living(&memory, event->address),
				      event->address),
			     event);
	}
	free_managed(&memory);
}

static int fill_addresses(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (size_t m = 0; m < scope->model_count; m++)
		take_addresses(scope, m, &tally);
	gp_scope_rows(scope, table, &tally, 0, put_address);
	gp_tally_free(&tally);
	return 0;
}

/* ---- CPU faults by instruction, whose address is the value of the record ---- */

static const struct gp_table_column fault_columns[] = {
	{"Count", GP_UNIT_COUNT},
	{"PID", GP_UNIT_NUMBER},
	{"Instruction", GP_UNIT_ADDRESS},
};

static void put_fault(struct gp_scope *scope, struct gp_table *table,
		      const struct gp_tally_row *row, double total)
{
	(void)total;
	gp_table_put_whole(table, row->count);
	gp_scope_put_process(scope, table, scope->models[row->key[0]]);
	gp_table_put_whole(table, row->key[1]);
}

static int fill_faults(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_tally tally = {0};

	for (size_t m = 0; m < scope->model_count; m++)
		for (uint32_t i = 0; i < scope->models[m]->unified_count; i++) {
			const struct gp_record_unified *event = &scope->models[m]->unifieds[i];
			const uint64_t key[GP_TALLY_KEYS] = {m, event->value};

			if (event->counter_kind == GP_UNIFIED_CPU_FAULT)
				gp_tally_find(&tally, key)->count++;
		}
	return gp_scope_rows(scope, table, &tally, 0, put_fault);
}

#define NOTHING "no unified memory events were recorded; record with --trace=unified"

const struct gp_breakdown gp_breakdown_unified = {
	.help = "unified memory: migrations and faults",
	.nothing = NOTHING,
	.head = {"unified", "Unified memory", columns, COUNT(columns)},
	.sort_column = 2,
	.fill = fill,
};

const struct gp_breakdown gp_breakdown_unified_address = {
	.help = "unified memory by allocation",
	.nothing = NOTHING,
	.head = {"unified-address", "Unified memory by allocation", address_columns,
		 COUNT(address_columns)},
	.sort_column = 1,
	.fill = fill_addresses,
};

const struct gp_breakdown gp_breakdown_unified_fault = {
	.help = "unified memory: page faults of the CPU by instruction",
	.nothing = "no page fault of the CPU was recorded; record with --trace=unified",
	.head = {"unified-fault", "Page faults of the CPU by instruction", fault_columns,
		 COUNT(fault_columns)},
	.sort_column = 0,
	.fill = fill_faults,
};
