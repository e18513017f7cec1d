/* Unified memory: migrations, faults, thrashing. */
#include "report/breakdown.h"

#include "report/array.h"
#include "report/cuda_names.h"
#include "report/memory_sites.h"
#include "report/room.h"
#include "report/stats.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Series 0: durations of what has one; 1: sizes of what has one. */
enum { TIMES, SIZES };
enum { FAULTS, TIMED_BYTES };

#define NO_DEVICE UINT64_MAX

static const struct gp_sheet_column columns[] = {
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

static void put_sizes(struct gp_sheet *sheet, const struct gp_tally_series *series)
{
	struct gp_stats stats = gp_stats_of(series->values, series->count);

	gp_sheet_cell(sheet, series->count ? gp_value_real(stats.mean) : gp_value_none());
	gp_sheet_cell(sheet, series->count ? gp_value_whole(stats.min) : gp_value_none());
	gp_sheet_cell(sheet, series->count ? gp_value_whole(stats.max) : gp_value_none());
}

static void put_row(struct gp_scope *scope, struct gp_sheet *sheet, const struct gp_tally_row *row,
		    double total)
{
	gp_scope_put_share(sheet, row, total);
	gp_scope_put_whole(sheet, row->count);
	gp_scope_put_whole(sheet, row->series[SIZES].total);
	gp_scope_put_whole(sheet, row->sums[FAULTS]);
	put_sizes(sheet, &row->series[SIZES]);
	gp_sheet_cell(sheet, gp_value_rate(row->sums[TIMED_BYTES], row->series[TIMES].total));
	gp_scope_put_pid(scope, sheet, row->key[0]);
	gp_sheet_cell(sheet,
		      row->key[2] == NO_DEVICE ? gp_value_none() : gp_value_whole(row->key[2]));
	gp_scope_put_text(sheet, gp_unified_name((uint16_t)row->key[1]));
}

static int fill(struct gp_scope *scope, struct gp_sheet *sheet)
{
	struct gp_tally tally = {0};

	for (size_t m = 0; m < scope->model_count; m++)
		for (uint32_t i = 0; i < scope->models[m]->unified_count; i++)
			take_event(scope, &tally, m, &scope->models[m]->unifieds[i]);
	return gp_scope_rows(scope, sheet, &tally, 0, put_row);
}

/* ---- managed memory ---- */

/* An allocation, for as long as it lived. */
struct managed {
	uint64_t address, end_address;
	uint64_t start_ns, end_ns;
	uint32_t index; /* in memory */
};

/* So many that began before an address are asked whether it is theirs: more have had addresses beneath one by turns in a damaged trace alone. */
#define MOST_ASKED 256u

static int compare_managed(const void *a, const void *b, const void *context)
{
	const struct managed *left = a, *right = b;

	(void)context;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* By address; *count of them are for gp_room_free().  Returns 0 or -errno. */
static int gather_managed(const struct gp_model *model, struct managed **all, uint32_t *count)
{
	uint32_t capacity = 0;
	int result = 0;

	*all = NULL;
	*count = 0;
	for (uint32_t i = 0; result == 0 && i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];

		if (event->op != GP_MEMORY_ALLOC || event->memory_kind != GP_MEMORY_MANAGED)
			continue;
		result = gp_array_grow_room(all, &capacity, *count, sizeof(**all));
		if (result == 0)
			(*all)[(*count)++] = (struct managed){
				event->address, event->address + event->bytes, event->time_ns,
				event->other != GP_NONE ? model->memory[event->other].time_ns
							: UINT64_MAX,
				i};
	}
	return result == 0 ? gp_array_sort(*all, *count, sizeof(**all), compare_managed, NULL)
			   : result;
}

static bool begins_before(const void *element, const void *key)
{
	return ((const struct managed *)element)->address <= *(const uint64_t *)key;
}

/* The allocation that the event's memory was of then, by its index in memory; GP_NONE: it is not known. */
static uint32_t find_managed(const struct managed *all, uint32_t count,
			     const struct gp_record_unified *event)
{
	uint32_t at =
		gp_array_lower_bound(all, count, sizeof(*all), begins_before, &event->address);

	for (uint32_t asked = 0; at > 0 && asked < MOST_ASKED; asked++) {
		const struct managed *one = &all[--at];

		if (event->address < one->end_address && event->start_ns >= one->start_ns &&
		    event->start_ns <= one->end_ns)
			return one->index;
	}
	return GP_NONE;
}

/* ---- by allocation, and by address where none is known ---- */

/* Sums: bytes of each direction, faults of both, and the bytes that took time. */
enum { MOVED_TO_DEVICE, MOVED_TO_HOST, MOVED_BETWEEN, HOST_FAULTS, DEVICE_FAULTS, TIMED };

static const struct gp_sheet_column address_columns[] = {
	GP_SHARE_COLUMNS,           {"HtoD", GP_UNIT_BYTES},       {"DtoH", GP_UNIT_BYTES},
	{"DtoD", GP_UNIT_BYTES},    {"CPU faults", GP_UNIT_COUNT}, {"GPU faults", GP_UNIT_COUNT},
	{"GB/s", GP_UNIT_GB_PER_S}, {"PID", GP_UNIT_NUMBER},       {"Address", GP_UNIT_ADDRESS},
	{"Size", GP_UNIT_BYTES},    {"Call site", GP_UNIT_TEXT},   {"Called by", GP_UNIT_TEXT},
};

/* Of an allocation of the process, or GP_NONE. */
static void take_address(struct gp_tally *tally, uint64_t process, uint32_t allocation,
			 const struct gp_record_unified *event)
{
	static const uint8_t sums[] = {[GP_UNIFIED_HTOD] = MOVED_TO_DEVICE,
				       [GP_UNIFIED_DTOH] = MOVED_TO_HOST,
				       [GP_UNIFIED_CPU_FAULT] = HOST_FAULTS,
				       [GP_UNIFIED_GPU_FAULT] = DEVICE_FAULTS,
				       [GP_UNIFIED_DTOD] = MOVED_BETWEEN};
	uint16_t kind = event->counter_kind;
	struct gp_tally_row *row;

	if (kind != GP_UNIFIED_HTOD && kind != GP_UNIFIED_DTOH && kind != GP_UNIFIED_DTOD &&
	    kind != GP_UNIFIED_CPU_FAULT && kind != GP_UNIFIED_GPU_FAULT)
		return;
	row = gp_tally_find(tally,
			    (uint64_t[GP_TALLY_KEYS]){process, allocation,
						      allocation == GP_NONE ? event->address : 0});
	row->sums[sums[kind]] += kind == GP_UNIFIED_CPU_FAULT ? 1 : event->value;
	if (event->end_ns <= event->start_ns || !gp_unified_counts_bytes(kind))
		return;
	gp_tally_value(tally, row, TIMES, event->end_ns - event->start_ns);
	row->sums[TIMED] += event->value;
}

/* Where it begins, how large it is, and who made it; of memory that no allocation is known of, the address. */
static void put_allocation(struct gp_scope *scope, struct gp_sheet *sheet,
			   const struct gp_tally_row *row)
{
	const struct gp_model *model = scope->models[row->key[0]];
	const struct gp_memory_event *event =
		row->key[1] != GP_NONE ? &model->memory[row->key[1]] : NULL;
	const struct gp_memory_sites *memory =
		event && event->call != GP_NONE && model->calls[event->call].stack != GP_NONE
			? gp_scope_memory(scope)
			: NULL;
	struct gp_call_site site = {.place = "", .callers = ""};

	if (memory)
		site = gp_call_sites_at(
			memory->sites,
			gp_call_sites_find(memory->sites, model, &model->calls[event->call]));
	gp_scope_put_whole(sheet, event ? event->address : row->key[2]);
	gp_sheet_cell(sheet, event ? gp_value_whole(event->bytes) : gp_value_none());
	gp_scope_put_text(sheet, site.place);
	gp_scope_put_text(sheet, site.callers);
}

static void put_address(struct gp_scope *scope, struct gp_sheet *sheet,
			const struct gp_tally_row *row, double total)
{
	gp_scope_put_share(sheet, row, total);
	for (size_t sum = MOVED_TO_DEVICE; sum <= DEVICE_FAULTS; sum++)
		gp_scope_put_whole(sheet, row->sums[sum]);
	gp_sheet_cell(sheet, gp_value_rate(row->sums[TIMED], row->series[TIMES].total));
	gp_scope_put_pid(scope, sheet, row->key[0]);
	put_allocation(scope, sheet, row);
}

static int take_addresses(const struct gp_model *model, uint64_t process, struct gp_tally *tally)
{
	struct managed *all;
	uint32_t count;
	int result = gather_managed(model, &all, &count);

	for (uint32_t i = 0; result == 0 && i < model->unified_count; i++)
		take_address(tally, process, find_managed(all, count, &model->unifieds[i]),
			     &model->unifieds[i]);
	gp_room_free(all);
	return result;
}

static int fill_addresses(struct gp_scope *scope, struct gp_sheet *sheet)
{
	struct gp_tally tally = {0};
	int result = 0;

	for (size_t m = 0; result == 0 && m < scope->model_count; m++)
		result = take_addresses(scope->models[m], m, &tally);
	if (result == 0)
		return gp_scope_rows(scope, sheet, &tally, 0, put_address);
	gp_tally_free(&tally);
	return result;
}

/* ---- the host's faults by the instruction that met them, which is such a record's value ---- */

static const struct gp_sheet_column fault_columns[] = {
	{"Count", GP_UNIT_COUNT},
	{"PID", GP_UNIT_NUMBER},
	{"Instruction", GP_UNIT_ADDRESS},
};

static void put_fault(struct gp_scope *scope, struct gp_sheet *sheet,
		      const struct gp_tally_row *row, double total)
{
	(void)total;
	gp_scope_put_whole(sheet, row->count);
	gp_scope_put_pid(scope, sheet, row->key[0]);
	gp_scope_put_whole(sheet, row->key[1]);
}

static int fill_faults(struct gp_scope *scope, struct gp_sheet *sheet)
{
	struct gp_tally tally = {0};

	for (size_t m = 0; m < scope->model_count; m++)
		for (uint32_t i = 0; i < scope->models[m]->unified_count; i++) {
			const struct gp_record_unified *event = &scope->models[m]->unifieds[i];
			const uint64_t key[GP_TALLY_KEYS] = {m, event->value};

			if (event->counter_kind == GP_UNIFIED_CPU_FAULT)
				gp_tally_find(&tally, key)->count++;
		}
	return gp_scope_rows(scope, sheet, &tally, 0, put_fault);
}

#define NOTHING "nothing of unified memory was recorded; record with --trace=unified"

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
