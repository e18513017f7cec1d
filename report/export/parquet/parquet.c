/*
 * The processes of a job as a folder of Parquet files, for SQL over many ranks.
 *
 * Times are Unix ns, on the aligned clocks of the hosts, so that ranks can be joined.
 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/analysis.h"
#include "report/analysis/device/kernel_kinds.h"
#include "report/analysis/idle/activity.h"
#include "report/base/array.h"
#include "report/codec/interner.h"
#include "report/export/event_rows.h"
#include "report/export/parquet/parquet_folder.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/symbols/names.h"
#include "report/tables/breakdown_scope.h"
#include "report/tables/by/collective_ranks.h"

/* The tables of events come first, in the order of event_tables. */
enum table { OPS, CALLS, RANGES, MEMORY, SAMPLES, SYNCS, ENERGY, MISSING, OTHERS, EVENT_TABLES };
enum { RANKS = EVENT_TABLES, COLLECTIVES, ITERATIONS, IDLE, TABLES };

#define BIT(id) GP_EVENT_BIT(id)

static const struct gp_event_table event_tables[EVENT_TABLES] = {
	[OPS] = {"ops",
		 {"kernel", "copy", "memset", "graph"},
		 BIT(KIND) | GP_EVENT_TIMES | GP_EVENT_QUEUE | GP_EVENT_NODE | GP_EVENT_SHAPE |
			 BIT(BYTES) | BIT(SOURCE) | BIT(DESTINATION) | GP_EVENT_SITE},
	[CALLS] = {"calls",
		   {"call"},
		   GP_EVENT_TIMES | BIT(TID) | BIT(CONTEXT) | BIT(CORRELATION) | BIT(BYTES) |
			   BIT(STATUS) | BIT(ERROR) | GP_EVENT_SITE},
	[RANGES] = {"ranges",
		    {"range", "start/end range", "mark"},
		    BIT(KIND) | GP_EVENT_TIMES | BIT(TID) | BIT(DOMAIN) | BIT(CATEGORY) |
			    BIT(LEVEL) | BIT(PAYLOAD) | BIT(FIELDS) | BIT(ERROR)},
	[MEMORY] = {"memory",
		    {"allocation", "free"},
		    BIT(KIND) | GP_EVENT_TIMES | BIT(TID) | BIT(DEVICE) | BIT(CORRELATION) |
			    BIT(BYTES) | BIT(ADDRESS) | BIT(MEMORY) | BIT(POOL) | GP_EVENT_SITE},
	[SAMPLES] = {"samples", {"host sample"}, GP_EVENT_TIMES | BIT(TID) | BIT(COUNT)},
	[SYNCS] = {"syncs", {"sync"}, GP_EVENT_TIMES | GP_EVENT_QUEUE},
	[ENERGY] = GP_EVENT_ENERGY_TABLE,
	[MISSING] = {"missing", {"missing"}, BIT(NAME) | BIT(PID) | BIT(COUNT)},
	[OTHERS] = {"others",
		    {NULL},
		    BIT(KIND) | GP_EVENT_TIMES | BIT(TID) | BIT(DEVICE) | BIT(CONTEXT) |
			    BIT(STREAM) | BIT(CORRELATION) | BIT(BYTES) | BIT(COUNT) |
			    BIT(ADDRESS) | BIT(ERROR)},
};

#define SIGNED(name)                                                                               \
	{                                                                                          \
		name, GP_PARQUET_SIGNED                                                            \
	}
#define UNSIGNED(name)                                                                             \
	{                                                                                          \
		name, GP_PARQUET_UNSIGNED                                                          \
	}
#define TEXT(name)                                                                                 \
	{                                                                                          \
		name, GP_PARQUET_TEXT                                                              \
	}

