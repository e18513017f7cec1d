#include "report/serve/endpoints.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "report/advice/advice_print.h"
#include "report/export/export.h"
#include "report/base/text/format.h"
#include "report/html/html.h"
#include "report/tables/memory_page.h"
#include "report/serve/spans.h"
#include "report/summary/summary_document.h"
#include "report/tables/summary_by.h"
#include "report/timeline/timeline.h"

/* Larger than any time in a trace; the sum of two fits. */
#define MOST_NS  999999999999999999
#define MOST_ROW 1000000000
#define ROWS     10000 /* default rows of a table: iterations may have millions */

#define PERFETTO_UI "https://ui.perfetto.dev"

static int take_number(const struct gp_call_of_endpoint *call, const char *name, int64_t least,
		       int64_t most, int64_t *number)
{
	return gp_request_number(call->request, name, least, most, number, call->message,
				 GP_MESSAGE_BYTES);
}

static int take_time(const struct gp_call_of_endpoint *call, const char *name, int64_t least_ns,
		     int64_t *time_ns)
{
	return gp_request_time(call->request, name, least_ns, MOST_NS, time_ns, call->message,
			       GP_MESSAGE_BYTES);
}

static int check_order(const struct gp_call_of_endpoint *call, int64_t from_ns, int64_t to_ns)
{
	if (from_ns < to_ns)
		return 0;
	snprintf(call->message, GP_MESSAGE_BYTES,
		 "from must be before to, not %" PRId64 " and %" PRId64 " ns", from_ns, to_ns);
	return -EINVAL;
}

int gp_endpoint_page(const struct gp_call_of_endpoint *call, FILE *out)
{
	const struct gp_html_options options = {.event_limit = call->site->event_limit,
						.least_ns = call->site->least_ns,
						.perfetto_ui = PERFETTO_UI};

	return gp_html_write(call->site->models, call->site->model_count, &options, out, NULL);
}

/* ---- tables ---- */

static int take_names(const struct gp_call_of_endpoint *call, struct gp_summary_by *by)
{
	const char *names = gp_request_value(call->request, "names");

	if (!names || strcmp(names, "short") == 0)
		return 0;
	by->full_names = strcmp(names, "full") == 0;
	if (by->full_names)
		return 0;
	snprintf(call->message, GP_MESSAGE_BYTES, "names needs short or full, not %.60s", names);
	return -EINVAL;
}

static int check_tables(const struct gp_call_of_endpoint *call, const struct gp_summary_by *by)
{
	int result = gp_summary_by_check(by, call->message, GP_MESSAGE_BYTES);

	if (result == -ENOENT)
		snprintf(call->message, GP_MESSAGE_BYTES,
			 "there is no such table in %.100s; see gpuprof summary --by help",
			 by->words);
	return result < 0 ? -EINVAL : 0;
}

/* words NULL: the tables of the first screen. */
static int write_tables(const struct gp_call_of_endpoint *call, const char *words, FILE *out)
{
	struct gp_summary_by by = {.words = words ? words : gp_summary_page_words,
				   .write_more = words ? NULL : gp_summary_write_documents,
				   .format = &gp_table_json,
				   .sort = gp_request_value(call->request, "sort")};
	int64_t rows = ROWS;
	int result = take_number(call, "top", 0, MOST_ROW, &rows);

	by.row_limit = (size_t)rows;
	if (result == 0)
		result = take_names(call, &by);
	if (result == 0)
		result = check_tables(call, &by);
	if (result < 0)
		return result;
	return gp_summary_by_print(out, call->site->models, call->site->model_count, &by);
}

int gp_endpoint_summary(const struct gp_call_of_endpoint *call, FILE *out)
{
	return write_tables(call, gp_request_value(call->request, "by"), out);
}

int gp_endpoint_kernels(const struct gp_call_of_endpoint *call, FILE *out)
{
	return write_tables(call, "kernel", out);
}

int gp_endpoint_holistic(const struct gp_call_of_endpoint *call, FILE *out)
{
	return write_tables(call, "time,idle,kind,kernel", out);
}

int gp_endpoint_compile(const struct gp_call_of_endpoint *call, FILE *out)
{
	return write_tables(call, "module,tuning", out);
}

int gp_endpoint_memory(const struct gp_call_of_endpoint *call, FILE *out)
{
	return write_tables(call, gp_memory_page_words, out);
}

