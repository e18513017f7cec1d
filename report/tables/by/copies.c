/* Memory copies and memsets: times and sizes. */
#include "report/tables/breakdown.h"

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"
#include "report/model/peak_bandwidth.h"

/* PEAK_NS: the time that copies with a known peak would take at that bandwidth. */
enum { TIMED_BYTES = GP_SCOPE_UNTIMED + 1, PEAK_NS, WITHOUT_PEAK };
enum { TIMES, SIZES };

static const struct gp_table_column time_columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT},
	GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Operation", GP_UNIT_TEXT},
};

static const struct gp_table_column size_columns[] = {
	{"Total", GP_UNIT_BYTES},
	{"Count", GP_UNIT_COUNT},
	GP_HISTOGRAM_COLUMNS(GP_UNIT_BYTES),
	{"GB/s", GP_UNIT_GB_PER_S},
	{"Peak %", GP_UNIT_PERCENT},
	{"Operation", GP_UNIT_TEXT},
};

/* The key holds the parts of the label; the place of a memset may be unknown. */
static void take_copy(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const struct gp_op *op = at->op;
	bool is_anywhere = op->kind == GP_OP_SET && op->destination_kind == GP_ACTIVITY_UNTOLD;
	const uint64_t key[GP_TALLY_KEYS] = {op->kind, op->copy_kind, op->source_kind,
					     is_anywhere ? GP_COPY_DEVICE : op->destination_kind};
	struct gp_tally_row *row;

	if (op->kind != GP_OP_COPY && op->kind != GP_OP_SET)
		return;
	row = gp_tally_find(tally, key);
	gp_scope_count_op(tally, row, op);
	gp_tally_value(tally, row, SIZES, op->bytes);
	if (!op->untimed) {
		row->sums[TIMED_BYTES] += op->bytes;
		gp_copy_peak_add(at->model, op, &row->sums[PEAK_NS], &row->sums[WITHOUT_PEAK]);
	}
}

static void put_label(struct gp_table *table, const struct gp_tally_row *row)
{
	const struct gp_op op = {
		.kind = (uint8_t)row->key[0],
		.copy_kind = (uint8_t)row->key[1],
		.source_kind = (uint8_t)row->key[2],
		.destination_kind = (uint8_t)row->key[3],
	};
	char label[GP_ACTIVITY_LABEL_BYTES];

	gp_activity_label(label, &op);
	gp_table_put_text(table, label);
}

static void put_times(struct gp_scope *scope, struct gp_table *table,
		      const struct gp_tally_row *row, double total)
{
	(void)scope;
	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[GP_SCOPE_UNTIMED]);
	gp_scope_put_spread(table, &row->series[TIMES]);
	put_label(table, row);
}

static void put_sizes(struct gp_scope *scope, struct gp_table *table,
		      const struct gp_tally_row *row, double total)
{
	(void)scope;
	(void)total;
	gp_table_put_whole(table, row->series[SIZES].total);
	gp_table_put_whole(table, row->count);
	gp_scope_put_spread(table, &row->series[SIZES]);
	gp_table_cell(table, gp_value_rate(row->sums[TIMED_BYTES], row->series[TIMES].total));
	gp_table_cell(table, gp_copy_peak_is_known(row->sums[WITHOUT_PEAK], row->sums[PEAK_NS],
						   row->series[TIMES].total)
				     ? gp_value_percent((double)row->sums[PEAK_NS],
							(double)row->series[TIMES].total)
				     : gp_value_none());
	put_label(table, row);
}

static int fill_times(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_ops(scope, table, take_copy, put_times);
}

static int fill_sizes(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_ops(scope, table, take_copy, put_sizes);
}

#define NOTHING "no copy or memset ran on a GPU; `gpuprof summary FILE` shows the recorded data"

const struct gp_breakdown gp_breakdown_copy_time = {
	.word = "copy",
	.help = "memory copies and memsets: times",
	.nothing = NOTHING,
	.head = {"copy-time", "Memory copies and memsets: times", time_columns,
		 COUNT(time_columns)},
	.sort_column = 1,
	.fill = fill_times,
};

const struct gp_breakdown gp_breakdown_copy_size = {
	.word = "copy",
	.help = "memory copies and memsets: sizes",
	.nothing = NOTHING,
	.head = {"copy-size", "Memory copies and memsets: sizes", size_columns,
		 COUNT(size_columns)},
	.sort_column = 0,
	.fill = fill_sizes,
};
