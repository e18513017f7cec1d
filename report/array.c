#include "report/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/room.h"

#define FIRST_CAPACITY 16u
#define SMALL          (1u << 14)
#define LARGE          (1u << 20)

/* A large array is moved by its pages, which costs little, and what it has too much counts against the limit of memory_left. */
static uint64_t next_capacity(uint32_t capacity)
{
	if (capacity < FIRST_CAPACITY)
		return FIRST_CAPACITY;
	if (capacity < SMALL)
		return 2 * (uint64_t)capacity;
	return capacity + (uint64_t)capacity / (capacity < LARGE ? 2 : 8);
}

static int enlarge(void *array, uint32_t *capacity, size_t element_bytes,
		   void *(*resize)(void *array, size_t bytes))
{
	uint64_t wanted = next_capacity(*capacity);
	void *old, *grown;

	if (wanted >= UINT32_MAX)
		return -EOVERFLOW;
	memcpy(&old, array, sizeof(old));
	grown = resize(old, wanted * element_bytes);
	if (!grown)
		return -ENOMEM;
	memcpy(array, &grown, sizeof(grown));
	*capacity = (uint32_t)wanted;
	return 0;
}

int gp_array_grow(void *array, uint32_t *capacity, uint32_t count, size_t element_bytes)
{
	return count < *capacity ? 0 : enlarge(array, capacity, element_bytes, realloc);
}

int gp_array_enlarge_room(void *array, uint32_t *capacity, size_t element_bytes)
{
	return enlarge(array, capacity, element_bytes, gp_room_resize);
}

struct ordering {
	const char *array;
	size_t element_bytes;
	gp_array_compare *compare;
	const void *context;
};

static int compare_at(const struct ordering *o, uint32_t a, uint32_t b)
{
	return o->compare(o->array + a * o->element_bytes, o->array + b * o->element_bytes,
			  o->context);
}

static bool is_ordered(const struct ordering *o, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (compare_at(o, i - 1, i) > 0)
			return false;
	return true;
}

/* ---- merging what is in order already: traces are made of long runs, a few for each thread and stream ---- */

/* The number of runs; ends[i] is where run i ends. */
static uint32_t find_runs(const struct ordering *o, uint32_t count, uint32_t *ends)
{
	uint32_t runs = 0;

	for (uint32_t i = 1; i < count; i++)
		if (compare_at(o, i - 1, i) > 0)
			ends[runs++] = i;
	ends[runs++] = count;
	return runs;
}

/* How many of these, which are in order, do not come after that one. */
static uint32_t count_until(const struct ordering *o, const uint32_t *from, uint32_t count,
			    uint32_t index)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_at(o, from[middle], index) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Two neighbours, of which the second may be empty, become one.  What stands right already is copied at once. */
static void merge_two(const struct ordering *o, const uint32_t *from, uint32_t middle, uint32_t end,
		      uint32_t *to)
{
	uint32_t left = middle < end ? count_until(o, from, middle, from[middle]) : middle;
	uint32_t right = middle, at = left;

	memcpy(to, from, left * sizeof(*to));
	while (left < middle && right < end)
		to[at++] =
			compare_at(o, from[left], from[right]) <= 0 ? from[left++] : from[right++];
	memcpy(to + at, from + left, (middle - left) * sizeof(*to));
	at += middle - left;
	memcpy(to + at, from + right, (end - right) * sizeof(*to));
}

/* Merges neighbours, and halves their number, until one run is left.  Returns where it is: `from` or `spare`. */
static uint32_t *merge_runs(const struct ordering *o, uint32_t *from, uint32_t *spare,
			    uint32_t *ends, uint32_t runs)
{
	while (runs > 1) {
		uint32_t *merged = spare, joined = 0, first = 0;

		for (uint32_t i = 0; i < runs; i += 2) {
			uint32_t end = ends[i + 1 < runs ? i + 1 : i];

			merge_two(o, from + first, ends[i] - first, end - first, spare + first);
			ends[joined++] = first = end;
		}
		runs = joined;
		spare = from;
		from = merged;
	}
	return from;
}

static uint32_t *order_indices(const struct ordering *o, uint32_t count, bool ordered)
{
	size_t bytes = ((size_t)count + 1) * sizeof(uint32_t);
	uint32_t *indices = gp_room_take(bytes), *spare = NULL, *ends = NULL, *result = NULL;

	for (uint32_t i = 0; indices && i < count; i++)
		indices[i] = i;
	if (!indices || ordered)
		return indices;
	spare = gp_room_take(bytes);
	ends = gp_room_take(bytes);
	if (spare && ends)
		result = merge_runs(o, indices, spare, ends, find_runs(o, count, ends));
	gp_room_free(ends);
	gp_room_free(result == indices ? spare : indices);
	if (result != spare && result != indices)
		gp_room_free(spare);
	return result;
}

uint32_t *gp_array_order(const void *array, uint32_t count, size_t element_bytes,
			 gp_array_compare *compare, const void *context)
{
	struct ordering o = {array, element_bytes, compare, context};

	return order_indices(&o, count, is_ordered(&o, count));
}

/* order[i] is where element i comes from.  By way of a copy: in place each move would wait for the one before, and for memory. */
static int permute(char *array, uint32_t count, size_t element_bytes, const uint32_t *order)
{
	char *ordered = gp_room_take(count * element_bytes);

	if (!ordered)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		memcpy(ordered + i * element_bytes, array + order[i] * element_bytes,
		       element_bytes);
	memcpy(array, ordered, count * element_bytes);
	gp_room_free(ordered);
	return 0;
}

int gp_array_sort(void *array, uint32_t count, size_t element_bytes, gp_array_compare *compare,
		  const void *context)
{
	struct ordering o = {array, element_bytes, compare, context};
	uint32_t *order;
	int result;

	if (is_ordered(&o, count))
		return 0;
	order = order_indices(&o, count, false);
	if (!order)
		return -ENOMEM;
	result = permute(array, count, element_bytes, order);
	gp_room_free(order);
	return result;
}
