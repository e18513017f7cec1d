#include "collector/counters.h"

#include <string.h>

#include "collector/atomic.h"

static uint64_t counters[GP_COUNTERS];

/* Members of a ring header that contribute to a counter. */
static const struct {
	enum gp_counter counter;
	size_t offset;
} in_rings[] = {
	{GP_COUNTER_LOST_RING_FULL, offsetof(struct gp_ring_header, lost)},
	{GP_COUNTER_RING_WAITS, offsetof(struct gp_ring_header, waits)},
	{GP_COUNTER_HOOKS, offsetof(struct gp_ring_header, hooks)},
	{GP_COUNTER_HOOKS_SAMPLED, offsetof(struct gp_ring_header, hooks_sampled)},
	{GP_COUNTER_HOOKS_SAMPLED_TICKS, offsetof(struct gp_ring_header, hooks_sampled_ticks)},
	{GP_COUNTER_NESTED_CALLBACKS, offsetof(struct gp_ring_header, nested_callbacks)},
	{GP_COUNTER_LOST_DISK_FULL, offsetof(struct gp_ring_header, lost_writes[0])},
	{GP_COUNTER_LOST_DISK_QUOTA, offsetof(struct gp_ring_header, lost_writes[1])},
	{GP_COUNTER_LOST_FILE_LIMIT, offsetof(struct gp_ring_header, lost_writes[2])},
	{GP_COUNTER_LOST_WRITE_ERROR, offsetof(struct gp_ring_header, lost_writes[3])},
	{GP_COUNTER_LOST_MAX_FILE, offsetof(struct gp_ring_header, lost_writes[4])},
};

void gp_counters_reset(void)
{
	memset(counters, 0, sizeof(counters));
}

void gp_count(enum gp_counter counter, uint64_t amount)
{
	gp_add64(&counters[counter], amount);
}

void gp_count_set(enum gp_counter counter, uint64_t value)
{
	gp_store64(&counters[counter], value);
}

static void add_ring(const struct gp_ring_header *ring, uint64_t totals[GP_COUNTERS])
{
	for (size_t i = 0; i < sizeof(in_rings) / sizeof(in_rings[0]); i++) {
		const char *member = (const char *)ring + in_rings[i].offset;

		totals[in_rings[i].counter] += gp_load64((const uint64_t *)member);
	}
}

void gp_counters_save(const struct gp_arena *arena)
{
	for (int i = 0; i < GP_COUNTERS; i++)
		gp_store64(&arena->lanes[0].ring->counters[i], gp_load64(&counters[i]));
}

void gp_counters_total(const struct gp_arena *arena, uint64_t totals[GP_COUNTERS])
{
	uint32_t lanes = gp_load32_acquire(&arena->lane_count);

	for (int i = 0; i < GP_COUNTERS; i++)
		totals[i] = gp_load64(&counters[i]);
	for (uint32_t i = 0; i < lanes; i++)
		add_ring(arena->lanes[i].ring, totals);
}

uint64_t gp_counters_hooks(const struct gp_arena *arena)
{
	uint32_t lanes = gp_load32_acquire(&arena->lane_count);
	uint64_t hooks = gp_load64(&counters[GP_COUNTER_HOOKS]);

	for (uint32_t i = 0; i < lanes; i++)
		hooks += gp_load64(&arena->lanes[i].ring->hooks);
	return hooks;
}
