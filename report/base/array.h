/*
 * array: growing, searching and sorting plain arrays.
 *
 * All counts are 32 bits, as the model's are.
 */
#ifndef REPORT_BASE_ARRAY_H
#define REPORT_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Make room for one more element in an array of count elements; array is the address of the pointer
 * to it. Returns 0, -ENOMEM, or -EOVERFLOW at the limit of 32-bit indices.
 */
int gp_array_grow(void *array, uint32_t *capacity, uint32_t count, size_t element_bytes);

/*
 * The same for one that grows with the events of a trace: gp_spill_free() frees it.  Mostly there
 * is room, which is seen here.
 */
int gp_array_enlarge_room(void *array, uint32_t *capacity, size_t element_bytes);
static inline int gp_array_grow_spill(void *array, uint32_t *capacity, uint32_t count,
				      size_t element_bytes)
{
	return count < *capacity ? 0 : gp_array_enlarge_room(array, capacity, element_bytes);
}

/* Whether an element comes before what is looked for; key is whatever describes that. */
typedef bool gp_array_is_before(const void *element, const void *key);

/*
 * The first element that does not come before what is looked for, of elements of which those that
 * do are in front; count: all do.  Here, so that it becomes as fast as a loop of its own.
 */
static inline uint32_t gp_array_lower_bound(const void *array, uint32_t count, size_t element_bytes,
					    gp_array_is_before *is_before, const void *key)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_before((const char *)array + middle * element_bytes, key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The same, at once where it is close to what was found last: *last, 0 at first.  For who asks in
 * the order of the elements.
 */
static inline uint32_t gp_array_lower_bound_near(const void *array, uint32_t count,
						 size_t element_bytes,
						 gp_array_is_before *is_before, const void *key,
						 uint32_t *last)
{
	enum { CLOSE = 4 };
	const char *elements = array;
	uint32_t first = *last, end = first;

	if (first > 0 && !is_before(elements + (first - 1) * element_bytes, key)) {
		first = 0;
	} else {
		end = first + CLOSE < count ? first + CLOSE : count;
		while (first < end && is_before(elements + first * element_bytes, key))
			first++;
		end = first < end ? first : count;
	}
	*last = first + gp_array_lower_bound(elements + first * element_bytes, end - first,
					     element_bytes, is_before, key);
	return *last;
}

/* <0, 0, >0 as for qsort, for elements a and b. */
typedef int gp_array_compare(const void *a, const void *b, const void *context);

/* Defines a comparison by one member, or by a second one where the first is equal. */
#define GP_COMPARE_BY(name, type, member) GP_COMPARE_BY_TWO(name, type, member, member)
#define GP_COMPARE_BY_TWO(name, type, first, second)                                               \
	static int name(const void *a, const void *b, const void *context)                         \
	{                                                                                          \
		const type *left = a, *right = b;                                                  \
                                                                                                   \
		(void)context;                                                                     \
		if (left->first != right->first)                                                   \
			return left->first < right->first ? -1 : 1;                                \
		return (left->second > right->second) - (left->second < right->second);            \
	}

/*
 * The element that equals the key, an element itself, of elements in the order of the comparison;
 * NULL: there is none.
 */
const void *gp_array_find(const void *array, uint32_t count, size_t element_bytes,
			  gp_array_compare *compare, const void *key);

/*
 * The indices 0..count-1 in the order of their elements, stable; gp_spill_free() frees them. NULL:
 * no memory.
 */
uint32_t *gp_array_order(const void *array, uint32_t count, size_t element_bytes,
			 gp_array_compare *compare, const void *context);

/* Sort in place, stable, in one pass if it is in order already. Returns 0 or -ENOMEM. */
int gp_array_sort(void *array, uint32_t count, size_t element_bytes, gp_array_compare *compare,
		  const void *context);

#endif
