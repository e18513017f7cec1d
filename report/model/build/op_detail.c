#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/hash_map.h"
#include "report/model/build/build.h"

/* Mostly each detail is followed by the one that followed it last time. */
struct gp_details {
	struct gp_hash_map index; /* of the model's details */
	struct gp_op_detail none; /* number 0: as gp_model_detail() has it */
	uint32_t *next;           /* by number: of the detail that followed it last time */
	uint32_t capacity, last;
};

static bool has_key(const void *details, uint32_t index, const void *key)
{
	return memcmp((const struct gp_op_detail *)details + index, key,
		      sizeof(struct gp_op_detail)) == 0;
}

static const struct gp_op_detail *of_number(const struct gp_model_builder *b, uint32_t number)
{
	return number == 0 ? &b->details->none : &b->model->details[number - 1];
}

/* GP_NONE: no memory. */
static uint32_t add(struct gp_model_builder *b, const struct gp_op_detail *detail, uint32_t hash)
{
	struct gp_model *m = b->model;
	struct gp_details *details = b->details;

	if (gp_array_grow(&details->next, &details->capacity, m->detail_count + 1,
			  sizeof(*details->next)) != 0 ||
	    GP_MODEL_GROW(b, m->details, m->detail_count, details) != 0 ||
	    gp_hash_add(&details->index, hash, m->detail_count) != 0)
		return GP_NONE;
	m->details[m->detail_count++] = *detail;
	details->next[m->detail_count] = 0;
	return m->detail_count;
}

static uint32_t find(struct gp_model_builder *b, const struct gp_op_detail *detail)
{
	struct gp_details *details = b->details;
	uint32_t next = details->next[details->last], hash, index;

	if (has_key(of_number(b, next), 0, detail))
		return next;
	if (has_key(&details->none, 0, detail))
		return 0;
	hash = gp_hash_bytes(detail, sizeof(*detail));
	index = gp_hash_find(&details->index, hash, has_key, b->model->details, detail);
	return index != GP_HASH_NONE ? index + 1 : add(b, detail, hash);
}

static int open_details(struct gp_model_builder *b)
{
	struct gp_details *details = calloc(1, sizeof(*details));

	if (!details ||
	    gp_array_grow(&details->next, &details->capacity, 0, sizeof(*details->next)) != 0) {
		free(details);
		return -ENOMEM;
	}
	details->none.capture_call = GP_NONE;
	details->next[0] = 0;
	b->details = details;
	return 0;
}

int gp_model_builder_detail(struct gp_model_builder *b, const struct gp_op_detail *detail,
			    uint32_t *number)
{
	struct gp_op_detail own = *detail; /* captures are found later, for all that share it */

	if (!b->details && open_details(b) != 0)
		return -ENOMEM;
	own.capture_call = GP_NONE;
	*number = find(b, &own);
	if (*number == GP_NONE)
		return -ENOMEM;
	b->details->next[b->details->last] = *number;
	b->details->last = *number;
	return 0;
}

void gp_model_builder_free_details(struct gp_model_builder *b)
{
	if (b->details) {
		gp_hash_free(&b->details->index);
		free(b->details->next);
	}
	free(b->details);
	b->details = NULL;
}
