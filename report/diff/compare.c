#include "report/diff/compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/diff/energy_figures.h"
#include "report/diff/lacking.h"
#include "report/diff/rank.h"
#include "report/diff/step_change.h"
#include "report/symbols/names.h"

#define LEVEL 0.05 /* of the rank test, both sides together */

struct comparing {
	const struct gp_run_set *a, *b;
	const struct gp_compare_options *options;
	struct gp_table_writer *writer;
	struct gp_names *names;
	struct gp_rank rank;
	double *values_a, *values_b; /* the values of one metric */
	bool are_other_steps;        /* a step is other work in A than in B */
	struct gp_compare_result *result;
};

/* One number of A and B. */
struct pair {
	double a, b; /* medians; NAN = not known */
	const char *sure;
};

/* ---- one number ---- */

static bool is_steady(const double *values, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (values[i] != values[0])
			return false;
	return count > 0 && !isnan(values[0]);
}

/* The number of pairs in which B is larger, and of those in which A is. */
static void count_wins(const struct comparing *c, uint32_t wins[2])
{
	wins[0] = wins[1] = 0;
	for (uint32_t i = 0; i < c->a->count; i++)
		for (uint32_t k = 0; k < c->b->count; k++) {
			wins[0] += c->values_b[k] > c->values_a[i];
			wins[1] += c->values_b[k] < c->values_a[i];
		}
}

static bool any_unknown(const double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (isnan(values[i]))
			return true;
	return false;
}

static const char *is_sure(struct comparing *c, bool exact)
{
	uint32_t a = c->a->count, b = c->b->count, wins[2];

	if (any_unknown(c->values_a, a) || any_unknown(c->values_b, b))
		return "-";
	if (exact && is_steady(c->values_a, a) && is_steady(c->values_b, b))
		return "yes";
	if (a > GP_RANK_MOST || b > GP_RANK_MOST || 2 * gp_rank_least(b, a) > LEVEL)
		return "-";
	gp_rank_set(&c->rank, b, a);
	count_wins(c, wins);
	return 2 * gp_rank_tail(&c->rank, wins[0] > wins[1] ? wins[0] : wins[1]) <= LEVEL ? "yes"
											  : "no";
}

/* A pair from values_a and values_b, which are reordered. */
static struct pair make_pair(struct comparing *c, bool exact)
{
	struct pair pair = {.sure = is_sure(c, exact)};

	pair.a = gp_median(c->values_a, c->a->count);
	pair.b = gp_median(c->values_b, c->b->count);
	return pair;
}

static struct pair metric_pair(struct comparing *c, enum gp_metric metric)
{
	gp_run_set_metric(c->a, metric, c->values_a);
	gp_run_set_metric(c->b, metric, c->values_b);
	return make_pair(c, gp_metric_rows[metric].kind == GP_METRIC_EXACT);
}

static struct pair named_pair(struct comparing *c, enum gp_named_kind kind, const char *name,
			      enum gp_named_field field)
{
	gp_run_set_named(c->a, kind, name, field, c->values_a);
	gp_run_set_named(c->b, kind, name, field, c->values_b);
	return make_pair(c, field == GP_NAMED_COUNT);
}

/* Whole numbers stay whole. */
static struct gp_value value_of(double value)
{
	if (isnan(value))
		return gp_value_none();
	if (value >= 0 && value == floor(value) && value < 0x1p63)
		return gp_value_whole((uint64_t)value);
	return gp_value_real(value);
}

static struct gp_value change_of(const struct pair *pair)
{
	double change = pair->b - pair->a;

	return change < 0 ? gp_value_real(change) : value_of(change);
}

static struct gp_value share_of(const struct pair *pair)
{
	return isnan(pair->a) || isnan(pair->b) || !(pair->a > 0)
		       ? gp_value_none()
		       : gp_value_real(100 * (pair->b - pair->a) / pair->a);
}

/* ---- a table of metrics ---- */

struct metric_row {
	enum gp_metric metric;
	struct pair pair;
	double effect;
};

