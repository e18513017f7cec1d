/* Device time by state; idle time by cause, by gap, and by the operations around it. */
#include "report/tables/by/where.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"
#include "report/analysis/analysis.h"
#include "report/tables/breakdown.h"
#include "report/symbols/call_site.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"

static void say_missing(struct gp_scope *scope)
{
	for (size_t i = 0; i < scope->model_count && scope->messages && !scope->said_missing; i++) {
		const char *why = gp_recorded_why_not_all(scope->models[i]);

		if (!why)
			continue;
		fprintf(scope->messages,
			"gpuprof: idle times in the tables are upper bounds: %s (%s)\n", why,
			gp_process_name(scope->models[i]).text);
		scope->said_missing = true;
	}
}

struct gp_window gp_scope_window(struct gp_scope *scope)
{
	say_missing(scope);
	return gp_busy_window(scope->models, scope->model_count);
}

/* NULL: no memory. */
static const struct gp_wheres *find_wheres(struct gp_scope *scope)
{
	const struct gp_analysis *analysis = gp_scope_analysis(scope);

	say_missing(scope);
	return analysis ? &analysis->wheres : NULL;
}

void gp_scope_put_op(struct gp_scope *scope, struct gp_table *table, struct gp_op_at at)
{
	const struct gp_op *op = gp_op_of(scope->models, at);
	char label[GP_ACTIVITY_LABEL_BYTES];
	const char *mangled;

	if (!op) {
		gp_table_cell(table, gp_value_none());
	} else if (op->kind == GP_OP_KERNEL) {
		mangled = gp_model_kernel_name(scope->models[at.model], op);
		gp_table_put_text(table, scope->full_names ? gp_names_full(scope->names, mangled)
							   : gp_names_short(scope->names, mangled));
	} else {
		gp_activity_label(label, op);
		gp_table_put_text(table, label);
	}
}

/* "place < caller < ...", after "~" if it is estimated; empty for a call without a stack. */
static void put_site(struct gp_call_sites *sites, struct gp_table *table,
		     const struct gp_model *model, const struct gp_call *call)
{
	struct gp_call_site site;
	char *text;

	if (call->stack == GP_NONE) {
		gp_table_cell(table, gp_value_none());
		return;
	}
	site = gp_call_sites_at(sites, gp_call_sites_find(sites, model, call));
	if (asprintf(&text, "%s%s%s%s", gp_call_site_mark(call), site.place,
		     *site.callers ? GP_SITE_SEPARATOR : "", site.callers) < 0) {
		table->error = -ENOMEM;
		return;
	}
	gp_table_put_text(table, text);
	free(text);
}

/*
 * Two cells: the function of the call that started the operation, and its place in the user's code.
 */
static void put_cause(struct gp_scope *scope, struct gp_call_sites *sites, struct gp_table *table,
		      struct gp_op_at at)
{
	const struct gp_model *model = scope->models[at.model];
	const struct gp_op *op = gp_op_of(scope->models, at);
	const struct gp_call *call = op ? gp_model_op_cause(model, op) : NULL;

	if (call) {
		gp_table_put_text(table, gp_model_api(model, call->api).name);
		put_site(sites, table, model, call);
		return;
	}
	gp_table_cell(table, gp_value_none());
	gp_table_cell(table, gp_value_none());
}

/* ---- by device ---- */

static const struct gp_table_column time_columns[] = {
	{"Wall", GP_UNIT_NS},         {"Busy %", GP_UNIT_PERCENT},
	{"Busy", GP_UNIT_NS},         {"Idle", GP_UNIT_NS},
	{"Idle inside", GP_UNIT_NS},  {"Span", GP_UNIT_NS},
	{"Compute", GP_UNIT_NS},      {"Communication", GP_UNIT_NS},
	{"Copy", GP_UNIT_NS},         {"Comm alone", GP_UNIT_NS},
	{"Copy alone", GP_UNIT_NS},   {"Comm+compute", GP_UNIT_NS},
	{"Copy+compute", GP_UNIT_NS}, {"Comm overlap %", GP_UNIT_PERCENT},
	{"Device", GP_UNIT_NUMBER},
};

