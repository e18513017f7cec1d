#include "report/base/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/memory.h"
#include "report/base/spill_memory.h"

#define FIRST_CAPACITY 16u
#define SMALL          (1u << 14)
#define LARGE          (1u << 20)
#define MOST_PILES     64u

/*
 * Above LARGE elements the capacity grows by an eighth only: realloc() moves the pages of a large
 * array cheaply, and unused capacity counts against the memory limit (report/base/memory_limit.h).
 */
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

	if (wanted >= UINT32_MAX) {
		gp_memory_check(NULL);
		return -EOVERFLOW;
	}
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

int gp_array_enlarge_spill(void *array, uint32_t *capacity, size_t element_bytes)
{
	return enlarge(array, capacity, element_bytes, gp_spill_resize);
}

struct ordering {
	const char *array;
	size_t element_bytes;
	gp_array_compare *compare;
	const void *context;
};

/* Equal elements keep their order. */
static bool is_after(const struct ordering *o, uint32_t a, uint32_t b)
{
	int result = o->compare(o->array + a * o->element_bytes, o->array + b * o->element_bytes,
				o->context);

	return result > 0 || (result == 0 && a > b);
}

static bool is_ordered(const struct ordering *o, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (is_after(o, i - 1, i))
			return false;
	return true;
}

/*
 * ---- piles: a trace interleaves the records of threads and streams, and the records of each are
 * in order; so an array splits into a few ordered piles ----
 */

struct piles {
	uint32_t count;
	uint32_t counts[MOST_PILES];
	/*
	 * the index of the pile's last element; no pile's last element comes before that of the
	 * next pile
	 */
	uint32_t last[MOST_PILES];
	uint8_t *of; /* the pile of each element */
};

/*
 * The first pile whose last element does not come after the element at `index`; p->count if there
 * is none. Tries the pile of the element before first, which is mostly the one.
 */
static uint32_t find_pile(const struct ordering *o, const struct piles *p, uint32_t before,
			  uint32_t index)
{
	uint32_t low = 0, high = p->count;

	if (is_after(o, p->last[before], index))
		low = before + 1;
	else if (before == 0 || is_after(o, p->last[before - 1], index))
		return before;
	else
		high = before - 1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_after(o, p->last[middle], index))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Deals the elements out to as few ordered piles as possible. Returns false if MOST_PILES are not
 * enough.
 */
static bool deal_out(const struct ordering *o, uint32_t count, struct piles *p)
{
	uint32_t pile = 0;

	p->count = 1;
	p->counts[0] = p->last[0] = 0;
	for (uint32_t i = 0; i < count; i++) {
		pile = find_pile(o, p, pile, i);
		if (pile == MOST_PILES)
			return false;
		if (pile == p->count)
			p->counts[p->count++] = 0;
		p->counts[pile]++;
		p->last[pile] = i;
		p->of[i] = (uint8_t)pile;
	}
	return true;
}

/* Writes the piles one behind the other to `indices`; ends[i] is the end of pile i. */
static void lay_out(const struct piles *p, uint32_t count, uint32_t *indices, uint32_t *ends)
{
	uint32_t at[MOST_PILES], end = 0;

	for (uint32_t i = 0; i < p->count; i++) {
		at[i] = end;
		end += p->counts[i];
		ends[i] = end;
	}
	for (uint32_t i = 0; i < count; i++)
		indices[at[p->of[i]]++] = i;
}

/* ---- merging ordered runs ---- */

/*
 * Finds the ordered runs of the array as it stands. Returns their number; ends[i] is the end of run
 * i.
 */
static uint32_t find_runs(const struct ordering *o, uint32_t count, uint32_t *ends)
{
	uint32_t runs = 0;

	for (uint32_t i = 1; i < count; i++)
		if (is_after(o, i - 1, i))
			ends[runs++] = i;
	ends[runs++] = count;
	return runs;
}

/* Counts the elements of the ordered run `from` that do not come after the element at `index`. */
static uint32_t count_until(const struct ordering *o, const uint32_t *from, uint32_t count,
			    uint32_t index)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_after(o, from[middle], index))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * Merges the neighbors 0..middle and middle..end, of which the second may be empty. The elements of
 * the first that come before all of the second are copied in one piece.
 */
