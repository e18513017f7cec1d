#include "report/html/about.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/version.h"
#include "report/advice/advice.h"
#include "report/advice/advice_document.h"
#include "report/analysis/analysis.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/model/stack_metric.h"
#include "report/base/memstream.h"
#include "report/model/recorded.h"
#include "report/summary/part.h"

#define ROWS 12

static void put_text(struct gp_json *json, const char *key, const char *text)
{
	gp_json_key(json, key);
	gp_json_string(json, text, strlen(text));
}

static void put_number(struct gp_json *json, const char *key, uint64_t value)
{
	gp_json_key(json, key);
	gp_json_unsigned(json, value);
}

/* A moment, counted from the window's start. */
static void put_moment(struct gp_json *json, const char *key, const struct gp_summary *summary,
		       uint64_t unix_ns)
{
	gp_json_key(json, key);
	gp_json_signed(json, (int64_t)(unix_ns - summary->window.start_unix_ns));
}

static void put_info(struct gp_json *json, const char *key, const struct gp_model *model,
		     enum gp_info info)
{
	if (model->info[info])
		put_text(json, key, model->info[info]);
}

/* ---- processes and devices ---- */

static void put_process(struct gp_json *json, const struct gp_model *model)
{
	gp_json_text(json, "{\"pid\":");
	gp_json_unsigned(json, model->pid);
	put_info(json, "program", model, GP_INFO_PROGRAM);
	put_info(json, "command", model, GP_INFO_COMMAND);
	put_info(json, "host", model, GP_INFO_HOST);
	put_info(json, "directory", model, GP_INFO_DIRECTORY);
	put_info(json, "rank", model, GP_INFO_RANK);
	put_info(json, "options", model, GP_INFO_OPTIONS);
	put_info(json, "version", model, GP_INFO_VERSION);
	put_text(json, "driver",
		 gp_format_cuda_version(
			 model->info[GP_INFO_DRIVER_VERSION]
				 ? strtoul(model->info[GP_INFO_DRIVER_VERSION], NULL, 10)
				 : 0)
			 .text);
	if (model->path)
		put_text(json, "path", model->path);
	if (model->recorder)
		put_text(json, "recorder", model->recorder);
	gp_json_text(json, "}");
}

static void put_processes(struct gp_json *json, struct gp_model *const *models, size_t count)
{
	gp_json_key(json, "processes");
	gp_json_text(json, "[");
	for (size_t i = 0; i < count; i++) {
		gp_json_text(json, i > 0 ? "," : "");
		put_process(json, models[i]);
	}
	gp_json_text(json, "]");
}

/*
 * How long in each state; the page knows what the bits of the first ones mean, the others are idle
 * by cause.
 */
static void put_states(const struct gp_where *where, struct gp_json *json)
{
	gp_json_key(json, "states");
	for (unsigned i = 0; i < GP_STATES; i++) {
		gp_json_text(json, i > 0 ? "," : "[");
		gp_json_unsigned(json, where->state_ns[i]);
	}
	gp_json_text(json, "]");
}

static void put_causes(struct gp_json *json)
{
	gp_json_key(json, "causes");
	for (int i = 0; i < GP_IDLE_CAUSES; i++) {
		gp_json_text(json, i > 0 ? ",\"" : "[\"");
		gp_json_text(json, gp_idle_cause_name((enum gp_idle_cause)i));
		gp_json_text(json, "\"");
	}
	gp_json_text(json, "]");
}

/* What the kernels do, by their names: [kind's name, ...] and {kernel: number of its kind}. */
static void put_kinds(struct gp_model *const *models, size_t count, const struct gp_kinds *kinds,
		      struct gp_names *names, struct gp_json *json)
{
	const char *separator = "{";

	gp_json_key(json, "kinds");
	for (uint32_t i = 0; i < gp_kinds_count(kinds); i++) {
		gp_json_text(json, i > 0 ? "," : "[");
		gp_json_string(json, gp_kinds_name(kinds, i), strlen(gp_kinds_name(kinds, i)));
	}
	gp_json_text(json, "]");
	gp_json_key(json, "kindOf");
	for (size_t m = 0; m < count; m++)
		for (uint32_t i = 0; i < models[m]->name_count; i++) {
			const char *mangled = models[m]->names[i];
			const char *name = gp_names_short(names, mangled);

			gp_json_text(json, separator);
			gp_json_string(json, name, strlen(name));
			gp_json_text(json, ":");
			gp_json_unsigned(json, gp_kinds_find(kinds, gp_names_full(names, mangled)));
			separator = ",";
		}
	gp_json_text(json, *separator == '{' ? "{}" : "}");
}

/* What was printed to a stream of memory, which is closed. */
static int put_stream(struct gp_json *json, const char *key, FILE *out, char **text)
{
	int result = gp_memory_stream_close(out, text);

	if (result == 0)
		put_text(json, key, *text);
	free(*text);
	return result;
}

