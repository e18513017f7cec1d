#include "report/summary/part.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/model/losses.h"
#include "report/base/text/format.h"
#include "report/base/text/paragraph.h"
#include "report/model/sums/counts.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/model/stack_estimate.h"
#include "report/base/text/text.h"

#define LINE_BYTES          256 /* enough for the sentence of a loss */
#define UNCLEAN_ON_A_SCREEN 2   /* processes that lack records */

void gp_summary_print_count(FILE *out, int indent, uint64_t count, const char *things)
{
	char text[LINE_BYTES];

	gp_loss_text(text, sizeof(text), count, things);
	fprintf(out, "%*s%s\n", indent, "", text);
}

/* The losses of several processes, summed. */
struct loss_sums {
	uint64_t counts[GP_LOSSES];
};

static void add_losses(struct loss_sums *sum, const struct gp_model *model)
{
	for (unsigned i = 0; i < GP_LOSSES; i++)
		sum->counts[i] += gp_loss_count(model, i);
}

/* A remark on a counter that could be misunderstood. */
static const char *explain_counter(const struct loss_sums *sums, size_t counter)
{
	if (counter == GP_COUNTER_LOST_MAX_FILE)
		return ": those in flight then";
	for (size_t i = 0; i < GP_WRITE_CAUSES && counter == GP_COUNTER_LOST_WRITE_BYTES; i++)
		if (sums->counts[gp_write_causes[i]] > 0)
			return " (of the records dropped that are counted below)";
	return "";
}

static void print_losses(FILE *out, const struct loss_sums *sums, enum gp_loss_kind kind,
			 int indent)
{
	char text[LINE_BYTES];

	for (unsigned i = 0; i < GP_LOSSES; i++) {
		if (gp_loss_table[i].kind != kind || sums->counts[i] == 0)
			continue;
		gp_loss_text(text, sizeof(text), sums->counts[i], gp_loss_table[i].sentence);
		fprintf(out, "%*s%s%s\n", indent, "", text, explain_counter(sums, i));
	}
}

/* Why launches have no record: the most certain reason. */
static const char *explain_missing(const struct gp_model *model)
{
	const uint64_t *count = model->counters;

	if (model->recorder)
		return "captured into a graph, or not recorded by the profiler";
	if (!gp_recorded_has_kernels(model))
		return "not measured: with these --counters, only measured kernels have a record";
	if (model->losses.live)
		return "in flight, or not delivered yet";
	if (!model->losses.closed && gp_recorded_has_lost(model))
		return "records were lost on the way, or in flight when the process ended";
	if (!model->losses.closed)
		return model->losses.cut
			       ? "in flight when the process ended, or in the part that was cut"
			       : "in flight when the process ended, or their records not written";
	if (count[GP_COUNTER_LOST_CUPTI] > 0)
		return "CUPTI dropped records";
	if (count[GP_COUNTER_LOST_BUFFER_ENDS] > 0)
		return "CUPTI's records could not all be read";
	if (count[GP_COUNTER_LOST_NO_BUFFER] > 0 && count[GP_COUNTER_MAX_MEMORY_BYTES] > 0)
		return "no memory was left for their records (--cupti-memory, or a quarter of --max-memory)";
	if (count[GP_COUNTER_LOST_NO_BUFFER] > 0)
		return "no memory was left for their records (--cupti-memory)";
	if (count[GP_COUNTER_LOST_MAX_FILE] > 0)
		return "their records came after the trace had reached --max-file";
	if (count[GP_COUNTER_EXIT_FLUSH_TIMEOUTS] > 0)
		return "the final flush timed out";
	if (count[GP_COUNTER_EXIT_FLUSHES_REFUSED] > 0)
		return "CUPTI refused the final flush";
	if (gp_recorded_has_lost(model))
		return "records were lost on the way";
	return "CUPTI delivered none (launched after the final flush?)";
}

static bool has_loss(const struct gp_model *model)
{
	for (unsigned i = 0; i < GP_LOSSES; i++)
		if ((gp_loss_table[i].kind == GP_LOSS_LOSS ||
		     gp_loss_table[i].kind == GP_LOSS_TEXT_LOSS) &&
		    gp_loss_count(model, i) > 0)
			return true;
	return model->losses.launches_without_op > 0;
}