static void put_time(struct gp_table *table, const struct gp_where *where)
{
	const uint64_t *ns = where->state_ns;
	uint64_t wall = gp_state_wall_ns(ns), busy = gp_state_busy_ns(ns), idle = wall - busy;
	uint64_t comm = gp_state_any_ns(ns, GP_STATE_COMMUNICATION);
	uint64_t both = gp_state_all_ns(ns, GP_STATE_COMPUTE | GP_STATE_COMMUNICATION);
	const struct gp_value cells[] = {
		gp_value_whole(wall),
		gp_value_percent((double)busy, (double)wall),
		gp_value_whole(busy),
		gp_value_whole(idle),
		gp_value_whole(idle - where->edge_ns),
		gp_value_whole(wall - where->edge_ns),
		gp_value_whole(gp_state_any_ns(ns, GP_STATE_COMPUTE)),
		gp_value_whole(comm),
		gp_value_whole(gp_state_any_ns(ns, GP_STATE_COPY)),
		gp_value_whole(gp_state_only_ns(ns, GP_STATE_COMMUNICATION)),
		gp_value_whole(gp_state_only_ns(ns, GP_STATE_COPY)),
		gp_value_whole(both),
		gp_value_whole(gp_state_all_ns(ns, GP_STATE_COMPUTE | GP_STATE_COPY)),
		gp_value_percent((double)both, (double)comm),
	};

	for (size_t i = 0; i < COUNT(cells); i++)
		gp_table_cell(table, cells[i]);
}

static int fill_times(struct gp_scope *scope, struct gp_table *table)
{
	const struct gp_wheres *all = find_wheres(scope);

	for (size_t i = 0; all && gp_scope_has_gpu(scope) && i < all->count; i++) {
		put_time(table, &all->devices[i]);
		gp_table_put_whole(table, scope->devices.entries[i].number);
	}
	return all ? 0 : -ENOMEM;
}

/* ---- by cause ---- */

static const struct gp_table_column idle_columns[] = {
	GP_SHARE_COLUMNS,           {"Wall %", GP_UNIT_PERCENT}, {"Main cause of", GP_UNIT_COUNT},
	{"Device", GP_UNIT_NUMBER}, {"Cause", GP_UNIT_TEXT},
};

/*
 * The base of shares of idle time: without devices that had no operation, unless that is true for
 * all.
 */
struct idle_base {
	const struct gp_wheres *wheres;
	bool any_is_used;
	uint64_t total_ns; /* of the devices that count */
};

static bool counts(const struct idle_base *base, size_t device)
{
	return !base->any_is_used || gp_state_busy_ns(base->wheres->devices[device].state_ns) > 0;
}

static struct idle_base idle_base_of(const struct gp_wheres *wheres)
{
	struct idle_base base = {.wheres = wheres};

	for (size_t i = 0; i < wheres->count; i++)
		base.any_is_used |= gp_state_busy_ns(wheres->devices[i].state_ns) > 0;
	for (size_t i = 0; i < wheres->count; i++)
		if (counts(&base, i))
			base.total_ns += gp_state_idle_ns(wheres->devices[i].state_ns);
	return base;
}

static void put_share(struct gp_table *table, const struct idle_base *base, size_t device,
		      uint64_t ns)
{
	gp_table_cell(table, counts(base, device)
				     ? gp_value_percent((double)ns, (double)base->total_ns)
				     : gp_value_none());
	gp_table_put_whole(table, ns);
}

static void put_causes(struct gp_table *table, const struct idle_base *base, size_t index,
		       uint32_t device)
{
	const struct gp_where *where = &base->wheres->devices[index];
	uint64_t wall_ns = gp_state_wall_ns(where->state_ns);

	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++) {
		uint64_t cause_ns = where->state_ns[GP_STATE_IDLE + i];

		if (cause_ns == 0)
			continue;
		put_share(table, base, index, cause_ns);
		gp_table_cell(table, gp_value_percent((double)cause_ns, (double)wall_ns));
		gp_table_put_whole(table, where->cause_count[i]);
		gp_table_put_whole(table, device);
		gp_table_put_text(table, gp_idle_cause_name(i));
	}
}

static int fill_idle(struct gp_scope *scope, struct gp_table *table)
{
	const struct gp_wheres *all = find_wheres(scope);
	struct idle_base base;

	if (!all)
		return -ENOMEM;
	base = idle_base_of(all);
	for (size_t i = 0; gp_scope_has_gpu(scope) && i < all->count; i++)
		put_causes(table, &base, i, scope->devices.entries[i].number);
	return 0;
}

/* ---- the longest gaps ---- */