static void merge_two(const struct ordering *o, const uint32_t *from, uint32_t middle, uint32_t end,
		      uint32_t *to)
{
	uint32_t left = middle < end ? count_until(o, from, middle, from[middle]) : middle;
	uint32_t right = middle, at = left;

	memcpy(to, from, left * sizeof(*to));
	while (left < middle && right < end)
		to[at++] = is_after(o, from[left], from[right]) ? from[right++] : from[left++];
	memcpy(to + at, from + left, (middle - left) * sizeof(*to));
	at += middle - left;
	memcpy(to + at, from + right, (end - right) * sizeof(*to));
}

/*
 * Merges neighboring runs until one run is left. Returns the array that holds it: `from` or
 * `spare`.
 */
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

/*
 * Merges the runs of `from`. Frees `from` unless it returns it. Returns NULL if there is no memory.
 */
static uint32_t *merge(const struct ordering *o, uint32_t *from, uint32_t count, uint32_t *ends,
		       uint32_t runs)
{
	uint32_t *spare = runs > 1 ? gp_spill_take(count * sizeof(uint32_t)) : NULL;
	uint32_t *merged = spare || runs == 1 ? merge_runs(o, from, spare, ends, runs) : NULL;

	if (spare != merged)
		gp_spill_free(spare);
	if (from != merged)
		gp_spill_free(from);
	return merged;
}

static uint32_t *merge_piles(const struct ordering *o, const struct piles *piles, uint32_t *indices,
			     uint32_t count)
{
	uint32_t ends[MOST_PILES];

	lay_out(piles, count, indices, ends);
	return merge(o, indices, count, ends, piles->count);
}

/* For more runs than MOST_PILES, as in times without any order. */
static uint32_t *merge_as_they_stand(const struct ordering *o, uint32_t *indices, uint32_t count)
{
	uint32_t *ends = gp_spill_take(count * sizeof(uint32_t)), *merged = NULL;

	for (uint32_t i = 0; i < count; i++)
		indices[i] = i;
	if (ends)
		merged = merge(o, indices, count, ends, find_runs(o, count, ends));
	else
		gp_spill_free(indices);
	gp_spill_free(ends);
	return merged;
}

static uint32_t *order_indices(const struct ordering *o, uint32_t count)
{
	struct piles piles = {.of = gp_spill_take(count)};
	uint32_t *indices = gp_spill_take(count * sizeof(uint32_t)), *merged = NULL;
	bool are_few = piles.of && indices && deal_out(o, count, &piles);

	if (are_few)
		merged = merge_piles(o, &piles, indices, count);
	gp_spill_free(piles.of);
	if (are_few || !indices)
		return merged;
	return merge_as_they_stand(o, indices, count);
}

const void *gp_array_find(const void *array, uint32_t count, size_t element_bytes,
			  gp_array_compare *compare, const void *key)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const char *element = (const char *)array + middle * element_bytes;
		int order = compare(element, key, NULL);

		if (order == 0)
			return element;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

uint32_t *gp_array_order(const void *array, uint32_t count, size_t element_bytes,
			 gp_array_compare *compare, const void *context)
{
	struct ordering o = {array, element_bytes, compare, context};

	return order_indices(&o, count);
}

/*
 * Element i comes from order[i]. The copy is faster than a permutation in place, where each move
 * waits for the one before it and for memory.
 */
static int permute(char *array, uint32_t count, size_t element_bytes, const uint32_t *order)
{
	char *ordered = gp_spill_take(count * element_bytes);

	if (!ordered)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		memcpy(ordered + i * element_bytes, array + order[i] * element_bytes,
		       element_bytes);
	memcpy(array, ordered, count * element_bytes);
	gp_spill_free(ordered);
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
	order = order_indices(&o, count);
	if (!order)
		return -ENOMEM;
	result = permute(array, count, element_bytes, order);
	gp_spill_free(order);
	return result;
}
