#include "report/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/pass/chunk_index.h"

/* One of so many of a part's events is loaded before and after it: ranges that begin in it, and what still ran when it began. */
#define MARGIN 16u

struct gp_parts {
	char *path;
	struct gp_chunk_index *index;
	uint64_t *starts; /* from the first call or operation on */
	uint32_t count;
	uint64_t to_ns, events;
	struct gp_model *model; /* of the part `at` */
	uint32_t at;
	uint64_t first_ns, base_unix_ns; /* of all models */
	char trouble[4352];
};

int gp_parts_open(const char *path, const struct gp_slice_choice *choice,
		  const struct gp_parts_wish *wish, struct gp_parts **parts)
{
	struct gp_parts *p = calloc(1, sizeof(*p));
	int result = -ENOMEM;

	if (!p)
		return -ENOMEM;
	p->path = strdup(path);
	p->to_ns = choice->to_ns;
	p->events = wish->events;
	if (p->path)
		result = gp_chunk_index_make(path, wish->with_memory, &p->index);
	if (result == 0)
		result = gp_chunk_index_cut(p->index, choice->from_ns, choice->to_ns, wish->events,
					    &p->starts, &p->count);
	if (result == 0 &&
	    !gp_chunk_index_is_for(p->index, p->starts, p->count, p->to_ns, p->events / MARGIN))
		result = -ENOTSUP;
	if (result == 0)
		*parts = p;
	else
		gp_parts_close(p);
	return result;
}

void gp_parts_close(struct gp_parts *p)
{
	if (!p)
		return;
	gp_model_free(p->model);
	gp_chunk_index_free(p->index);
	free(p->starts);
	free(p->path);
	free(p);
}

size_t gp_parts_count(const struct gp_parts *p)
{
	return p->count;
}

int gp_parts_cut(const struct gp_parts *p, uint64_t *starts, uint32_t count)
{
	return gp_chunk_index_share(p->index, p->starts[0], p->to_ns, starts, count);
}

size_t gp_parts_between(const struct gp_parts *p, uint64_t from_ns, uint64_t to_ns, size_t *first)
{
	size_t end = p->count;

	while (to_ns > 0 && end > 1 && p->starts[end - 1] >= to_ns)
		end--;
	*first = 0;
	while (*first + 1 < end && p->starts[*first + 1] <= from_ns)
		(*first)++;
	return end - *first;
}

const char *gp_parts_trouble(const struct gp_parts *p)
{
	return p->trouble[0] ? p->trouble : NULL;
}

/* Parts of one trace are on one timeline, or it was written to meanwhile. */
static bool is_alike(struct gp_parts *p)
{
	const struct gp_model *m = p->model;

	if (p->base_unix_ns == 0) {
		p->first_ns = m->first_ns;
		p->base_unix_ns = m->base_unix_ns;
	}
	if (m->first_ns == p->first_ns && m->base_unix_ns == p->base_unix_ns)
		return true;
	snprintf(p->trouble, sizeof(p->trouble),
		 "%s has changed while it was read; once it no longer does, repeat the command",
		 p->path);
	return false;
}

static void load(struct gp_parts *p, uint32_t at)
{
	const struct gp_load_options options = {.save_to = -1, .chosen = p->index};
	bool is_last = at + 1 == p->count;

	gp_chunk_index_choose(p->index, p->starts[at], is_last ? p->to_ns : p->starts[at + 1],
			      p->events / MARGIN);
	if (gp_model_load_with(p->path, &options, &p->model, p->trouble, sizeof(p->trouble)) != 0)
		p->model = NULL;
	else if (!is_alike(p)) {
		gp_model_free(p->model);
		p->model = NULL;
	}
	if (!p->model)
		return;
	p->at = at;
	p->trouble[0] = '\0';
	p->model->part = (struct gp_part){
		.is_one = true,
		.from_ns = at > 0 ? p->first_ns + p->starts[at] : 0,
		.to_ns = is_last ? UINT64_MAX : p->first_ns + p->starts[at + 1],
	};
}

const struct gp_model *gp_parts_get(void *context, size_t index)
{
	struct gp_parts *p = context;

	if (p->model && p->at == index)
		return p->model;
	gp_model_free(p->model);
	p->model = NULL;
	if (!p->trouble[0])
		load(p, (uint32_t)index);
	return p->model;
}
