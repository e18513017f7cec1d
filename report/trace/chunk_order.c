#include "report/trace/chunk_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gp_chunk_order_begin(struct gp_chunk_order *order)
{
	order->count = order->next = order->known_next = 0;
	order->missing = 0;
}

const struct gp_chunk_header *gp_chunk_order_known(struct gp_chunk_order *order, uint64_t offset)
{
	while (order->known_next < order->known_count &&
	       order->known[order->known_next].offset < offset)
		order->known_next++;
	if (order->known_next == order->known_count ||
	    order->known[order->known_next].offset != offset)
		return NULL;
	return &order->known[order->known_next].header;
}

static int grow(struct gp_chunk_order *order)
{
	uint32_t capacity = order->capacity > 0 ? 2 * order->capacity : 64;
	struct gp_chunk_place *places;

	if (order->count < order->capacity)
		return 0;
	if (order->capacity > UINT32_MAX / 2)
		return -ENOMEM;
	places = realloc(order->places, capacity * sizeof(*places));
	if (!places)
		return -ENOMEM;
	order->places = places;
	order->capacity = capacity;
	return 0;
}

int gp_chunk_order_add(struct gp_chunk_order *order, const struct gp_chunk_header *header,
		       uint64_t offset)
{
	if (grow(order) != 0)
		return -ENOMEM;
	order->places[order->count++] = (struct gp_chunk_place){*header, offset};
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct gp_chunk_place *left = a, *right = b;

	return (left->header.sequence > right->header.sequence) -
	       (left->header.sequence < right->header.sequence);
}

static uint64_t find_floor(const struct gp_chunk_order *order)
{
	uint64_t floor = 0;

	for (uint32_t i = 0; i < order->count; i++) {
		const struct gp_chunk_header *h = &order->places[i].header;

		if (h->ring == 0 && h->form == GP_CHUNK_PACKED && h->position > floor)
			floor = h->position;
	}
	return floor;
}

/* All chunks from the floor, and from the last returned one, must be present. */
static uint64_t count_missing(const struct gp_chunk_order *order, uint64_t floor)
{
	uint64_t expected = order->after > floor ? order->after : floor;
	uint64_t missing = 0;

	for (uint32_t i = 0; i < order->count; i++) {
		uint64_t sequence = order->places[i].header.sequence;

		if (sequence < expected)
			continue;
		missing += sequence - expected;
		expected = sequence + 1;
	}
	return missing;
}

static bool counts(const struct gp_chunk_order *order, const struct gp_chunk_header *h,
		   uint64_t floor)
{
	if (order->was_given && h->sequence < order->after)
		return false;
	if (h->form != GP_CHUNK_KEPT)
		return h->sequence >= floor;
	/* the originals were returned before and have been overwritten: it has nothing new */
	return h->position < floor && (!order->was_given || h->position >= order->after);
}

static int remember(struct gp_chunk_order *order)
{
	struct gp_chunk_place *known;

	order->known_count = 0;
	if (order->count == 0)
		return 0;
	known = realloc(order->known, order->count * sizeof(*known));
	if (!known)
		return -ENOMEM;
	memcpy(known, order->places, order->count * sizeof(*known));
	order->known = known;
	order->known_count = order->count;
	return 0;
}

int gp_chunk_order_settle(struct gp_chunk_order *order)
{
	uint64_t floor = find_floor(order);
	uint32_t kept = 0;

	if (remember(order) != 0)
		return -ENOMEM;
	if (order->count > 0)
		qsort(order->places, order->count, sizeof(*order->places), compare_places);
	order->missing = count_missing(order, floor);
	for (uint32_t i = 0; i < order->count; i++)
		if (counts(order, &order->places[i].header, floor))
			order->places[kept++] = order->places[i];
	order->count = kept;
	if (kept > 0) {
		order->after = order->places[kept - 1].header.sequence + 1;
		order->was_given = true;
	}
	return 0;
}

void gp_chunk_order_free(struct gp_chunk_order *order)
{
	free(order->places);
	free(order->known);
}
