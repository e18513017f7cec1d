#include "report/chunk_order.h"

#include <errno.h>
#include <stdlib.h>

void gp_chunk_order_begin(struct gp_chunk_order *order)
{
	order->count = order->next = 0;
	order->missing = 0;
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
	order->places[order->count++] = (struct gp_chunk_place){
		.sequence = header->sequence,
		.offset = offset,
		.position = header->position,
		.form = header->form,
		.is_own = header->ring == 0,
	};
	return 0;
}

static int compare_places(const void *a, const void *b)
{
	const struct gp_chunk_place *left = a, *right = b;

	return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

static uint64_t find_floor(const struct gp_chunk_order *order)
{
	uint64_t floor = 0;

	for (uint32_t i = 0; i < order->count; i++) {
		const struct gp_chunk_place *place = &order->places[i];

		if (place->is_own && place->form == GP_CHUNK_PACKED && place->position > floor)
			floor = place->position;
	}
	return floor;
}

/* From the floor on, and from what was given out before, none may be missing. */
static uint64_t count_missing(const struct gp_chunk_order *order, uint64_t floor)
{
	uint64_t expected = order->after > floor ? order->after : floor;
	uint64_t missing = 0;

	for (uint32_t i = 0; i < order->count; i++) {
		uint64_t sequence = order->places[i].sequence;

		if (sequence < expected)
			continue;
		missing += sequence - expected;
		expected = sequence + 1;
	}
	return missing;
}

static bool counts(const struct gp_chunk_order *order, const struct gp_chunk_place *place,
		   uint64_t floor)
{
	if (order->was_given && place->sequence < order->after)
		return false;
	if (place->form != GP_CHUNK_KEPT)
		return place->sequence >= floor;
	/* whose originals were given out before, and are gone since, says nothing new */
	return place->position < floor && (!order->was_given || place->position >= order->after);
}

void gp_chunk_order_settle(struct gp_chunk_order *order)
{
	uint64_t floor = find_floor(order);
	uint32_t kept = 0;

	if (order->count > 0)
		qsort(order->places, order->count, sizeof(*order->places), compare_places);
	order->missing = count_missing(order, floor);
	for (uint32_t i = 0; i < order->count; i++)
		if (counts(order, &order->places[i], floor))
			order->places[kept++] = order->places[i];
	order->count = kept;
	if (kept > 0) {
		order->after = order->places[kept - 1].sequence + 1;
		order->was_given = true;
	}
}

void gp_chunk_order_free(struct gp_chunk_order *order)
{
	free(order->places);
}