static const struct gp_table_column gap_columns[] = {
	{"Duration", GP_UNIT_NS},    {"Start", GP_UNIT_NS},        {"Device", GP_UNIT_NUMBER},
	{"Cause", GP_UNIT_TEXT},     {"Cause %", GP_UNIT_PERCENT}, {"Before", GP_UNIT_TEXT},
	{"Before by", GP_UNIT_TEXT}, {"Before at", GP_UNIT_TEXT},  {"After", GP_UNIT_TEXT},
	{"After by", GP_UNIT_TEXT},  {"After at", GP_UNIT_TEXT},
};

static void put_gap(struct gp_scope *scope, struct gp_call_sites *sites, struct gp_table *table,
		    const struct gp_gap *gap)
{
	uint64_t length_ns = gap->end_ns - gap->start_ns;
	enum gp_idle_cause cause = gap->cause;

	gp_table_put_whole(table, length_ns);
	gp_table_cell(table, gp_value_moment((int64_t)(gap->start_ns - scope->start_unix_ns)));
	gp_table_put_whole(table, scope->devices.entries[gap->device].number);
	gp_table_put_text(table, gp_idle_cause_name(cause));
	gp_table_cell(table, gp_value_percent((double)gap->cause_ns[cause], (double)length_ns));
	gp_scope_put_op(scope, table, gap->before);
	put_cause(scope, sites, table, gap->before);
	gp_scope_put_op(scope, table, gap->after);
	put_cause(scope, sites, table, gap->after);
}

static int fill_gaps(struct gp_scope *scope, struct gp_table *table)
{
	const struct gp_wheres *all = find_wheres(scope);
	struct gp_call_sites *sites = gp_scope_new_sites(scope);

	for (size_t i = 0; all && sites && gp_scope_has_gpu(scope) && i < all->count; i++)
		for (size_t g = 0; g < all->devices[i].gaps_kept; g++)
			put_gap(scope, sites, table, &all->devices[i].gaps[g]);
	gp_call_sites_free(sites);
	return all && sites ? 0 : -ENOMEM;
}

/* ---- by the operations around the gap ---- */

static const struct gp_table_column site_columns[] = {
	GP_SHARE_COLUMNS,           {"Gaps", GP_UNIT_COUNT},    GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Device", GP_UNIT_NUMBER}, {"Cause", GP_UNIT_TEXT},    {"Before", GP_UNIT_TEXT},
	{"After", GP_UNIT_TEXT},    {"After by", GP_UNIT_TEXT}, {"After at", GP_UNIT_TEXT},
};

#define NO_SITE UINT64_MAX

/* Keys of a tally row; the sums hold one operation before and one after. */
enum { DEVICE, CAUSE, API, SITE, BEFORE, AFTER };
enum { BEFORE_MODEL, BEFORE_OP, AFTER_MODEL, AFTER_OP };

struct by_site {
	struct gp_scope *scope;
	struct gp_call_sites *sites;
	struct gp_tally tally;
};

/* A number for the label of an operation. */
static uint64_t label_number_of(const struct gp_scope *scope, struct gp_op_at at)
{
	const struct gp_op *op = gp_op_of(scope->models, at);
	uint64_t what = 0;

	if (!op)
		return UINT64_MAX;
	if (op->kind == GP_OP_KERNEL)
		what = op->name;
	else if (op->kind == GP_OP_GRAPH)
		what = op->graph_id;
	else
		what = op->copy_kind | (unsigned)op->source_kind << 4 |
		       (unsigned)op->destination_kind << 8;
	return (uint64_t)at.model << 40 | what << 2 | op->kind;
}

static void take_gap(void *context, const struct gp_gap *gap)
{
	struct by_site *by = context;
	const struct gp_model *model = by->scope->models[gap->after.model];
	const struct gp_op *op = gp_op_of(by->scope->models, gap->after);
	const struct gp_call *call = op ? gp_model_op_cause(model, op) : NULL;
	struct gp_tally_row *row;
	const uint64_t key[GP_TALLY_KEYS] = {
		[DEVICE] = gap->device,
		[CAUSE] = gap->cause,
		[API] = call ? gp_scope_text(by->scope, gp_model_api(model, call->api).name)
			     : NO_SITE,
		[SITE] = call && call->stack != GP_NONE ? gp_call_sites_find(by->sites, model, call)
							: NO_SITE,
		[BEFORE] = label_number_of(by->scope, gap->before),
		[AFTER] = label_number_of(by->scope, gap->after),
	};

	row = gp_tally_find(&by->tally, key);
	row->count++;
	row->sums[BEFORE_MODEL] = gap->before.model;
	row->sums[BEFORE_OP] = gap->before.op;
	row->sums[AFTER_MODEL] = gap->after.model;
	row->sums[AFTER_OP] = gap->after.op;
	gp_tally_value(&by->tally, row, 0, gap->end_ns - gap->start_ns);
}

