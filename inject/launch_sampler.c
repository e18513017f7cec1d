#include "inject/launch_sampler.h"

#define WEIGHT 8u /* means are over about so many samples */
#define PROBES 4u /* places of the table that a kind may have */

/* Tags of kinds; 0 = free.  A place that two threads write at once is one kind's; harmless. */
uint32_t gp_launch_sampler_kinds[GP_LAUNCH_SAMPLER_KINDS];

/* Dense samples so far; of two threads at once one may not be counted. */
static uint32_t started;

bool gp_launch_sampler_is_new(uint32_t kind)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t *place = &gp_launch_sampler_kinds[(kind + i) % GP_LAUNCH_SAMPLER_KINDS];
		uint32_t found = gp_load32(place);

		if (found == kind)
			return false;
		if (found == 0) {
			gp_store32(place, kind);
			return true;
		}
	}
	return false;
}

static uint32_t draw(struct gp_launch_sampler *sampler, uint32_t below)
{
	uint32_t x = sampler->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	sampler->random = x;
	return (uint32_t)((uint64_t)x * below >> 32);
}

static uint64_t move_mean(uint64_t mean, uint64_t value)
{
	return mean == 0 ? value : mean - mean / WEIGHT + value / WEIGHT;
}

static void begin(struct gp_launch_sampler *sampler, uint64_t now_ticks)
{
	uint64_t seed = (now_ticks ^ (uintptr_t)sampler) * UINT64_C(0x9e3779b97f4a7c15);

	sampler->random = (uint32_t)(seed >> 32) | 1;
	sampler->thread = sampler->random;
	sampler->cost_ticks = GP_LAUNCH_SAMPLER_COST_AT_START;
}

static void measure(struct gp_launch_sampler *sampler, uint64_t began_ticks, uint64_t ended_ticks)
{
	uint64_t most = sampler->cost_ticks * GP_LAUNCH_SAMPLER_COST_STEP;
	uint64_t cost = ended_ticks - began_ticks;

	sampler->cost_ticks = move_mean(sampler->cost_ticks, cost < most ? cost : most);
	if (sampler->last_ticks != 0)
		sampler->interval_ticks =
			move_mean(sampler->interval_ticks,
				  (began_ticks - sampler->last_ticks) / sampler->gap);
	sampler->last_ticks = began_ticks;
}

static uint32_t mean_gap(const struct gp_launch_sampler *sampler)
{
	uint64_t paid = sampler->cost_ticks * GP_LAUNCH_SAMPLER_REST;
	uint64_t gap = sampler->interval_ticks == 0 ? 1 : paid / sampler->interval_ticks + 1;

	if (gap > GP_LAUNCH_SAMPLER_START_GAP && gp_load32(&started) < GP_LAUNCH_SAMPLER_START) {
		gp_store32(&started, gp_load32(&started) + 1);
		return GP_LAUNCH_SAMPLER_START_GAP;
	}
	return gap < GP_LAUNCH_SAMPLER_MOST_GAP ? (uint32_t)gap : GP_LAUNCH_SAMPLER_MOST_GAP;
}

void gp_launch_sampler_took(struct gp_launch_sampler *sampler, uint64_t began_ticks,
			    uint64_t ended_ticks)
{
	if (sampler->random == 0)
		begin(sampler, began_ticks);
	if (sampler->left != 0)
		return;
	measure(sampler, began_ticks, ended_ticks);
	sampler->gap = 1 + draw(sampler, 2 * mean_gap(sampler) - 1);
	sampler->left = sampler->gap;
}
