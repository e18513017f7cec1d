#include "report/model/slice_filter.h"

#include <errno.h>
#include <stdlib.h>

#include "report/base/stats.h"

bool gp_slice_choice_is_all(const struct gp_slice_choice *choice)
{
	return choice->from_ns == 0 && choice->to_ns == 0 && choice->least_ns == 0 &&
	       !choice->is_part;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/*
 * Ranges may have begun before the first call: a window from the first call on, which is none,
 * holds them.
 */
struct gp_slice_filter gp_slice_filter_of(const struct gp_slice_choice *choice,
					  const struct gp_model *model)
{
	return (struct gp_slice_filter){
		.from_ns = choice->from_ns > 0 ? add(model->first_ns, choice->from_ns) : 0,
		.to_ns = choice->to_ns > 0 ? add(model->first_ns, choice->to_ns) : UINT64_MAX,
		.least_ns = choice->least_ns,
		.part_from_ns = model->part.is_one ? model->part.from_ns : 0,
		.part_to_ns = model->part.is_one ? model->part.to_ns : UINT64_MAX,
		.is_part = choice->is_part,
		.is_open = gp_slice_choice_is_all(choice) && !model->part.is_one,
	};
}

struct gp_slice_filter gp_slice_filter_of_part(const struct gp_model *model)
{
	const struct gp_slice_choice all = {0};

	return gp_slice_filter_of(&all, model);
}

/* The starts of those that are chosen. */
struct starts {
	const struct gp_slice_choice *choice;
	const struct gp_model *model;
	uint64_t *ns; /* from the first call on */
	size_t count;
};

static void take(struct starts *starts, uint64_t start_ns)
{
	uint64_t first_ns = starts->model->first_ns;
	uint64_t ns = start_ns > first_ns ? start_ns - first_ns : 0;

	if (ns >= starts->choice->from_ns &&
	    (starts->choice->to_ns == 0 || ns < starts->choice->to_ns))
		starts->ns[starts->count++] = ns;
}

/* Most slices of a file are calls and operations. */
static void take_all(struct starts *starts)
{
	const struct gp_model *model = starts->model;

	for (uint32_t i = 0; i < model->call_count; i++)
		take(starts, model->calls[i].start_ns);
	for (uint32_t i = 0; i < model->op_count; i++)
		take(starts, model->ops[i].start_ns);
	for (uint32_t i = 0; i < model->range_count; i++)
		take(starts, model->ranges[i].start_ns);
}

int gp_slice_choice_cut(const struct gp_slice_choice *choice, const struct gp_model *model,
			uint64_t *starts, uint32_t count)
{
	size_t most = (size_t)model->call_count + model->op_count + model->range_count;
	struct starts all = {choice, model, malloc((most + 1) * sizeof(*all.ns)), 0};

	if (!all.ns)
		return -ENOMEM;
	take_all(&all);
	starts[0] = choice->from_ns;
	for (uint32_t i = 1; i < count; i++) {
		starts[i] = all.count > 0
				    ? gp_stats_select(all.ns, all.count, all.count * i / count)
				    : choice->from_ns;
		starts[i] = starts[i] > 0 ? starts[i] : 1; /* 0 would be no end of the one before */
	}
	free(all.ns);
	return 0;
}