struct balance {
	uint64_t launches, matched, captured, failed, missing;
	uint64_t paused;   /* without a record, as recording was paused */
	uint64_t outside;  /* without a record, as --keep-last kept only the call */
	uint64_t left_out; /* by --kernels */
	uint64_t unnumbered;
	uint64_t graphs; /* launches of graphs */
	uint64_t operations;
	bool uncertain; /* some launches may not be recorded */
	bool cut;       /* the file is cut, which may have lost launches */
};

/* Recording never paused: --keep-last kept the end only. */
static bool is_last_part(const struct gp_model *model)
{
	return model->gate_count == 1 && model->gates[0].reason == GP_GATE_KEPT;
}

static struct balance take_balance(const struct gp_model *model)
{
	struct balance balance = {
		.captured = model->losses.launches_captured,
		.failed = model->losses.launches_failed,
		.missing = model->losses.launches_without_op,
		.paused = is_last_part(model) ? 0 : model->losses.launches_outside,
		.outside = is_last_part(model) ? model->losses.launches_outside : 0,
		.left_out = model->losses.launches_left_out,
		.unnumbered = model->losses.launches_unnumbered,
		.uncertain = model->gate_count > 0 || !gp_recorded_has_all_operations(model),
		.cut = model->losses.cut,
	};
	struct gp_counts counts = gp_counts_of(model);
	uint64_t others = balance.captured + balance.failed + balance.missing + balance.paused +
			  balance.outside + balance.left_out + balance.unnumbered;

	balance.launches = counts.launches;
	balance.graphs = counts.graph_launches;
	balance.operations = counts.operations;
	balance.matched = balance.launches > others ? balance.launches - others : 0;
	return balance;
}

static void add_balance(struct balance *sum, const struct balance *one)
{
	sum->launches += one->launches;
	sum->matched += one->matched;
	sum->captured += one->captured;
	sum->failed += one->failed;
	sum->missing += one->missing;
	sum->paused += one->paused;
	sum->outside += one->outside;
	sum->left_out += one->left_out;
	sum->unnumbered += one->unnumbered;
	sum->graphs += one->graphs;
	sum->operations += one->operations;
	sum->uncertain |= one->uncertain;
	sum->cut |= one->cut;
}

static void print_part(FILE *out, uint64_t count, const char *meaning)
{
	if (count > 0)
		fprintf(out, ", %s %s", gp_format_count(count).text, meaning);
}

static void print_counted(FILE *out, uint64_t count, const char *one, const char *many)
{
	fprintf(out, "%s %s", gp_format_count(count).text, count == 1 ? one : many);
}

static void print_balance(FILE *out, const struct balance *balance)
{
	const char *where = balance->cut ? " in the file" : "";

	fputs("  ", out);
	if (balance->launches == 0)
		fprintf(out, "no %s%s",
			balance->uncertain ? "launch of a kernel was recorded"
					   : "kernel was launched",
			balance->graphs > 0 ? " outside graphs" : "");
	else if (balance->launches == 1 && balance->matched == 1)
		fprintf(out, "the only launch%s has its kernel record", where);
	else if (balance->matched == balance->launches)
		fprintf(out, "all %s launches%s have their kernel record",
			gp_format_count(balance->launches).text, where);
	else {
		print_counted(out, balance->launches, "launch", "launches");
		fputs(where, out);
		print_part(out, balance->matched, "with kernel record");
	}
	print_part(out, balance->captured, "captured into a graph");
	print_part(out, balance->failed, "failed");
	print_part(out, balance->missing, "without kernel record");
	print_part(out, balance->left_out, "left out by --kernels");
	print_part(out, balance->unnumbered, "that this CUPTI version cannot match to kernels");
	print_part(out, balance->paused, "whose kernel ran while recording was paused");
	print_part(out, balance->outside, "whose kernel is not in the kept part");
	if (balance->graphs > 0) {
		fputs("; ", out);
		print_counted(out, balance->graphs, "graph launch", "graph launches");
	}
}

static bool is_clean(const struct gp_model *model)
{
	return !has_loss(model) && gp_recorded_is_whole(model);
}

