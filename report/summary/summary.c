#include "report/summary/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/analysis.h"
#include "report/base/parallel.h"
#include "report/base/text/format.h"
#include "report/base/memstream.h"
#include "report/base/text/paragraph.h"
#include "report/model/sums/counts.h"
#include "report/model/sums/totals.h"
#include "report/summary/part.h"
#include "report/base/text/text.h"
#include "report/model/process_name.h"

#define KEPT_GAPS         16 /* one of them is printed */
#define LINES_OF_A_SCREEN 50
#define LINES_OF_A_JOB    60 /* of many ranks */

size_t gp_summary_columns(const struct gp_summary *summary)
{
	return summary->options->brief ? GP_SUMMARY_BRIEF_COLUMNS : GP_SUMMARY_COLUMNS;
}

struct gp_figure gp_summary_moment(const struct gp_summary *summary, uint64_t unix_ns)
{
	return gp_format_moment((int64_t)(unix_ns - summary->window.start_unix_ns));
}

/* The text of a section; free it.  NULL on failure. */
static int text_of(const struct gp_summary *summary, int (*print)(const struct gp_summary *),
		   char **text)
{
	struct gp_summary section = *summary;
	size_t bytes;
	int result;

	*text = NULL;
	section.out = open_memstream(text, &bytes);
	result = print(&section);
	gp_memstream_close(section.out, text);
	result = result < 0 ? result : 0;
	if (result == 0)
		return 0;
	free(*text);
	*text = NULL;
	return result;
}

/* Print a section of sentences, wrapped to the width of the page. */
static int print_folded(const struct gp_summary *summary, int (*print)(const struct gp_summary *))
{
	char *text;
	int result = text_of(summary, print, &text);

	if (result == 0)
		gp_paragraph_fold(summary->out, text, gp_summary_columns(summary));
	free(text);
	return result;
}

/* The next three are tasks of report/base/parallel.h. */
static int gather_activity(void *context)
{
	struct gp_summary *s = context;

	return gp_activity_gather(&s->activity, s->models, s->model_count);
}

static int gather_busy(void *context)
{
	struct gp_summary *s = context;

	s->busy = gp_busy_of(s->models, s->model_count, s->window, &s->devices);
	return 0;
}

/* Totals have no analysis. */
static int gather_basis(void *context)
{
	struct gp_summary *s = context;

	if ((s->basis && s->basis->wheres.count == s->devices.count) ||
	    gp_totals_any(s->models, s->model_count))
		return 0;
	s->basis = s->own_basis = calloc(1, sizeof(*s->basis));
	return gp_analysis_of(s->basis, s->models, s->model_count, &s->devices, s->kinds,
			      KEPT_GAPS);
}

static int gather(struct gp_summary *summary)
{
	struct gp_task tasks[] = {
		{gather_activity, summary, 0},
		{gather_busy, summary, 0},
		{gather_basis, summary, 0},
	};
	struct gp_model *const *models = summary->models;
	size_t count = summary->model_count;
	int result = gp_device_list_all(&summary->devices, models, count);

	summary->window = gp_busy_window(models, count);
	if (result == 0) /* first: it may add a device */
		result = gp_memory_stats_of(models, count, &summary->devices, &summary->memory);
	if (result == 0)
		result = gp_run_parallel(tasks, COUNT(tasks));
	for (size_t i = 0; result == 0 && summary->basis && i < count; i++)
		if (gp_tuning_has_any(models[i], &summary->basis->tunings[i]))
			result = gp_activity_set_apart(&summary->activity, models[i],
						       summary->basis->tunings[i].of);
	return result == 0 ? gp_summary_gather_lines(summary) : result;
}

