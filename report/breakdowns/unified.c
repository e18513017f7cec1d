/* Unified memory: migrations, faults, thrashing. */
#include "report/breakdown.h"

#include "report/cuda_names.h"
#include "report/stats.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Series 0: durations of what has one; 1: sizes of what has one. */
enum { TIMES, SIZES };
enum { FAULTS, TIMED_BYTES };

#define NO_DEVICE UINT64_MAX

/* CUPTI's counter kinds, and what a record's value is. */
enum kind {
	TO_DEVICE = 1,
	TO_HOST = 2,
	HOST_FAULT = 3,
	DEVICE_FAULT = 4,
	THRASHING = 5,
	REMOTE = 7,
	BETWEEN = 8
};

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

static bool has_bytes(uint16_t kind)
{
	return kind == TO_DEVICE || kind == TO_HOST || kind == BETWEEN || kind == THRASHING ||
	       kind == REMOTE;
}

/* The device that it is about: that the memory came to, else that it came from. */
static uint64_t device_of(struct gp_scope *scope, const struct gp_model *model,
			  const struct gp_record_unified *event)
{
	uint32_t device = event->counter_kind == TO_DEVICE || event->counter_kind == BETWEEN
				  ? event->destination_device_id
				  : event->source_device_id;

	if (event->counter_kind == HOST_FAULT || device >= GP_DEVICE_LIMIT)
		return NO_DEVICE;
	return gp_scope_device(scope, model, (uint16_t)device);
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
	if (has_bytes(event->counter_kind)) {
		gp_tally_value(tally, row, SIZES, event->value);
		row->sums[TIMED_BYTES] += timed ? event->value : 0;
	}
	row->sums[FAULTS] += event->counter_kind == HOST_FAULT     ? 1
			     : event->counter_kind == DEVICE_FAULT ? event->value
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

const struct gp_breakdown gp_breakdown_unified = {
	.help = "unified memory: migrations and faults",
	.nothing = "nothing of unified memory was recorded; record with --trace=unified",
	.head = {"unified", "Unified memory", columns, COUNT(columns)},
	.sort_column = 2,
	.fill = fill,
};