/* One line for all processes without losses. */
static void print_clean(const struct gp_summary *summary)
{
	struct balance sum = {0};
	size_t count = 0;
	bool counts_drops = true;

	for (size_t i = 0; i < summary->model_count; i++) {
		struct balance one = take_balance(summary->models[i]);

		if (!is_clean(summary->models[i]))
			continue;
		add_balance(&sum, &one);
		counts_drops &= summary->models[i]->recorder == NULL;
		count++;
	}
	if (count == 0)
		return;
	print_balance(summary->out, &sum);
	fputs("; ", summary->out);
	print_counted(summary->out, sum.operations, "GPU record", "GPU records");
	fputs(counts_drops ? ", nothing was dropped" : "", summary->out);
	if (count < summary->model_count)
		fprintf(summary->out, " (%s of %s processes; the %s)", gp_format_count(count).text,
			gp_format_count(summary->model_count).text,
			summary->model_count - count == 1 ? "other one follows" : "others follow");
	fputs("\n", summary->out);
}

static void print_unclean(const struct gp_summary *summary, const struct gp_model *model)
{
	struct balance balance = take_balance(model);
	struct loss_sums sums = {.counts = {0}};
	FILE *out = summary->out;

	print_balance(out, &balance);
	fputs("; ", out);
	print_counted(out, balance.operations, "GPU record", "GPU records");
	if (model->counters[GP_COUNTER_GPU_RECORDS] > balance.operations)
		fprintf(out, " of %s received",
			gp_format_count(model->counters[GP_COUNTER_GPU_RECORDS]).text);
	if (summary->model_count > 1)
		fprintf(out, " (%s)", gp_process_name(model).text);
	fputs("\n", out);
	if (balance.missing > 0)
		fprintf(out, "    without kernel record: %s\n", explain_missing(model));
	if (gp_recorded_is_whole(model) && !gp_summary_is_cut_off(model))
		gp_summary_print_unfinished(out, 4, model);
	add_losses(&sums, model);
	print_losses(out, &sums, GP_LOSS_LOSS, 4);
	print_losses(out, &sums, GP_LOSS_TEXT_LOSS, 4);
}

/* One screen has a line for each of the first ones, and the sums of the others. */
static void print_all_unclean(const struct gp_summary *summary)
{
	struct balance rest = {0};
	struct loss_sums losses = {.counts = {0}};
	size_t told = 0;

	for (size_t i = 0; i < summary->model_count; i++) {
		const struct gp_model *model = summary->models[i];
		struct balance one = take_balance(model);

		if (is_clean(model))
			continue;
		if (told++ < UNCLEAN_ON_A_SCREEN || !summary->options->brief) {
			print_unclean(summary, model);
			continue;
		}
		add_balance(&rest, &one);
		add_losses(&losses, model);
	}
	if (told <= UNCLEAN_ON_A_SCREEN || !summary->options->brief)
		return;
	print_balance(summary->out, &rest);
	fprintf(summary->out, " (%s more processes: gpuprof summary --by missing)\n",
		gp_format_count(told - UNCLEAN_ON_A_SCREEN).text);
	print_losses(summary->out, &losses, GP_LOSS_LOSS, 4);
	print_losses(summary->out, &losses, GP_LOSS_TEXT_LOSS, 4);
}

/* A note that so many processes have. */
static void print_note(FILE *out, const char *text, size_t count)
{
	fputs("  note: ", out);
	gp_text_print(out, text);
	if (count > 1)
		fprintf(out, " (in %s processes)", gp_format_count(count).text);
	fputs("\n", out);
}

void gp_summary_print_troubles(FILE *out, const struct gp_model *model)
{
	struct loss_sums sums = {.counts = {0}};

	add_losses(&sums, model);
	print_losses(out, &sums, GP_LOSS_LOSS, 2);
	print_losses(out, &sums, GP_LOSS_TEXT_LOSS, 2);
	print_losses(out, &sums, GP_LOSS_STRAIN, 2);
	for (uint32_t i = 0; i < model->note_count; i++)
		print_note(out, model->notes[i], 1);
}

/* "memory of all CUPTI buffers 2.000MiB" */
static void put_counter(struct gp_paragraph *paragraph, size_t counter, uint64_t value,
			double ticks_ns)
{
	const char *unit = gp_loss_table[counter].unit;
	struct gp_figure figure = gp_format_count(value);
	char text[LINE_BYTES];

	if (strcmp(unit, "ticks") == 0)
		figure = gp_format_ns_about(ticks_ns);
	else if (strcmp(unit, "bytes") == 0)
		figure = gp_format_bytes(value);
	else if (strcmp(unit, "ns") == 0)
		figure = gp_format_ns(value);
	snprintf(text, sizeof(text), "%s %s", gp_loss_table[counter].sentence, figure.text);
	gp_paragraph_add(paragraph, text);
}

