#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/memstream.h"
#include "report/base/text/format.h"
#include "report/base/text/paragraph.h"
#include "report/model/sums/counts.h"
#include "report/model/losses.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/base/spill_memory.h"
#include "report/summary/part.h"
#include "report/base/text/text.h"

#define WAITING_CALLS 4 /* that are printed */

/* The counter is written once a second; an operation is delivered after it ended. */
static uint64_t last_delivery_ns(const struct gp_model *model)
{
	uint64_t latest_ns = model->last_delivery_ns;

	for (uint32_t i = 0; i < model->op_count; i++)
		if (!model->ops[i].untimed && model->ops[i].end_ns > latest_ns)
			latest_ns = model->ops[i].end_ns;
	return latest_ns;
}

/* Add a sentence, or a piece of one. */
#define add(document, id, ...)                                                                     \
	(begin(document, id), gp_document_add_words(document, "text", __VA_ARGS__))

#define add_head(document, id, model, ...)                                                         \
	(add(document, id, __VA_ARGS__),                                                           \
	 gp_document_add_number(document, "pid", GP_UNIT_NUMBER, (model)->pid))

static void begin(struct gp_document *document, const char *id)
{
	gp_document_add_row(document);
	gp_document_add_text(document, "id", id);
}

static void add_end(struct gp_document *document, const struct gp_model *model)
{
	uint64_t end_ns = gp_recorded_last_known_ns(model);

	if (!gp_counts_any(model) || end_ns < model->first_ns)
		add(document, "end", "it ends before the first recorded CUDA call");
	else if (model->last_call_ns > 0 && end_ns > model->last_call_ns)
		add(document, "end",
		    "it ends %s after the first recorded CUDA call, %s after the last one",
		    gp_format_ns(end_ns - model->first_ns).text,
		    gp_format_ns(end_ns - model->last_call_ns).text);
	else
		add(document, "end", "it ends %s after the first recorded CUDA call",
		    gp_format_ns(end_ns - model->first_ns).text);
}

static void add_delivery(struct gp_document *document, const struct gp_model *model)
{
	uint64_t end_ns = gp_recorded_last_known_ns(model);
	uint64_t delivered_ns = last_delivery_ns(model);

	if (delivered_ns == 0 && gp_counts_of(model).operations > 0)
		add(document, "delivery", "when CUPTI last delivered GPU records is not known");
	else if (delivered_ns == 0)
		add(document, "delivery", "the trace has no GPU records");
	else
		add(document, "delivery", "CUPTI last delivered GPU records %s %s",
		    gp_format_ns(end_ns > delivered_ns ? end_ns - delivered_ns : 0).text,
		    model->losses.live ? "ago" : "before the end");
}

static void describe_damage(char *text, size_t size, const struct gp_model *model)
{
	uint64_t bytes = model->losses.damaged_bytes;

	snprintf(text, size, "%s damaged byte%s of its file %s skipped",
		 gp_format_count(bytes).text, bytes == 1 ? "" : "s", bytes == 1 ? "was" : "were");
}

/*
 * Pieces of one sentence: what the trace has, how old its last GPU records are, which launches and
 * copies have no record.
 */
static void add_remains(struct gp_document *document, const struct gp_model *model)
{
	const struct gp_losses *losses = &model->losses;
	char text[96];

	add_end(document, model);
	if (losses->cut)
		add(document, "cut", "the file ends within a chunk");
	if (losses->recovered_records > 0)
		add(document, "recovered", "%s record%s recovered from its rings",
		    gp_format_count(losses->recovered_records).text,
		    losses->recovered_records == 1 ? " was" : "s were");
	if (losses->recovered_records > 0 && losses->in_rings)
		add(document, "in-rings", "the file does not have them yet: gpuprof finish FILE");
	describe_damage(text, sizeof(text), model);
	if (losses->damaged_bytes > 0)
		add(document, "skipped", "%s", text);
	add_delivery(document, model);
	if (losses->launches_without_op > 0)
		add(document, "launches-without-record", "%s: %s",
		    gp_loss_table[GP_LOST_LAUNCHES_WITHOUT_RECORD].sentence,
		    gp_format_count(losses->launches_without_op).text);
	if (losses->copies_in_flight > 0)
		add(document, "copies-without-record", "%s: %s",
		    gp_loss_table[GP_LOST_COPIES_WITHOUT_RECORD].sentence,
		    gp_format_count(losses->copies_in_flight).text);
}

GP_COMPARE_BY(compare_starts, struct gp_waiting, start_ns)

