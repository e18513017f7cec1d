/* Kernels that had not ended when the process did, or when what is known of it ends. */
#include "report/summary_part.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/call_site.h"
#include "report/format.h"
#include "report/names.h"
#include "report/text.h"
#include "report/unfinished.h"

#define MOST_ROWS 4

struct page {
	FILE *out;
	int indent;
	const struct gp_model *model;
	struct gp_unfinished_list list;
	struct gp_names *names;
	struct gp_call_sites *sites;
};

static void print_escaped(FILE *out, const char *text)
{
	char *escaped = gp_text_escape(text);

	fputs(escaped ? escaped : "(no memory)", out);
	free(escaped);
}

static const char *label_of(const struct page *page, enum gp_unfinished_state state)
{
	switch (state) {
	case GP_UNFINISHED_HANGS:
		return page->model->losses.live ? "has not ended" : "never ended";
	case GP_UNFINISHED_FAILED:
		return page->list.count + page->list.unnamed == 1
			       ? "failed, or never ran"
			       : "one of those that failed or never ran";
	default:
		return "no record of its end";
	}
}

static void print_thread(const struct page *page, uint32_t thread_id)
{
	const char *name = gp_model_thread_name(page->model, thread_id);

	fputs("; ", page->out);
	print_escaped(page->out, *name ? name : "thread");
	fprintf(page->out, " %u", thread_id);
}

/* "    launched 1.2s after the first recorded CUDA call by cudaLaunchKernel, at step (main.cu:12); main 4711" */
static void print_launch(const struct page *page, const struct gp_call *call)
{
	const struct gp_model *model = page->model;

	fprintf(page->out, "%*slaunched %s after the first recorded CUDA call by ",
		page->indent + 2, "", gp_format_ns(call->start_ns - model->first_ns).text);
	print_escaped(page->out, gp_model_api(model, call->api).name);
	if (call->stack != GP_NONE) {
		struct gp_call_site site =
			gp_call_sites_at(page->sites, gp_call_sites_find(page->sites, model, call));

		fputs(", at ", page->out);
		print_escaped(page->out, site.place);
	}
	print_thread(page, call->thread_id);
	fputs("\n", page->out);
}

/* How many of the rows are behind that one, and the first of these. */
static uint32_t count_behind(const struct page *page, uint32_t index, const char **first)
{
	const struct gp_unfinished *rows = page->list.rows;
	const struct gp_call *calls = page->model->calls;
	uint32_t count = 0;

	for (uint32_t i = index + 1; i < page->list.count; i++) {
		if (rows[i].state != GP_UNFINISHED_BEHIND ||
		    calls[rows[i].call].thread_id != calls[rows[index].call].thread_id)
			continue;
		if (count++ == 0)
			*first = gp_unfinished_name(page->model, &rows[i]);
	}
	return count;
}

static void print_behind(const struct page *page, uint32_t index)
{
	const char *first = "";
	uint32_t count = count_behind(page, index, &first);

	if (count == 0)
		return;
	fprintf(page->out, "%*sbehind it, without a known end: %s later launch%s of the thread, ",
		page->indent + 2, "", gp_format_count(count).text, count == 1 ? "" : "es");
	fputs(count == 1 ? "of " : "the next one of ", page->out);
	print_escaped(page->out, gp_names_short(page->names, first));
	fputs("\n", page->out);
}

static void print_row(const struct page *page, uint32_t index)
{
	const struct gp_unfinished *row = &page->list.rows[index];

	fprintf(page->out, "%*s%s: ", page->indent, "", label_of(page, row->state));
	print_escaped(page->out, gp_names_short(page->names, gp_unfinished_name(page->model, row)));
	if (row->state != GP_UNFINISHED_FAILED && row->open_ns > 0)
		fprintf(page->out, ", for %s%s after its launch",
			page->model->losses.live ? "" : "at least ",
			gp_format_ns(row->open_ns).text);
	fputs("\n", page->out);
	print_launch(page, &page->model->calls[row->call]);
	print_behind(page, index);
}

static void print_rows(const struct page *page)
{
	uint32_t shown = 0, left = 0;

	for (uint32_t i = 0; i < page->list.count; i++) {
		if (page->list.rows[i].state == GP_UNFINISHED_BEHIND)
			continue;
		if (shown < MOST_ROWS)
			print_row(page, i);
		else
			left++;
		shown += shown < MOST_ROWS;
	}
	if (left > 0)
		fprintf(page->out, "%*s... %s more: gpuprof summary --by unfinished FILE\n",
			page->indent, "", gp_format_count(left).text);
	if (page->list.unnamed > 0 && page->list.count > 0)
		fprintf(page->out, "%*sand without a name: %s launch%s that %s no record\n",
			page->indent, "", gp_format_count(page->list.unnamed).text,
			page->list.unnamed == 1 ? "" : "es",
			page->list.unnamed == 1 ? "has" : "have");
}

/* Of a model without calls: what its launches were, and no more. */
static void print_of_totals(const struct page *page)
{
	const struct gp_model *model = page->model;
	const char *first = model->names[model->in_flight[0].name];

	fprintf(page->out, "%*sno record of its end: ", page->indent, "");
	print_escaped(page->out, gp_names_short(page->names, first));
	if (model->in_flight_count > 1)
		fprintf(page->out, ", nor of %s later launch%s",
			gp_format_count(model->in_flight_count - 1).text,
			model->in_flight_count > 2 ? "es" : "");
	fputs("; its launch: gpuprof summary --by unfinished FILE\n", page->out);
}

static bool was_asked(const struct page *page)
{
	const struct gp_model *model = page->model;

	for (uint32_t i = 0; i < page->list.count; i++)
		if (page->list.rows[i].asked)
			return true;
	for (uint32_t i = 0; model->totals && i < model->in_flight_count; i++)
		if (model->in_flight[i].asked)
			return true;
	return false;
}

/* Where CUPTI was not asked for records before the end (XLA) that none came says nothing. */
static bool says_nothing(const struct page *page)
{
	const struct gp_model *model = page->model;

	return !model->losses.closed && !was_asked(page) &&
	       (model->totals || page->list.rows[0].state == GP_UNFINISHED_OPEN);
}

void gp_summary_print_unfinished(FILE *out, int indent, const struct gp_model *model)
{
	struct page page = {.out = out, .indent = indent, .model = model};

	if (gp_unfinished_find(model, &page.list) == 0 &&
	    (page.list.count > 0 || (model->totals && model->in_flight_count > 0)) &&
	    !says_nothing(&page)) {
		page.names = gp_names_new();
		page.sites = gp_call_sites_new();
		if (page.names && page.sites)
			(model->totals ? print_of_totals : print_rows)(&page);
	}
	if (page.names)
		gp_names_free(page.names);
	gp_call_sites_free(page.sites);
	gp_unfinished_free(&page.list);
}
