/*
 * An outlier: one operation that took many times as long as others like it, and a good part of the
 * GPU time; what delayed it.  And one whose recorded time cannot be right.
 */
#include "report/summary/part.h"

#include "report/analysis/device/outliers.h"
#include "report/model/build/bad_timestamps.h"
#include "report/base/text/format.h"
#include "report/model/recorded.h"

/* "the first of 20 step", "one of 323 [memcpy DtoD] (1B)" */
static void print_which(FILE *out, const struct gp_outlier *lone, const struct gp_model *model)
{
	if (lone->like == 1)
		fputs("the only", out);
	else
		fprintf(out, "%s of %s", lone->is_first ? "the first" : "one",
			gp_format_count(lone->like).text);
	fputs(" ", out);
	gp_summary_print_op(out, model, lone->op);
	if (lone->op->kind != GP_OP_KERNEL)
		fprintf(out, " (%s)", gp_format_bytes(lone->op->bytes).text);
}

/*
 * If no record explains it: causes that are not recorded, the likeliest first.  Copies are compared
 * with copies of the same size, so their arguments explain nothing.
 */
static void print_guess(FILE *out, const struct gp_model *model, const struct gp_op *op)
{
	bool managed = gp_model_may_have_managed_memory(model);
	bool kernel = op->kind == GP_OP_KERNEL;

	fputs("; ", out);
	if (managed)
		fprintf(out, "managed memory%s may have migrated, ",
			model->memory_count == 0 ? ", if there is any," : "");
	if (kernel)
		fputs("its arguments may mean more work, ", out);
	if (!gp_recorded_has_all_operations(model))
		fprintf(out, "%smissing operations may have run concurrently",
			managed || kernel ? "or " : "");
	else
		fputs(managed || kernel ? "or another process used the GPU"
					: "another process may have used the GPU",
		      out);
}

static void print_why(FILE *out, const struct gp_outlier *lone, const struct gp_model *model)
{
	uint64_t beside_ns = gp_op_gpu_ns(lone->op) - lone->alone_ns;

	if (beside_ns > lone->alone_ns)
		fprintf(out, "; other operations ran concurrently for %s of that",
			gp_format_ns(beside_ns).text);
	else
		print_guess(out, model, lone->op);
}

struct sentence {
	const struct gp_summary *summary;
	const struct gp_outlier *outlier;
};

static void print_without(FILE *out, const struct gp_summary *summary,
			  const struct gp_outlier *lone)
{
	const struct gp_model *model = summary->models[lone->model];
	size_t device = gp_device_list_known(&summary->devices, model, lone->op->device_id);
	const struct gp_busy *busy =
		device < summary->devices.count ? &summary->busy[device] : NULL;

	if (busy && busy->possible_ns > 0 && busy->inside_ns >= lone->alone_ns)
		fprintf(out, "; without it GPU %u was %s %% busy",
			summary->devices.entries[device].number,
			gp_format_percent((double)(busy->inside_ns - lone->alone_ns),
					  (double)busy->possible_ns)
				.text);
}

static void print_lone(FILE *out, const void *context)
{
	const struct sentence *s = context;
	const struct gp_outlier *lone = s->outlier;
	const struct gp_model *model = s->summary->models[lone->model];
	uint64_t ns = gp_op_gpu_ns(lone->op);

	print_which(out, lone, model);
	fprintf(out, " took %s, %s %% of all GPU time; others take %s", gp_format_ns(ns).text,
		gp_format_percent((double)ns, (double)lone->all_ns).text,
		gp_format_ns(lone->usual_ns).text);
	print_why(out, lone, model);
	print_without(out, s->summary, lone);
}

static void print_wrong(FILE *out, const void *context)
{
	const struct sentence *s = context;
	const struct gp_outlier *wrong = s->outlier;

	print_which(out, wrong, s->summary->models[wrong->model]);
	fprintf(out, " took %s according to its record",
		gp_format_ns(wrong->op->end_ns - wrong->op->start_ns).text);
	if (wrong->usual_ns > 0)
		fprintf(out, ", others take %s", gp_format_ns(wrong->usual_ns).text);
	fprintf(out,
		"; that cannot be right: %s%s others of its stream ran meanwhile; no total includes that time",
		gp_format_count(wrong->clashes).text,
		wrong->clashes == GP_CLASHES_COUNTED ? " or more" : "");
}

static void add(struct gp_document *document, const char *id, gp_document_print *print,
		const struct gp_summary *summary, const struct gp_outlier *outlier)
{
	if (!outlier->op)
		return;
	gp_document_add_row(document);
	gp_document_add_text(document, "id", id);
	gp_document_add_number(document, "duration_ns", GP_UNIT_NS,
			       outlier->op->end_ns - outlier->op->start_ns);
	gp_document_add_number(document, "usual_ns", GP_UNIT_NS, outlier->usual_ns);
	gp_document_add_number(document, "count", GP_UNIT_COUNT, outlier->like);
	gp_document_add_printed(document, "text", print, &(struct sentence){summary, outlier});
}

int gp_summary_add_outliers(const struct gp_summary *summary, struct gp_document *document)
{
	struct gp_outlier lone = {0}, wrong = {0};

	gp_outlier_find(&lone, summary->models, summary->model_count, &summary->devices,
			summary->kinds);
	gp_outlier_find_wrong(&wrong, summary->models, summary->model_count);
	gp_document_add_section(document, "outliers");
	add(document, "wrong-time", print_wrong, summary, &wrong);
	add(document, "outlier", print_lone, summary, &lone);
	return 0;
}

void gp_summary_print_outliers(const struct gp_summary *summary)
{
	struct gp_document document = {0};
	const struct gp_section *section;

	gp_summary_add_outliers(summary, &document);
	section = gp_document_section(&document, "outliers");
	for (uint32_t i = 0; section && i < section->count; i++)
		fprintf(summary->out, "  outlier   %s\n",
			gp_fields_text(&section->rows[i], "text"));
	gp_document_free(&document);
}
