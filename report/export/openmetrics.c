/*
 * Numbers of a recording for a monitoring system, as OpenMetrics text
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/).  Readers of the older text format of
 * Prometheus (the folder of the node exporter, a push gateway) accept it, too, except metrics of
 * type info.
 *
 * The numbers are those of the tables of `gpuprof summary --by`.  Each is a metric with the pid and
 * program of its process as labels.  Samples with equal labels are merged, so that the output is
 * valid for any names.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/tables/breakdown.h"
#include "report/trace/cuda_names.h"
#include "report/export/export.h"
#include "report/model/memory_stats.h"
#include "report/base/memstream.h"
#include "report/model/losses.h"
#include "report/document/table_writer.h"
#include "report/base/text/text.h"

enum unit { COUNT, SECONDS, BYTES, JOULES };
enum kind { COUNTER, GAUGE, MOST }; /* MOST: a gauge that keeps the maximum of equal labels */

struct label {
	const char *name, *column;
};

/* A column of a table, and the columns that become labels. */
struct metric {
	const char *name, *help; /* name: without the suffix for its kind and unit */
	enum kind kind;
	enum unit unit;
	const struct gp_breakdown *table; /* NULL: a special one */
	const char *column;
	const struct label *labels;
};

enum special { MEMORY_PEAK, MEMORY_LEFT, RECORDED, STARTED, MISSING, PROCESS, SPECIALS };

static const struct label by_kernel[] = {{"kernel", "Name"}, {0}};
static const struct label by_operation[] = {{"operation", "Operation"}, {0}};
static const struct label by_function[] = {{"function", "Name"}, {0}};
static const struct label by_range[] = {
	{"range", "Range"}, {"domain", "Domain"}, {"style", "Style"}, {0}};
static const struct label by_device[] = {{"device", "Device"}, {"name", "Name"}, {0}};
static const struct label by_gpu[] = {{"device", "Device"}, {0}};
static const struct label by_reason[] = {{"device", "Device"}, {"reason", "Reason"}, {0}};

/* Special metrics come first, by their numbers; metrics of one table are adjacent. */
static const struct metric metrics[] = {
	[MEMORY_PEAK] = {"gpuprof_memory_peak", "Peak of allocated memory.", MOST, BYTES, NULL,
			 NULL, NULL},
	[MEMORY_LEFT] = {"gpuprof_memory_left", "Memory that was still allocated at the end.",
			 GAUGE, BYTES, NULL, NULL, NULL},
	[RECORDED] = {"gpuprof_recorded", "From the first call or GPU operation to the last one.",
		      GAUGE, SECONDS, NULL, NULL, NULL},
	[STARTED] = {"gpuprof_start_time", "Unix time of the first call or GPU operation.", GAUGE,
		     SECONDS, NULL, NULL, NULL},
	[MISSING] = {"gpuprof_missing", "Lost records and other missing data, by cause.", GAUGE,
		     COUNT, NULL, NULL, NULL},
	[PROCESS] = {"gpuprof_info", "The process.", GAUGE, COUNT, NULL, NULL, NULL},
	{"gpuprof_kernels", "Kernel runs.", COUNTER, COUNT, &gp_breakdown_kernel, "Count",
	 by_kernel},
	{"gpuprof_kernel", "Time in kernels.", COUNTER, SECONDS, &gp_breakdown_kernel, "Total",
	 by_kernel},
	{"gpuprof_kernel_longest", "The longest run of a kernel.", MOST, SECONDS,
	 &gp_breakdown_kernel, "Max", by_kernel},
	{"gpuprof_copies", "Memory copies and memsets.", COUNTER, COUNT, &gp_breakdown_copy_time,
	 "Count", by_operation},
	{"gpuprof_copy", "Time in memory copies and memsets.", COUNTER, SECONDS,
	 &gp_breakdown_copy_time, "Total", by_operation},
	{"gpuprof_copy", "Bytes of memory copies and memsets.", COUNTER, BYTES,
	 &gp_breakdown_copy_size, "Total", by_operation},
	{"gpuprof_api_calls", "CUDA API calls.", COUNTER, COUNT, &gp_breakdown_api, "Count",
	 by_function},
	{"gpuprof_api", "Time in CUDA API calls.", COUNTER, SECONDS, &gp_breakdown_api, "Total",
	 by_function},
	{"gpuprof_api_failures", "CUDA API calls that returned an error.", COUNTER, COUNT,
	 &gp_breakdown_api, "Failed", by_function},
	{"gpuprof_ranges", "Ranges of the program.", COUNTER, COUNT, &gp_breakdown_nvtx, "Count",
	 by_range},
	{"gpuprof_range", "Time in ranges of the program.", COUNTER, SECONDS, &gp_breakdown_nvtx,
	 "Total", by_range},
	{"gpuprof_device_busy",
	 "Time with at least one operation of this process running on the GPU.", COUNTER, SECONDS,
	 &gp_breakdown_device, "Busy", by_device},
	{"gpuprof_energy", "Energy of the GPU while it was sampled, whichever processes used it.",
	 COUNTER, JOULES, &gp_breakdown_energy, "Energy", by_gpu},
	{"gpuprof_energy_sampled", "Time with energy samples.", COUNTER, SECONDS,
	 &gp_breakdown_energy, "Covered", by_gpu},
	{"gpuprof_step_energy", "Energy of a step of the main loop.", GAUGE, JOULES,
	 &gp_breakdown_energy, "Per step", by_gpu},
	{"gpuprof_step_energy_error", "The error of gpuprof_step_energy.", GAUGE, JOULES,
	 &gp_breakdown_energy, "Step error", by_gpu},
	{"gpuprof_clocks_lowered", "Time with lowered clocks, by reason; several may hold.",
	 COUNTER, SECONDS, &gp_breakdown_clock_reason, "Time", by_reason},
};
enum { METRICS = sizeof(metrics) / sizeof(metrics[0]) };