int gp_endpoint_advice(const struct gp_call_of_endpoint *call, FILE *out)
{
	struct gp_advice advice;
	int result = gp_advice_of(call->site->models, call->site->model_count, &advice);

	if (result == 0)
		result = gp_advice_print_json(out, &advice);
	gp_advice_free(&advice);
	return result;
}

/* ---- formats ---- */

static const struct gp_model *get_model(void *context, size_t index)
{
	const struct gp_site *site = context;

	return site->models[index];
}

static int write_format(const struct gp_call_of_endpoint *call, const struct gp_exporter *exporter,
			const struct gp_export_options *options, FILE *out)
{
	const struct gp_export_source source = {
		.count = call->site->model_count, .get = get_model, .context = call->site};

	return exporter->write(&source, options, out);
}

int gp_endpoint_flame(const struct gp_call_of_endpoint *call, FILE *out)
{
	const char *value = gp_request_value(call->request, "value");
	const struct gp_export_options options = {.measure = value ? gp_stack_metric_find(value)
								   : GP_STACK_METRICS};
	size_t used;

	if (!value || options.measure < GP_STACK_METRICS)
		return write_format(call, &gp_exporter_speedscope, &options, out);
	used = (size_t)snprintf(call->message, GP_MESSAGE_BYTES,
				"there is no value %.60s; use one of", value);
	for (int i = 0; i < GP_STACK_METRICS && used < GP_MESSAGE_BYTES; i++)
		used += (size_t)snprintf(call->message + used, GP_MESSAGE_BYTES - used, "%s %s",
					 i > 0 ? "," : "", gp_stack_metrics[i].word);
	return -EINVAL;
}

/* Refuses an empty part, as export does. An empty trace may be written as a whole. */
static int check_part(const struct gp_call_of_endpoint *call, const struct gp_slice_choice *choice)
{
	uint64_t last_ns = 0;

	if (choice->from_ns == 0 && choice->to_ns == 0 && choice->least_ns == 0)
		return 0;
	for (size_t i = 0; i < call->site->model_count; i++) {
		const struct gp_model *model = call->site->models[i];

		if (gp_timeline_has_any(model, choice))
			return 0;
		if (model->last_ns - model->first_ns > last_ns)
			last_ns = model->last_ns - model->first_ns;
	}
	snprintf(call->message, GP_MESSAGE_BYTES,
		 "there are no events in that part; calls and operations last from 0 to %s",
		 gp_format_ns(last_ns).text);
	return -EINVAL;
}

/* Parameters as --start, --end and --min-duration of export. */
int gp_endpoint_trace(const struct gp_call_of_endpoint *call, FILE *out)
{
	int64_t from_ns = 0, to_ns = 0, least_ns = 0;
	struct gp_export_options options = {.measure = GP_STACK_METRICS};
	int result = take_time(call, "from", 0, &from_ns);

	if (result == 0)
		result = take_time(call, "to", 1, &to_ns);
	if (result == 0)
		result = take_time(call, "least", 0, &least_ns);
	if (result == 0 && to_ns > 0)
		result = check_order(call, from_ns, to_ns);
	options.choice = (struct gp_slice_choice){.from_ns = (uint64_t)from_ns,
						  .to_ns = (uint64_t)to_ns,
						  .least_ns = (uint64_t)least_ns};
	if (result == 0)
		result = check_part(call, &options.choice);
	return result < 0 ? result : write_format(call, &gp_exporter_perfetto, &options, out);
}

/* ---- the timeline ---- */

static int take_window(const struct gp_call_of_endpoint *call, struct gp_span_query *query)
{
	int64_t least_ns = 0, limit = GP_SPANS_USUAL;
	int result = take_time(call, "from", -MOST_NS, &query->from_ns);

	if (result == 0)
		result = take_time(call, "to", -MOST_NS, &query->to_ns);
	if (result == 0)
		result = take_time(call, "least", 0, &least_ns);
	if (result == 0)
		result = take_number(call, "limit", 1, GP_SPANS_MOST, &limit);
	query->least_ns = (uint64_t)least_ns;
	query->limit = (uint32_t)limit;
	return result < 0 ? result : check_order(call, query->from_ns, query->to_ns);
}

int gp_endpoint_timeline(const struct gp_call_of_endpoint *call, FILE *out)
{
	struct gp_span_query query = {.from_ns = -MOST_NS, .to_ns = MOST_NS};
	struct gp_site *site = call->site;
	int result = take_window(call, &query);

	if (result == 0 && !site->spans)
		result = gp_spans_new(site->models, site->model_count, &site->spans);
	return result < 0 ? result : gp_spans_write(site->spans, &query, out);
}