/* Those of the tables that have no events; each function that puts rows has their order. */
static const struct gp_parquet_table other_tables[] = {
	{"ranks",
	 {SIGNED("pid"), SIGNED("world_size"), SIGNED("local_rank"), TEXT("job"), TEXT("program"),
	  SIGNED("start_ns"), SIGNED("duration_ns"), TEXT("ended"), SIGNED("is_complete"),
	  SIGNED("gpus"), TEXT("gpu"), TEXT("only_ranks")},
	 12},
	{"collectives",
	 {SIGNED("pid"), SIGNED("device"), UNSIGNED("communicator"), SIGNED("channel"),
	  SIGNED("sequence"), TEXT("name"), TEXT("kernel"), SIGNED("start_ns"),
	  SIGNED("duration_ns"), SIGNED("bytes"), SIGNED("ranks"), SIGNED("waits_for_all"),
	  SIGNED("may_lack_last"), SIGNED("since_previous_ns")},
	 14},
	{"iterations",
	 {SIGNED("pid"), SIGNED("number"), TEXT("part"), SIGNED("start_ns"), SIGNED("duration_ns"),
	  SIGNED("ops")},
	 6},
	{"idle",
	 {SIGNED("pid"), SIGNED("device"), SIGNED("start_ns"), SIGNED("duration_ns"), TEXT("cause"),
	  SIGNED("cause_ns"), TEXT("before"), TEXT("after")},
	 8},
};
static_assert(COUNT(other_tables) == TABLES - EVENT_TABLES, "a row for each table");

struct job {
	struct gp_parquet_table tables[TABLES];
	struct gp_parquet_folder *folder;
	struct gp_kinds *kinds;
	struct gp_names *names;
	struct gp_interner kernels; /* names of kernels whose kind is known ... */
	uint32_t *kernel_kinds;     /* ... and their kinds */
	uint32_t kernel_capacity;
	uint64_t base_unix_ns; /* times of event rows are relative to it */
	/* the chosen part of the present process, for the tables that are no events */
	struct gp_slice_filter filter;
};

/* ---- tables of events ---- */

/* In front of the columns of the table ops: what the operation is for, as `--by kind` has it. */
#define PURPOSE TEXT("purpose")

static enum gp_parquet_type type_of(int column)
{
	if (gp_event_columns[column].unit == GP_UNIT_TEXT)
		return GP_PARQUET_TEXT;
	return gp_event_columns[column].unit == GP_UNIT_ADDRESS ? GP_PARQUET_UNSIGNED
								: GP_PARQUET_SIGNED;
}

static bool has_column(size_t table, int column)
{
	return (event_tables[table].columns >> column & 1) != 0;
}

static void describe_tables(struct gp_parquet_table tables[TABLES])
{
	for (size_t t = 0; t < EVENT_TABLES; t++) {
		struct gp_parquet_table *table = &tables[t];

		table->name = event_tables[t].name;
		if (t == OPS)
			table->columns[table->column_count++] = (struct gp_parquet_column)PURPOSE;
		for (int c = 0; c < GP_EVENT_COLUMNS; c++)
			if (has_column(t, c))
				table->columns[table->column_count++] = (struct gp_parquet_column){
					gp_event_columns[c].title, type_of(c)};
	}
	memcpy(tables + EVENT_TABLES, other_tables, sizeof(other_tables));
}

static const char *purpose_of(struct job *job, const char *kind, const char *name)
{
	bool is_new;
	uint32_t number;

	if (strcmp(kind, "kernel") != 0)
		return gp_kinds_name(job->kinds,
				     strcmp(kind, "graph") == 0 ? GP_KIND_UNKNOWN : GP_KIND_COPY);
	number = gp_interner_number(&job->kernels, name, strlen(name), &is_new);
	gp_array_grow(&job->kernel_kinds, &job->kernel_capacity, number - 1,
		      sizeof(*job->kernel_kinds));
	if (is_new)
		job->kernel_kinds[number - 1] = gp_kinds_find(job->kinds, name);
	return gp_kinds_name(job->kinds, job->kernel_kinds[number - 1]);
}