static void put_op(struct gp_scope *scope, struct gp_table *table, uint64_t model, uint64_t op)
{
	gp_scope_put_op(scope, table, (struct gp_op_at){(uint32_t)model, (uint32_t)op});
}

static void put_by_site(const struct by_site *by, struct gp_table *table,
			const struct gp_tally_row *row, const struct idle_base *base)
{
	struct gp_call_site site = {.place = "", .callers = ""};

	if (row->key[SITE] != NO_SITE)
		site = gp_call_sites_at(by->sites, (uint32_t)row->key[SITE]);
	put_share(table, base, row->key[DEVICE], row->series[0].total);
	gp_table_put_whole(table, row->count);
	gp_scope_put_spread(table, &row->series[0]);
	gp_table_put_whole(table, by->scope->devices.entries[row->key[DEVICE]].number);
	gp_table_put_text(table, gp_idle_cause_name((enum gp_idle_cause)row->key[CAUSE]));
	put_op(by->scope, table, row->sums[BEFORE_MODEL], row->sums[BEFORE_OP]);
	put_op(by->scope, table, row->sums[AFTER_MODEL], row->sums[AFTER_OP]);
	gp_table_put_text(
		table, row->key[API] != NO_SITE ? gp_scope_text_of(by->scope, row->key[API]) : "");
	gp_table_put_text(table, site.place);
}

static int fill_sites(struct gp_scope *scope, struct gp_table *table)
{
	struct by_site by = {.scope = scope, .sites = gp_scope_new_sites(scope)};
	const struct gp_sweep_taker taker = {.gap = take_gap, .context = &by};
	const struct gp_kinds *kinds = gp_scope_kinds(scope);
	const struct gp_wheres *all = find_wheres(scope);
	struct idle_base base = {0};
	int result = by.sites && kinds && all ? 0 : -ENOMEM;

	if (result == 0 && gp_scope_has_gpu(scope))
		result = gp_gpu_sweep(scope->models, scope->model_count, gp_scope_window(scope),
				      &scope->devices, kinds, &taker, 1);
	if (result == 0)
		result = by.tally.error;
	if (result == 0)
		base = idle_base_of(all);
	for (uint32_t i = 0; result == 0 && i < by.tally.count; i++)
		put_by_site(&by, table, &by.tally.rows[i], &base);
	gp_tally_free(&by.tally);
	gp_call_sites_free(by.sites);
	return result;
}

#define NOTHING "no GPU operation was recorded; `gpuprof summary FILE` shows the recorded data"

const struct gp_breakdown gp_breakdown_time = {
	.help = "devices: computing, communication, copies, their overlap; idle",
	.nothing = NOTHING,
	.head = {"time", "Where the time went", time_columns, COUNT(time_columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill_times,
};

const struct gp_breakdown gp_breakdown_idle = {
	.help = "idle time of devices by cause",
	.nothing = NOTHING,
	.head = {"idle", "Idle time by cause", idle_columns, COUNT(idle_columns)},
	.sort_column = 1,
	.fill = fill_idle,
};

const struct gp_breakdown gp_breakdown_gap = {
	.help = "the longest idle gaps of devices, with the operations before and after",
	.nothing = "no device was idle between the first and the last call",
	.head = {"gap", "Longest idle times", gap_columns, COUNT(gap_columns)},
	.sort_column = 0,
	.fold_before = 5,
	.fill = fill_gaps,
	.job = GP_BREAKDOWN_OF_ONE,
};

const struct gp_breakdown gp_breakdown_gap_site = {
	.word = "gap",
	.help = "idle times of devices by cause, and by the operations and the call around them",
	.nothing = "no device was idle between the first and the last call",
	.head = {"gap-site", "Idle times by the operations around them", site_columns,
		 COUNT(site_columns)},
	.sort_column = 1,
	.fold_before = 10,
	.fill = fill_sites,
};
