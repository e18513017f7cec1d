/* The ranks of a job: how many there are, which are missing, and which differ from the others. */
#include "report/summary/communication.h"
#include "report/summary/part.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "gpuprof/option.h"
#include "report/base/stats.h"
#include "report/base/text/format.h"
#include "report/base/text/text.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/tables/by/job.h"

#define ALL_SHOWN      8  /* if there are more ranks, only those that differ are shown */
#define LEAST_PERCENT  10 /* of the median: a smaller difference is noise */
#define MOST_DEVIATION 6  /* times the median deviation: a smaller difference is noise */
#define HOSTS_NAMED    4
#define RANGES_NAMED   8

/* The shown measures. The time that a rank waits is part of "held up" of the rank it waits for. */
static const enum gp_rank_measure measures[] = {
	GP_RANK_STEP, GP_RANK_COMPUTING, GP_RANK_COMMUNICATING, GP_RANK_HELD_UP, GP_RANK_PEAK,
};

static const struct gp_table_column columns[] = {
	{"Rank", GP_UNIT_TEXT},        {"Step", GP_UNIT_NS},    {"Computing", GP_UNIT_NS},
	{"Communicating", GP_UNIT_NS}, {"Held up", GP_UNIT_NS}, {"Memory", GP_UNIT_BYTES},
	{"Host", GP_UNIT_TEXT},        {"Ended", GP_UNIT_TEXT}, {"Differs in", GP_UNIT_TEXT},
};

static const struct gp_table_head head = {"rank", NULL, columns, COUNT(columns)};

/*
 * The measures that are compared with the median; of an incomplete trace only the step, as the
 * others are sums. GP_RANK_WAITED is not: "held up" names the rank
 * that causes the wait.
 */
static const struct {
	enum gp_rank_measure measure, of; /* of: the measure whose median is 100 % */
	const char *words;
} compared[] = {
	{GP_RANK_STEP, GP_RANK_STEP, "step"},
	{GP_RANK_COMPUTING, GP_RANK_COMPUTING, "compute"},
	{GP_RANK_HELD_UP, GP_RANK_COMMUNICATING, "held up"},
	{GP_RANK_PEAK, GP_RANK_PEAK, "memory"},
};

struct place {
	const struct gp_rank_row *row;
	double most; /* the largest difference, as a share; the least number if the trace is incomplete */
	char words[96];
};

struct job {
	const struct gp_summary *summary;
	struct gp_model *const *models; /* of all ranks */
	struct gp_ranks ranks;
	double medians[GP_RANK_MEASURES]; /* NAN = unknown */
	double deviations[GP_RANK_MEASURES];
	uint32_t world_size;             /* 0 = unknown */
	struct gp_recorded_ranks wanted; /* of --ranks */
	struct place *places;            /* of the rows, sorted by difference */
	uint32_t differing, shared;      /* shared: ranks that occur more than once */
	struct host {
		const char *name;
		const struct gp_host_clock *clock;
	} * hosts; /* sorted by name */
	uint32_t host_count;
	struct gp_bus_bandwidths bandwidths;
	struct gp_axes axes;
	struct gp_what_if what_if;
};

/* ---- medians ---- */

/* The known values of a measure; if `center` is a number, their distances from it. */
static uint32_t take_values(const struct gp_ranks *ranks, enum gp_rank_measure measure,
			    double center, uint64_t *values)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ranks->count; i++) {
		const struct gp_value *value = &ranks->rows[i].values[measure];

		if (value->kind == GP_VALUE_NONE)
			continue;
		values[count++] = isnan(center) ? value->whole
						: (uint64_t)fabs((double)value->whole - center);
	}
	return count;
}

