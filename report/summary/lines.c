/* The lines of the model with most GPU time, with that of their backward pass. */
#include "report/summary/part.h"

#include <errno.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/analysis.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/lines.h"

/* The process whose steps are shown; SIZE_MAX: there is none, or it has no backward pass. */
static size_t choose(const struct gp_summary *summary)
{
	size_t process = summary->basis ? gp_analysis_main_process(summary->basis) : SIZE_MAX;

	if (process == SIZE_MAX && summary->basis && summary->model_count == 1)
		process = 0;
	return process != SIZE_MAX && summary->basis->backward[process].answers ? process
										: SIZE_MAX;
}

int gp_summary_gather_lines(struct gp_summary *summary)
{
	size_t process = choose(summary);
	struct gp_analysis of_one;
	struct gp_scope scope;
	int result;

	if (process == SIZE_MAX)
		return 0;
	summary->lines = calloc(1, sizeof(*summary->lines));
	of_one = *summary->basis;
	of_one.backward += process;
	result = gp_scope_open(&scope, summary->models + process, 1, false);
	scope.analysis = &of_one;
	if (result == 0)
		result = gp_breakdown_make(&gp_breakdown_line, &scope, summary->lines);
	scope.analysis = NULL;
	gp_scope_close(&scope);
	return result;
}

void gp_summary_free_lines(struct gp_summary *summary)
{
	if (summary->lines)
		gp_table_close(summary->lines);
	free(summary->lines);
}

static const struct gp_table_column columns[] = {
	{"GPU %", GP_UNIT_PERCENT},
	{"Launched", GP_UNIT_NS},
	{"Backward", GP_UNIT_NS},
	{"Line", GP_UNIT_TEXT},
};

static const struct gp_table_head head = {"line", NULL, columns, COUNT(columns)};

int gp_summary_print_lines(const struct gp_summary *summary)
{
	size_t count = summary->lines ? gp_table_rows(summary->lines) : 0;
	struct gp_table table;
	int result;

	if (count == 0)
		return 0;
	if (summary->rows.lines > 0 && count > summary->rows.lines)
		count = summary->rows.lines;
	fputs("  lines     GPU time, in all, that a line launches, and that its backward pass launches\n",
	      summary->out);
	gp_table_open(&table, &head);
	for (size_t i = 0; i < count; i++) {
		const struct gp_value *row = gp_table_row(summary->lines, i);

		gp_table_cell(&table, row[GP_LINE_SHARE]);
		gp_table_put_whole(&table, row[GP_LINE_LAUNCHED].whole);
		gp_table_put_whole(&table, row[GP_LINE_BACKWARD].whole);
		gp_table_put_text(&table, row[GP_LINE_PLACE].text);
	}
	result = gp_table_print(&table, summary->out, gp_summary_columns(summary));
	gp_table_close(&table);
	return result;
}

void gp_summary_add_lines(const struct gp_summary *summary, struct gp_document *document)
{
	if (!summary->lines)
		return;
	gp_document_add_section(document, "lines");
	for (size_t i = 0; i < gp_table_rows(summary->lines); i++) {
		const struct gp_value *row = gp_table_row(summary->lines, i);

		gp_document_add_row(document);
		gp_document_add_text(document, "line",
				     row[GP_LINE_PLACE].text ? row[GP_LINE_PLACE].text : "");
		gp_document_add_number(document, "pid", GP_UNIT_NUMBER,
				       summary->models[choose(summary)]->pid);
		gp_document_add_number(document, "launched_ns", GP_UNIT_NS,
				       row[GP_LINE_LAUNCHED].whole);
		gp_document_add_number(document, "backward_ns", GP_UNIT_NS,
				       row[GP_LINE_BACKWARD].whole);
		gp_document_add(document, "likely_share", GP_UNIT_PERCENT, row[GP_LINE_LIKELY]);
	}
}
