#include "report/html/about.h"

#include <stdlib.h>
#include <string.h>

#include "gpuprof/version.h"
#include "report/advice/advice_document.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/model/stack_metric.h"
#include "report/base/memstream.h"
#include "report/summary/part.h"
#include "report/summary/summary_document.h"

#define ROWS 12

static void put_text(struct gp_json *json, const char *key, const char *text)
{
	gp_json_key(json, key);
	gp_json_string(json, text, strlen(text));
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

/* The kinds of kernels, by their names: [name of a kind, ...] and {kernel: number of its kind}. */
static void put_kinds(struct gp_scope *scope, struct gp_json *json)
{
	const struct gp_kinds *kinds = gp_scope_kinds(scope);
	struct gp_names *names = scope->names;
	const char *separator = "{";

	gp_json_key(json, "kinds");
	for (uint32_t i = 0; i < gp_kinds_count(kinds); i++) {
		gp_json_text(json, i > 0 ? "," : "[");
		gp_json_string(json, gp_kinds_name(kinds, i), strlen(gp_kinds_name(kinds, i)));
	}
	gp_json_text(json, "]");
	gp_json_key(json, "kindOf");
	for (size_t m = 0; m < scope->model_count; m++)
		for (uint32_t i = 0; i < scope->models[m]->name_count; i++) {
			const char *mangled = scope->models[m]->names[i];
			const char *name = gp_names_short(names, mangled);

			gp_json_text(json, separator);
			gp_json_string(json, name, strlen(name));
			gp_json_text(json, ":");
			gp_json_unsigned(json, gp_kinds_find(kinds, gp_names_full(names, mangled)));
			separator = ",";
		}
	gp_json_text(json, *separator == '{' ? "{}" : "}");
}

/* ---- the summary and advice ---- */

static int put_advice(const struct gp_summary *summary, struct gp_json *json)
{
	const struct gp_advice *advice = gp_summary_advice(summary);
	struct gp_document document = {0};

	if (advice) {
		gp_advice_describe(advice, &document);
		gp_advice_add_rules(advice, &document);
		gp_json_key(json, "advice");
		gp_json_text(json, "{");
		gp_document_write_json(&document, json);
		gp_json_text(json, "}");
	}
	gp_document_free(&document);
	return 0;
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

/* The output of `gpuprof summary --full`. */
static void put_summary_text(struct gp_summary *summary, struct gp_json *json)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	gp_summary_write(out, summary, &(struct gp_summary_options){.row_limit = ROWS});
	gp_memstream_close(out, &text);
	put_text(json, "summary", text);
	free(text);
}

static int put_summary(struct gp_summary *summary, struct gp_json *json)
{
	struct gp_document document = {0};
	int result = gp_summary_describe(summary, &document);

	if (result == 0 && summary->model_count > 0)
		result = put_advice(summary, json);
	if (result == 0)
		put_summary_text(summary, json);
	gp_json_text(json, ",");
	gp_document_write_json(&document, json);
	gp_document_free(&document);
	return result;
}

int gp_html_about(struct gp_scope *scope, struct gp_json *json)
{
	struct gp_summary summary;
	int result = gp_summary_open_scope(&summary, scope);

	gp_json_text(json, "{\"version\":\"" GP_VERSION "\"");
	put_processes(json, scope->models, scope->model_count);
	put_measures(json);
	put_causes(json);
	if (result == 0)
		put_kinds(scope, json);
	if (result == 0)
		result = put_summary(&summary, json);
	gp_json_text(json, "}");
	gp_summary_close(&summary);
	return result;
}