static void find_medians(struct job *job)
{
	uint64_t *values = calloc((size_t)job->ranks.count + 1, sizeof(*values));

	for (size_t i = 0; i < GP_RANK_MEASURES; i++) {
		enum gp_rank_measure measure = (enum gp_rank_measure)i;
		uint32_t count = take_values(&job->ranks, measure, NAN, values);

		job->medians[i] = count > 0 ? gp_stats_of(values, count).median : NAN;
		take_values(&job->ranks, measure, job->medians[i], values);
		job->deviations[i] = gp_stats_of(values, count).median;
	}
	free(values);
}

/* ---- ranks that differ ---- */

static void note(struct place *place, const char *words, double share)
{
	size_t used = strlen(place->words);

	snprintf(place->words + used, sizeof(place->words) - used, "%s%s %+.0f %%",
		 used > 0 ? ", " : "", words, share * 100);
	if (fabs(share) > place->most)
		place->most = fabs(share);
}

static void look_at(const struct job *job, struct place *place)
{
	const struct gp_model *model = job->models[place->row->process];
	bool is_whole = gp_recorded_is_whole(model);

	for (size_t i = 0; i < COUNT(compared); i++) {
		const struct gp_value *value = &place->row->values[compared[i].measure];
		double median = job->medians[compared[i].measure];
		double whole = job->medians[compared[i].of], difference;

		if (value->kind == GP_VALUE_NONE || !(whole > 0) || !is_whole)
			continue;
		difference = (double)value->whole - median;
		if (fabs(difference) * 100 > LEAST_PERCENT * whole &&
		    fabs(difference) > MOST_DEVIATION * job->deviations[compared[i].measure])
			note(place, compared[i].words, difference / whole);
	}
	if (!is_whole)
		place->most = DBL_MIN; /* behind those that differ: the title names it, too */
}

static int compare_places(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->most != right->most)
		return left->most > right->most ? -1 : 1;
	return left->row->rank < right->row->rank ? -1 : left->row->rank > right->row->rank;
}

static void find_places(struct job *job)
{
	uint32_t count = job->ranks.count;

	job->places = calloc((size_t)count + 1, sizeof(*job->places));
	for (uint32_t i = 0; i < count; i++) {
		job->places[i].row = &job->ranks.rows[i];
		look_at(job, &job->places[i]);
		job->differing += job->places[i].most > 0;
		job->shared += job->models[job->ranks.rows[i].process]->shares_rank;
	}
	if (count > ALL_SHOWN)
		qsort(job->places, count, sizeof(*job->places), compare_places);
}

/* ---- the title ---- */

static int compare_hosts(const void *a, const void *b)
{
	return strverscmp(((const struct host *)a)->name, ((const struct host *)b)->name);
}

static void find_hosts(struct job *job)
{
	uint32_t count = 0;

	job->hosts = calloc((size_t)job->ranks.count + 1, sizeof(*job->hosts));
	for (uint32_t i = 0; i < job->ranks.count; i++) {
		const struct gp_model *model = job->models[job->ranks.rows[i].process];

		if (model->info[GP_INFO_HOST])
			job->hosts[count++] =
				(struct host){model->info[GP_INFO_HOST], &model->clock};
	}
	qsort(job->hosts, count, sizeof(*job->hosts), compare_hosts);
	for (uint32_t i = 0; i < count; i++)
		if (i == 0 || compare_hosts(&job->hosts[i], &job->hosts[job->host_count - 1]) != 0)
			job->hosts[job->host_count++] = job->hosts[i];
}

/* " on 8 hosts: node0, node1, node2, node3, ..." */
static void print_hosts(const struct job *job)
{
	if (job->host_count < 2)
		return;
	fprintf(job->summary->out, " on %s hosts", gp_format_count(job->host_count).text);
	for (uint32_t i = 0; i < job->host_count && i < HOSTS_NAMED; i++) {
		fputs(i == 0 ? ": " : ", ", job->summary->out);
		gp_text_print_fit(job->summary->out, job->hosts[i].name, 32);
	}
	fputs(job->host_count > HOSTS_NAMED ? ", ..." : "", job->summary->out);
}