static void put_event(struct gp_json *out, const struct gp_value *values, void *context)
{
	struct job *job = context;
	const char *kind = values[GP_EVENT_KIND].text;
	size_t table = gp_event_table_of(event_tables, EVENT_TABLES, kind), count = 0;
	struct gp_value row[GP_PARQUET_MOST_COLUMNS] = {{.kind = GP_VALUE_NONE}};

	(void)out;
	if (table == OPS)
		row[count++] = gp_value_text(purpose_of(job, kind, values[GP_EVENT_NAME].text));
	for (int c = 0; c < GP_EVENT_COLUMNS; c++) {
		if (!has_column(table, c))
			continue;
		row[count] = values[c];
		if (c == GP_EVENT_START && values[c].kind == GP_VALUE_WHOLE)
			row[count].whole += job->base_unix_ns;
		count++;
	}
	gp_parquet_folder_put(job->folder, table, row);
}

static int put_events(struct job *job, const struct gp_export_source *source,
		      const struct gp_export_options *options)
{
	const struct gp_event_format format = {
		.has_places = true, .put_row = put_event, .context = job};

	job->base_unix_ns = gp_export_base_unix_ns(source);
	return gp_event_rows_write(&format, source, options, NULL);
}

/* ---- the other tables ---- */

static struct gp_value number_or_none(const char *text)
{
	return text && *text && strspn(text, "0123456789") == strlen(text)
		       ? gp_value_whole(strtoull(text, NULL, 10))
		       : gp_value_none();
}

static struct gp_value text_or_none(const char *text)
{
	return text ? gp_value_text_or_none(text) : gp_value_none();
}

static void put_rank(struct job *job, const struct gp_model *model)
{
	struct gp_figure ended = gp_recorded_how_ended(model);
	struct gp_recorded_ranks only = gp_recorded_ranks(model);
	const struct gp_value row[] = {
		gp_value_whole(model->pid),
		number_or_none(model->info[GP_INFO_WORLD_SIZE]),
		number_or_none(model->info[GP_INFO_LOCAL_RANK]),
		text_or_none(model->info[GP_INFO_JOB]),
		text_or_none(model->info[GP_INFO_PROGRAM]),
		gp_value_whole(model->base_unix_ns + model->first_ns),
		gp_value_whole(model->last_ns - model->first_ns),
		strcmp(ended.text, "-") != 0 ? gp_value_text(ended.text) : gp_value_none(),
		gp_value_whole(gp_recorded_is_whole(model) && !gp_recorded_has_lost(model)),
		gp_value_whole(model->device_count),
		model->device_count > 0 ? text_or_none(model->device_names[0]) : gp_value_none(),
		text_or_none(only.text),
	};

	static_assert(COUNT(row) == 12, "as many as columns");
	gp_parquet_folder_put(job->folder, RANKS, row);
}

static void put_collective(struct job *job, const struct gp_model *model,
			   const struct gp_collective_part *part, uint64_t sequence)
{
	const struct gp_value row[] = {
		gp_value_whole(model->pid),
		gp_value_whole(part->device_id),
		part->communicator != 0 ? gp_value_whole(part->communicator) : gp_value_none(),
		gp_value_whole(part->stream),
		gp_value_whole(sequence),
		gp_value_text(gp_collective_kind_name(part->kind)),
		gp_value_text(gp_names_full(job->names,
					    gp_model_kernel_name(model, &model->ops[part->op]))),
		gp_value_whole(model->base_unix_ns + part->start_ns),
		gp_value_whole(part->duration_ns),
		part->bytes != 0 ? gp_value_whole(part->bytes) : gp_value_none(),
		part->ranks != 0 ? gp_value_whole(part->ranks) : gp_value_none(),
		gp_value_whole(gp_collective_is_of_all(part)),
		gp_value_whole(part->may_lack_last),
		part->since_ns > 0 ? gp_value_whole(gp_collective_own_ns(part)) : gp_value_none(),
	};

	static_assert(COUNT(row) == 14, "as many as columns");
	gp_parquet_folder_put(job->folder, COLLECTIVES, row);
}

