#include "report/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/room.h"

#define FIRST_CAPACITY 16u
#define LARGE          (1u << 20)

/* A large array is moved by its pages, which costs little, and what it has too much counts against the limit of memory_left. */
static uint64_t next_capacity(uint32_t capacity)
{
	if (capacity < FIRST_CAPACITY)
		return FIRST_CAPACITY;
	return capacity + (uint64_t)capacity / (capacity < LARGE ? 2 : 8);
}

static int grow(void *array, uint32_t *capacity, uint32_t count, size_t element_bytes,
		void *(*resize)(void *array, size_t bytes))
{
	uint64_t wanted = next_capacity(*capacity);
	void *old, *grown;

	if (count < *capacity)
		return 0;
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
	return grow(array, capacity, count, element_bytes, realloc);
}

int gp_array_grow_room(void *array, uint32_t *capacity, uint32_t count, size_t element_bytes)
{
	return grow(array, capacity, count, element_bytes, gp_room_resize);
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

static int compare_indices(const void *a, const void *b, void *context)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int by_element = compare_at(context, left, right);

	return by_element != 0 ? by_element : (left > right) - (left < right);
}

static bool is_ordered(const struct ordering *o, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (compare_at(o, i - 1, i) > 0)
			return false;
	return true;
}

static uint32_t *order_indices(struct ordering *o, uint32_t count, bool ordered)
{
	uint32_t *indices = gp_room_take(((size_t)count + 1) * sizeof(*indices));

	if (!indices)
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		indices[i] = i;
	if (!ordered)
		qsort_r(indices, count, sizeof(*indices), compare_indices, o);
	return indices;
}

uint32_t *gp_array_order(const void *array, uint32_t count, size_t element_bytes,
			 gp_array_compare *compare, const void *context)
{
	struct ordering o = {array, element_bytes, compare, context};

	return order_indices(&o, count, is_ordered(&o, count));
}

/* Follow each cycle of the permutation once: order[i] is where element i comes from. */
static int permute(char *array, uint32_t count, size_t element_bytes, uint32_t *order)
{
	char *spare = malloc(element_bytes);

	if (!spare)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t to = i, from = order[i];

		if (from == i)
			continue;
		memcpy(spare, array + i * element_bytes, element_bytes);
		while (from != i) {
			memcpy(array + to * element_bytes, array + from * element_bytes,
			       element_bytes);
			order[to] = to;
			to = from;
			from = order[to];
		}
		memcpy(array + to * element_bytes, spare, element_bytes);
		order[to] = to;
	}
	free(spare);
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