/*
 * The first rank from this one on whose trace is missing, or is there (is_missing false); the
 * number of ranks if there is none.  A rank that --ranks leaves out is not missing.  at: the next
 * row; rows are sorted by rank.
 */
static uint32_t find_rank(const struct job *job, bool is_missing, uint32_t rank, uint32_t *at)
{
	for (; rank < job->world_size; rank++) {
		while (*at < job->ranks.count && job->ranks.rows[*at].rank < rank)
			(*at)++;
		if (((*at == job->ranks.count || job->ranks.rows[*at].rank != rank) &&
		     gp_option_ranks_have(job->wanted.text, rank)) == is_missing)
			break;
	}
	return rank;
}

/* "5, 40-43" */
static void print_missing(FILE *out, const void *context)
{
	const struct job *job = context;
	uint32_t at = 0, named = 0;
	uint32_t first = find_rank(job, true, 0, &at);

	while (first < job->world_size && named++ < RANGES_NAMED) {
		uint32_t end = find_rank(job, false, first, &at);

		fprintf(out, end - 1 > first ? "%s%u-%u" : "%s%u", named > 1 ? ", " : "", first,
			end - 1);
		first = find_rank(job, true, end, &at);
	}
	fputs(first < job->world_size ? ", ..." : "", out);
}

/* "17, 32-39": ranks whose traces are incomplete; rows are sorted by rank. */
static void print_incomplete(FILE *out, const struct job *job)
{
	const struct gp_rank_row *rows = job->ranks.rows;
	uint32_t named = 0;

	for (uint32_t i = 0, end; i < job->ranks.count; i = end) {
		end = i + 1;
		if (gp_recorded_is_whole(job->models[rows[i].process]))
			continue;
		while (end < job->ranks.count && rows[end].rank == rows[end - 1].rank + 1 &&
		       !gp_recorded_is_whole(job->models[rows[end].process]))
			end++;
		if (named++ == RANGES_NAMED) {
			fputs(", ...", out);
			return;
		}
		fprintf(out, rows[end - 1].rank > rows[i].rank ? "%s%u-%u" : "%s%u",
			named > 1 ? ", " : "", rows[i].rank, rows[end - 1].rank);
	}
}

static uint32_t count_incomplete(const struct job *job)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < job->ranks.count; i++)
		count += !gp_recorded_is_whole(job->models[job->ranks.rows[i].process]);
	return count;
}

static uint32_t count_missing(const struct job *job)
{
	uint32_t at = 0, count = 0;

	for (uint32_t rank = 0; rank < job->world_size; rank++) {
		rank = find_rank(job, true, rank, &at);
		count += rank < job->world_size;
	}
	return count;
}

static void print_title(const struct job *job)
{
	uint32_t missing = count_missing(job), incomplete = count_incomplete(job);
	FILE *out = job->summary->out;

	fprintf(out, "\nRanks: %s", gp_format_count(job->ranks.count).text);
	if (job->world_size > 0)
		fprintf(out, " of %s", gp_format_count(job->world_size).text);
	if (*job->wanted.text) {
		fputs(" (--ranks ", out);
		gp_text_print_fit(out, job->wanted.text, 32);
		fputs(")", out);
	}
	print_hosts(job);
	if (job->shared > 0)
		fprintf(out,
			"; %s of them share a rank; these may be the traces of two jobs, or of a job that was restarted",
			gp_format_count(job->shared).text);
	if (missing > 0) {
		fprintf(out, "; no trace of rank%s ", missing > 1 ? "s" : "");
		print_missing(out, job);
	}
	if (incomplete > 0) {
		fprintf(out, "; incomplete: rank%s ", incomplete > 1 ? "s" : "");
		print_incomplete(out, job);
	}
	fputs("\n", out);
}

/* ---- clocks of hosts ---- */