static int put_advice(const struct gp_summary *summary, struct gp_json *json)
{
	struct gp_document document = {0};
	struct gp_advice advice = {0};
	int result = gp_advice_from(summary->basis, summary->models, summary->model_count, &advice);

	if (result == 0) {
		gp_advice_describe(&advice, &document);
		gp_advice_add_rules(&advice, &document);
		gp_json_key(json, "advice");
		gp_document_write_json(&document, "", json);
		result = document.error;
	}
	gp_document_free(&document);
	gp_advice_free(&advice);
	return result;
}

static void put_device(const struct gp_summary *summary, size_t index, struct gp_json *json)
{
	const struct gp_device_entry *device = &summary->devices.entries[index];
	const struct gp_busy *busy = &summary->busy[index];
	char which[GP_GPU_WHICH_BYTES];

	gp_json_text(json, "{\"number\":");
	gp_json_unsigned(json, device->number);
	put_text(json, "name", device->name);
	gp_gpu_which(&device->gpu, which);
	if (*which && gp_device_list_is_renumbered(&summary->devices))
		put_text(json, "which", which);
	if (device->record) {
		put_number(json, "sms", device->record->multiprocessors);
		put_number(json, "memory", device->record->memory_bytes);
		put_number(json, "major", device->record->compute_major);
		put_number(json, "minor", device->record->compute_minor);
	}
	put_number(json, "operations", busy->operations);
	put_number(json, "busy", busy->inside_ns);
	put_number(json, "possible", busy->possible_ns);
	put_number(json, "outside", busy->outside_ns);
	put_states(&summary->basis->wheres.devices[index], json);
	gp_json_text(json, "}");
}

static void put_devices(const struct gp_summary *summary, struct gp_json *json)
{
	gp_json_key(json, "devices");
	gp_json_text(json, "[");
	for (size_t i = 0; i < summary->devices.count; i++) {
		gp_json_text(json, i > 0 ? "," : "");
		put_device(summary, i, json);
	}
	gp_json_text(json, "]");
}

/* Why the busy time of the GPUs is only the least that it was: nothing where it is known. */
static void put_doubt(const struct gp_summary *summary, struct gp_json *json)
{
	for (size_t i = 0; i < summary->model_count; i++) {
		const char *why = gp_recorded_why_not_all(summary->models[i]);

		if (why) {
			put_text(json, "doubt", why);
			return;
		}
	}
}

/* That recording paused: the busy time is that of the parts in which it was on. */
static void put_in_part(const struct gp_summary *summary, struct gp_json *json)
{
	for (size_t i = 0; i < summary->model_count; i++) {
		if (summary->models[i]->gate_count > 0) {
			put_number(json, "inPart", 1);
			return;
		}
	}
}

/* Where the time ends, if not with a call. */
static void put_end(const struct gp_summary *summary, struct gp_json *json)
{
	static const char *const ends[] = {
		[GP_SPAN_ENDS_WITH_OPERATION] = "operation",
		[GP_SPAN_ENDS_WITH_SIGN] = "sign of life",
	};
	enum gp_span_end end = gp_summary_span_end(summary);

	if (end != GP_SPAN_ENDS_WITH_CALL)
		put_text(json, "toLast", ends[end]);
}

/* ---- figures ---- */

static uint64_t sum_count(const struct gp_groups *groups)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < groups->count; i++)
		count += groups->rows[i].count;
	return count;
}

static uint64_t sum_bytes(const struct gp_groups *groups)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < groups->count; i++)
		if (strncmp(groups->rows[i].key, "o[memcpy", 8) == 0)
			bytes += groups->rows[i].bytes;
	return bytes;
}

static void put_figures(const struct gp_summary *summary, struct gp_json *json)
{
	const struct gp_activity *activity = &summary->activity;

	put_number(json, "span", summary->window.end_unix_ns - summary->window.start_unix_ns);
	put_text(json, "clock", gp_format_clock(summary->window.start_unix_ns).text);
	put_number(json, "calls", sum_count(&activity->calls));
	put_number(json, "callTime", gp_groups_time_ns(&activity->calls));
	put_number(json, "failures", activity->failures);
	put_number(json, "launches", activity->launches + activity->graph_launches);
	put_number(json, "kernels", activity->kernels);
	put_number(json, "copies", activity->copies);
	put_number(json, "copyBytes", sum_bytes(&activity->operations));
	put_number(json, "sets", activity->sets);
	put_number(json, "graphs", activity->graphs);
	put_number(json, "gpuTime", gp_groups_time_ns(&activity->operations));
}

static void put_memory_row(const struct gp_summary *summary, const struct gp_memory_row *row,
			   struct gp_json *json)
{
	gp_json_text(json, "{\"kind\":");
	gp_json_string(
		json, row->kind == GP_MEMORY_OF_DEVICE ? "all" : gp_allocation_name(row->kind),
		row->kind == GP_MEMORY_OF_DEVICE ? 3 : strlen(gp_allocation_name(row->kind)));
	if (row->device < summary->devices.count)
		put_number(json, "device", summary->devices.entries[row->device].number);
	put_number(json, "peak", row->peak_bytes);
	put_moment(json, "at", summary, row->peak_unix_ns);
	put_number(json, "allocations", row->allocations);
	put_number(json, "allocated", row->allocated_bytes);
	put_number(json, "frees", row->frees);
	put_number(json, "freed", row->freed_bytes);
	gp_json_text(json, "}");
}

