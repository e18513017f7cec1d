#include "inject/sample_budget.h"

#define MILLION      1000000u
#define MOST_COST_NS (UINT64_MAX / MILLION) /* five hours */

uint64_t gp_sample_period_ns(uint64_t calls, uint64_t on_ns, uint64_t share_millionths)
{
	uint64_t most_calls = MOST_COST_NS / GP_SAMPLE_CALL_NS;
	uint64_t least_ns = on_ns / MILLION * GP_SAMPLE_LEAST_MILLIONTHS;
	uint64_t cost_ns = (calls < most_calls ? calls : most_calls) * GP_SAMPLE_CALL_NS;

	if (cost_ns < least_ns)
		cost_ns = least_ns < MOST_COST_NS ? least_ns : MOST_COST_NS;
	return cost_ns * MILLION / share_millionths;
}

uint64_t gp_sample_vary_ns(uint64_t mean_ns, uint64_t random)
{
	return mean_ns / 2 + mean_ns / 1024 * (random % 1025);
}