static void open_models(struct gp_summary *summary, struct gp_model *const *models,
			size_t model_count, const struct gp_kinds *kinds)
{
	char message[64];

	*summary = (struct gp_summary){
		.all_models = models,
		.all_count = model_count,
		.models = calloc(model_count + 1, sizeof(*summary->models)),
		.own_kinds = kinds ? NULL : gp_kinds_new(NULL, message, sizeof(message)),
		.advice = gp_summary_new_advice(),
	};
	summary->kinds = kinds ? kinds : summary->own_kinds;
	for (size_t i = 0; i < model_count; i++)
		if (gp_counts_any(models[i]))
			summary->models[summary->model_count++] = models[i];
}

int gp_summary_open(struct gp_summary *summary, struct gp_model *const *models, size_t model_count,
		    const struct gp_kinds *kinds)
{
	open_models(summary, models, model_count, kinds);
	return summary->model_count > 0 ? gather(summary) : 0;
}

int gp_summary_open_scope(struct gp_summary *summary, struct gp_scope *scope)
{
	open_models(summary, scope->models, scope->model_count, gp_scope_kinds(scope));
	summary->job = scope->job;
	if (summary->model_count == 0)
		return 0;
	/* The analysis numbers its models as the scope: usable only if none is left out. */
	if (summary->model_count == scope->model_count)
		summary->basis = gp_scope_analysis(scope);
	return gather(summary);
}

void gp_summary_close(struct gp_summary *summary)
{
	gp_activity_free(&summary->activity);
	gp_memory_stats_free(&summary->memory);
	gp_summary_free_ranges(summary->ranges);
	gp_summary_free_advice(summary->advice);
	gp_summary_free_lines(summary);
	gp_device_list_free(&summary->devices);
	if (summary->own_basis)
		gp_analysis_free(summary->own_basis);
	free(summary->own_basis);
	free(summary->busy);
	free(summary->models);
	gp_kinds_free(summary->own_kinds);
}

/* ---- one screen ---- */

/* The steps of a main loop tell more than the whole run, of which startup can be most. */
static int print_head_folded(const struct gp_summary *summary)
{
	int result = print_folded(summary, gp_summary_print_head);

	if (result == 0)
		result = print_folded(summary, gp_summary_has_steps(summary)
						       ? gp_summary_print_steps
						       : gp_summary_print_busy);
	if (result == 0)
		result = gp_summary_print_phases(summary);
	return result == 0 ? gp_summary_print_lines(summary) : result;
}

static int print_processes(const struct gp_summary *summary)
{
	if (summary->model_count == 1 && !summary->job)
		return 0;
	return gp_summary_has_ranks(summary) ? gp_summary_print_ranks(summary)
					     : gp_summary_print_processes(summary);
}

static int print_busy_folded(const struct gp_summary *summary)
{
	return gp_summary_has_steps(summary) ? print_folded(summary, gp_summary_print_busy) : 0;
}

static int print_hardware_folded(const struct gp_summary *summary)
{
	return print_folded(summary, gp_summary_print_hardware);
}

static int print_energy_folded(const struct gp_summary *summary)
{
	return print_folded(summary, gp_summary_print_energy);
}

static int print_stalls_folded(const struct gp_summary *summary)
{
	return print_folded(summary, gp_summary_print_stalls);
}

static int print_roofline_folded(const struct gp_summary *summary)
{
	return print_folded(summary, gp_summary_print_roofline);
}

static int print_left_folded(const struct gp_summary *summary)
{
	return print_folded(summary, gp_summary_print_left);
}

static int print_windows(const struct gp_summary *summary)
{
	gp_summary_print_windows(summary);
	return 0;
}

static int print_records_folded(const struct gp_summary *summary)
{
	return print_folded(summary, gp_summary_print_records);
}

static int print_signs_folded(const struct gp_summary *summary)
{
	return print_folded(summary, gp_summary_print_signs);
}

static int print_one_pass_folded(const struct gp_summary *summary)
{
	return print_folded(summary, gp_summary_print_one_pass);
}

