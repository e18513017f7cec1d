/* Kernels that had not ended when the process, or the trace of it, ended. */
#include "report/summary/part.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/symbols/call_site.h"
#include "report/base/text/format.h"
#include "report/symbols/names.h"
#include "report/base/text/text.h"
#include "report/analysis/device/unfinished.h"

#define MOST_ROWS  4
#define MOST_NAMES 4

struct page {
	FILE *out;
	int indent;
	const struct gp_model *model;
	struct gp_unfinished_list list;
	struct gp_names *names;
	struct gp_call_sites *sites;
};

static const char *label_of(const struct page *page, enum gp_unfinished_state state)
{
	switch (state) {
	case GP_UNFINISHED_HANGS:
		return page->model->losses.live ? "has not ended" : "never ended";
	case GP_UNFINISHED_CUT_OFF:
		return "had not ended when the process did";
	case GP_UNFINISHED_FAILED:
		return page->list.count + page->list.unnamed == 1
			       ? "failed, or never ran"
			       : "one of those that failed or never ran";
	default:
		return "no record of its end";
	}
}

static void print_name(const struct page *page, const struct gp_unfinished *row)
{
	gp_text_print(page->out, gp_names_short(page->names, gp_unfinished_name(page->model, row)));
}

static void print_thread(const struct page *page, uint32_t thread_id)
{
	const char *name = gp_model_thread_name(page->model, thread_id);

	fputs("; ", page->out);
	gp_text_print(page->out, *name ? name : "thread");
	fprintf(page->out, " %u", thread_id);
}

/*
 * "launched 1.2s after the first recorded CUDA call by cudaLaunchKernel, at step (main.cu:12); main
 * 4711"
 */
static void print_launch(const struct page *page, const struct gp_unfinished *row)
{
	const struct gp_model *model = page->model;
	const struct gp_call *call = &model->calls[row->call];

	fprintf(page->out, "launched %s after the first recorded CUDA call by ",
		gp_format_ns(call->start_ns - model->first_ns).text);
	gp_text_print(page->out, gp_model_api(model, call->api).name);
	if (call->stack != GP_NONE) {
		struct gp_call_site site =
			gp_call_sites_at(page->sites, gp_call_sites_find(page->sites, model, call));

		fprintf(page->out, ", at %s", gp_call_site_mark(call));
		gp_text_print(page->out, site.place);
	}
	print_thread(page, call->thread_id);
	fputs("\n", page->out);
}

static void print_open_time(const struct page *page, const struct gp_unfinished *row,
			    const char *since)
{
	if (row->open_ns > 0)
		fprintf(page->out, ", for %s%s after %s",
			page->model->losses.live ? "" : "at least ",
			gp_format_ns(row->open_ns).text, since);
	fputs("\n", page->out);
}

/* ---- several kernels, one of which has not ended ---- */

static bool is_of_group(const struct gp_unfinished *row)
{
	return row->state == GP_UNFINISHED_ONE_OF || row->state == GP_UNFINISHED_OPEN;
}

/* The kernels, at least one of which has not ended: how many have a name, the first and last. */
struct group {
	const struct gp_unfinished *first, *last;
	uint32_t named;
};

static struct group find_group(const struct page *page)
{
	struct group group = {0};

	for (uint32_t i = 0; i < page->list.count; i++) {
		const struct gp_unfinished *row = &page->list.rows[i];

		if (!is_of_group(row))
			continue;
		if (group.named++ == 0)
			group.first = row;
		group.last = row;
	}
	return group;
}

/*
 * "no record of an end: 3 kernels", "never ended: at least one of 3 kernels and 2 graphs, copies or
 * memsets without a record"
 */
static void print_how_many(const struct page *page, const struct group *group, bool has_one)
{
	uint32_t kernels = group->named + page->list.unnamed, others = page->list.others;

	fputs(!has_one                   ? "no record of an end: "
	      : page->model->losses.live ? "has not ended: at least one of "
					 : "never ended: at least one of ",
	      page->out);
	fprintf(page->out, "%s kernel%s", gp_format_count(kernels).text, kernels == 1 ? "" : "s");
	if (has_one && others > 0)
		fprintf(page->out, " and %s %s", gp_format_count(others).text,
			others == 1 ? "graph, copy or memset" : "graphs, copies or memsets");
	fputs(has_one ? " without a record" : "", page->out);
}

struct kind {
	const struct gp_unfinished *first;
	uint32_t count;
};

/* Returns the number of kinds, at most MOST_NAMES; *left: rows of other kinds. */
static uint32_t find_kinds(const struct page *page, struct kind *kinds, uint32_t *left)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < page->list.count; i++) {
		const struct gp_unfinished *row = &page->list.rows[i];
		uint32_t at = 0;

		if (!is_of_group(row))
			continue;
		while (at < count && kinds[at].first->name != row->name)
			at++;
		if (at == MOST_NAMES) {
			++*left;
			continue;
		}
		if (at == count)
			kinds[count++] = (struct kind){row, 0};
		kinds[at].count++;
	}
	return count;
}

/* "k_spin 1, k_after 2, others 7, without a name 3", ordered by the first kernel of each */
static void print_kinds(const struct page *page)
{
	struct kind kinds[MOST_NAMES];
	uint32_t left = 0, count = find_kinds(page, kinds, &left);

	fprintf(page->out, "%*s", page->indent + 2, "");
	for (uint32_t i = 0; i < count; i++) {
		fputs(i > 0 ? ", " : "", page->out);
		print_name(page, kinds[i].first);
		fprintf(page->out, " %s", gp_format_count(kinds[i].count).text);
	}
	if (left > 0)
		fprintf(page->out, ", others %s", gp_format_count(left).text);
	if (page->list.unnamed > 0)
		fprintf(page->out, ", without a name %s", gp_format_count(page->list.unnamed).text);
	fputs("; with a name: gpuprof summary --by unfinished FILE\n", page->out);
}