static void add_waiting(struct gp_document *document, const struct gp_model *model,
			const struct gp_waiting *waiting)
{
	char *name = gp_text_escape(gp_model_api(model, waiting->api).name);
	char *thread = gp_text_escape(gp_model_thread_name(model, waiting->thread_id));
	uint64_t end_ns = gp_recorded_last_known_ns(model);
	uint64_t ns = end_ns > waiting->start_ns ? end_ns - waiting->start_ns : 0;

	add(document, "waiting", "in %s%s%s: %s %u", name ? name : "a call",
	    ns == 0              ? " at the end"
	    : model->losses.live ? " for "
				 : " for at least ",
	    ns > 0 ? gp_format_ns(ns).text : "", thread && *thread ? thread : "thread",
	    waiting->thread_id);
	free(name);
	free(thread);
}

/* The calls that threads waited in, the longest first. */
static void add_all_waiting(struct gp_document *document, const struct gp_model *model)
{
	uint32_t count = model->waiting_count;
	uint32_t *order = gp_array_order(model->waiting, count, sizeof(*model->waiting),
					 compare_starts, NULL);

	for (uint32_t i = 0; i < count && i < WAITING_CALLS; i++)
		add_waiting(document, model, &model->waiting[order[i]]);
	if (count > WAITING_CALLS)
		add(document, "waiting", "in waiting calls: %s more threads",
		    gp_format_count(count - WAITING_CALLS).text);
	gp_spill_free(order);
}

/* The kernels that had not ended, a line each. */
static void add_unfinished(struct gp_document *document, const struct gp_model *model)
{
	char *text = NULL, *rest, *line;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	gp_summary_print_unfinished(out, 0, model);
	gp_memstream_close(out, &text);
	rest = text;
	while (rest && (line = strsep(&rest, "\n")) && *line)
		add(document, "unfinished", "%s", line);
	free(text);
}

static void add_incomplete_head(struct gp_document *document, const struct gp_model *model)
{
	const struct gp_losses *losses = &model->losses;

	if (losses->live)
		add_head(document, "incomplete", model,
			 "INCOMPLETE: %s still runs; this is its recording so far",
			 gp_process_name(model).text);
	else if (losses->closed)
		add_head(document, "incomplete", model,
			 "INCOMPLETE: %s closed its trace, but the file was cut",
			 gp_process_name(model).text);
	else if (losses->end_way == GP_END_SIGNAL) /* gpuprof-run saw it */
		add_head(document, "incomplete", model,
			 "INCOMPLETE: %s did not close its trace: %s (%s)",
			 gp_process_name(model).text, gp_recorded_why_no_end(model),
			 gp_recorded_how_ended(model).text);
	else
		add_head(document, "incomplete", model,
			 "INCOMPLETE: %s did not close its trace: %s", gp_process_name(model).text,
			 gp_recorded_why_no_end(model));
}

/* The process closed its trace, but a part is damaged or some launched kernels had not ended. */
static void add_closed(struct gp_document *document, const struct gp_model *model)
{
	char text[96];

	describe_damage(text, sizeof(text), model);
	if (model->losses.damaged_bytes > 0)
		add_head(document, "damaged", model,
			 "INCOMPLETE: %s closed its trace, but %s: the records in them are missing",
			 gp_process_name(model).text, text);
	if (!gp_summary_is_cut_off(model))
		return;
	add_head(document, "cut-off", model, "UNFINISHED: %s ended while its GPU was at work",
		 gp_process_name(model).text);
	add_unfinished(document, model);
}

void gp_summary_add_partial(struct gp_document *document, const struct gp_model *model)
{
	if (gp_recorded_is_whole(model)) {
		add_closed(document, model);
	} else if (model->recorder) { /* the other pieces need gpuprof's own records */
		add_head(document, "no-end", model, "INCOMPLETE: the trace of %s has no end: %s",
			 gp_process_name(model).text, gp_recorded_why_no_end(model));
		add_end(document, model);
	} else {
		add_incomplete_head(document, model);
		add_remains(document, model);
		add_unfinished(document, model);
		add_all_waiting(document, model);
	}
}

static bool is_line(const char *id)
{
	return strcmp(id, "unfinished") == 0 || strcmp(id, "waiting") == 0;
}

void gp_summary_print_partial(FILE *out, const struct gp_model *model)
{
	struct gp_paragraph pieces = {.out = out, .columns = GP_SUMMARY_COLUMNS};
	struct gp_document document = {0};
	const struct gp_section *section;

	gp_document_add_section(&document, "incomplete");
	gp_summary_add_partial(&document, model);
	section = gp_document_section(&document, "incomplete");
	for (uint32_t i = 0; section && i < section->count; i++) {
		const char *id = gp_fields_text(&section->rows[i], "id");
		const char *text = gp_fields_text(&section->rows[i], "text");
		bool is_head = gp_fields_value(&section->rows[i], "pid") != NULL;

		if (!is_head && !is_line(id)) {
			gp_paragraph_add(&pieces, text);
			continue;
		}
		gp_paragraph_end(&pieces);
		pieces.used = 0;
		fprintf(out, "%s%s\n", is_head ? "" : "  ", text);
	}
	gp_paragraph_end(&pieces);
	gp_document_free(&document);
}