static void put_memory(const struct gp_summary *summary, struct gp_json *json)
{
	gp_json_key(json, "memory");
	gp_json_text(json, "[");
	for (size_t i = 0; i < summary->memory.row_count; i++) {
		gp_json_text(json, i > 0 ? "," : "");
		put_memory_row(summary, &summary->memory.rows[i], json);
	}
	gp_json_text(json, "]");
}

static void put_measures(struct gp_json *json)
{
	gp_json_key(json, "measures");
	gp_json_text(json, "[");
	for (int i = 0; i < GP_STACK_METRICS; i++) {
		gp_json_text(json, i > 0 ? ",{\"word\":\"" : "{\"word\":\"");
		gp_json_text(json, gp_stack_metrics[i].word);
		gp_json_text(json, "\"");
		put_text(json, "title", gp_stack_metrics[i].title);
		put_text(json, "unit", gp_stack_metrics[i].unit);
		gp_json_text(json, "}");
	}
	gp_json_text(json, "]");
}

/* ---- texts that the summary prints ---- */

static void print_partial(FILE *out, struct gp_model *const *models, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		gp_summary_print_partial(out, models[i]);
		if (gp_recorded_is_last_part(models[i]))
			fprintf(out,
				"LAST PART: of what pid %u recorded, --keep-last kept the end; records dropped before it: %s\n",
				models[i]->pid,
				gp_format_count(models[i]->counters[GP_COUNTER_LEFT_OUT_OLD]).text);
	}
}

static void print_summary(FILE *out, struct gp_model *const *models, size_t count)
{
	gp_summary_print(out, models, count, &(struct gp_summary_options){.row_limit = ROWS});
}

static int put_printed(struct gp_json *json, const char *key, struct gp_model *const *models,
		       size_t count,
		       void (*print)(FILE *out, struct gp_model *const *models, size_t count))
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return -ENOMEM;
	print(out, models, count);
	return put_stream(json, key, out, &text);
}

/* What a part of the summary prints on one screen; "" where it has nothing to say. */
static int put_part(const struct gp_summary *summary, struct gp_json *json, const char *key,
		    int (*print)(const struct gp_summary *summary))
{
	struct gp_summary one_line = *summary;
	char *text = NULL;
	size_t length;
	int result;

	one_line.options = &(struct gp_summary_options){.brief = true};
	one_line.out = open_memstream(&text, &length);
	if (!one_line.out)
		return -ENOMEM;
	result = print(&one_line);
	if (gp_memory_stream_close(one_line.out, &text) != 0)
		result = -ENOMEM;
	if (result == 0)
		put_text(json, key, text);
	free(text);
	return result;
}

static size_t choose_used(struct gp_model *const *models, size_t count, struct gp_model **used)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		if (models[i]->call_count > 0 || models[i]->op_count > 0)
			used[found++] = models[i];
	return found;
}

static int put_used(struct gp_model *const *models, size_t count, const struct gp_kinds *kinds,
		    struct gp_json *json)
{
	struct gp_summary summary = {.models = models, .model_count = count, .kinds = kinds};
	int result = gp_summary_gather(&summary);

	if (result == 0) {
		put_figures(&summary, json);
		put_devices(&summary, json);
		put_doubt(&summary, json);
		put_in_part(&summary, json);
		put_end(&summary, json);
		put_memory(&summary, json);
		result = put_part(&summary, json, "left", gp_summary_print_left);
	}
	if (result == 0)
		result = put_part(&summary, json, "outlier", gp_summary_print_lone);
	if (result == 0)
		result = put_advice(&summary, json);
	gp_summary_release(&summary);
	return result;
}

int gp_html_about(struct gp_model *const *models, size_t model_count, const struct gp_kinds *kinds,
		  struct gp_names *names, struct gp_json *json)
{
	struct gp_model **used = calloc(model_count + 1, sizeof(*used));
	size_t used_count = used ? choose_used(models, model_count, used) : 0;
	int result = used ? 0 : -ENOMEM;

	gp_json_text(json, "{\"version\":\"" GP_VERSION "\"");
	put_processes(json, models, model_count);
	put_measures(json);
	put_causes(json);
	put_kinds(models, model_count, kinds, names, json);
	if (result == 0 && used_count > 0)
		result = put_used(used, used_count, kinds, json);
	if (result == 0)
		result = put_printed(json, "partial", models, model_count, print_partial);
	if (result == 0)
		result = put_printed(json, "summary", models, model_count, print_summary);
	gp_json_text(json, "}");
	free(used);
	return result;
}