static int compare_metrics(const void *a, const void *b)
{
	const struct metric_row *left = a, *right = b;

	if (left->effect != right->effect)
		return left->effect < right->effect ? 1 : -1;
	return (int)left->metric - (int)right->metric;
}

static double larger(const struct pair *pair)
{
	return pair->a > pair->b || isnan(pair->b) ? pair->a : pair->b;
}

/* Whether a change of time is worth a row. */
static bool is_worth(const struct comparing *c, const struct pair *time, double effect, double all)
{
	return c->options->top == 0 || isnan(time->a) || isnan(time->b) ||
	       strcmp(time->sure, "yes") == 0 || !(effect < GP_COMPARE_LEAST * all);
}

static bool is_of_step(enum gp_metric metric)
{
	return metric == GP_METRIC_STEP || metric == GP_METRIC_STEP_SPREAD ||
	       metric == GP_METRIC_STEP_MEAN || metric == GP_METRIC_STEP_ENERGY ||
	       metric == GP_METRIC_STEP_ENERGY_ERROR;
}

/* A part of the wall time is no measure for the time of one step, or for energy. */
static bool is_measured_by_itself(enum gp_metric metric)
{
	return is_of_step(metric) || gp_metric_rows[metric].unit != GP_UNIT_NS;
}

static size_t list_metrics(struct comparing *c, enum gp_unit unit, struct metric_row *rows)
{
	struct pair wall = metric_pair(c, GP_METRIC_WALL);
	size_t count = 0;

	for (int i = 0; i < GP_METRICS; i++) {
		struct metric_row row = {.metric = (enum gp_metric)i};
		double all;

		if (gp_metric_rows[i].unit != unit || i == GP_METRIC_NEW_KERNELS ||
		    (c->are_other_steps && is_of_step(row.metric)))
			continue;
		row.pair = metric_pair(c, row.metric);
		if ((isnan(row.pair.a) && isnan(row.pair.b)) || row.pair.a == row.pair.b)
			continue;
		if (c->options->in_words && gp_lacking_one(row.pair.a, row.pair.b))
			continue; /* gp_compare_doubts() names it */
		row.effect = fabs(row.pair.b - row.pair.a);
		if (isnan(row.effect))
			row.effect = 0;
		all = is_measured_by_itself(row.metric) ? larger(&row.pair) : larger(&wall);
		if (gp_metric_rows[i].kind == GP_METRIC_EXACT ||
		    is_worth(c, &row.pair, row.effect, all))
			rows[count++] = row;
		else
			c->result->hidden++;
	}
	qsort(rows, count, sizeof(*rows), compare_metrics);
	return count;
}

static void put_metrics(struct comparing *c, enum gp_unit unit, const char *name, const char *title)
{
	const struct gp_table_column columns[] = {
		{"A", unit},
		{"B", unit},
		{"Change", unit},
		{"Change %", GP_UNIT_CHANGE},
		{"Differs", GP_UNIT_TEXT},
		{"Metric", GP_UNIT_TEXT},
	};
	const struct gp_table_head head = {name, title, columns, COUNT(columns)};
	struct metric_row rows[GP_METRICS];
	size_t count = list_metrics(c, unit, rows);

	if (count == 0)
		return;
	gp_table_writer_begin(c->writer, &head);
	for (size_t i = 0; i < count; i++) {
		const struct pair *pair = &rows[i].pair;
		const struct gp_value values[] = {
			value_of(pair->a),
			value_of(pair->b),
			change_of(pair),
			share_of(pair),
			gp_value_text(pair->sure),
			gp_value_text(c->options->in_words ? gp_metric_rows[rows[i].metric].words
							   : gp_metric_rows[rows[i].metric].name),
		};

		gp_table_writer_row(c->writer, values);
		c->result->rows++;
	}
	gp_table_writer_end(c->writer);
}

/* ---- a table of named rows ---- */

struct named_row {
	const char *name;
	struct pair count, total, median, occupancy;
	double effect;
};

