#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/base/text/paragraph.h"
#include "report/model/sums/counts.h"
#include "report/model/recorded.h"
#include "report/base/spill_memory.h"
#include "report/summary/part.h"
#include "report/base/text/text.h"

#define WAITING_CALLS 4 /* that are printed */

/* The counter is written about once a second; what ended last was delivered later than it ended. */
static uint64_t last_delivery_ns(const struct gp_model *model)
{
	uint64_t latest_ns = model->last_delivery_ns;

	for (uint32_t i = 0; i < model->op_count; i++)
		if (!model->ops[i].untimed && model->ops[i].end_ns > latest_ns)
			latest_ns = model->ops[i].end_ns;
	return latest_ns;
}

static void describe_end(char *text, size_t size, const struct gp_model *model)
{
	uint64_t end_ns = gp_recorded_last_known_ns(model);
	int used;

	if (!gp_counts_any(model) || end_ns < model->first_ns) {
		snprintf(text, size, "it ends before the first recorded CUDA call");
		return;
	}
	used = snprintf(text, size, "it ends %s after the first recorded CUDA call",
			gp_format_ns(end_ns - model->first_ns).text);
	if (model->last_call_ns > 0 && end_ns > model->last_call_ns)
		snprintf(text + used, size - (size_t)used, ", %s after the last one",
			 gp_format_ns(end_ns - model->last_call_ns).text);
}

static void describe_delivery(char *text, size_t size, const struct gp_model *model)
{
	uint64_t end_ns = gp_recorded_last_known_ns(model);
	uint64_t delivered_ns = last_delivery_ns(model);

	if (delivered_ns == 0 && gp_counts_of(model).operations > 0)
		snprintf(text, size, "when CUPTI last delivered GPU records is not known");
	else if (delivered_ns == 0)
		snprintf(text, size, "no GPU record is in the trace");
	else
		snprintf(text, size, "CUPTI delivered GPU records last %s %s",
			 gp_format_ns(end_ns > delivered_ns ? end_ns - delivered_ns : 0).text,
			 model->losses.live ? "ago" : "before the end");
}

static void describe_damage(char *text, size_t size, const struct gp_model *model)
{
	uint64_t bytes = model->losses.damaged_bytes;

	snprintf(text, size, "%s damaged byte%s of its file %s skipped",
		 gp_format_count(bytes).text, bytes == 1 ? "" : "s", bytes == 1 ? "was" : "were");
}

/* It ended in order, but a part of what it recorded cannot be read. */
static void print_damaged(FILE *out, const struct gp_model *model)
{
	char text[96];

	describe_damage(text, sizeof(text), model);
	fprintf(out, "PARTIAL: pid %u closed its trace, but %s: what they held is missing\n",
		model->pid, text);
}

/* What was saved, how old the last GPU records are, and what waits for its own. */
static void print_remains(FILE *out, const struct gp_model *model)
{
	struct gp_paragraph paragraph = {.out = out, .columns = GP_SUMMARY_COLUMNS};
	char text[128];

	describe_end(text, sizeof(text), model);
	gp_paragraph_add(&paragraph, text);
	if (model->losses.cut)
		gp_paragraph_add(&paragraph, "the file ends within a chunk");
	if (model->losses.recovered_records > 0) {
		snprintf(text, sizeof(text), "%s record%s recovered from its rings",
			 gp_format_count(model->losses.recovered_records).text,
			 model->losses.recovered_records == 1 ? " was" : "s were");
		gp_paragraph_add(&paragraph, text);
		if (model->losses.in_rings)
			gp_paragraph_add(&paragraph,
					 "the file does not have them yet: gpuprof finish FILE");
	}
	if (model->losses.damaged_bytes > 0) {
		describe_damage(text, sizeof(text), model);
		gp_paragraph_add(&paragraph, text);
	}
	describe_delivery(text, sizeof(text), model);
	gp_paragraph_add(&paragraph, text);
	if (model->losses.launches_without_op > 0) {
		snprintf(text, sizeof(text), "launches without GPU record: %s",
			 gp_format_count(model->losses.launches_without_op).text);
		gp_paragraph_add(&paragraph, text);
	}
	if (model->losses.copies_in_flight > 0) {
		snprintf(text, sizeof(text), "copies and sets without GPU record: %s",
			 gp_format_count(model->losses.copies_in_flight).text);
		gp_paragraph_add(&paragraph, text);
	}
	gp_paragraph_end(&paragraph);
}

