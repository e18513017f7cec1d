/* The summary's section of the stall samples (--stalls). */
#include <stdlib.h>
#include <string.h>

#include "gpuprof/counter.h"
#include "report/analysis/device/stall_reasons.h"
#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/base/text/text.h"
#include "report/summary/part.h"
#include "report/tables/by/stalls.h"

#define MOST_KERNELS 5u
#define TEXT_COLUMNS 60
#define TOP_ROW      1 /* a sum of a top: the number of its row */

struct stalls {
	struct gp_scope scope;
	struct gp_tally kernels, reasons, lines;
	struct gp_tally top_reasons, top_lines; /* by kernel; see rank() */
	struct gp_source_text *sources;
	uint64_t samples;
	uint64_t all, outside, dropped; /* of the whole recording */
};

/* ---- gathering ---- */

static void count_losses(struct stalls *stalls)
{
	for (size_t m = 0; m < stalls->scope.model_count; m++) {
		const uint64_t *counters = stalls->scope.models[m]->counters;

		stalls->all += counters[GP_COUNTER_STALL_SAMPLES];
		stalls->outside += counters[GP_COUNTER_STALL_OUTSIDE];
		stalls->dropped += counters[GP_COUNTER_STALL_DROPPED];
	}
}

static int compare_samples(const void *a, const void *b, const void *context)
{
	uint64_t left = ((const struct gp_tally_row *)a)->sums[GP_STALL_SAMPLES];
	uint64_t right = ((const struct gp_tally_row *)b)->sums[GP_STALL_SAMPLES];

	(void)context;
	return (left < right) - (left > right);
}

static const char *reason_of(const struct stalls *stalls, const struct gp_tally_row *row)
{
	return gp_scope_text_of(&stalls->scope, row->key[GP_STALL_REASON]);
}

/* Of the reasons, those to wait; of the lines, known ones. */
static bool is_ranked(const struct stalls *stalls, const struct gp_tally *tally,
		      const struct gp_tally_row *row)
{
	return tally == &stalls->reasons ? !gp_stall_reason_is_work(reason_of(stalls, row))
					 : row->key[GP_STALL_LINE] != 0;
}

/* Finds the row of each kernel with the most samples. */
static void rank(const struct stalls *stalls, const struct gp_tally *tally, struct gp_tally *tops)
{
	for (uint32_t i = 0; i < tally->count; i++) {
		const struct gp_tally_row *row = &tally->rows[i];
		uint64_t key[GP_TALLY_KEYS] = {[GP_STALL_KERNEL] = row->key[GP_STALL_KERNEL]};
		struct gp_tally_row *top;

		if (!is_ranked(stalls, tally, row))
			continue;
		top = gp_tally_find(tops, key);
		if (row->sums[GP_STALL_SAMPLES] > top->sums[GP_STALL_SAMPLES]) {
			top->sums[GP_STALL_SAMPLES] = row->sums[GP_STALL_SAMPLES];
			top->sums[TOP_ROW] = i;
		}
	}
}

/* That row; NULL: there is none. */
static const struct gp_tally_row *top_of(const struct gp_tally *tally, struct gp_tally *tops,
					 const struct gp_tally_row *kernel)
{
	uint64_t key[GP_TALLY_KEYS] = {[GP_STALL_KERNEL] = kernel->key[GP_STALL_KERNEL]};
	const struct gp_tally_row *top = gp_tally_find(tops, key);

	return top->sums[GP_STALL_SAMPLES] > 0 ? &tally->rows[top->sums[TOP_ROW]] : NULL;
}

static const struct gp_tally_row *top_reason(struct stalls *stalls,
					     const struct gp_tally_row *kernel)
{
	return top_of(&stalls->reasons, &stalls->top_reasons, kernel);
}

static const struct gp_tally_row *top_line(struct stalls *stalls, const struct gp_tally_row *kernel)
{
	return top_of(&stalls->lines, &stalls->top_lines, kernel);
}