static void print_unaligned(const struct job *job, uint32_t count)
{
	FILE *out = job->summary->out;
	const char *separator = "";

	fprintf(out,
		"  clocks of %u of %u hosts are not aligned, because too few collective operations end at the same time: ",
		count, job->host_count);
	for (uint32_t i = 0, named = 0; i < job->host_count && named < HOSTS_NAMED; i++) {
		if (job->hosts[i].clock->is_known)
			continue;
		fputs(separator, out);
		gp_text_print_fit(out, job->hosts[i].name, 32);
		separator = ", ";
		named++;
	}
	fputs(count > HOSTS_NAMED ? ", ...\n" : "\n", out);
}

/* The times of hosts are compared, so a line says how well their clocks are aligned. */
static void print_clocks(const struct job *job)
{
	const struct host *most = NULL;
	uint64_t error_ns = 0;
	uint32_t unknown = 0;

	for (uint32_t i = 0; i < job->host_count; i++) {
		const struct gp_host_clock *clock = job->hosts[i].clock;

		unknown += !clock->is_known;
		if (clock->error_ns > error_ns)
			error_ns = clock->error_ns;
		if (clock->is_known &&
		    (!most || llabs(clock->ahead_ns) > llabs(most->clock->ahead_ns)))
			most = &job->hosts[i];
	}
	if (job->host_count < 2 || !job->ranks.has_collectives)
		return;
	if (unknown > 0) {
		print_unaligned(job, unknown);
		return;
	}
	fprintf(job->summary->out,
		"  clocks are aligned by collective operations, within %s; largest offset %s: ",
		gp_format_ns(error_ns).text,
		gp_format_ns((uint64_t)llabs(most->clock->ahead_ns)).text);
	gp_text_print_fit(job->summary->out, most->name, 32);
	fprintf(job->summary->out, most->clock->ahead_ns < 0 ? " is behind\n" : " is ahead\n");
}

/* ---- the rows ---- */

static void put_median(const struct job *job, struct gp_table *table)
{
	gp_table_put_text(table, "median");
	for (size_t i = 0; i < COUNT(measures); i++) {
		double median = job->medians[measures[i]];

		gp_table_cell(table,
			      isnan(median) ? gp_value_none() : gp_value_whole((uint64_t)median));
	}
	for (size_t i = 0; i < 3; i++)
		gp_table_put_text(table, "");
}

static void put_place(const struct job *job, const struct place *place, struct gp_table *table)
{
	const struct gp_model *model = job->models[place->row->process];

	gp_table_put_words(table, "%u", place->row->rank);
	for (size_t i = 0; i < COUNT(measures); i++)
		gp_table_cell(table, place->row->values[measures[i]]);
	gp_table_put_text(table, model->info[GP_INFO_HOST]);
	gp_table_put_text(table, gp_rank_how_ended(model).text);
	gp_table_put_text(table, place->words);
}

static bool is_blank(const struct gp_value *value)
{
	return value->kind == GP_VALUE_NONE ||
	       (value->kind == GP_VALUE_TEXT ? strcmp(value->text, "-") == 0 : value->whole == 0);
}

/* The line is short: a column without a value goes. */
static int drop_blank(struct gp_table *table, const char *title)
{
	size_t column = gp_table_find_column(table->head, title), rows = gp_table_rows(table);
	size_t row = 0;

	while (row < rows && is_blank(&gp_table_row(table, row)[column]))
		row++;
	return row == rows ? gp_table_remove_column(table, column) : 0;
}

/* With --full, all ranks; of a large job as many as other tables have rows. */
static uint32_t shown_of(const struct job *job)
{
	const struct gp_summary_options *options = job->summary->options;
	size_t most = options->brief ? ALL_SHOWN : options->row_limit;

	if (job->ranks.count <= ALL_SHOWN)
		return job->ranks.count;
	if (options->brief && job->differing < most)
		return job->differing;
	if (!options->brief && (!job->summary->job || most == 0 || most > job->ranks.count))
		return job->ranks.count;
	return (uint32_t)most;
}

