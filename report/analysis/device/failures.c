#include "report/analysis/device/failures.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/analysis/idle/activity.h"
#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/base/spill_memory.h"

bool gp_failure_is_of_work(uint8_t class)
{
	switch (class) {
	case GP_API_LAUNCH:
	case GP_API_GRAPH_LAUNCH:
	case GP_API_COPY:
	case GP_API_MEMSET:
	case GP_API_HOST:
	case GP_API_ALLOC:
	case GP_API_FREE:
	case GP_API_SYNC:
		return true;
	default:
		return false;
	}
}

bool gp_failure_is_lasting(uint16_t code)
{
	return code == 700 || code == 702 || code == 710 || (code >= 714 && code <= 719);
}

void gp_failure_error(char text[GP_FAILURE_ERROR_BYTES], uint16_t code, bool is_driver)
{
	const char *words = gp_status_name(code), *name = gp_status_symbol(code, is_driver);

	if (*words && *name)
		snprintf(text, GP_FAILURE_ERROR_BYTES, "%s (%s, %u)", words, name, code);
	else if (*words || *name)
		snprintf(text, GP_FAILURE_ERROR_BYTES, "%s (%u)", *name ? name : words, code);
	else
		snprintf(text, GP_FAILURE_ERROR_BYTES, "error %u", code);
}

void gp_asked_add(struct gp_asked *asked, const struct gp_model *model, const struct gp_call *call)
{
	uint64_t bytes;

	if (!gp_model_asked_bytes(model, call, &bytes))
		return;
	if (asked->count == 0 || bytes < asked->least_bytes)
		asked->least_bytes = bytes;
	if (asked->count == 0 || bytes > asked->most_bytes)
		asked->most_bytes = bytes;
	asked->count++;
}

void gp_asked_tell(FILE *out, const struct gp_asked *asked)
{
	if (asked->count == 0)
		return;
	fprintf(out, ", of %s", gp_format_bytes(asked->least_bytes).text);
	if (asked->most_bytes > asked->least_bytes)
		fprintf(out, " to %s", gp_format_bytes(asked->most_bytes).text);
	else if (asked->count > 1)
		fputs(" each", out);
}

/*
 * The ranges that are open when a call begins, the one that was opened last at the end: goes
 * through calls and ranges in the order of both.
 */
struct nest {
	const struct gp_model *model;
	uint32_t next; /* the first range that is not opened yet */
	uint32_t *open;
	uint32_t count, capacity;
};

static bool begins_until(const struct gp_range *range, const struct gp_call *call)
{
	return range->thread_id != call->thread_id ? range->thread_id < call->thread_id
						   : range->start_ns <= call->start_ns;
}

static void open_until(struct nest *nest, const struct gp_call *call)
{
	const struct gp_range *ranges = nest->model->ranges;

	for (; nest->next < nest->model->range_count && begins_until(&ranges[nest->next], call);
	     nest->next++) {
		if (ranges[nest->next].style != GP_STYLE_PUSH_POP ||
		    ranges[nest->next].thread_id != call->thread_id)
			continue;
		gp_array_grow_spill(&nest->open, &nest->capacity, nest->count, sizeof(*nest->open));
		nest->open[nest->count++] = nest->next;
	}
}

/*
 * One that has ended may stay below one that has not: it is seen only when that one has gone, and
 * goes then.
 */
static void close_before(struct nest *nest, const struct gp_call *call)
{
	for (; nest->count > 0; nest->count--) {
		const struct gp_range *last = &nest->model->ranges[nest->open[nest->count - 1]];

		if (last->thread_id == call->thread_id && last->end_ns > call->start_ns)
			break;
	}
}

/*
 * Of the ranges of its thread that a call lies in, the one that was opened last: *text, NULL =
 * none.  Calls must come in their order.
 */
static void find_range(struct nest *nest, const struct gp_call *call, const char **text)
{
	open_until(nest, call);
	close_before(nest, call);
	*text = nest->count > 0
			? gp_model_range_text(nest->model,
					      &nest->model->ranges[nest->open[nest->count - 1]])
			: NULL;
}

static struct gp_failure *row_of(struct gp_failures *failures, struct gp_api api,
				 const struct gp_call *call, uint32_t site)
{
	char key[320];
	uint32_t row;

	snprintf(key, sizeof(key), "%u %u %.256s", call->status, site, api.name);
	row = gp_groups_find(&failures->keys, key);
	if (row < failures->count)
		return &failures->rows[row];
	gp_array_grow(&failures->rows, &failures->capacity, failures->count,
		      sizeof(*failures->rows));
	failures->rows[failures->count] = (struct gp_failure){
		.function = api.name,
		.code = call->status,
		.class = api.class,
		.is_driver = GP_API_IS_DRIVER(call->api),
		.first_unix_ns = UINT64_MAX,
		.site = site,
		.has_stack = call->stack != GP_NONE,
	};
	return &failures->rows[failures->count++];
}

static void take(struct gp_failures *failures, struct nest *nest, const struct gp_call *call,
		 uint32_t process)
{
	const struct gp_model *model = nest->model;
	uint64_t unix_ns = model->base_unix_ns + call->start_ns;
	uint32_t site = gp_call_sites_find(failures->sites, model, call);
	struct gp_failure *row = row_of(failures, gp_model_api(model, call->api), call, site);

	failures->calls++;
	row->processes += row->count == 0 || row->process != process;
	row->process = process;
	row->count++;
	gp_asked_add(&row->asked, model, call);
	if (unix_ns >= row->first_unix_ns)
		return;
	row->first_unix_ns = unix_ns;
	row->first_process = process;
	gp_oom_snapshot_at(&row->held, model, call, failures->sites);
	if (!row->has_stack)
		find_range(nest, call, &row->range);
}

static void take_all(struct gp_failures *failures, const struct gp_model *model, uint32_t process)
{
	struct nest nest = {.model = model};

	for (uint32_t i = 0; i < model->call_count; i++)
		if (gp_activity_is_failure(model, &model->calls[i]))
			take(failures, &nest, &model->calls[i], process);
	gp_spill_free(nest.open);
}

static int compare(const void *left, const void *right)
{
	const struct gp_failure *a = left, *b = right;
	bool a_works = gp_failure_is_of_work(a->class), b_works = gp_failure_is_of_work(b->class);

	if (a_works != b_works)
		return a_works ? -1 : 1;
	if (a->first_unix_ns != b->first_unix_ns)
		return a->first_unix_ns < b->first_unix_ns ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

int gp_failures_of(struct gp_failures *failures, struct gp_model *const *models, size_t model_count)
{
	*failures = (struct gp_failures){.sites = gp_call_sites_new()};
	for (size_t i = 0; i < model_count; i++)
		take_all(failures, models[i], (uint32_t)i);
	if (failures->count > 1)
		qsort(failures->rows, failures->count, sizeof(*failures->rows), compare);
	return 0;
}

void gp_failures_free(struct gp_failures *failures)
{
	gp_call_sites_free(failures->sites);
	gp_groups_free(&failures->keys);
	free(failures->rows);
	*failures = (struct gp_failures){0};
}