static void gather(const struct gp_summary *summary, struct stalls *stalls)
{
	gp_scope_open(&stalls->scope, summary->models, summary->model_count, false);
	gp_stalls_add(&stalls->scope, GP_STALL_BIT(KERNEL), &stalls->kernels);
	gp_stalls_add(&stalls->scope, GP_STALL_BIT(KERNEL) | GP_STALL_BIT(REASON),
		      &stalls->reasons);
	gp_stalls_add(&stalls->scope,
		      GP_STALL_BIT(KERNEL) | GP_STALL_BIT(FILE) | GP_STALL_BIT(LINE),
		      &stalls->lines);
	rank(stalls, &stalls->reasons, &stalls->top_reasons);
	rank(stalls, &stalls->lines, &stalls->top_lines);
	stalls->sources = gp_stalls_sources(&stalls->scope);
	gp_array_sort(stalls->kernels.rows, stalls->kernels.count, sizeof(*stalls->kernels.rows),
		      compare_samples, NULL);
	stalls->samples = gp_stalls_total(&stalls->kernels);
	count_losses(stalls);
}

static void close_stalls(struct stalls *stalls)
{
	gp_source_text_free(stalls->sources);
	gp_tally_free(&stalls->kernels);
	gp_tally_free(&stalls->reasons);
	gp_tally_free(&stalls->lines);
	gp_tally_free(&stalls->top_reasons);
	gp_tally_free(&stalls->top_lines);
	gp_scope_close(&stalls->scope);
}

static double share_of(const struct gp_tally_row *part, const struct gp_tally_row *kernel)
{
	return 100.0 * (double)part->sums[GP_STALL_SAMPLES] /
	       (double)kernel->sums[GP_STALL_SAMPLES];
}

static double error_of(const struct gp_tally_row *part, const struct gp_tally_row *kernel)
{
	return gp_stall_error((double)part->sums[GP_STALL_SAMPLES],
			      (double)kernel->sums[GP_STALL_SAMPLES]);
}

/* ---- text ---- */

static void print_reason(FILE *out, struct stalls *stalls, const struct gp_tally_row *kernel)
{
	const struct gp_tally_row *row = top_reason(stalls, kernel);
	const struct gp_stall_reason *reason;

	if (!row)
		return;
	reason = gp_stall_reason_of(reason_of(stalls, row));
	fprintf(out, "    %.1f %% (error %.1f) ", share_of(row, kernel), error_of(row, kernel));
	gp_text_print(out, reason_of(stalls, row));
	if (*reason->meaning)
		fprintf(out, ": a warp %s", reason->meaning);
	fputs("\n", out);
}

static void print_line(FILE *out, struct stalls *stalls, const struct gp_tally_row *kernel)
{
	const struct gp_tally_row *row = top_line(stalls, kernel);
	const char *file, *name, *text;
	uint32_t line;

	if (!row)
		return;
	file = gp_scope_text_of(&stalls->scope, row->key[GP_STALL_FILE]);
	name = strrchr(file, '/');
	line = (uint32_t)row->key[GP_STALL_LINE];
	text = gp_source_text_line(stalls->sources, file, line);
	fprintf(out, "    %.1f %% at ", share_of(row, kernel));
	gp_text_print(out, name ? name + 1 : file);
	fprintf(out, ":%u", line);
	if (text) {
		fputs("  ", out);
		gp_text_print_fit(out, text, TEXT_COLUMNS);
	}
	fputs("\n", out);
}

static void print_kernel(FILE *out, struct stalls *stalls, const struct gp_tally_row *kernel)
{
	fprintf(out, "  %s %%  ",
		gp_format_percent((double)kernel->sums[GP_STALL_SAMPLES], (double)stalls->samples)
			.text);
	gp_text_print_fit(out, gp_scope_kernel_of(&stalls->scope, kernel->key[GP_STALL_KERNEL]),
			  90);
	fputs("\n", out);
	print_reason(out, stalls, kernel);
	print_line(out, stalls, kernel);
}

