#include "report/advice/rules/before_first_call.h"

#include "report/analysis/idle/startup_shutdown.h"

#define LEAST_PART 20 /* of the recorded time */

static struct gp_before find_longest(const struct gp_advisor *advisor)
{
	struct gp_before longest = {0};

	for (size_t i = 0; i < advisor->scope.model_count; i++) {
		const struct gp_model *model = advisor->scope.models[i];
		struct gp_startup_shutdown ends;

		gp_startup_shutdown_of(&ends, model);
		if (ends.before_ns > longest.ns)
			longest = (struct gp_before){ends.before_ns, model->sample_count > 0,
						     gp_process_name(model)};
	}
	return longest;
}

void gp_before_first_call_find(const struct gp_advisor *advisor, struct gp_advice *advice)
{
	struct gp_before longest;

	if (advice->once_count == 0)
		return;
	longest = find_longest(advisor);
	/* the first one-time cost is the largest */
	if (longest.ns >= GP_LEAST_BEFORE_NS && longest.ns >= advice->span_ns / LEAST_PART &&
	    longest.ns > advice->findings[advice->count - advice->once_count].saves_ns)
		advice->before = longest;
}