/* The n-th of a kernel, communicator and channel is the same operation on all ranks. */
static int put_collectives(struct job *job, const struct gp_model *model)
{
	struct gp_groups names = {0};
	struct gp_collectives c = {.names = &names, .kinds = job->kinds};
	uint64_t sequence = 0;

	gp_collectives_add(&c, model, 0);
	gp_collectives_sort(&c);
	for (uint32_t i = 0; i < c.count; i++) {
		sequence = i > 0 && gp_collectives_are_a_row(&c.parts[i - 1], &c.parts[i])
				   ? sequence + 1
				   : 0;
		if (gp_slice_filter_has(&job->filter, c.parts[i].start_ns,
					c.parts[i].start_ns + c.parts[i].duration_ns))
			put_collective(job, model, &c.parts[i], sequence);
	}
	gp_collectives_free(&c);
	gp_groups_free(&names);
	return 0;
}

static void put_iterations(struct job *job, const struct gp_model *model,
			   const struct gp_analysis *analysis)
{
	const struct gp_iterations *iterations = &analysis->iterations[0];

	for (uint32_t i = 0; i < iterations->count; i++) {
		const struct gp_iteration *step = &iterations->rows[i];

		if (!gp_slice_filter_has(&job->filter, step->start_ns, step->end_ns))
			continue;
		const struct gp_value row[] = {
			gp_value_whole(model->pid),
			gp_value_whole(i + 1),
			gp_value_text(gp_run_part_id(analysis->steps[0].parts[i])),
			gp_value_whole(model->base_unix_ns + step->start_ns),
			gp_value_whole(step->end_ns - step->start_ns),
			gp_value_whole(step->op_count),
		};

		static_assert(COUNT(row) == 6, "as many as columns");
		gp_parquet_folder_put(job->folder, ITERATIONS, row);
	}
}

/* The name of an operation beside a gap. */
static struct gp_value name_of(struct job *job, const struct gp_model *model, struct gp_op_at at,
			       char label[GP_ACTIVITY_LABEL_BYTES])
{
	const struct gp_op *op = at.op == GP_NONE ? NULL : &model->ops[at.op];

	if (!op)
		return gp_value_none();
	if (op->kind == GP_OP_KERNEL)
		return gp_value_text(gp_names_full(job->names, gp_model_kernel_name(model, op)));
	gp_activity_label(label, op);
	return gp_value_text(label);
}

static void put_gap(struct job *job, const struct gp_model *model, struct gp_scope *scope,
		    const struct gp_idle_gap *gap)
{
	char before[GP_ACTIVITY_LABEL_BYTES], after[GP_ACTIVITY_LABEL_BYTES];
	uint64_t start_ns = gap->start_ns - model->base_unix_ns;

	if (!gp_slice_filter_has(&job->filter, start_ns, start_ns + gp_idle_gap_ns(gap)))
		return;
	const struct gp_value row[] = {
		gp_value_whole(model->pid),
		gp_value_whole(scope->devices.entries[gap->device].number),
		gp_value_whole(gap->start_ns),
		gp_value_whole(gp_idle_gap_ns(gap)),
		gp_value_text(gp_idle_cause_name(gap->cause)),
		gp_value_whole(gp_idle_gap_cause_ns(gap, gap->cause)),
		name_of(job, model, gap->before, before),
		name_of(job, model, gap->after, after),
	};

	static_assert(COUNT(row) == 8, "as many as columns");
	gp_parquet_folder_put(job->folder, IDLE, row);
}

