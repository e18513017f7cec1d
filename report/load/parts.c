#include "report/load/parts.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/load/load_model.h"
#include "report/model/chunk_index.h"

/*
 * This fraction of a part's events is loaded before and after it: for ranges that begin in it, and
 * operations that still ran when it began.
 */
#define MARGIN 16u

/* A thread loads the next part while one is used: each may have half of the memory. */
#define AT_ONCE 2u

/* One that is being loaded, or was. */
struct loaded {
	uint32_t at;
	struct gp_model *model; /* NULL: see trouble */
	char trouble[4352];
};

struct gp_parts {
	char *path;
	/* the loading thread's: the choice in it changes */
	struct gp_chunk_index *index;
	uint64_t *starts; /* from the first call or operation on */
	uint32_t count;
	uint64_t to_ns, margin;
	struct loaded now; /* its model NULL: there is none yet, or it could not be read */
	struct loaded next;
	pthread_t thread;                /* loads the next one ... */
	bool is_loading;                 /* ... until it is waited for */
	bool has_begun;                  /* a part was asked for */
	uint64_t first_ns, base_unix_ns; /* of all models */
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
	p->margin = wish->events / MARGIN;
	if (p->path)
		result = gp_chunk_index_make(path, wish->with_memory, &p->index);
	if (result == 0)
		result = gp_chunk_index_cut(p->index, choice->from_ns, choice->to_ns,
					    wish->events / AT_ONCE, &p->starts, &p->count);
	if (result == 0 &&
	    !gp_chunk_index_is_for(p->index, p->starts, p->count, p->to_ns, p->margin))
		result = -ENOTSUP;
	if (result == 0)
		*parts = p;
	else
		gp_parts_close(p);
	return result;
}

/* Waits for the thread's part. */
static void wait_for_next(struct gp_parts *p)
{
	if (p->is_loading)
		pthread_join(p->thread, NULL);
	p->is_loading = false;
}

void gp_parts_close(struct gp_parts *p)
{
	if (!p)
		return;
	wait_for_next(p);
	gp_model_free(p->now.model);
	gp_model_free(p->next.model);
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
	return p->now.trouble[0] ? p->now.trouble : NULL;
}

/* Changes nothing in p but the choice in its index. */
static void load(struct gp_parts *p, struct loaded *part)
{
	const struct gp_load_options options = {.save_to = -1, .chosen = p->index};
	bool is_last = part->at + 1 == p->count;

	gp_chunk_index_choose(p->index, p->starts[part->at],
			      is_last ? p->to_ns : p->starts[part->at + 1], p->margin);
	if (gp_model_load_with(p->path, &options, &part->model, part->trouble,
			       sizeof(part->trouble)) != 0) {
		part->model = NULL;
		return;
	}
	part->trouble[0] = '\0';
	part->model->part = (struct gp_part){
		.is_one = true,
		.from_ns = part->at > 0 ? part->model->first_ns + p->starts[part->at] : 0,
		.to_ns = is_last ? UINT64_MAX : part->model->first_ns + p->starts[part->at + 1],
	};
}

static void *load_next(void *parts)
{
	struct gp_parts *p = parts;

	load(p, &p->next);
	return NULL;
}

/* Where there is no thread to be had, it is loaded once it is asked for. */
static void begin_next(struct gp_parts *p, uint32_t at)
{
	p->next.at = at;
	p->is_loading = pthread_create(&p->thread, NULL, load_next, p) == 0;
}

/* Parts of one trace are on one timeline, or it was written to meanwhile. */
static void check_alike(struct gp_parts *p)
{
	struct loaded *now = &p->now;

	if (!now->model)
		return;
	if (p->base_unix_ns == 0) {
		p->first_ns = now->model->first_ns;
		p->base_unix_ns = now->model->base_unix_ns;
	}
	if (now->model->first_ns == p->first_ns && now->model->base_unix_ns == p->base_unix_ns)
		return;
	snprintf(now->trouble, sizeof(now->trouble),
		 "%s has changed while it was read; once it no longer does, repeat the command",
		 p->path);
	gp_model_free(now->model);
	now->model = NULL;
}

/* That part is the one at hand, and there is no next one. */
static void turn_to(struct gp_parts *p, uint32_t at)
{
	gp_model_free(p->now.model);
	p->now.model = NULL;
	wait_for_next(p);
	if (p->next.model && p->next.at == at) {
		p->now = p->next;
	} else {
		gp_model_free(p->next.model);
		p->now.at = at;
		load(p, &p->now);
	}
	p->next.model = NULL;
	check_alike(p);
}

const struct gp_model *gp_parts_get(void *context, size_t index)
{
	struct gp_parts *p = context;
	bool is_in_order = !p->has_begun || index == p->now.at + 1;

	if (p->now.trouble[0] || (p->now.model && p->now.at == index))
		return p->now.model;
	turn_to(p, (uint32_t)index);
	p->has_begun = true;
	if (p->now.model && is_in_order && index + 1 < p->count)
		begin_next(p, (uint32_t)index + 1);
	return p->now.model;
}