/* Data that --max-memory may have been too small for. */
static const struct {
	enum gp_counter counter;
	const char *what;
} limited[] = {
	{GP_COUNTER_LOST_NO_BUFFER, "GPU records"},
	{GP_COUNTER_SHARED_RING, "thread rings"},
	{GP_COUNTER_STACKS_LOST, "call stacks"},
	{GP_COUNTER_STACK_CODES_FULL, "names of Python frames"},
	{GP_COUNTER_TEXTS_AGAIN, "range names"},
	{GP_COUNTER_MAX_MEMORY_REFUSED, "other tables"},
};

/* A line for each process that --max-memory limited. */
static void print_memory_limit(const struct gp_summary *summary, const struct gp_model *model)
{
	uint64_t most = model->counters[GP_COUNTER_MAX_MEMORY_BYTES];
	char lead[128];
	struct gp_paragraph paragraph = {.out = summary->out,
					 .columns = gp_summary_columns(summary),
					 .lead = lead,
					 .separator = ","};

	snprintf(lead, sizeof(lead), "--max-memory (%s, of which %s were used) was too small for ",
		 gp_format_bytes(most).text,
		 gp_format_bytes(model->counters[GP_COUNTER_OWN_MEMORY_BYTES]).text);
	for (size_t i = 0; i < COUNT(limited) && most > 0; i++)
		if (model->counters[limited[i].counter] > 0)
			gp_paragraph_add(&paragraph, limited[i].what);
	gp_paragraph_end(&paragraph);
}

static void print_telemetry(const struct gp_summary *summary)
{
	struct gp_paragraph paragraph = {.out = summary->out,
					 .columns = gp_summary_columns(summary)};

	for (size_t i = 0; i < GP_COUNTERS; i++) {
		uint64_t value = 0;
		double ns = 0;

		if (gp_loss_table[i].kind != GP_LOSS_TELEMETRY ||
		    i == GP_COUNTER_LAST_DELIVERY_TICKS || i == GP_COUNTER_FIRST_TICKS)
			continue;
		for (size_t m = 0; m < summary->model_count; m++) {
			value += summary->models[m]->counters[i];
			ns += (double)summary->models[m]->counters[i] *
			      summary->models[m]->ns_per_tick;
		}
		if (value > 0)
			put_counter(&paragraph, i, value, ns);
	}
	gp_paragraph_end(&paragraph);
}

static bool has_note(const struct gp_model *model, const char *note)
{
	for (uint32_t i = 0; i < model->note_count; i++)
		if (strcmp(model->notes[i], note) == 0)
			return true;
	return false;
}

/* How many processes from first on have the note; 0 if an earlier one has it. */
static size_t count_noted(const struct gp_summary *summary, size_t first, const char *note)
{
	size_t count = 0;

	for (size_t i = 0; i < first; i++)
		if (has_note(summary->models[i], note))
			return 0;
	for (size_t i = first; i < summary->model_count; i++)
		count += has_note(summary->models[i], note);
	return count;
}

/* A note of several processes is printed once. */
static void print_all_notes(const struct gp_summary *summary)
{
	for (size_t m = 0; m < summary->model_count; m++) {
		const struct gp_model *model = summary->models[m];

		for (uint32_t i = 0; i < model->note_count; i++) {
			size_t count = count_noted(summary, m, model->notes[i]);

			if (count > 0)
				print_note(summary->out, model->notes[i], count);
		}
	}
}

/*
 * A time without samples is reported if it is long, and many times as long as the usual distance of
 * this process's samples.
 */
#define SAMPLES_MISSING_NS  100000000u
#define SAMPLES_MISSING_FEW 5u

static uint64_t last_op_ns(const struct gp_model *model)
{
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < model->op_count; i++)
		if (!model->ops[i].untimed && model->ops[i].end_ns > last_ns)
			last_ns = model->ops[i].end_ns;
	return last_ns;
}

/* The sample that ends last, or NULL. */
static const struct gp_sample *last_sample(const struct gp_model *model)
{
	const struct gp_sample *last = NULL;

	for (uint32_t i = 0; i < model->sample_count; i++)
		if (!last || model->samples[i].end_ns > last->end_ns)
			last = &model->samples[i];
	return last;
}