static int compare_starts(const void *a, const void *b, const void *context)
{
	const struct gp_waiting *left = a, *right = b;

	(void)context;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static void print_waiting(FILE *out, const struct gp_model *model, const struct gp_waiting *waiting)
{
	char *name = gp_text_escape(gp_model_api(model, waiting->api).name);
	char *thread = gp_text_escape(gp_model_thread_name(model, waiting->thread_id));
	uint64_t end_ns = gp_recorded_last_known_ns(model);

	fprintf(out, "  in %s", name ? name : "a call");
	if (end_ns > waiting->start_ns)
		fprintf(out, " for %s%s", model->losses.live ? "" : "at least ",
			gp_format_ns(end_ns - waiting->start_ns).text);
	fprintf(out, "%s: %s %u\n", end_ns > waiting->start_ns ? "" : " at the end",
		thread && *thread ? thread : "thread", waiting->thread_id);
	free(name);
	free(thread);
}

/* What threads waited for, those that waited longest. */
static void print_all_waiting(FILE *out, const struct gp_model *model)
{
	uint32_t count = model->waiting_count;
	uint32_t *order = gp_array_order(model->waiting, count, sizeof(*model->waiting),
					 compare_starts, NULL);

	for (uint32_t i = 0; order && i < count && i < WAITING_CALLS; i++)
		print_waiting(out, model, &model->waiting[order[i]]);
	if (count > WAITING_CALLS)
		fprintf(out, "  in calls that wait: %s threads more\n",
			gp_format_count(count - WAITING_CALLS).text);
	gp_spill_free(order);
}

/*
 * A trace of another profiler: what it has not is missing, and nothing is known of the process's
 * end.
 */
static void print_cut_import(FILE *out, const struct gp_model *model)
{
	char text[96];

	describe_end(text, sizeof(text), model);
	fprintf(out, "PARTIAL: the trace of pid %u has no end: %s\n  %s\n", model->pid,
		gp_recorded_why_no_end(model), text);
}

/* With the signal where gpuprof-run saw it. */
static void print_no_end(FILE *out, const struct gp_model *model)
{
	fprintf(out, "did not close its trace: %s", gp_recorded_why_no_end(model));
	if (model->losses.end_way == GP_END_SIGNAL)
		fprintf(out, " (%s)", gp_recorded_how_ended(model).text);
	fputs("\n", out);
}

/* It ended in order, but not what it had launched: figures of the GPU lack that. */
static void print_cut_off(FILE *out, const struct gp_model *model)
{
	fprintf(out, "UNFINISHED: pid %u ended while its GPU was at work\n", model->pid);
	gp_summary_print_unfinished(out, 2, model);
}

void gp_summary_print_partial(FILE *out, const struct gp_model *model)
{
	if (gp_recorded_is_whole(model)) {
		if (model->losses.damaged_bytes > 0)
			print_damaged(out, model);
		if (gp_summary_is_cut_off(model))
			print_cut_off(out, model);
		return;
	}
	if (model->recorder) {
		print_cut_import(out, model);
		return;
	}
	fprintf(out, "PARTIAL: pid %u ", model->pid);
	if (model->losses.live)
		fputs("still runs; this is what it had recorded so far\n", out);
	else if (model->losses.closed)
		fputs("closed its trace, but the file was cut\n", out);
	else
		print_no_end(out, model);
	print_remains(out, model);
	gp_summary_print_unfinished(out, 2, model);
	print_all_waiting(out, model);
}