/* Without recorded GPU operations, all GPUs would seem idle. */
static void put_gaps(struct job *job, const struct gp_model *model, struct gp_scope *scope,
		     const struct gp_analysis *analysis)
{
	for (size_t d = 0; gp_scope_has_gpu(scope) && d < analysis->idle_gaps.device_count; d++)
		for (uint32_t i = 0; i < analysis->idle_gaps.devices[d].count; i++)
			put_gap(job, model, scope, &analysis->idle_gaps.devices[d].idle_gaps[i]);
}

static int put_analysis(struct job *job, const struct gp_model *model)
{
	struct gp_model *const models[] = {(struct gp_model *)model};
	const struct gp_analysis *analysis;
	struct gp_scope scope;

	gp_scope_open(&scope, models, 1, true);
	analysis = gp_scope_analysis(&scope);
	put_iterations(job, model, analysis);
	put_gaps(job, model, &scope, analysis);
	gp_scope_close(&scope);
	return 0;
}

/* ---- processes ---- */

static int put_process(struct job *job, const struct gp_model *model,
		       const struct gp_export_options *options)
{
	const struct gp_export_source source = gp_export_source_of(model);
	int result = put_events(job, &source, options);

	job->filter = gp_slice_filter_of(&options->choice, model);
	put_rank(job, model);
	if (result == 0)
		result = put_collectives(job, model);
	return result == 0 ? put_analysis(job, model) : result;
}

static int put_processes(struct job *job, const struct gp_export_source *source,
			 const struct gp_export_options *options, char *message,
			 size_t message_bytes)
{
	size_t written = 0;
	int result = 0;

	for (size_t i = 0; i < source->count && result == 0; i++) {
		const struct gp_model *model = source->get(source->context, i);

		if (!model)
			continue;
		result = gp_parquet_folder_begin(job->folder, model, message, message_bytes);
		if (result == 0)
			result = put_process(job, model, options);
		if (result == 0)
			gp_parquet_folder_end(job->folder);
		written++;
	}
	return result != 0 || written > 0 ? result : -ENODATA;
}

/* Of a process in parts there are only the events: the analyses need all of it. */
static int put_parts(struct job *job, const struct gp_export_source *source,
		     const struct gp_export_options *options, char *message, size_t message_bytes)
{
	const struct gp_model *model = source->get(source->context, 0);
	int result = model ? gp_parquet_folder_begin(job->folder, model, message, message_bytes)
			   : -ENODATA;

	if (result != 0)
		return result;
	put_rank(job, model);
	fprintf(options->messages ? options->messages : stderr,
		"gpuprof: the tables collectives, iterations and idle stay empty, because the trace is read in parts; with enough memory, type --at-once 1000000000\n");
	return put_events(job, source, options);
}

static int write_parquet(const struct gp_export_source *source,
			 const struct gp_export_options *options, const char *path, char *message,
			 size_t message_bytes)
{
	struct job *job = calloc(1, sizeof(*job));
	int result;

	describe_tables(job->tables);
	job->kinds = gp_kinds_new(NULL, message, message_bytes);
	job->names = gp_names_new();
	result = gp_parquet_folder_open(&job->folder, path, job->tables, TABLES, message,
					message_bytes);
	if (result == 0) {
		result = source->are_parts
				 ? put_parts(job, source, options, message, message_bytes)
				 : put_processes(job, source, options, message, message_bytes);
		result = gp_parquet_folder_close(job->folder, result, message, message_bytes);
	}
	gp_kinds_free(job->kinds);
	gp_names_free(job->names);
	gp_interner_free(&job->kernels);
	free(job->kernel_kinds);
	free(job);
	return result;
}

const struct gp_exporter gp_exporter_parquet = {
	.name = "parquet",
	.suffix = ".parquet",
	.help = "a folder of tables, of one process or of a whole job, for SQL",
	.readers = "DuckDB, pandas, Polars, ClickHouse, Spark",
	.heeds = GP_EXPORT_PART,
	.is_compressed = true,
	.write_folder = write_parquet,
};
