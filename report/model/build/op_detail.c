#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/build/build.h"

/*
 * In a tree, which no trace can make slow; mostly each detail is followed by the one that followed
 * it last time.
 */
struct known {
	struct gp_op_detail detail;
	uint32_t number;
	struct known *next;
};

struct gp_details {
	void *tree;
	struct known none; /* number 0: as gp_model_detail() has it */
	struct known *last;
};

static int compare(const void *a, const void *b)
{
	return memcmp(&((const struct known *)a)->detail, &((const struct known *)b)->detail,
		      sizeof(struct gp_op_detail));
}

static bool is_same(const struct known *known, const struct gp_op_detail *detail)
{
	return memcmp(&known->detail, detail, sizeof(*detail)) == 0;
}

static struct known *add(struct gp_load *load, const struct gp_op_detail *detail)
{
	struct gp_model *m = load->model;
	struct known *known = calloc(1, sizeof(*known));

	if (known && GP_LOAD_GROW(load, m->details, m->detail_count, details) == 0) {
		m->details[m->detail_count++] = known->detail = *detail;
		known->number = m->detail_count;
		if (tsearch(known, &load->details->tree, compare))
			return known;
	}
	free(known);
	return NULL;
}

static struct known *find(struct gp_load *load, const struct gp_op_detail *detail)
{
	struct gp_details *details = load->details;
	const struct known key = {.detail = *detail};
	struct known *const *found;

	if (details->last->next && is_same(details->last->next, detail))
		return details->last->next;
	if (is_same(&details->none, detail))
		return &details->none;
	found = tfind(&key, &details->tree, compare);
	return found ? *found : add(load, detail);
}

int gp_load_detail(struct gp_load *load, const struct gp_op_detail *detail, uint32_t *number)
{
	struct gp_op_detail own = *detail; /* captures are found later, for all that share it */
	struct known *known;

	if (!load->details) {
		load->details = calloc(1, sizeof(*load->details));
		if (!load->details)
			return -ENOMEM;
		load->details->none.detail.capture_call = GP_NONE;
		load->details->last = &load->details->none;
	}
	own.capture_call = GP_NONE;
	known = find(load, &own);
	if (!known)
		return -ENOMEM;
	load->details->last->next = known;
	load->details->last = known;
	*number = known->number;
	return 0;
}

void gp_load_details_free(struct gp_load *load)
{
	if (load->details)
		tdestroy(load->details->tree, free);
	free(load->details);
	load->details = NULL;
}