/* The samples of a metric so far. */
struct samples {
	struct gp_groups labels; /* only the keys are used */
	uint64_t *values;
	uint32_t capacity;
};

struct collection {
	const struct gp_model *model;
	struct samples samples[METRICS];
	char *labels; /* of the current sample */
	size_t labels_bytes;
	FILE *text; /* writes the labels */
	int error;  /* 0, -ENOMEM or -EOVERFLOW */
};

/* ---- labels ---- */

/* Escapes characters that are not allowed in labels, and control characters of terminals. */
static void put_label(struct collection *e, const char *name, const char *value)
{
	char *escaped = gp_text_escape(value);

	fprintf(e->text, ",%s=\"", name);
	for (const char *at = escaped ? escaped : ""; *at; at++) {
		if (*at == '"' || *at == '\\')
			fputc('\\', e->text);
		fputc(*at, e->text);
	}
	fputc('"', e->text);
	free(escaped);
}

/* pid="1",program="a.out": the first labels of all samples. */
static bool begin_labels(struct collection *e)
{
	const char *program = e->model->info[GP_INFO_PROGRAM];

	e->text = open_memstream(&e->labels, &e->labels_bytes);
	fprintf(e->text, "pid=\"%" PRIu32 "\"", e->model->pid);
	put_label(e, "program", program ? program : "");
	return true;
}

/* Add the sample, or merge it with the one that has equal labels. */
static void end_labels(struct collection *e, int metric, uint64_t value)
{
	struct samples *samples = &e->samples[metric];
	uint32_t known = samples->labels.count, row = UINT32_MAX;

	gp_memstream_close(e->text, &e->labels);
	row = gp_groups_find(&samples->labels, e->labels);
	free(e->labels);
	e->labels = NULL;
	if (row == UINT32_MAX ||
	    (row == known && gp_array_grow(&samples->values, &samples->capacity, row,
					   sizeof(*samples->values)) < 0)) {
		e->error = -ENOMEM;
		return;
	}
	if (row == known)
		samples->values[row] = value;
	else if (metrics[metric].kind != MOST)
		samples->values[row] += value;
	else if (value > samples->values[row])
		samples->values[row] = value;
}

static void add_sample(struct collection *e, int metric, const char *name, const char *label,
		       uint64_t value)
{
	if (!begin_labels(e))
		return;
	if (name)
		put_label(e, name, label);
	end_labels(e, metric, value);
}

/* ---- from the tables ---- */