static void print_of_group(const struct page *page, const char *which,
			   const struct gp_unfinished *row)
{
	fprintf(page->out, "%*s%s%s: ", page->indent + 2, "", which,
		page->list.unnamed > 0 ? " with a name" : "");
	print_name(page, row);
	fputs(", ", page->out);
	print_launch(page, row);
}

static void print_group(const struct page *page, const struct group *group)
{
	bool has_one = group->first->state == GP_UNFINISHED_ONE_OF;

	fprintf(page->out, "%*s", page->indent, "");
	print_how_many(page, group, has_one);
	print_open_time(page, group->first, "the first launch");
	if (has_one)
		fprintf(page->out,
			"%*swhich one is unknown: CUPTI delivers a buffer only after all kernels in it have ended\n",
			page->indent + 2, "");
	print_kinds(page);
	print_of_group(page, "first", group->first);
	if (group->last != group->first)
		print_of_group(page, "last", group->last);
}

/* ---- kernels known not to have ended ---- */

static bool is_behind(const struct page *page, const struct gp_unfinished *row,
		      const struct gp_unfinished *head)
{
	const struct gp_op *ops = page->model->ops;

	return row->state == GP_UNFINISHED_BEHIND && head->op != GP_NONE &&
	       gp_ops_share_stream(&ops[row->op], &ops[head->op]);
}

static void print_behind(const struct page *page, const struct gp_unfinished *head)
{
	const struct gp_unfinished *rows = page->list.rows, *first = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < page->list.count; i++) {
		if (!is_behind(page, &rows[i], head))
			continue;
		if (count++ == 0)
			first = &rows[i];
	}
	if (count == 0)
		return;
	fprintf(page->out, "%*squeued behind it in its stream: %s later launch%s, %s",
		page->indent + 2, "", gp_format_count(count).text, count == 1 ? "" : "es",
		count == 1 ? "of " : "the next one of ");
	print_name(page, first);
	fputs("\n", page->out);
}

static void print_row(const struct page *page, const struct gp_unfinished *row)
{
	fprintf(page->out, "%*s%s: ", page->indent, "", label_of(page, row->state));
	print_name(page, row);
	if (row->state == GP_UNFINISHED_FAILED)
		fputs("\n", page->out);
	else
		print_open_time(page, row, "its launch");
	fprintf(page->out, "%*s", page->indent + 2, "");
	print_launch(page, row);
	print_behind(page, row);
}

static void print_rest(const struct page *page, uint32_t left, uint32_t unnamed)
{
	if (left > 0)
		fprintf(page->out, "%*s... %s more: gpuprof summary --by unfinished FILE\n",
			page->indent, "", gp_format_count(left).text);
	if (unnamed > 0)
		fprintf(page->out, "%*sand without a name: %s launch%s that %s no record\n",
			page->indent, "", gp_format_count(unnamed).text, unnamed == 1 ? "" : "es",
			unnamed == 1 ? "has" : "have");
}

static void print_rows(const struct page *page)
{
	struct group group = find_group(page);
	bool is_group =
		group.named > 1 || (group.named == 1 && group.first->state == GP_UNFINISHED_ONE_OF);
	uint32_t shown = 0, left = 0;

	if (is_group)
		print_group(page, &group);
	for (uint32_t i = 0; i < page->list.count; i++) {
		const struct gp_unfinished *row = &page->list.rows[i];

		if (row->state == GP_UNFINISHED_BEHIND || (is_group && is_of_group(row)))
			continue;
		if (shown < MOST_ROWS)
			print_row(page, row);
		else
			left++;
		shown += shown < MOST_ROWS;
	}
	print_rest(page, left, is_group ? 0 : page->list.unnamed);
}

/* For a model without calls, which knows only the kernels in flight. */
static void print_of_totals(const struct page *page)
{
	const struct gp_model *model = page->model;
	const char *first = model->names[model->in_flight[0].name];

	fprintf(page->out, "%*sno record of its end: ", page->indent, "");
	gp_text_print(page->out, gp_names_short(page->names, first));
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

/*
 * If nobody asked CUPTI for records before the end (XLA), missing records do not mean unfinished
 * kernels.
 */
static bool may_have_ended(const struct page *page)
{
	const struct gp_model *model = page->model;

	return !model->losses.closed && !was_asked(page) &&
	       (model->totals || page->list.rows[0].state == GP_UNFINISHED_OPEN);
}

bool gp_summary_is_cut_off(const struct gp_model *model)
{
	struct gp_unfinished_list list;
	bool is_cut_off = false;

	gp_unfinished_find(model, &list);
	for (uint32_t i = 0; i < list.count; i++)
		is_cut_off |= list.rows[i].state == GP_UNFINISHED_CUT_OFF;
	gp_unfinished_free(&list);
	return is_cut_off;
}

void gp_summary_print_unfinished(FILE *out, int indent, const struct gp_model *model)
{
	struct page page = {.out = out, .indent = indent, .model = model};

	if (gp_unfinished_find(model, &page.list) == 0 &&
	    (page.list.count > 0 || (model->totals && model->in_flight_count > 0)) &&
	    !may_have_ended(&page)) {
		page.names = gp_names_new();
		page.sites = gp_call_sites_new();
		(model->totals ? print_of_totals : print_rows)(&page);
	}
	gp_names_free(page.names);
	gp_call_sites_free(page.sites);
	gp_unfinished_free(&page.list);
}
