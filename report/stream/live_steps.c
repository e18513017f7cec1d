#include "report/stream/live_steps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "report/base/stats.h"

#define NS_PER_US     1000u
#define FIRST_KERNELS 256u

void gp_live_steps_free(struct gp_live_steps *steps)
{
	free(steps->ring);
	*steps = (struct gp_live_steps){0};
}

/* The ring grows before it turns for the first time. */
static bool make_room(struct gp_live_steps *steps)
{
	uint32_t capacity = steps->capacity > 0 ? 2 * steps->capacity : FIRST_KERNELS;
	struct gp_live_kernel *ring;

	if (steps->taken < steps->capacity || steps->capacity == GP_LIVE_STEPS_KERNELS)
		return true;
	ring = realloc(steps->ring, capacity * sizeof(*ring));
	if (!ring)
		return false;
	steps->ring = ring;
	steps->capacity = capacity;
	return true;
}

int gp_live_steps_take(struct gp_live_steps *steps, uint32_t context_id, uint32_t stream_id,
		       uint32_t name, uint64_t start_ns)
{
	if (steps->lead == 0) {
		steps->context_id = context_id;
		steps->stream_id = stream_id;
		steps->taken = 0;
	}
	if (steps->context_id != context_id || steps->stream_id != stream_id) {
		steps->lead--;
		return 0;
	}
	if (!make_room(steps))
		return -ENOMEM;
	steps->lead++;
	steps->ring[steps->taken++ % steps->capacity] =
		(struct gp_live_kernel){name, (uint32_t)(start_ns / NS_PER_US)};
	return 0;
}

/* The last kernel but `age`. */
static const struct gp_live_kernel *kernel_at(const struct gp_live_steps *steps, uint32_t age)
{
	return &steps->ring[(steps->taken - 1 - age) % steps->capacity];
}

static uint32_t name_at(const struct gp_live_steps *steps, uint32_t age)
{
	return kernel_at(steps, age)->name;
}

/*
 * For each number of kernels, from the last one back, how many of them are both the first and the
 * last of these (the prefix function of Knuth, Morris and Pratt): the rest is their period.
 */
static void find_borders(const struct gp_live_steps *steps, uint32_t count, uint32_t *borders)
{
	borders[0] = 0;
	for (uint32_t i = 1; i < count; i++) {
		uint32_t border = borders[i - 1];

		while (border > 0 && name_at(steps, i) != name_at(steps, border))
			border = borders[border - 1];
		borders[i] = border + (name_at(steps, i) == name_at(steps, border));
	}
}

/* The period that lasts for most kernels; *length: so many.  0: none. */
static uint32_t find_period(const uint32_t *borders, uint32_t count, uint32_t *length)
{
	for (*length = count; *length > 1 && *length * 2 >= count; --*length) {
		uint32_t period = *length - borders[*length - 1];

		if (period * 2 <= *length)
			return period;
	}
	return 0;
}

static int find_median(const struct gp_live_steps *steps, uint32_t period, uint32_t length,
		       uint64_t *step_ns)
{
	uint32_t count = (length - 1) / period;
	uint64_t *values = calloc((size_t)count + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		values[i] = (uint32_t)(kernel_at(steps, i * period)->start_us -
				       kernel_at(steps, (i + 1) * period)->start_us);
	if (count > 0)
		*step_ns = (uint64_t)gp_stats_of(values, count).median * NS_PER_US;
	free(values);
	return 0;
}

int gp_live_steps_find(const struct gp_live_steps *steps, uint64_t *step_ns)
{
	uint32_t count = steps->taken < steps->capacity ? (uint32_t)steps->taken : steps->capacity;
	uint32_t *borders = calloc((size_t)count + 1, sizeof(*borders));
	uint32_t length, period = 0;
	int result = borders ? 0 : -ENOMEM;

	*step_ns = 0;
	if (borders && count > 1) {
		find_borders(steps, count, borders);
		period = find_period(borders, count, &length);
	}
	if (period > 0)
		result = find_median(steps, period, length, step_ns);
	free(borders);
	return result;
}
