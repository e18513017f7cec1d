/*
 * Numbers of a recording for a monitoring system: those of the tables of `gpuprof summary --by`.
 * Each is a metric with the pid and program of its process as labels.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/breakdown.h"
#include "report/trace/cuda_names.h"
#include "report/export/export.h"
#include "report/model/memory_stats.h"
#include "report/model/losses.h"
#include "report/document/table_writer.h"
#include "report/document/openmetrics_text.h"

#define COUNTER GP_OPENMETRICS_COUNTER
#define GAUGE   GP_OPENMETRICS_GAUGE
#define MOST    GP_OPENMETRICS_MOST
#define COUNT   GP_OPENMETRICS_COUNT
#define SECONDS GP_OPENMETRICS_SECONDS
#define BYTES   GP_OPENMETRICS_BYTES
#define JOULES  GP_OPENMETRICS_JOULES

struct label {
	const char *name, *column;
};

/* A column of a table, and the columns that become labels. */
struct metric {
	struct gp_openmetrics_metric about;
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
	[MEMORY_PEAK] = {.about = {"gpuprof_memory_peak", "Peak of allocated memory.", MOST,
				   BYTES}},
	[MEMORY_LEFT] = {.about = {"gpuprof_memory_left",
				   "Memory that was still allocated at the end.", GAUGE, BYTES}},
	[RECORDED] = {.about = {"gpuprof_recorded",
				"From the first call or GPU operation to the last one.", GAUGE,
				SECONDS}},
	[STARTED] = {.about = {"gpuprof_start_time",
			       "Unix time of the first call or GPU operation.", GAUGE, SECONDS}},
	[MISSING] = {.about = {"gpuprof_missing", "Lost records and other missing data, by cause.",
			       GAUGE, COUNT}},
	[PROCESS] = {.about = {"gpuprof_info", "The process.", GAUGE, COUNT}},
	{{"gpuprof_kernels", "Kernel runs.", COUNTER, COUNT},
	 &gp_breakdown_kernel,
	 "Count",
	 by_kernel},
	{{"gpuprof_kernel", "Time in kernels.", COUNTER, SECONDS},
	 &gp_breakdown_kernel,
	 "Total",
	 by_kernel},
	{{"gpuprof_kernel_longest", "The longest run of a kernel.", MOST, SECONDS},
	 &gp_breakdown_kernel,
	 "Max",
	 by_kernel},
	{{"gpuprof_copies", "Memory copies and memsets.", COUNTER, COUNT},
	 &gp_breakdown_copy_time,
	 "Count",
	 by_operation},
	{{"gpuprof_copy", "Time in memory copies and memsets.", COUNTER, SECONDS},
	 &gp_breakdown_copy_time,
	 "Total",
	 by_operation},
	{{"gpuprof_copy", "Bytes of memory copies and memsets.", COUNTER, BYTES},
	 &gp_breakdown_copy_size,
	 "Total",
	 by_operation},
	{{"gpuprof_api_calls", "CUDA API calls.", COUNTER, COUNT},
	 &gp_breakdown_api,
	 "Count",
	 by_function},
	{{"gpuprof_api", "Time in CUDA API calls.", COUNTER, SECONDS},
	 &gp_breakdown_api,
	 "Total",
	 by_function},
	{{"gpuprof_api_failures", "CUDA API calls that returned an error.", COUNTER, COUNT},
	 &gp_breakdown_api,
	 "Failed",
	 by_function},
	{{"gpuprof_ranges", "Ranges of the program.", COUNTER, COUNT},
	 &gp_breakdown_nvtx,
	 "Count",
	 by_range},
	{{"gpuprof_range", "Time in ranges of the program.", COUNTER, SECONDS},
	 &gp_breakdown_nvtx,
	 "Total",
	 by_range},
	{{"gpuprof_device_busy",
	  "Time with at least one operation of this process running on the GPU.", COUNTER, SECONDS},
	 &gp_breakdown_device,
	 "Busy",
	 by_device},
	{{"gpuprof_energy", "Energy of the GPU while it was sampled, whichever processes used it.",
	  COUNTER, JOULES},
	 &gp_breakdown_energy,
	 "Energy",
	 by_gpu},
	{{"gpuprof_energy_sampled", "Time with energy samples.", COUNTER, SECONDS},
	 &gp_breakdown_energy,
	 "Covered",
	 by_gpu},
	{{"gpuprof_step_energy", "Energy of a step of the main loop.", GAUGE, JOULES},
	 &gp_breakdown_energy,
	 "Per step",
	 by_gpu},
	{{"gpuprof_step_energy_error", "The error of gpuprof_step_energy.", GAUGE, JOULES},
	 &gp_breakdown_energy,
	 "Step error",
	 by_gpu},
	{{"gpuprof_clocks_lowered", "Time with lowered clocks, by reason; several may hold.",
	  COUNTER, SECONDS},
	 &gp_breakdown_clock_reason,
	 "Time",
	 by_reason},
};
enum { METRICS = sizeof(metrics) / sizeof(metrics[0]) };

struct collection {
	const struct gp_model *model;
	struct gp_openmetrics_samples samples[METRICS];
	struct gp_openmetrics_labels labels; /* of the current sample */
	int error;                           /* 0, -EINVAL or -EOVERFLOW */
};

static void begin_labels(struct collection *e)
{
	gp_openmetrics_begin(&e->labels, e->model->pid, e->model->info[GP_INFO_PROGRAM]);
}

static void put_label(struct collection *e, const char *name, const char *value)
{
	gp_openmetrics_label(&e->labels, name, value);
}

static void end_labels(struct collection *e, int metric, uint64_t value)
{
	gp_openmetrics_end(&e->labels, &metrics[metric].about, &e->samples[metric], value);
}

static void add_sample(struct collection *e, int metric, const char *name, const char *label,
		       uint64_t value)
{
	begin_labels(e);
	if (name)
		put_label(e, name, label);
	end_labels(e, metric, value);
}

/* ---- from the tables ---- */

/* Samples are whole numbers: ns, bytes, uJ. */
static uint64_t whole(const struct gp_value *value, enum gp_openmetrics_unit unit)
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

	if (row[column].kind == GP_VALUE_NONE)
		return;
	begin_labels(e);
	for (const struct label *label = about->labels; label->name; label++)
		take_label(e, label->name, &row[column_of(e, head, label->column)]);
	end_labels(e, metric, whole(&row[column], about->about.unit));
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
		check_columns(e, i, rows.head);
		for (size_t row = 0; e->error == 0 && row < gp_table_rows(&rows); row++)
			take_row(e, i, rows.head, gp_table_row(&rows, row));
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
		begin_labels(e);
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

	begin_labels(e);
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
		gp_openmetrics_write(out, &metrics[i].about, &e->samples[i]);
	gp_openmetrics_write_end(out);
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
	for (int i = 0; i < METRICS; i++)
		gp_openmetrics_free(&e.samples[i]);
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
