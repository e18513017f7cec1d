#include "report/tables/by/rank_activity.h"

#include <math.h>
#include <string.h>

#include "report/analysis/idle/gpu_sweep.h"
#include "report/analysis/idle/time_parts.h"

struct sweep {
	uint64_t start_unix_ns;
	double part_ns;
	double taken_ns[GP_RANK_WORKS][GP_RANK_PARTS]; /* of all devices */
};

static void take_segment(void *context, size_t device, unsigned state, uint64_t start_ns,
			 uint64_t end_ns)
{
	struct sweep *sweep = context;
	double at_ns = (double)(start_ns - sweep->start_unix_ns);
	double until_ns = (double)(end_ns - sweep->start_unix_ns);

	(void)device;
	if (state >= GP_STATE_IDLE || start_ns < sweep->start_unix_ns)
		return;
	if (state & GP_STATE_BUSY)
		gp_time_parts_take(sweep->taken_ns[GP_RANK_BUSY], GP_RANK_PARTS, sweep->part_ns,
				   at_ns, until_ns);
	if (state & (GP_STATE_COMPUTE | GP_STATE_COPY))
		gp_time_parts_take(sweep->taken_ns[GP_RANK_COMPUTES], GP_RANK_PARTS, sweep->part_ns,
				   at_ns, until_ns);
}

/* At least 1 if there is any, so that it is visible. */
static uint8_t share_of(double part, double whole)
{
	double share = whole > 0 ? part / whole * GP_RANK_SHARE_MOST : 0;

	return (uint8_t)fmin(share > 0 && share < 1 ? 1 : round(share), GP_RANK_SHARE_MOST);
}

int gp_rank_activity_of(struct gp_model *model, const struct gp_kinds *kinds,
			struct gp_rank_activity *activity)
{
	struct gp_window window = gp_busy_window(&model, 1);
	struct gp_device_list devices = {0};
	struct sweep sweep = {.start_unix_ns = window.start_unix_ns,
			      .part_ns = (double)(window.end_unix_ns - window.start_unix_ns) /
					 GP_RANK_PARTS};
	const struct gp_sweep_taker taker = {
		.segment = take_segment, .context = &sweep, .needs_order = gp_sweep_needs_no_order};
	int result = gp_device_list_all(&devices, &model, 1);

	*activity =
		(struct gp_rank_activity){.start_ns = window.start_unix_ns - model->base_unix_ns,
					  .end_ns = window.end_unix_ns - model->base_unix_ns};
	if (result == 0 && sweep.part_ns > 0)
		result = gp_gpu_sweep(&model, 1, window, &devices, kinds, &taker, 1);
	for (size_t work = 0; work < GP_RANK_WORKS; work++)
		for (size_t part = 0; part < GP_RANK_PARTS; part++)
			activity->shares[work][part] = share_of(
				sweep.taken_ns[work][part], sweep.part_ns * (double)devices.count);
	gp_device_list_free(&devices);
	return result;
}

/* The mean share of a time, of what of it was recorded. */
static uint8_t mean_of(const struct gp_rank_activity *activity, enum gp_rank_work work,
		       double from_ns, double to_ns)
{
	double part_ns = (double)(activity->end_ns - activity->start_ns) / GP_RANK_PARTS;
	double first = fmax(floor((from_ns - (double)activity->start_ns) / part_ns), 0);
	double share = 0, known_ns = 0;

	for (size_t part = (size_t)fmin(first, GP_RANK_PARTS); part < GP_RANK_PARTS; part++) {
		double at_ns = (double)activity->start_ns + (double)part * part_ns;
		double ns = fmin(at_ns + part_ns, to_ns) - fmax(at_ns, from_ns);

		if (at_ns >= to_ns)
			break;
		if (ns <= 0)
			continue;
		share += ns * activity->shares[work][part];
		known_ns += ns;
	}
	return known_ns > 0 ? (uint8_t)round(share / known_ns) : GP_RANK_SHARE_NONE;
}

void gp_rank_activity_cut(const struct gp_rank_activity *activity, enum gp_rank_work work,
			  int64_t start_ns, uint64_t length_ns, uint8_t shares[GP_RANK_PARTS])
{
	double part_ns = (double)length_ns / GP_RANK_PARTS;

	memset(shares, GP_RANK_SHARE_NONE, GP_RANK_PARTS);
	for (size_t part = 0; part < GP_RANK_PARTS && activity->end_ns > activity->start_ns; part++)
		shares[part] = mean_of(activity, work, (double)start_ns + (double)part * part_ns,
				       (double)start_ns + (double)(part + 1) * part_ns);
}
