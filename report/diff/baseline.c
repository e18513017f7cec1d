#include "report/diff/baseline.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/rank.h"
#include "report/codec/small_file.h"
#include "report/codec/json_write.h"

#define FORMAT     1
#define ORIGIN     "gpuprof check --write-baseline writes one"
#define FILE_BYTES (64u << 20)
#define MOST       9007199254740992.0 /* 2^53 */

/* ---- writing ---- */

static void write_text(struct gp_json *json, const char *text)
{
	gp_json_string(json, text, strlen(text));
}

static void write_values(struct gp_json *json, const double *values, uint32_t count)
{
	char number[40];

	gp_json_text(json, "[");
	for (uint32_t i = 0; i < count; i++) {
		if (isnan(values[i]))
			strcpy(number, "null");
		else
			snprintf(number, sizeof(number), "%.17g", values[i]);
		gp_json_text(json, i > 0 ? ", " : "");
		gp_json_text(json, number);
	}
	gp_json_text(json, "]");
}

static void write_machine(struct gp_json *json, const struct gp_machine *machine)
{
	for (int i = 0; i < GP_MACHINE_FACTS; i++) {
		gp_json_text(json, i > 0 ? ",\n  \"" : "\n  \"");
		gp_json_text(json, gp_machine_fact_name((enum gp_machine_fact)i));
		gp_json_text(json, "\": ");
		write_text(json, gp_machine_fact(machine, (enum gp_machine_fact)i));
	}
}

/* A metric that results from comparing (new kernels) has no value here. */
static void write_metrics(struct gp_json *json, const struct gp_run_set *set)
{
	double values[GP_RANK_MOST];
	const char *separator = "\n  \"";

	for (int i = 0; i < GP_METRICS; i++) {
		if (i == GP_METRIC_NEW_KERNELS)
			continue;
		gp_run_set_metric(set, (enum gp_metric)i, values);
		gp_json_text(json, separator);
		gp_json_text(json, gp_metric_rows[i].name);
		gp_json_text(json, "\": ");
		write_values(json, values, set->count);
		separator = ",\n  \"";
	}
}

static void write_kernels(struct gp_json *json, const struct gp_run_set *set)
{
	double values[GP_RANK_MOST];
	const char **names;
	uint32_t count;

	gp_run_set_names(set, NULL, GP_NAMED_KERNEL, &names, &count);
	for (uint32_t i = 0; i < count; i++) {
		gp_json_text(json, i > 0 ? ",\n  " : "\n  ");
		write_text(json, names[i]);
		gp_run_set_named(set, GP_NAMED_KERNEL, names[i], GP_NAMED_COUNT, values);
		gp_json_text(json, ": {\"count\": ");
		write_values(json, values, set->count);
		gp_run_set_named(set, GP_NAMED_KERNEL, names[i], GP_NAMED_TOTAL, values);
		gp_json_text(json, ", \"total_ns\": ");
		write_values(json, values, set->count);
		gp_json_text(json, "}");
	}
	free(names);
}

int gp_baseline_write(FILE *out, const struct gp_run_set *set)
{
	struct gp_json json;
	int closed;

	gp_json_open(&json, out);
	gp_json_text(&json, "{\"gpuprof_baseline\": ");
	gp_json_unsigned(&json, FORMAT);
	gp_json_text(&json, ",\n \"machine\": {");
	write_machine(&json, &set->machine);
	gp_json_text(&json, "},\n \"runs\": ");
	gp_json_unsigned(&json, set->count);
	gp_json_text(&json, ",\n \"metrics\": {");
	write_metrics(&json, set);
	gp_json_text(&json, "},\n \"kernels\": {");
	write_kernels(&json, set);
	gp_json_text(&json, "}}\n");
	closed = gp_json_close(&json);
	return closed;
}

/* ---- reading ---- */

struct reading {
	struct gp_run_set *set;
	const char *name;
	char *message;
	size_t message_bytes;
};

static int refuse(const struct reading *reading, const char *what)
{
	snprintf(reading->message, reading->message_bytes, "%s is not a baseline: %s; " ORIGIN,
		 reading->name, what);
	return -EINVAL;
}

/* One value for each run. */
static bool read_values(const json_t *array, uint32_t count, double *values)
{
	if (!json_is_array(array) || json_array_size(array) != count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const json_t *value = json_array_get(array, i);

		values[i] = json_is_null(value) ? (double)NAN : json_number_value(value);
		if (!json_is_null(value) &&
		    (!json_is_number(value) || !(values[i] >= 0 && values[i] <= MOST)))
			return false;
	}
	return true;
}

static int read_machine(const struct reading *reading, const json_t *machine)
{
	if (!json_is_object(machine))
		return refuse(reading, "it does not name the machine");
	for (int i = 0; i < GP_MACHINE_FACTS; i++) {
		const char *text = json_string_value(
			json_object_get(machine, gp_machine_fact_name((enum gp_machine_fact)i)));

		text = text ? text : "";
		reading->set->machine.facts[i] =
			i == GP_MACHINE_GPUS ? gp_machine_join_gpus(text) : strdup(text);
	}
	return 0;
}