static int print_rows(const struct job *job)
{
	uint32_t shown = shown_of(job);
	bool all = shown == job->ranks.count;
	struct gp_table table;
	int result;

	gp_table_open(&table, &head);
	if (job->ranks.count > ALL_SHOWN)
		put_median(job, &table);
	for (uint32_t i = 0; i < shown; i++)
		put_place(job, &job->places[i], &table);
	result = drop_blank(&table, "Memory");
	if (result == 0)
		result = drop_blank(&table, "Ended");
	if (result == 0)
		result =
			gp_table_print(&table, job->summary->out, gp_summary_columns(job->summary));
	gp_table_close(&table);
	if (!all && job->differing > shown)
		fprintf(job->summary->out,
			"  ... %s more differ, or are incomplete (all ranks: --by rank)\n",
			gp_format_count(job->differing - shown).text);
	else if (!all)
		fprintf(job->summary->out,
			"  the other ranks are within %d %% of the median, or within the usual spread\n",
			LEAST_PERCENT);
	return result;
}

/* ---- the whole ---- */

bool gp_summary_has_ranks(const struct gp_summary *summary)
{
	bool known = summary->basis && (summary->model_count > 1 || summary->job);

	for (size_t i = 0; i < summary->model_count; i++)
		known &= gp_model_rank(summary->models[i]) != GP_NONE;
	return known;
}

static int look_at_job(struct job *job)
{
	find_medians(job);
	job->wanted = gp_recorded_ranks(job->models[job->ranks.rows[0].process]);
	find_hosts(job);
	find_places(job);
	if (job->shared == 0)
		job->world_size = gp_models_world_size(job->models, job->ranks.count);
	return 0;
}

static int gather_job(struct job *job, const struct gp_summary *summary)
{
	struct gp_collectives collectives = {0};
	struct gp_scope scope;
	int result = gp_scope_open(&scope, summary->models, summary->model_count, false);

	job->models = summary->models;
	scope.kinds = summary->kinds;
	scope.analysis = summary->basis;
	if (result == 0)
		result = gp_ranks_gather(&scope, &job->ranks);
	if (result == 0)
		result = gp_collectives_of(&scope, &collectives);
	if (result == 0)
		result = gp_bus_bandwidths_of(summary->models, summary->model_count, &collectives,
					      &job->bandwidths);
	if (result == 0)
		result = gp_what_if_of(&collectives, &job->what_if);
	if (result == 0)
		result = gp_axes_find(&job->axes, summary->models, summary->model_count,
				      &collectives);
	gp_collectives_free(&collectives);
	scope.analysis = NULL; /* the summary's */
	gp_scope_close(&scope);
	return result;
}

static int open_job(struct job *job, const struct gp_summary *summary)
{
	const struct gp_job *known = summary->job;
	int result = 0;

	*job = (struct job){.summary = summary};
	if (known) {
		job->models = known->models;
		job->ranks = known->ranks;
		job->bandwidths = known->bandwidths;
		job->axes = known->axes;
		job->what_if = known->what_if;
	} else {
		result = gather_job(job, summary);
	}
	return result == 0 ? look_at_job(job) : result;
}

static void close_job(struct job *job)
{
	if (!job->summary->job) {
		gp_ranks_free(&job->ranks);
		gp_bus_bandwidths_free(&job->bandwidths);
		gp_axes_free(&job->axes);
	}
	free(job->places);
	free(job->hosts);
}

int gp_summary_print_ranks(const struct gp_summary *summary)
{
	struct job job;
	int result = open_job(&job, summary);

	if (result == 0) {
		print_title(&job);
		result = print_rows(&job);
	}
	if (result == 0) {
		gp_summary_print_gain(summary->out, job.medians[GP_RANK_STEP], &job.what_if);
		print_clocks(&job);
		gp_summary_print_axes(summary->out, gp_summary_columns(summary), &job.axes);
		gp_summary_print_bandwidths(summary->out, gp_summary_columns(summary),
					    &job.bandwidths);
	}
	close_job(&job);
	return result;
}