/* How many of the observations merged into a sample, evenly spaced, are after that time. */
static double count_after(const struct gp_sample *sample, uint64_t from_ns)
{
	uint64_t span_ns = sample->end_ns - sample->start_ns;

	if (sample->start_ns >= from_ns)
		return sample->count;
	if (sample->end_ns < from_ns)
		return 0;
	return span_ns > 0 ? sample->count * ((double)(sample->end_ns - from_ns) / (double)span_ns)
			   : sample->count;
}

/*
 * Whether samples were frequent until the last one.  If sampling is slow (large programs, little
 * CPU time), samples are sparse, and a long time after the last one means nothing.
 */
static bool came_often(const struct gp_model *model, const struct gp_sample *last,
		       uint64_t missing_ns)
{
	uint64_t from_ns = last->end_ns > missing_ns ? last->end_ns - missing_ns : 0;
	uint64_t first_ns = last->start_ns;
	double count = 0;

	for (uint32_t i = 0; i < model->sample_count; i++) {
		const struct gp_sample *sample = &model->samples[i];

		if (sample->thread_id != last->thread_id)
			continue;
		count += count_after(sample, from_ns);
		if (sample->start_ns < first_ns)
			first_ns = sample->start_ns;
	}
	if (first_ns < from_ns)
		first_ns = from_ns;
	return count * (double)missing_ns >=
	       SAMPLES_MISSING_FEW * (double)(last->end_ns - first_ns);
}

/* A line if Python samples end long before the GPU work: Python tables then lack the rest. */
static void print_samples_missing(const struct gp_summary *summary, const struct gp_model *model)
{
	const struct gp_sample *last = last_sample(model);
	uint64_t last_ns = last_op_ns(model), zero_ns = summary->window.start_unix_ns;

	if (!last || last_ns < last->end_ns + SAMPLES_MISSING_NS ||
	    model->base_unix_ns + last->end_ns < zero_ns ||
	    !came_often(model, last, last_ns - last->end_ns))
		return;
	fprintf(summary->out,
		model->function_interval_ns > 0 ? "  the last recorded Python function ended at %s"
						: "  the last Python stack sample was taken at %s",
		gp_format_ns(model->base_unix_ns + last->end_ns - zero_ns).text);
	fprintf(summary->out, ", the last GPU operation ended at %s",
		gp_format_ns(model->base_unix_ns + last_ns - zero_ns).text);
	fputs(": Python activity in between is unknown", summary->out);
	if (summary->model_count > 1)
		fprintf(summary->out, " (%s)", gp_process_name(model).text);
	fputs("\n", summary->out);
}

/* Places of launches may be wrong by so much without a word in the short form. */
#define ESTIMATES_WRONG_RATIO 0.01

static void print_estimates(const struct gp_summary *summary)
{
	struct gp_stack_estimate sum = {0};
	char text[GP_STACK_ESTIMATE_BYTES];
	double error;

	for (size_t i = 0; i < summary->model_count; i++)
		gp_stack_estimate_add(&sum, &summary->models[i]->stack_estimate);
	error = gp_stack_estimate_error(&sum);
	if (summary->options->brief && error >= 0 && error < ESTIMATES_WRONG_RATIO)
		return;
	if (gp_stack_estimate_text(&sum, text))
		fprintf(summary->out, "  %s\n", text);
}

int gp_summary_print_records(const struct gp_summary *summary)
{
	struct loss_sums all = {.counts = {0}};

	fputs("\nRecords\n", summary->out);
	print_clean(summary);
	print_all_unclean(summary);
	for (size_t i = 0; i < summary->model_count; i++)
		add_losses(&all, summary->models[i]);
	print_losses(summary->out, &all, GP_LOSS_STRAIN, 2);
	for (size_t i = 0; i < summary->model_count; i++)
		print_samples_missing(summary, summary->models[i]);
	print_estimates(summary);
	for (size_t i = 0; i < summary->model_count; i++)
		print_memory_limit(summary, summary->models[i]);
	print_all_notes(summary);
	if (!summary->basis)
		return 0;
	gp_summary_print_cost(summary);
	if (summary->options->row_limit == 0)
		print_telemetry(summary);
	return gp_summary_print_overheads(summary);
}
