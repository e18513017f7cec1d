/*
 * array: grow, search and sort plain arrays. All counts have 32 bits, like those of the model.
 *
 * Functions fail only while a trace is loaded (report/base/memory.h). After that they return 0, or
 * end the program; their callers ignore the result.
 */
#ifndef REPORT_BASE_ARRAY_H
#define REPORT_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Makes space for one more element in an array of `count` elements; `array` is the address of the
 * pointer to it. Returns 0, -ENOMEM, or -EOVERFLOW at the limit of 32-bit indices.
 */
int gp_array_grow(void *array, uint32_t *capacity, uint32_t count, size_t element_bytes);

/*
 * As gp_array_grow() for an array that grows with the events of a trace: it is spill memory, and
 * gp_spill_free() frees it. The check for free capacity is inline.
 */
int gp_array_enlarge_spill(void *array, uint32_t *capacity, size_t element_bytes);
static inline int gp_array_grow_spill(void *array, uint32_t *capacity, uint32_t count,
				      size_t element_bytes)
{
	return count < *capacity ? 0 : gp_array_enlarge_spill(array, capacity, element_bytes);
}

/* Whether an element comes before the place that `key` describes. */
typedef bool gp_array_is_before(const void *element, const void *key);

/*
 * The first element that does not come before `key`; `count` if all do. The elements that come
 * before `key` must stand in front. Inline, so that the compiler can inline is_before.
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
 * As gp_array_lower_bound(), faster if the result is close to the last one. *last is the last
 * result, 0 at first. For callers whose keys ascend.
 */
static inline uint32_t gp_array_lower_bound_near(const void *array, uint32_t count,
						 size_t element_bytes,
						 gp_array_is_before *is_before, const void *key,
						 uint32_t *last)
{
	enum { CLOSE = 4 };
	const char *elements = array;
	uint32_t first = *last, end = first;

	if (count == 0)
		return 0;
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

/* Negative, zero or positive, as for qsort(). */
typedef int gp_array_compare(const void *a, const void *b, const void *context);

/*
 * Defines a comparison by one member; by a second one where the first is equal; or by the second one
 * downwards.
 */
#define GP_COMPARE_BY(name, type, member) GP_COMPARE_BY_TWO(name, type, member, member)
#define GP_COMPARE_BY_TWO(name, type, first, second)                                               \
	GP_COMPARE_MEMBERS(name, type, first,                                                      \
			   (left->second > right->second) - (left->second < right->second))
#define GP_COMPARE_BY_AND_DOWN(name, type, first, second)                                          \
	GP_COMPARE_MEMBERS(name, type, first,                                                      \
			   (left->second < right->second) - (left->second > right->second))
#define GP_COMPARE_MEMBERS(name, type, first, order)                                               \
	static int name(const void *a, const void *b, const void *context)                         \
	{                                                                                          \
		const type *left = a, *right = b;                                                  \
                                                                                                   \
		(void)context;                                                                     \
		if (left->first != right->first)                                                   \
			return left->first < right->first ? -1 : 1;                                \
		return order;                                                                      \
	}

/*
 * The element that equals the key, an element itself, of elements in the order of the comparison;
 * NULL: there is none.
 */
const void *gp_array_find(const void *array, uint32_t count, size_t element_bytes,
			  gp_array_compare *compare, const void *key);

/*
 * The indices 0..count-1 in the order of their elements. The order is stable. Free it with
 * gp_spill_free(). Returns NULL if there is no memory.
 */
uint32_t *gp_array_order(const void *array, uint32_t count, size_t element_bytes,
			 gp_array_compare *compare, const void *context);

/* Sorts in place. The order is stable; a sorted array takes one pass. Returns 0 or -ENOMEM. */
int gp_array_sort(void *array, uint32_t count, size_t element_bytes, gp_array_compare *compare,
		  const void *context);

#endif