static int add_steps_and_lines(const struct gp_summary *summary, struct gp_document *document)
{
	gp_summary_add_steps(summary, document);
	gp_summary_add_lines(summary, document);
	return 0;
}

static int print_hint(const struct gp_summary *summary)
{
	fputs("More: gpuprof summary --full FILE; all rows: --top 0; list of tables: --by help\n",
	      summary->out);
	return 0;
}

/*
 * All sections, in the order of each page; NULL: the page has it not.  On one screen, advice comes
 * before the figures that it is based on; in JSON, what "more" has is the last.
 */
static const struct section {
	int (*in_brief)(const struct gp_summary *); /* on one screen */
	int (*in_full)(const struct gp_summary *);
	int (*in_totals)(const struct gp_summary *); /* of models that have totals alone */
	int (*add)(const struct gp_summary *, struct gp_document *); /* as data; not of totals */
	/* of the screen: */
	bool has_rows;  /* their number depends on it */
	bool is_spaced; /* an empty line stays before it */
	/* the page of a job that is too long leaves sections out in this order; 0 = never */
	unsigned char left_out;
} sections[] = {
	{.in_brief = print_head_folded,
	 .in_full = print_head_folded,
	 .in_totals = print_head_folded,
	 .add = add_steps_and_lines,
	 .has_rows = true,
	 .is_spaced = true},
	{.in_brief = print_processes,
	 .in_full = print_processes,
	 .in_totals = print_processes,
	 .add = gp_summary_add_ranks},
	{.in_brief = gp_summary_print_advice, .has_rows = true, .is_spaced = true},
	{.in_totals = print_signs_folded},
	{.in_brief = print_busy_folded, .in_full = print_busy_folded, .left_out = 5},
	{.in_brief = print_hardware_folded,
	 .in_full = print_hardware_folded,
	 .add = gp_summary_add_hardware},
	{.in_brief = print_energy_folded,
	 .in_full = print_energy_folded,
	 .in_totals = print_energy_folded,
	 .add = gp_summary_add_energy},
	{.in_brief = print_stalls_folded,
	 .in_full = print_stalls_folded,
	 .add = gp_summary_add_stalls},
	{.in_brief = print_roofline_folded,
	 .in_full = print_roofline_folded,
	 .add = gp_summary_add_roofline},
	{.add = gp_summary_add_devices},
	{.in_brief = gp_summary_print_activity,
	 .in_full = gp_summary_print_activity,
	 .in_totals = gp_summary_print_activity,
	 .has_rows = true,
	 .is_spaced = true,
	 .left_out = 4},
	{.in_brief = gp_summary_print_more, .in_full = gp_summary_print_more, .left_out = 1},
	{.in_brief = gp_summary_print_ranges,
	 .in_full = gp_summary_print_ranges,
	 .has_rows = true,
	 .left_out = 3},
	{.in_brief = gp_summary_print_memory_in_brief,
	 .in_full = gp_summary_print_memory,
	 .in_totals = gp_summary_print_memory_in_brief,
	 .add = gp_summary_add_memory,
	 .has_rows = true,
	 .left_out = 2 /* the ranks have a column of it */},
	{.in_brief = print_left_folded,
	 .in_full = gp_summary_print_left,
	 .add = gp_summary_add_left},
	{.add = gp_summary_add_outliers},
	{.add = gp_summary_add_more},
	{.in_brief = gp_summary_print_sampled,
	 .in_full = gp_summary_print_sampled,
	 .add = gp_summary_add_sampled},
	{.in_brief = print_windows, .in_full = print_windows, .in_totals = print_windows},
	{.in_brief = print_records_folded,
	 .in_full = print_records_folded,
	 .in_totals = print_records_folded,
	 .add = gp_summary_add_cost},
	{.in_brief = print_hint},
	{.in_full = gp_summary_print_advice},
	{.in_totals = print_one_pass_folded},
};