static void add_place(const struct job *job, const struct place *place,
		      struct gp_document *document)
{
	static const char *const ids[GP_RANK_MEASURES] = {
		[GP_RANK_STEP] = "step_ns",
		[GP_RANK_COMPUTING] = "computing_ns",
		[GP_RANK_COMMUNICATING] = "communicating_ns",
		[GP_RANK_WAITED] = "waited_ns",
		[GP_RANK_HELD_UP] = "held_up_ns",
		[GP_RANK_PEAK] = "peak_bytes",
	};
	const struct gp_model *model = job->models[place->row->process];

	gp_document_add_row(document);
	gp_document_add_text(document, "id", "differs");
	gp_document_add_number(document, "rank", GP_UNIT_NUMBER, place->row->rank);
	for (size_t i = 0; i < GP_RANK_MEASURES; i++)
		gp_document_add(document, ids[i], i == GP_RANK_PEAK ? GP_UNIT_BYTES : GP_UNIT_NS,
				place->row->values[i]);
	if (model->info[GP_INFO_HOST])
		gp_document_add_text(document, "host", model->info[GP_INFO_HOST]);
	gp_document_add_text(document, "ended", gp_rank_how_ended(model).text);
	gp_document_add_text(document, "text", place->words);
}

static void add_clock(const struct host *host, struct gp_document *document)
{
	const struct gp_host_clock *clock = host->clock;

	gp_document_add_row(document);
	gp_document_add_text(document, "id", "clock");
	gp_document_add_text(document, "host", host->name);
	if (!clock->is_known) {
		gp_document_add_unknown(document, "ahead_ns");
		return;
	}
	gp_document_add(document, "ahead_ns", GP_UNIT_MOMENT, gp_value_moment(clock->ahead_ns));
	gp_document_add(document, "error_ns", GP_UNIT_NS, gp_value_whole(clock->error_ns));
	gp_document_add(document, "drift_ratio", GP_UNIT_REAL, gp_value_real(-clock->drift));
	gp_document_add_number(document, "operations", GP_UNIT_COUNT, clock->operations);
}

static void print_shown(FILE *out, const void *job)
{
	gp_job_print_shown(job, out);
}

int gp_summary_add_ranks(const struct gp_summary *summary, struct gp_document *document)
{
	struct job job;
	int result;

	gp_document_add_section(document, "ranks");
	if (!gp_summary_has_ranks(summary))
		return document->error;
	result = open_job(&job, summary);
	if (result == 0) {
		gp_document_add_row(document);
		gp_document_add_text(document, "id", "job");
		gp_document_add_number(document, "ranks", GP_UNIT_COUNT, job.ranks.count);
		if (job.world_size > 0)
			gp_document_add_number(document, "world_size", GP_UNIT_COUNT,
					       job.world_size);
		if (*job.wanted.text)
			gp_document_add_text(document, "wanted", job.wanted.text);
		if (count_missing(&job) > 0)
			gp_document_add_printed(document, "without_trace", print_missing, &job);
		if (summary->job)
			gp_document_add_printed(document, "shown", print_shown, summary->job);
		gp_summary_add_gain(document, &job.what_if);
	}
	for (uint32_t i = 0; result == 0 && i < job.ranks.count; i++)
		if (job.places[i].most > 0)
			add_place(&job, &job.places[i], document);
	for (uint32_t i = 0; result == 0 && i < job.host_count && job.host_count > 1; i++)
		add_clock(&job.hosts[i], document);
	if (result == 0)
		gp_summary_add_bandwidths(document, &job.bandwidths);
	close_job(&job);
	return result == 0 ? document->error : result;
}