/* The value of a metric in a file; earlier versions had other names for some. */
static const json_t *metric_of(const json_t *metrics, int metric)
{
	static const char *const earlier[GP_METRICS] = {
		[GP_METRIC_SETS] = "sets",
		[GP_METRIC_SYNCS] = "synchronisations",
		[GP_METRIC_BYTES_SET] = "bytes_set",
		[GP_METRIC_SET_TIME] = "set_time",
		[GP_METRIC_IDLE_SYNC] = "idle_synchronisation",
		[GP_METRIC_IDLE_STARTUP] = "idle_setup",
	};
	const json_t *array = json_object_get(metrics, gp_metric_rows[metric].name);

	return array || !earlier[metric] ? array : json_object_get(metrics, earlier[metric]);
}

static int read_metrics(const struct reading *reading, const json_t *metrics)
{
	struct gp_run_set *set = reading->set;
	double values[GP_RANK_MOST];
	char text[96];

	if (!json_is_object(metrics))
		return refuse(reading, "it has no metrics");
	for (int i = 0; i < GP_METRICS; i++) {
		const json_t *array = metric_of(metrics, i);

		snprintf(text, sizeof(text), "%s does not have one number for each of its %u runs",
			 gp_metric_rows[i].name, set->count);
		if (array && !read_values(array, set->count, values))
			return refuse(reading, text);
		for (uint32_t run = 0; run < set->count; run++)
			set->runs[run].figures.values[i] = array ? values[run] : (double)NAN;
	}
	return 0;
}

static void add_kernel(struct gp_named_list *kernels, const char *name, double count,
		       double total_ns)
{
	struct gp_named_figure *row = &kernels->rows[kernels->count];

	*row = (struct gp_named_figure){.name = gp_kernel_figure_name(name),
					.count = count,
					.total_ns = total_ns,
					.median_ns = (double)NAN,
					.occupancy = (double)NAN};
	kernels->count++;
}

static int read_kernel(const struct reading *reading, const char *name, const json_t *kernel)
{
	struct gp_run_set *set = reading->set;
	double counts[GP_RANK_MOST], totals[GP_RANK_MOST];

	if (!read_values(json_object_get(kernel, "count"), set->count, counts) ||
	    !read_values(json_object_get(kernel, "total_ns"), set->count, totals))
		return refuse(reading, "a kernel does not have one count and time for each run");
	for (uint32_t i = 0; i < set->count; i++) {
		struct gp_named_list *kernels = &set->runs[i].figures.named[GP_NAMED_KERNEL];

		if (!(counts[i] > 0))
			continue;
		if (isnan(totals[i]))
			return refuse(reading, "a kernel with a count has no time");
		add_kernel(kernels, name, counts[i], totals[i]);
	}
	return 0;
}

static int read_kernels(const struct reading *reading, json_t *kernels)
{
	struct gp_run_set *set = reading->set;
	const char *name;
	json_t *kernel;
	int result = 0;

	if (!json_is_object(kernels))
		return refuse(reading, "it has no kernels");
	for (uint32_t i = 0; i < set->count; i++) {
		struct gp_named_list *list = &set->runs[i].figures.named[GP_NAMED_KERNEL];

		list->rows = calloc(json_object_size(kernels) + 1, sizeof(*list->rows));
	}
	json_object_foreach(kernels, name, kernel)
	{
		if (result == 0)
			result = read_kernel(reading, name, kernel);
	}
	for (uint32_t i = 0; i < set->count; i++)
		gp_named_sort(&set->runs[i].figures.named[GP_NAMED_KERNEL]);
	return result;
}

static int read_runs(const struct reading *reading, const json_t *root)
{
	struct gp_run_set *set = reading->set;
	json_int_t count = json_integer_value(json_object_get(root, "runs"));

	if (count < 1 || count > GP_RANK_MOST)
		return refuse(reading, "it has no runs, or too many");
	set->runs = calloc((size_t)count, sizeof(*set->runs));
	set->count = set->capacity = (uint32_t)count;
	for (uint32_t i = 0; i < set->count; i++) {
		set->runs[i].name = strdup(reading->name);
	}
	return 0;
}

static int read_root(const struct reading *reading, const json_t *root)
{
	const json_t *format = json_object_get(root, "gpuprof_baseline");
	int result;

	if (!json_is_integer(format))
		return refuse(reading, "it is another kind of file");
	if (json_integer_value(format) != FORMAT)
		return refuse(reading, "another version of gpuprof wrote it");
	result = read_runs(reading, root);
	if (result == 0)
		result = read_machine(reading, json_object_get(root, "machine"));
	if (result == 0)
		result = read_metrics(reading, json_object_get(root, "metrics"));
	if (result == 0)
		result = read_kernels(reading, json_object_get(root, "kernels"));
	return result;
}

int gp_baseline_parse(struct gp_run_set *set, const char *name, const char *text, char *message,
		      size_t message_bytes)
{
	const struct reading reading = {set, name, message, message_bytes};
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	char what[JSON_ERROR_TEXT_LENGTH + 32];
	int result;

	*set = (struct gp_run_set){0};
	if (!root) {
		snprintf(what, sizeof(what), "line %d: %s", error.line, error.text);
		return refuse(&reading, *text ? what : "it is empty");
	}
	result = read_root(&reading, root);
	json_decref(root);
	if (result < 0)
		gp_run_set_free(set);
	return result;
}

int gp_baseline_read(struct gp_run_set *set, const char *path, char *message, size_t message_bytes)
{
	char *text;
	int result = gp_small_file_read(path, FILE_BYTES, ORIGIN, &text, message, message_bytes);

	*set = (struct gp_run_set){0};
	if (result == 0)
		result = gp_baseline_parse(set, path, text, message, message_bytes);
	free(text);
	return result;
}