int gp_summary_add_sections(const struct gp_summary *summary, struct gp_document *document)
{
	int result = 0;

	for (size_t i = 0; i < COUNT(sections) && result == 0; i++)
		if (sections[i].add)
			result = sections[i].add(summary, document);
	return result;
}

/* From most to fewest rows; the first that fits is taken, else the last. */
#define ALL_FINDINGS .phases = 6, .lines = 4, .findings = 4, .once = 2
static const struct gp_summary_rows screens[] = {
	{.operations = 5, .calls = 5, .ranges = 3, ALL_FINDINGS},
	{.operations = 5, .calls = 5, .ranges = 2, .memory = 8, ALL_FINDINGS},
	{.operations = 5, .calls = 4, .ranges = 1, .memory = 6, ALL_FINDINGS},
	{.operations = 5, .calls = 3, .ranges = 1, .memory = 4, ALL_FINDINGS},
	{.operations = 4, .calls = 3, .ranges_in_a_line = true, .memory = 4, ALL_FINDINGS},
	{.operations = 4, .calls = 2, .ranges_in_a_line = true, .memory = 3, ALL_FINDINGS},
	{.operations = 4, .calls = 1, .ranges_in_a_line = true, .memory = 2, ALL_FINDINGS},
	{.operations = 3, .calls = 1, .ranges_in_a_line = true, .memory = 2, ALL_FINDINGS},
	{.operations = 3,
	 .calls = 1,
	 .ranges_in_a_line = true,
	 .memory = 2,
	 .phases = 5,
	 .lines = 3,
	 .findings = 3,
	 .once = 1},
};

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

/*
 * Remove up to that many empty lines from a text (if is_spaced, not the one before it); returns how
 * many are still to be removed.
 */
static size_t close_up(char *text, bool is_spaced, size_t lines)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from == '\n' && lines > 0 && (to > text ? to[-1] == '\n' : !is_spaced))
			lines--;
		else
			*to++ = *from;
	*to = '\0';
	return lines;
}

/* From the last section to the first. */
static void close_all_up(char *texts[COUNT(sections)], size_t lines)
{
	for (size_t i = COUNT(sections); i-- > 0;)
		if (texts[i])
			lines = close_up(texts[i], sections[i].is_spaced, lines);
}

static size_t count_all_lines(char *const texts[COUNT(sections)])
{
	size_t lines = 0;

	for (size_t i = 0; i < COUNT(sections); i++)
		lines += texts[i] ? count_lines(texts[i]) : 0;
	return lines;
}

static void leave_out(char *texts[COUNT(sections)])
{
	for (unsigned char order = 1; order <= COUNT(sections); order++)
		for (size_t i = 0; i < COUNT(sections); i++)
			if (sections[i].left_out == order &&
			    count_all_lines(texts) > LINES_OF_A_JOB)
				texts[i][0] = '\0';
}

/* A section of the screen, as a parallel task. */
struct making {
	const struct gp_summary *summary;
	const struct section *section;
	char **text;
};

static int make_section(void *context)
{
	const struct making *making = context;

	return text_of(making->summary, making->section->in_brief, making->text);
}

/* Make the sections that do not exist yet, or that depend on the rows. */
static int make_sections(const struct gp_summary *summary, char *texts[COUNT(sections)])
{
	struct making makings[COUNT(sections)];
	struct gp_task tasks[COUNT(sections)];
	size_t count = 0;

	for (size_t i = 0; i < COUNT(sections); i++) {
		if (!sections[i].in_brief || (texts[i] && !sections[i].has_rows))
			continue;
		free(texts[i]);
		makings[count] = (struct making){summary, &sections[i], &texts[i]};
		tasks[count] = (struct gp_task){make_section, &makings[count], 0};
		count++;
	}
	return gp_run_parallel(tasks, count);
}

