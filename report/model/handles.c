#include "report/model/handles.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

/* A handle that is in use. */
struct handle {
	uint64_t handle;
	uint64_t owners, mappings;
};

/* Keys of the tree of mappings: the one at an address, or any within some bytes. */
struct mapping {
	uint64_t address, bytes; /* bytes: of a search; 1 in the tree */
	uint64_t handle;
};

static int compare_handles(const void *a, const void *b)
{
	const struct handle *left = a, *right = b;

	return (left->handle > right->handle) - (left->handle < right->handle);
}

static int compare_mappings(const void *a, const void *b)
{
	const struct mapping *left = a, *right = b;

	if (left->address >= right->address && left->address - right->address < right->bytes)
		return 0;
	if (right->address >= left->address && right->address - left->address < left->bytes)
		return 0;
	return left->address < right->address ? -1 : 1;
}

static struct handle *find(struct gp_handles *h, uint64_t handle)
{
	const struct handle key = {.handle = handle};
	struct handle **found = tfind(&key, &h->handles, compare_handles);

	return found ? *found : NULL;
}

int gp_handles_create(struct gp_handles *h, uint64_t handle)
{
	struct handle *state = find(h, handle);

	if (!state) {
		state = malloc(sizeof(*state));
		if (!state)
			return -ENOMEM;
		state->handle = handle;
		if (!tsearch(state, &h->handles, compare_handles)) {
			free(state);
			return -ENOMEM;
		}
	}
	state->owners = 1;
	state->mappings = 0;
	return 0;
}

void gp_handles_retain(struct gp_handles *h, uint64_t handle)
{
	struct handle *state = find(h, handle);

	if (state)
		state->owners++;
}

static bool end_if_unused(struct gp_handles *h, struct handle *state)
{
	if (state->owners > 0 || state->mappings > 0)
		return false;
	tdelete(state, &h->handles, compare_handles);
	free(state);
	return true;
}

bool gp_handles_release(struct gp_handles *h, uint64_t handle)
{
	struct handle *state = find(h, handle);

	if (!state || state->owners == 0)
		return true;
	state->owners--;
	return end_if_unused(h, state);
}

int gp_handles_map(struct gp_handles *h, uint64_t address, uint64_t handle)
{
	struct handle *state = find(h, handle);
	struct mapping *mapping, **known;

	if (!state)
		return 0;
	mapping = malloc(sizeof(*mapping));
	if (!mapping)
		return -ENOMEM;
	*mapping = (struct mapping){address, 1, handle};
	known = tsearch(mapping, &h->mappings, compare_mappings);
	if (known && *known == mapping) {
		state->mappings++;
		return 0;
	}
	free(mapping); /* something is mapped there */
	return known ? 0 : -ENOMEM;
}

bool gp_handles_unmap(struct gp_handles *h, uint64_t address, uint64_t bytes, uint64_t *handle)
{
	const struct mapping key = {.address = address, .bytes = bytes};
	struct mapping **found;

	while ((found = tfind(&key, &h->mappings, compare_mappings)) != NULL) {
		struct mapping *mapping = *found;
		struct handle *state = find(h, mapping->handle);

		*handle = mapping->handle;
		tdelete(mapping, &h->mappings, compare_mappings);
		free(mapping);
		if (!state || state->mappings == 0)
			continue;
		state->mappings--;
		if (end_if_unused(h, state))
			return true;
	}
	return false;
}

void gp_handles_free(struct gp_handles *h)
{
	tdestroy(h->mappings, free);
	tdestroy(h->handles, free);
	*h = (struct gp_handles){0};
}