/* The name comes last, after the occupancy of kernels. */
#define NAMED_COLUMNS                                                                              \
	{"Is", GP_UNIT_TEXT}, {"Count A", GP_UNIT_COUNT}, {"Count B", GP_UNIT_COUNT},              \
		{"Total A", GP_UNIT_NS}, {"Total B", GP_UNIT_NS}, {"Change", GP_UNIT_NS},          \
		{"Change %", GP_UNIT_CHANGE}, {"Differs", GP_UNIT_TEXT}, {"Med A", GP_UNIT_NS},    \
	{                                                                                          \
		"Med B", GP_UNIT_NS                                                                \
	}

static const struct gp_table_column kernel_columns[] = {
	NAMED_COLUMNS,
	{"Occup A %", GP_UNIT_PERCENT},
	{"Occup B %", GP_UNIT_PERCENT},
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column other_columns[] = {
	NAMED_COLUMNS,
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column host_columns[] = {
	{"Is", GP_UNIT_TEXT},         {"Samples A", GP_UNIT_COUNT}, {"Samples B", GP_UNIT_COUNT},
	{"Total A", GP_UNIT_NS},      {"Total B", GP_UNIT_NS},      {"Change", GP_UNIT_NS},
	{"Change %", GP_UNIT_CHANGE}, {"Differs", GP_UNIT_TEXT},    {"Name", GP_UNIT_TEXT},
};

static const struct gp_table_column phase_columns[] = {
	{"Is", GP_UNIT_TEXT},         {"Steps A", GP_UNIT_COUNT}, {"Steps B", GP_UNIT_COUNT},
	{"Med A", GP_UNIT_NS},        {"Med B", GP_UNIT_NS},      {"Change", GP_UNIT_NS},
	{"Change %", GP_UNIT_CHANGE}, {"Differs", GP_UNIT_TEXT},  {"Phase", GP_UNIT_TEXT},
};

static const struct gp_table_column rank_columns[] = {
	{"Is", GP_UNIT_TEXT},         {"Ops A", GP_UNIT_COUNT},    {"Ops B", GP_UNIT_COUNT},
	{"Computing A", GP_UNIT_NS},  {"Computing B", GP_UNIT_NS}, {"Change", GP_UNIT_NS},
	{"Change %", GP_UNIT_CHANGE}, {"Differs", GP_UNIT_TEXT},   {"Step A", GP_UNIT_NS},
	{"Step B", GP_UNIT_NS},       {"Rank", GP_UNIT_TEXT},
};

static const struct gp_table_column leak_columns[] = {
	{"Is", GP_UNIT_TEXT},         {"Blocks A", GP_UNIT_COUNT}, {"Blocks B", GP_UNIT_COUNT},
	{"Left A", GP_UNIT_BYTES},    {"Left B", GP_UNIT_BYTES},   {"Change", GP_UNIT_BYTES},
	{"Change %", GP_UNIT_CHANGE}, {"Differs", GP_UNIT_TEXT},   {"Call site", GP_UNIT_TEXT},
};

static const struct gp_table_head named_heads[GP_NAMED_LINE] = {
	[GP_NAMED_KERNEL] = {"diff-kernels", "Kernels", kernel_columns, COUNT(kernel_columns)},
	[GP_NAMED_OTHER] = {"diff-operations", "Other operations", other_columns,
			    COUNT(other_columns)},
	[GP_NAMED_CALL] = {"diff-calls", "API calls", other_columns, COUNT(other_columns)},
	[GP_NAMED_HOST] = {"diff-host", "Python on the host", host_columns, COUNT(host_columns)},
	[GP_NAMED_PHASE] = {"diff-phases", "Phases of the step on the host", phase_columns,
			    COUNT(phase_columns)},
	[GP_NAMED_RANK] = {"diff-ranks", "Ranks", rank_columns, COUNT(rank_columns)},
	[GP_NAMED_LEAK] = {"diff-leaks", "Never freed", leak_columns, COUNT(leak_columns)},
};

static int compare_named(const void *a, const void *b, const void *context)
{
	const struct named_row *left = a, *right = b;

	(void)context;
	if (left->effect != right->effect)
		return left->effect < right->effect ? 1 : -1;
	return 0;
}

static bool is_equal(const struct pair *pair)
{
	return pair->a == pair->b || (isnan(pair->a) && isnan(pair->b));
}

/* Whether the rows are estimated from samples of stacks. */
static bool is_sampled(enum gp_named_kind kind)
{
	return kind == GP_NAMED_HOST || kind == GP_NAMED_PHASE;
}

/* Whether something differs that chance cannot change. */
static bool is_other(enum gp_named_kind kind, const struct named_row *row)
{
	if (is_sampled(kind))
		return false;
	if (kind == GP_NAMED_LEAK && !is_equal(&row->total))
		return true; /* bytes */
	return !is_equal(&row->count) || !is_equal(&row->occupancy);
}

/* Too few samples to know the time. */
static bool is_seldom(const struct comparing *c, enum gp_named_kind kind,
		      const struct named_row *row)
{
	return kind == GP_NAMED_HOST && c->options->top > 0 &&
	       larger(&row->count) < GP_COMPARE_LOOKS;
}

/* Keep the rows that are worth a line. */
static uint32_t keep_named(struct comparing *c, enum gp_named_kind kind, struct named_row *rows,
			   uint32_t count, double all)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (is_other(kind, &rows[i]) || (!is_seldom(c, kind, &rows[i]) &&
						 is_worth(c, &rows[i].total, rows[i].effect, all)))
			rows[kept++] = rows[i];
	c->result->hidden += count - kept;
	return kept;
}

/*
 * Whether both sides have the data: no samples of the run (--sample); calls; stack samples of the
 * host; ranks; the leaks.
 */
static bool is_comparable(struct comparing *c, enum gp_named_kind kind, const struct pair *sum)
{
	struct pair leaked;

	if (isnan(sum->a) || isnan(sum->b) || (kind == GP_NAMED_PHASE && c->are_other_steps))
		return false;
	if (gp_lacking_may_be(kind) || kind == GP_NAMED_RANK)
		return sum->a != 0 && sum->b != 0;
	if (kind != GP_NAMED_LEAK)
		return true;
	leaked = metric_pair(c, GP_METRIC_BYTES_LEAKED);
	return !isnan(leaked.a) && !isnan(leaked.b);
}

static void list_named(struct comparing *c, enum gp_named_kind kind, struct named_row **rows,
		       uint32_t *count)
{
	struct pair sum = {0};
	const char **names;
	uint32_t all;

	gp_run_set_names(c->a, c->b, kind, &names, &all);
	*count = 0;
	*rows = calloc((size_t)all + 1, sizeof(**rows));
	for (uint32_t i = 0; *rows && i < all; i++) {
		struct named_row row = {.name = names[i]};

		row.count = named_pair(c, kind, names[i], GP_NAMED_COUNT);
		row.total = named_pair(c, kind, names[i], GP_NAMED_TOTAL);
		row.median = named_pair(c, kind, names[i], GP_NAMED_MEDIAN);
		row.occupancy = named_pair(c, kind, names[i], GP_NAMED_OCCUPANCY);
		row.effect = fabs(row.total.b - row.total.a);
		sum.a += row.total.a;
		sum.b += row.total.b;
		if (is_other(kind, &row) || !is_equal(&row.total))
			(*rows)[(*count)++] = row;
	}
	free(names);
	if (!is_comparable(c, kind, &sum))
		*count = 0;
	if (*rows)
		*count = keep_named(c, kind, *rows, *count, larger(&sum));
	if (*rows)
		gp_array_sort(*rows, *count, sizeof(**rows), compare_named, NULL);
}

/*
 * For another GPU libraries have other kernels: that says nothing of the program. Functions and
 * lines of the program are the same on any.
 */
static bool is_of_gpu(const struct comparing *c, enum gp_named_kind kind)
{
	return (kind == GP_NAMED_KERNEL || kind == GP_NAMED_OTHER || kind == GP_NAMED_CALL) &&
	       gp_machine_has_other_gpu(&c->a->machine, &c->b->machine);
}

static const char *state_of(const struct comparing *c, enum gp_named_kind kind,
			    const struct named_row *row)
{
	if (row->count.a == 0)
		return is_of_gpu(c, kind) ? "only B" : "new";
	if (row->count.b == 0)
		return is_of_gpu(c, kind) ? "only A" : "gone";
	return is_other(kind, row) || strcmp(row->total.sure, "yes") == 0 ? "changed" : "time";
}

static struct gp_value percent_of(double share)
{
	return isnan(share) ? gp_value_none() : gp_value_real(100 * share);
}

static const char *label_of(struct comparing *c, enum gp_named_kind kind, const char *name)
{
	if (kind != GP_NAMED_KERNEL)
		return name;
	return c->options->full_names ? gp_names_full(c->names, name)
				      : gp_names_short(c->names, name);
}

static void put_named_row(struct comparing *c, enum gp_named_kind kind, const struct named_row *row)
{
	struct gp_value name = gp_value_text(label_of(c, kind, row->name));
	bool has_occupancy = kind == GP_NAMED_KERNEL;
	bool has_median = !is_sampled(kind) && kind != GP_NAMED_LEAK;
	const struct gp_value values[] = {
		gp_value_text(state_of(c, kind, row)),
		value_of(row->count.a),
		value_of(row->count.b),
		value_of(row->total.a),
		value_of(row->total.b),
		change_of(&row->total),
		share_of(&row->total),
		gp_value_text(row->total.sure),
		has_median ? value_of(row->median.a) : name,
		value_of(row->median.b),
		has_occupancy ? percent_of(row->occupancy.a) : name,
		percent_of(row->occupancy.b),
		name,
	};

	gp_table_writer_row(c->writer, values);
	c->result->rows++;
}

/* Half as many for ranks: if a job has other ranks than before, all of them differ. */
static size_t most_rows(const struct comparing *c, enum gp_named_kind kind)
{
	if (c->options->top == 0)
		return SIZE_MAX;
	return kind == GP_NAMED_RANK ? (c->options->top + 1) / 2 : c->options->top;
}

static void put_named(struct comparing *c, enum gp_named_kind kind)
{
	struct named_row *rows;
	uint32_t count, shown = 0;

	list_named(c, kind, &rows, &count);
	if (count > 0) {
		gp_table_writer_begin(c->writer, &named_heads[kind]);
		for (; shown < count && shown < most_rows(c, kind); shown++)
			put_named_row(c, kind, &rows[shown]);
		gp_table_writer_end(c->writer);
		c->result->hidden += count - shown;
	}
	free(rows);
}

static uint32_t more_runs(const struct comparing *c)
{
	return c->a->count > c->b->count ? c->a->count : c->b->count;
}

/* Make the short names of kernels unique. */
static void tell_kernels_apart(struct comparing *c)
{
	const char **kernels = NULL;
	uint32_t count;

	gp_run_set_names(c->a, c->b, GP_NAMED_KERNEL, &kernels, &count);
	gp_names_tell_apart(c->names, kernels, count);
	free(kernels);
}

int gp_compare_write(struct gp_table_writer *writer, const struct gp_run_set *a,
		     const struct gp_run_set *b, const struct gp_compare_options *options,
		     struct gp_compare_result *result)
{
	struct comparing c = {.a = a,
			      .b = b,
			      .options = options,
			      .writer = writer,
			      .result = result,
			      .names = gp_names_new()};

	*result = (struct gp_compare_result){0};
	c.values_a = calloc((size_t)more_runs(&c) + 1, sizeof(double));
	c.values_b = calloc((size_t)more_runs(&c) + 1, sizeof(double));
	tell_kernels_apart(&c);
	gp_step_change_is_other_work(a, b, &c.are_other_steps);
	put_metrics(&c, GP_UNIT_NS, "diff-times", "Times");
	put_metrics(&c, GP_UNIT_JOULES, "diff-energy", "Energy in J");
	put_metrics(&c, GP_UNIT_PERCENT, "diff-clocks", "Percent of the time");
	put_metrics(&c, GP_UNIT_COUNT, "diff-counts", "Counts");
	put_metrics(&c, GP_UNIT_BYTES, "diff-bytes", "Bytes");
	for (int kind = 0; kind < GP_NAMED_LINE; kind++)
		put_named(&c, (enum gp_named_kind)kind);
	gp_names_free(c.names);
	gp_rank_free(&c.rank);
	free(c.values_a);
	free(c.values_b);
	return 0;
}

/* ---- other reasons for differences ---- */

struct doubts {
	void (*say)(void *context, const char *line);
	void *context;
};

__attribute__((format(printf, 2, 3))) static void doubt(struct doubts *doubts, const char *format,
							...)
{
	va_list arguments;
	char *line;

	va_start(arguments, format);
	vasprintf(&line, format, arguments);
	va_end(arguments);
	doubts->say(doubts->context, line);
	free(line);
}

static void doubt_partial(struct doubts *doubts, const struct gp_run_set *set)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (set->runs[i].partial)
			doubt(doubts,
			      "%s is incomplete, so values may differ for lack of records: %s",
			      set->runs[i].name, set->runs[i].partial);
}

