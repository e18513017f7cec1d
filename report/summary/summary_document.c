#include "report/summary/summary_document.h"

#include "report/advice/advice_document.h"
#include "report/analysis/analysis.h"
#include "report/base/text/format.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/model/stack_estimate.h"
#include "report/trace/cuda_names.h"

static void add_count(struct gp_document *document, const char *id, uint64_t count)
{
	gp_document_add_number(document, id, GP_UNIT_COUNT, count);
}

static void add_ns(struct gp_document *document, const char *id, uint64_t ns)
{
	gp_document_add_number(document, id, GP_UNIT_NS, ns);
}

static void add_bytes(struct gp_document *document, const char *id, uint64_t bytes)
{
	gp_document_add_number(document, id, GP_UNIT_BYTES, bytes);
}

/* ---- facts ---- */

static uint64_t sum_count(const struct gp_groups *groups)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < groups->count; i++)
		count += groups->rows[i].count;
	return count;
}

static void add_activity(const struct gp_activity *activity, struct gp_document *document)
{
	add_count(document, "calls", sum_count(&activity->calls));
	add_ns(document, "call_ns", gp_groups_time_ns(&activity->calls));
	add_count(document, "failures", activity->failures);
	add_count(document, "launches", activity->launches);
	add_count(document, "graph_launches", activity->graph_launches);
	add_count(document, "kernels", activity->kernels);
	add_count(document, "copies", activity->copies);
	add_bytes(document, "copy_bytes", activity->copy_bytes);
	add_count(document, "memsets", activity->sets);
	add_count(document, "graphs", activity->graphs);
	add_ns(document, "gpu_ns", gp_groups_time_ns(&activity->operations));
}

/* Why busy times are lower bounds; whether recording paused; which event ends the span. */
static void add_limits(const struct gp_summary *summary, struct gp_document *document)
{
	static const char *const ends[] = {
		[GP_SPAN_ENDS_WITH_CALL] = "call",
		[GP_SPAN_ENDS_WITH_OPERATION] = "operation",
		[GP_SPAN_ENDS_WITH_SIGN] = "sign of life",
	};
	const char *doubt = NULL;
	bool has_pauses = false;

	for (size_t i = 0; i < summary->model_count; i++) {
		doubt = doubt ? doubt : gp_recorded_why_not_all(summary->models[i]);
		has_pauses |= summary->models[i]->gate_count > 0;
	}
	gp_document_add_text(document, "doubt", doubt);
	gp_document_add_flag(document, "has_pauses", has_pauses);
	gp_document_add_text(document, "ends_with", ends[gp_summary_span_end(summary)]);
}

/* Launches whose stack is that of a similar one; the part of their GPU time at a wrong stack. */
static void add_estimates(const struct gp_summary *summary, struct gp_document *document)
{
	struct gp_stack_estimate sum = {0};
	double error;

	for (size_t i = 0; i < summary->model_count; i++)
		gp_stack_estimate_add(&sum, &summary->models[i]->stack_estimate);
	if (sum.estimated_calls == 0)
		return;
	error = gp_stack_estimate_error(&sum);
	add_count(document, "stacks_sampled", sum.sampled_calls);
	add_count(document, "stacks_estimated", sum.estimated_calls);
	if (error >= 0)
		gp_document_add(document, "stacks_wrong", GP_UNIT_RATIO, gp_value_real(error));
}

/* ---- devices ---- */

static void add_device(const struct gp_summary *summary, size_t index, struct gp_document *document)
{
	const struct gp_device_entry *device = &summary->devices.entries[index];
	const struct gp_busy *busy = &summary->busy[index];
	char which[GP_GPU_WHICH_BYTES];

	gp_document_add_row(document);
	gp_document_add_number(document, "number", GP_UNIT_NUMBER, device->number);
	gp_document_add_text(document, "name", device->name);
	gp_gpu_which(&device->gpu, which);
	if (*which && gp_device_list_is_renumbered(&summary->devices))
		gp_document_add_text(document, "which", which);
	if (device->record) {
		add_count(document, "sms", device->record->multiprocessors);
		add_bytes(document, "memory_bytes", device->record->memory_bytes);
	}
	if (device->record && device->record->compute_major > 0) {
		gp_document_add_number(document, "major", GP_UNIT_NUMBER,
				       device->record->compute_major);
		gp_document_add_number(document, "minor", GP_UNIT_NUMBER,
				       device->record->compute_minor);
	}
	if (summary->basis->owners[index] < summary->model_count)
		gp_document_add_text(
			document, "process",
			gp_process_name(summary->models[summary->basis->owners[index]]).text);
	add_count(document, "operations", busy->operations);
	add_ns(document, "busy_ns", busy->inside_ns);
	add_ns(document, "possible_ns", busy->possible_ns);
	add_ns(document, "outside_ns", busy->outside_ns);
}