/* Samples are whole numbers: ns, bytes, uJ. */
static uint64_t whole(const struct gp_value *value, enum unit unit)
{
	double scale = unit == JOULES ? 1e6 : 1;

	if (value->kind == GP_VALUE_REAL)
		return value->real > 0 ? (uint64_t)(scale * value->real + 0.5) : 0;
	return value->kind == GP_VALUE_WHOLE ? value->whole : 0;
}

static void take_label(struct collection *e, const char *name, const struct gp_value *value)
{
	if (value->kind == GP_VALUE_TEXT)
		put_label(e, name, value->text);
	else if (value->kind == GP_VALUE_NONE)
		put_label(e, name, "");
	else
		put_label(e, name, gp_value_number(value).text);
}

/* The index of a column.  A title that the table does not have is an error of ours. */
static size_t column_of(struct collection *e, const struct gp_table_head *head, const char *title)
{
	size_t column = gp_table_find_column(head, title);

	if (column < head->column_count)
		return column;
	e->error = -EINVAL;
	return 0;
}

/* Also for a table without rows, so that any export fails if a title has changed. */
static void check_columns(struct collection *e, int metric, const struct gp_table_head *head)
{
	column_of(e, head, metrics[metric].column);
	for (const struct label *label = metrics[metric].labels; label->name; label++)
		column_of(e, head, label->column);
}

static void take_row(struct collection *e, int metric, const struct gp_table_head *head,
		     const struct gp_value *row)
{
	const struct metric *about = &metrics[metric];
	size_t column = column_of(e, head, about->column);

	if (row[column].kind == GP_VALUE_NONE || !begin_labels(e))
		return;
	for (const struct label *label = about->labels; label->name; label++)
		take_label(e, label->name, &row[column_of(e, head, label->column)]);
	end_labels(e, metric, whole(&row[column], about->unit));
}

/* All metrics of a table; first: the index of the first one. */
static void take_table(struct collection *e, struct gp_scope *scope, int first)
{
	const struct gp_breakdown *table = metrics[first].table;
	struct gp_table rows;
	int result = gp_breakdown_make(table, scope, &rows);

	if (result < 0)
		e->error = result;
	for (int i = first; i < METRICS && metrics[i].table == table; i++) {
		check_columns(e, i, &table->head);
		for (size_t row = 0; e->error == 0 && row < gp_table_rows(&rows); row++)
			take_row(e, i, &table->head, gp_table_row(&rows, row));
	}
	gp_table_close(&rows);
}

static void take_tables(struct collection *e)
{
	struct gp_model *const models[] = {(struct gp_model *)e->model};
	struct gp_scope scope;
	int result = gp_scope_open(&scope, models, 1, true);

	if (result < 0)
		e->error = result;
	for (int i = SPECIALS; i < METRICS && e->error == 0; i++)
		if (metrics[i].table != metrics[i - 1].table)
			take_table(e, &scope, i);
	gp_scope_close(&scope);
}

/* ---- the others ---- */

static void take_memory_row(struct collection *e, const struct gp_device_list *devices,
			    const struct gp_memory_row *row)
{
	const uint64_t values[] = {[MEMORY_PEAK] = row->peak_bytes, [MEMORY_LEFT] = row->now_bytes};
	char device[16] = "host";

	if (row->device < devices->count)
		snprintf(device, sizeof(device), "%" PRIu32, devices->entries[row->device].number);
	for (int i = MEMORY_PEAK; i <= MEMORY_LEFT; i++) {
		if (!begin_labels(e))
			return;
		put_label(e, "device", device);
		put_label(e, "memory",
			  row->kind == GP_MEMORY_OF_DEVICE ? "all of the device's own"
							   : gp_allocation_name(row->kind));
		end_labels(e, i, values[i]);
	}
}

static void take_memory(struct collection *e, struct gp_model *const *models)
{
	struct gp_device_list devices = {0};
	struct gp_memory_stats stats = {0};
	int result = gp_memory_stats_of(models, 1, &devices, &stats);

	if (result < 0)
		e->error = result;
	for (size_t i = 0; result == 0 && i < stats.row_count && e->error == 0; i++)
		take_memory_row(e, &devices, &stats.rows[i]);
	gp_memory_stats_free(&stats);
	gp_device_list_free(&devices);
}

static void take_missing(void *context, const struct gp_loss *loss, uint64_t count)
{
	add_sample(context, MISSING, "what", loss->sentence, count);
}