static void doubt_sampled(struct doubts *doubts, const struct gp_run_set *set)
{
	if (set->count > 0 && gp_machine_is_sampled(&set->machine))
		doubt(doubts,
		      "%s is sampled (--sample): its totals are unknown, and only the times of a step are compared",
		      set->runs[0].name);
}

static void doubt_clocks(struct doubts *doubts, const struct gp_run_set *a,
			 const struct gp_run_set *b)
{
	struct gp_lowered_clocks clocks;

	gp_lowered_clocks_of(a, b, &clocks);
	if (clocks.differ)
		doubt(doubts, "clocks lowered: A: %s %% of the time; B: %s %%" GP_LOWERED_CLOCKS,
		      gp_format_percent(clocks.a, 100).text, gp_format_percent(clocks.b, 100).text);
}

static void doubt_lacking(struct doubts *doubts, const struct gp_run_set *a,
			  const struct gp_run_set *b)
{
	char *text = gp_lacking_tell(a, b);

	if (*text)
		doubts->say(doubts->context, text);
	free(text);
}

static bool is_known(const struct gp_machine *machine, enum gp_machine_fact fact)
{
	return *gp_machine_fact(machine, fact) ||
	       (fact == GP_MACHINE_OPTIONS && !machine->is_of_others);
}