static int make_screen(struct gp_summary *summary, char *texts[COUNT(sections)])
{
	size_t lines, screen = 0;
	int result = 0;

	do {
		summary->rows = screens[screen];
		result = make_sections(summary, texts);
		lines = count_all_lines(texts);
	} while (result == 0 && lines > LINES_OF_A_SCREEN && ++screen < COUNT(screens));
	if (result == 0 && lines > LINES_OF_A_SCREEN)
		close_all_up(texts, lines - LINES_OF_A_SCREEN);
	if (result == 0 && gp_summary_has_ranks(summary))
		leave_out(texts);
	return result;
}

static int print_screen(const struct gp_summary *summary)
{
	struct gp_summary page = *summary;
	char *texts[COUNT(sections)] = {NULL};
	int result = make_screen(&page, texts);

	for (size_t i = 0; i < COUNT(sections); i++) {
		if (result == 0 && texts[i])
			fputs(texts[i], summary->out);
		free(texts[i]);
	}
	return result;
}

/* ---- the other pages ---- */

static int print_page(const struct gp_summary *summary)
{
	int result = 0;

	for (size_t i = 0; i < COUNT(sections) && result == 0; i++) {
		int (*print)(const struct gp_summary *) =
			summary->basis ? sections[i].in_full : sections[i].in_totals;

		if (print)
			result = print(summary);
	}
	return result;
}

static void limit_rows(struct gp_summary *summary)
{
	size_t limit = summary->options->row_limit;

	summary->rows = summary->options->brief ? screens[0]
						: (struct gp_summary_rows){.operations = limit,
									   .calls = limit,
									   .ranges = limit};
}

static int print_sections(struct gp_summary *summary)
{
	limit_rows(summary);
	if (summary->basis)
		gp_summary_gather_ranges(summary);
	if (summary->basis && summary->options->brief)
		return print_screen(summary);
	return print_page(summary);
}

/* A process that never used the GPU: one line, and its losses. */
static void print_unused(FILE *out, const struct gp_model *model)
{
	if (model->losses.cut || model->losses.damaged_bytes > 0)
		gp_summary_print_partial(out, model);
	fputs("gpuprof: ", out);
	gp_text_print_fit(out, gp_summary_program_of(model), 64);
	fprintf(out,
		model->losses.cut ? " (%s): its file has no CUDA call, and is incomplete"
				  : " (%s) made no CUDA call that was recorded",
		gp_process_name(model).text);
	if (model->range_count > 0)
		fprintf(out, "; ranges and marks: %s", gp_format_count(model->range_count).text);
	fputc('\n', out);
	gp_summary_print_never(out, model);
	gp_summary_print_troubles(out, model);
}

/* For processes that have nothing else. */
static int print_ranges_alone(struct gp_summary *summary)
{
	summary->models = memcpy(summary->models, summary->all_models,
				 summary->all_count * sizeof(*summary->models));
	summary->model_count = summary->all_count;
	limit_rows(summary);
	gp_summary_gather_ranges(summary);
	return gp_summary_print_ranges(summary);
}

int gp_summary_write(FILE *out, struct gp_summary *summary,
		     const struct gp_summary_options *options)
{
	struct gp_summary_options page = *options;
	int result;

	if (page.brief)
		page.row_limit = screens[0].calls;
	summary->out = out;
	summary->options = &page;
	for (size_t i = 0; i < summary->all_count; i++)
		if (!gp_counts_any(summary->all_models[i]))
			print_unused(out, summary->all_models[i]);
	result = summary->model_count > 0 ? print_sections(summary) : print_ranges_alone(summary);
	summary->options = NULL;
	if (fflush(out) != 0 || ferror(out))
		return -EIO;
	return result;
}

int gp_summary_print(FILE *out, struct gp_model *const *models, size_t model_count,
		     const struct gp_summary_options *options)
{
	struct gp_summary summary;
	int result = gp_summary_open(&summary, models, model_count, options->kinds);

	summary.job = options->job;
	if (result == 0)
		result = gp_summary_write(out, &summary, options);
	gp_summary_close(&summary);
	return result;
}
