#include "report/answers/failures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/activity.h"
#include "report/array.h"
#include "report/cuda_names.h"

bool gp_failure_is_of_work(uint8_t class)
{
	switch (class) {
	case GP_API_LAUNCH:
	case GP_API_GRAPH_LAUNCH:
	case GP_API_COPY:
	case GP_API_SET:
	case GP_API_HOST:
	case GP_API_ALLOC:
	case GP_API_FREE:
	case GP_API_SYNC:
		return true;
	default:
		return false;
	}
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

/* Of the ranges of its thread that a call lies in, the one that was opened last. */
static const char *range_of(const struct gp_model *model, const struct gp_call *call)
{
	const struct gp_range *found = NULL;

	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];

		if (range->style == GP_STYLE_PUSH_POP && range->thread_id == call->thread_id &&
		    range->start_ns <= call->start_ns && call->start_ns < range->end_ns &&
		    (!found || range->start_ns >= found->start_ns))
			found = range;
	}
	return found ? gp_model_range_text(model, found) : NULL;
}

static struct gp_failure *row_of(struct gp_failures *failures, struct gp_api api,
				 const struct gp_call *call, uint32_t site)
{
	char key[320];
	uint32_t row;

	snprintf(key, sizeof(key), "%u %u %.256s", call->status, site, api.name);
	row = gp_groups_find(&failures->keys, key);
	if (row == UINT32_MAX)
		return NULL;
	if (row < failures->count)
		return &failures->rows[row];
	if (gp_array_grow(&failures->rows, &failures->capacity, failures->count,
			  sizeof(*failures->rows)) != 0)
		return NULL;
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

static int take(struct gp_failures *failures, const struct gp_model *model,
		const struct gp_call *call)
{
	uint64_t unix_ns = model->base_unix_ns + call->start_ns;
	uint32_t site = gp_call_sites_find(failures->sites, model, call);
	struct gp_failure *row =
		site != UINT32_MAX ? row_of(failures, gp_model_api(model, call->api), call, site)
				   : NULL;

	if (!row)
		return -ENOMEM;
	failures->calls++;
	row->count++;
	if (unix_ns <
	    row->first_unix_ns) { /* for each thread once: calls are in the order of time */
		row->first_unix_ns = unix_ns;
		row->range = row->has_stack ? NULL : range_of(model, call);
	}
	return 0;
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
	int result = 0;

	*failures = (struct gp_failures){.sites = gp_call_sites_new()};
	if (!failures->sites)
		return -ENOMEM;
	for (size_t i = 0; i < model_count; i++)
		for (uint32_t j = 0; result == 0 && j < models[i]->call_count; j++)
			if (gp_activity_is_failure(models[i], &models[i]->calls[j]))
				result = take(failures, models[i], &models[i]->calls[j]);
	if (result == 0 && failures->count > 1)
		qsort(failures->rows, failures->count, sizeof(*failures->rows), compare);
	return result;
}

void gp_failures_free(struct gp_failures *failures)
{
	gp_call_sites_free(failures->sites);
	gp_groups_free(&failures->keys);
	free(failures->rows);
	*failures = (struct gp_failures){0};
}