/* Of a fact that one side does not have, nobody knows whether it differs. */
static void doubt_machine(struct doubts *doubts, const struct gp_machine *a,
			  const struct gp_machine *b)
{
	for (enum gp_machine_fact fact = 0; fact < GP_MACHINE_FACTS; fact++)
		if (is_known(a, fact) && is_known(b, fact) &&
		    strcmp(gp_machine_fact(a, fact), gp_machine_fact(b, fact)) != 0)
			doubt(doubts, "%s: A: %s; B: %s", gp_machine_fact_title(fact),
			      gp_machine_fact_text(a, fact), gp_machine_fact_text(b, fact));
	if (gp_machine_has_other_gpu(a, b))
		doubt(doubts,
		      "the GPUs differ: libraries choose other kernels and calls for each GPU, so a kernel or call that only one side has is no change of the program");
}

void gp_compare_doubts(const struct gp_run_set *a, const struct gp_run_set *b,
		       void (*say)(void *context, const char *line), void *context)
{
	struct doubts doubts = {.say = say, .context = context};

	doubt_partial(&doubts, a);
	doubt_partial(&doubts, b);
	doubt_sampled(&doubts, a);
	doubt_sampled(&doubts, b);
	doubt_clocks(&doubts, a, b);
	doubt_machine(&doubts, &a->machine, &b->machine);
	doubt_lacking(&doubts, a, b);
}