static void add_states(const struct gp_summary *summary, size_t index, struct gp_document *document)
{
	const struct gp_where *where = &summary->basis->wheres.devices[index];

	for (unsigned i = 0; i < GP_STATES; i++) {
		if (where->state_ns[i] == 0)
			continue;
		gp_document_add_row(document);
		gp_document_add_number(document, "device", GP_UNIT_NUMBER,
				       summary->devices.entries[index].number);
		if (i < GP_STATE_IDLE) {
			gp_document_add_number(document, "classes", GP_UNIT_NUMBER, i);
		} else {
			enum gp_idle_cause cause = (enum gp_idle_cause)(i - GP_STATE_IDLE);

			gp_document_add_text(document, "idle_cause", gp_idle_cause_name(cause));
			gp_document_add_text(document, "text", gp_idle_cause_words(cause));
		}
		add_ns(document, "time_ns", where->state_ns[i]);
	}
}

static void add_memory_row(const struct gp_summary *summary, const struct gp_memory_row *row,
			   struct gp_document *document)
{
	gp_document_add_row(document);
	gp_document_add_text(document, "kind",
			     row->kind == GP_MEMORY_OF_DEVICE ? "all"
							      : gp_allocation_name(row->kind));
	if (row->device < summary->devices.count)
		gp_document_add_number(document, "device", GP_UNIT_NUMBER,
				       summary->devices.entries[row->device].number);
	add_bytes(document, "peak_bytes", row->peak_bytes);
	gp_document_add(document, "at_ns", GP_UNIT_MOMENT,
			gp_value_moment((int64_t)(row->peak_time - summary->window.start_unix_ns)));
	add_count(document, "allocations", row->allocations);
	add_bytes(document, "allocated_bytes", row->allocated_bytes);
	add_count(document, "frees", row->frees);
	add_bytes(document, "freed_bytes", row->freed_bytes);
}

int gp_summary_add_devices(const struct gp_summary *summary, struct gp_document *document)
{
	gp_document_add_section(document, "devices");
	for (size_t i = 0; i < summary->devices.count; i++)
		add_device(summary, i, document);
	gp_document_add_section(document, "states");
	for (size_t i = 0; i < summary->devices.count; i++)
		add_states(summary, i, document);
	return 0;
}

int gp_summary_add_memory(const struct gp_summary *summary, struct gp_document *document)
{
	bool is_known = !gp_recorded_any_sampled(summary->models, summary->model_count);

	gp_document_add_section(document, "memory");
	for (size_t i = 0; is_known && i < summary->memory.row_count; i++)
		add_memory_row(summary, &summary->memory.rows[i], document);
	return 0;
}

static int describe_used(const struct gp_summary *summary, struct gp_document *document)
{
	add_ns(document, "span_ns", summary->window.end_unix_ns - summary->window.start_unix_ns);
	gp_document_add_text(document, "clock",
			     gp_format_clock(summary->window.start_unix_ns).text);
	add_activity(&summary->activity, document);
	add_limits(summary, document);
	add_estimates(summary, document);
	return gp_summary_add_sections(summary, document);
}

static void add_last_part(const struct gp_model *model, struct gp_document *document)
{
	gp_document_add_row(document);
	gp_document_add_text(document, "id", "last-part");
	gp_document_add_words(
		document, "text",
		"LAST PART: --keep-last kept the end of the recording of %s; records dropped before it: %s",
		gp_process_name(model).text,
		gp_format_count(model->counters[GP_COUNTER_LEFT_OUT_OLD]).text);
	gp_document_add_number(document, "pid", GP_UNIT_NUMBER, model->pid);
}

/* A row with a pid begins a new line of the page: that of the first process. */
static void add_sampled(const struct gp_summary *summary, struct gp_document *document)
{
	char text[GP_SUMMARY_SAMPLED_BYTES];

	gp_summary_say_sampled(summary, text, sizeof(text));
	gp_document_add_row(document);
	gp_document_add_text(document, "id", "sampled");
	gp_document_add_text(document, "text", text);
	gp_document_add_number(document, "pid", GP_UNIT_NUMBER, summary->models[0]->pid);
}

int gp_summary_describe(const struct gp_summary *summary, struct gp_document *document)
{
	int result = summary->basis ? describe_used(summary, document) : 0;

	gp_document_add_section(document, "incomplete");
	for (size_t i = 0; i < summary->all_count; i++) {
		gp_summary_add_partial(document, summary->all_models[i]);
		if (gp_recorded_is_last_part(summary->all_models[i]))
			add_last_part(summary->all_models[i], document);
	}
	if (gp_recorded_any_sampled(summary->models, summary->model_count))
		add_sampled(summary, document);
	return result == 0 ? document->error : result;
}

static int write_advice(struct gp_table_writer *writer, const struct gp_summary *summary)
{
	const struct gp_advice *advice = gp_summary_advice(summary);
	struct gp_document document = {0};

	gp_advice_describe(advice, &document);
	gp_table_writer_document(writer, "advice", &document);
	gp_document_free(&document);
	return 0;
}

int gp_summary_write_documents(struct gp_table_writer *writer, struct gp_scope *scope)
{
	struct gp_document document = {0};
	struct gp_summary summary;
	int result;

	if (writer->format != &gp_table_json)
		return 0;
	result = gp_summary_open_scope(&summary, scope);
	if (result == 0)
		result = gp_summary_describe(&summary, &document);
	if (result == 0)
		gp_table_writer_document(writer, "summary", &document);
	if (result == 0 && summary.model_count > 0)
		result = write_advice(writer, &summary);
	gp_document_free(&document);
	gp_summary_close(&summary);
	return result;
}