static void print_losses(FILE *out, const struct stalls *stalls)
{
	if (stalls->outside > 0)
		fprintf(out, "  %s %% of all samples are outside the program's kernels\n",
			gp_format_percent((double)stalls->outside, (double)stalls->all).text);
	if (stalls->dropped > 0)
		fprintf(out, "  %s %% of all samples were dropped by the GPU\n",
			gp_format_percent((double)stalls->dropped, (double)stalls->all).text);
}

static void print_kernels(FILE *out, struct stalls *stalls)
{
	if (stalls->samples == 0) {
		fputs("\nWhy warps wait: no samples in the program's kernels\n", out);
		print_losses(out, stalls);
		return;
	}
	fprintf(out, "\nWhy warps wait: %s samples, by kernel\n",
		gp_format_count(stalls->samples).text);
	for (uint32_t i = 0; i < stalls->kernels.count && i < MOST_KERNELS; i++)
		print_kernel(out, stalls, &stalls->kernels.rows[i]);
	print_losses(out, stalls);
	fputs("  all kernels, reasons and lines: --by stalls\n", out);
}

int gp_summary_print_stalls(const struct gp_summary *summary)
{
	struct stalls stalls = {0};

	if (!gp_stalls_any(summary->models, summary->model_count))
		return 0;
	gather(summary, &stalls);
	print_kernels(summary->out, &stalls);
	close_stalls(&stalls);
	return 0;
}

/* ---- the document ---- */

static void add_kernel(struct gp_document *document, struct stalls *stalls,
		       const struct gp_tally_row *kernel)
{
	uint64_t number = kernel->key[GP_STALL_KERNEL];
	const struct gp_tally_row *reason = top_reason(stalls, kernel);
	const struct gp_tally_row *line = top_line(stalls, kernel);

	gp_document_add_row(document);
	gp_document_add_text(document, "id", gp_scope_kernel_of(&stalls->scope, number));
	gp_document_add_number(document, "samples", GP_UNIT_COUNT, kernel->sums[GP_STALL_SAMPLES]);
	gp_document_add_number(document, "not_issued", GP_UNIT_COUNT,
			       kernel->sums[GP_STALL_NOT_ISSUED]);
	if (reason) {
		gp_document_add_text(document, "reason", reason_of(stalls, reason));
		gp_document_add(document, "reason_share", GP_UNIT_PERCENT,
				gp_value_real(share_of(reason, kernel)));
		gp_document_add(document, "reason_share_error", GP_UNIT_PERCENT,
				gp_value_real(error_of(reason, kernel)));
	}
	if (line) {
		gp_document_add_text(document, "file",
				     gp_scope_text_of(&stalls->scope, line->key[GP_STALL_FILE]));
		gp_document_add_number(document, "line", GP_UNIT_NUMBER, line->key[GP_STALL_LINE]);
		gp_document_add(document, "line_share", GP_UNIT_PERCENT,
				gp_value_real(share_of(line, kernel)));
	}
}

int gp_summary_add_stalls(const struct gp_summary *summary, struct gp_document *document)
{
	struct stalls stalls = {0};

	if (!gp_stalls_any(summary->models, summary->model_count))
		return 0;
	gather(summary, &stalls);
	gp_document_add_section(document, "stalls");
	for (uint32_t i = 0; i < stalls.kernels.count; i++)
		add_kernel(document, &stalls, &stalls.kernels.rows[i]);
	gp_document_add_section(document, "stall_losses");
	gp_document_add_row(document);
	gp_document_add_text(document, "id", "all");
	gp_document_add_number(document, "samples", GP_UNIT_COUNT, stalls.all);
	gp_document_add_number(document, "outside", GP_UNIT_COUNT, stalls.outside);
	gp_document_add_number(document, "dropped", GP_UNIT_COUNT, stalls.dropped);
	close_stalls(&stalls);
	return 0;
}
