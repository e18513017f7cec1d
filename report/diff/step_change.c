#include "report/diff/step_change.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/analysis/loop/steps.h"
#include "report/base/text/format.h"

/* Less is no change: what is printed would be 0.0 %. */
#define LEAST_PERCENT 0.05

struct side {
	const struct gp_run_set *set;
	double *values;   /* scratch: one for each run */
	uint32_t unknown; /* runs without a step time */
	double step_ns, spread_ns;
};

static int open_side(struct side *side, const struct gp_run_set *set)
{
	*side = (struct side){.set = set};
	side->values = calloc((size_t)set->count + 1, sizeof(*side->values));
	if (!side->values)
		return -ENOMEM;
	gp_run_set_metric(set, GP_METRIC_STEP, side->values);
	for (uint32_t i = 0; i < set->count; i++)
		side->unknown += !(side->values[i] > 0);
	side->step_ns = gp_median(side->values, set->count);
	gp_run_set_metric(set, GP_METRIC_STEP_SPREAD, side->values);
	side->spread_ns = gp_median(side->values, set->count);
	return 0;
}

/* ---- phases ---- */

/* What a run's usual step has of a phase: 0 if less than half of the steps have it. */
static double usual_ns(const struct gp_named_list *phases, const char *name)
{
	const struct gp_named_figure *row = gp_named_find(phases, name);
	double steps = 0;

	for (uint32_t i = 0; i < phases->count; i++)
		steps = fmax(steps, phases->rows[i].count);
	if (phases->count == 0)
		return (double)NAN;
	return row && row->count * 2 >= steps ? row->total_ns : 0;
}

static double phase_ns(struct side *side, const char *name)
{
	for (uint32_t i = 0; i < side->set->count; i++)
		side->values[i] = usual_ns(&side->set->runs[i].figures.named[GP_NAMED_PHASE], name);
	return gp_median(side->values, side->set->count);
}

/*
 * A phase that one side does not have, and that takes much longer than the step changed by, has
 * another name there: its function was renamed, or the step is divided in another way.
 */
static bool is_renamed(double from_ns, double to_ns, double step_change_ns)
{
	return (from_ns == 0 || to_ns == 0) && fabs(to_ns - from_ns) > 2 * fabs(step_change_ns);
}

static int say_phase(struct side *before, struct side *now, char *text, size_t bytes)
{
	const char **names, *most = NULL;
	double from_ns = 0, to_ns = 0, step_change_ns = now->step_ns - before->step_ns;
	uint32_t count;
	int result = gp_run_set_names(before->set, now->set, GP_NAMED_PHASE, &names, &count);

	for (uint32_t i = 0; result == 0 && i < count; i++) {
		double from = phase_ns(before, names[i]), to = phase_ns(now, names[i]);

		if (!(fabs(to - from) > fabs(to_ns - from_ns)) ||
		    is_renamed(from, to, step_change_ns))
			continue;
		most = names[i];
		from_ns = from;
		to_ns = to;
	}
	if (most)
		snprintf(text, bytes, "; %s changed most: %s, %s before", most,
			 gp_format_ns_about(to_ns).text, gp_format_ns_about(from_ns).text);
	free(names);
	return result;
}

/* ---- the step ---- */

static int say_change(struct side *before, struct side *now, char *text, size_t bytes)
{
	double percent = 100 * fabs(now->step_ns - before->step_ns) / before->step_ns;
	char speed[32] = "no change", phase[160] = "";
	int result = 0;

	if (percent >= LEAST_PERCENT) {
		snprintf(speed, sizeof(speed), "%.*f %% %s", percent < 1000 ? 1 : 0, percent,
			 now->step_ns > before->step_ns ? "slower" : "faster");
		result = say_phase(before, now, phase, sizeof(phase));
	}
	snprintf(text, bytes,
		 "The step takes %s (the middle half of the steps spans %s), %s before (%s): %s%s",
		 gp_format_ns_about(now->step_ns).text, gp_format_ns_about(now->spread_ns).text,
		 gp_format_ns_about(before->step_ns).text,
		 gp_format_ns_about(before->spread_ns).text, speed, phase);
	return result;
}

static int say(struct side *before, struct side *now, char *text, size_t bytes)
{
	uint32_t unknown = before->unknown + now->unknown;

	text[0] = '\0';
	if (unknown == before->set->count + now->set->count)
		return 0;
	if (unknown == 0)
		return say_change(before, now, text, bytes);
	snprintf(
		text, bytes,
		"The step time is unknown: %u of %u runs, and %u of %u before, have no main loop with %u steady steps",
		now->unknown, now->set->count, before->unknown, before->set->count,
		GP_STEADY_LEAST);
	return 0;
}

int gp_step_change_say(const struct gp_run_set *before, const struct gp_run_set *now, char *text,
		       size_t bytes)
{
	struct side from, to = {0};
	int result = open_side(&from, before);

	if (result == 0)
		result = open_side(&to, now);
	if (result == 0)
		result = say(&from, &to, text, bytes);
	free(from.values);
	free(to.values);
	return result;
}