static void take_process(struct collection *e)
{
	static const struct {
		enum gp_info info;
		const char *label;
	} facts[] = {
		{GP_INFO_HOST, "host"},
		{GP_INFO_RANK, "rank"},
		{GP_INFO_VERSION, "version"},
		{GP_INFO_CUPTI_VERSION, "cupti"},
		{GP_INFO_DRIVER_VERSION, "driver"},
	};

	if (!begin_labels(e))
		return;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (e->model->info[facts[i].info])
			put_label(e, facts[i].label, e->model->info[facts[i].info]);
	end_labels(e, PROCESS, 1);
}

/* Metrics of the whole process, which each of its parts contains. */
static void take_whole(struct collection *e)
{
	struct gp_model *const models[] = {(struct gp_model *)e->model};
	const struct gp_model *model = e->model;

	take_process(e);
	add_sample(e, RECORDED, NULL, NULL, model->last_ns - model->first_ns);
	add_sample(e, STARTED, NULL, NULL, model->base_unix_ns + model->first_ns);
	gp_loss_each(model, take_missing, e);
	take_memory(e, models);
}

/* ---- the text ---- */

static const char *const units[] = {
	[COUNT] = "", [SECONDS] = "_seconds", [BYTES] = "_bytes", [JOULES] = "_joules"};
static const char *const kinds[] = {[COUNTER] = "counter", [GAUGE] = "gauge", [MOST] = "gauge"};
static const char *const endings[] = {[COUNTER] = "_total", [GAUGE] = "", [MOST] = ""};

static void write_metric(const struct metric *metric, const struct samples *samples, FILE *out)
{
	const char *unit = units[metric->unit];

	if (samples->labels.count == 0)
		return;
	fprintf(out, "# TYPE %s%s %s\n", metric->name, unit, kinds[metric->kind]);
	if (*unit)
		fprintf(out, "# UNIT %s%s %s\n", metric->name, unit, unit + 1);
	fprintf(out, "# HELP %s%s %s\n", metric->name, unit, metric->help);
	for (uint32_t i = 0; i < samples->labels.count; i++) {
		uint64_t value = samples->values[i];

		fprintf(out, "%s%s%s{%s} ", metric->name, unit, endings[metric->kind],
			samples->labels.rows[i].key);
		if (metric->unit == SECONDS)
			fprintf(out, "%" PRIu64 ".%09" PRIu64 "\n", value / 1000000000,
				value % 1000000000);
		else if (metric->unit == JOULES)
			fprintf(out, "%" PRIu64 ".%06" PRIu64 "\n", value / 1000000,
				value % 1000000);
		else
			fprintf(out, "%" PRIu64 "\n", value);
	}
}

/* Returns the number of processes. */
static size_t take_all(struct collection *e, const struct gp_export_source *source,
		       const struct gp_export_options *options)
{
	size_t taken = 0;

	for (size_t i = 0; i < source->count && e->error == 0; i++) {
		e->model = source->get(source->context, i);
		if (!e->model)
			continue;
		if (gp_export_is_first(source, i))
			take_whole(e);
		take_tables(e);
		if (options->progress)
			options->progress(options->progress_context);
		taken++;
	}
	return taken;
}

static int write_all(const struct collection *e, FILE *out)
{
	for (int i = 0; i < METRICS; i++)
		write_metric(&metrics[i], &e->samples[i], out);
	fputs("# EOF\n", out);
	return fflush(out) != 0 || ferror(out) ? -EIO : 0;
}

static int write_openmetrics(const struct gp_export_source *source,
			     const struct gp_export_options *options, FILE *out)
{
	struct collection e = {0};
	int result = take_all(&e, source, options) > 0 ? 0 : -ENODATA;

	if (e.error != 0)
		result = e.error;
	if (result == 0)
		result = write_all(&e, out);
	for (int i = 0; i < METRICS; i++) {
		gp_groups_free(&e.samples[i].labels);
		free(e.samples[i].values);
	}
	return result;
}

const struct gp_exporter gp_exporter_openmetrics = {
	.name = "openmetrics",
	.suffix = ".prom",
	.help = "numbers of the summary, as metrics with labels",
	.readers = "Prometheus (node exporter, push gateway), VictoriaMetrics, Grafana Agent",
	.heeds = GP_EXPORT_MEMORY,
	.write = write_openmetrics,
};
