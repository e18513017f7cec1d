#include "report/diff/step_change.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/analysis/loop/steps.h"
#include "report/base/text/format.h"

/*
 * The steps of two runs are not the same work if a step launches so many times as much in one of
 * them, and that is because a step is another part of the run.
 */
#define OTHER_WORK_RATIO 2.0

/* Less is no change: what is printed would be 0.0 %. */
#define LEAST_PERCENT 0.05

struct side {
	const struct gp_run_set *set;
	double *values;   /* scratch: one for each run */
	uint32_t unknown; /* runs without a step time */
	double step_ns, spread_ns, mean_ns;
	double steps, launches; /* in a run, the medians; 0 = unknown */
};

static void count_work(struct side *side)
{
	const struct gp_run_set *set = side->set;

	for (uint32_t i = 0; i < set->count; i++)
		side->values[i] = set->runs[i].figures.step_count;
	side->steps = gp_median(side->values, set->count);
	for (uint32_t i = 0; i < set->count; i++)
		side->values[i] = set->runs[i].figures.values[GP_METRIC_LAUNCHES] +
				  set->runs[i].figures.values[GP_METRIC_GRAPH_LAUNCHES];
	side->launches = gp_median(side->values, set->count);
}

static void open_side(struct side *side, const struct gp_run_set *set)
{
	*side = (struct side){.set = set};
	side->values = calloc((size_t)set->count + 1, sizeof(*side->values));
	gp_run_set_metric(set, GP_METRIC_STEP, side->values);
	for (uint32_t i = 0; i < set->count; i++)
		side->unknown += !(side->values[i] > 0);
	side->step_ns = gp_median(side->values, set->count);
	gp_run_set_metric(set, GP_METRIC_STEP_SPREAD, side->values);
	side->spread_ns = gp_median(side->values, set->count);
	gp_run_set_metric(set, GP_METRIC_STEP_MEAN, side->values);
	side->mean_ns = gp_median(side->values, set->count);
	count_work(side);
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

struct change {
	const char *name;
	double from_ns, to_ns;
};

/*
 * A phase that one side does not have has another name there if that side has one like it that the
 * other does not have: its function was renamed, or the step is divided in another way.
 */
static bool is_renamed(const struct change *changes, uint32_t count, const struct change *change)
{
	double ns = change->to_ns - change->from_ns;

	for (uint32_t i = 0; i < count; i++) {
		double other_ns = changes[i].to_ns - changes[i].from_ns;

		if (ns * other_ns < 0 && fabs(other_ns) * 2 >= fabs(ns) &&
		    (ns > 0 ? change->from_ns == 0 && changes[i].to_ns == 0
			    : change->to_ns == 0 && changes[i].from_ns == 0))
			return true;
	}
	return false;
}

static const struct change *most_changed(const struct change *changes, uint32_t count)
{
	const struct change *most = NULL;

	for (uint32_t i = 0; i < count; i++) {
		double ns = fabs(changes[i].to_ns - changes[i].from_ns);

		if (ns > (most ? fabs(most->to_ns - most->from_ns) : 0) &&
		    !is_renamed(changes, count, &changes[i]))
			most = &changes[i];
	}
	return most;
}

static void say_phase(struct side *before, struct side *now, char *text, size_t bytes)
{
	const struct change *most;
	const char **names;
	struct change *changes;
	uint32_t count;

	gp_run_set_names(before->set, now->set, GP_NAMED_PHASE, &names, &count);
	changes = calloc((size_t)count + 1, sizeof(*changes));
	for (uint32_t i = 0; i < count; i++)
		changes[i] = (struct change){names[i], phase_ns(before, names[i]),
					     phase_ns(now, names[i])};
	most = most_changed(changes, count);
	if (most)
		snprintf(text, bytes, "; %s changed most: %s, %s before", most->name,
			 gp_format_ns_about(most->to_ns).text,
			 gp_format_ns_about(most->from_ns).text);
	free(changes);
	free(names);
}

/* ---- the step ---- */

/* A loop that is found in operations may be another one in each run: one in ten of its turns copies. */
static bool are_other_work(const struct side *before, const struct side *now)
{
	double steps = now->steps / before->steps, launches = now->launches / before->launches;
	double each = launches / steps;

	if (before->unknown + now->unknown > 0 || !(before->steps > 0 && now->steps > 0))
		return false; /* the steps of a baseline are unknown */
	return fmax(steps, 1 / steps) > OTHER_WORK_RATIO && fmax(each, 1 / each) > OTHER_WORK_RATIO;
}

static void say_other_work(const struct side *before, const struct side *now, char *text,
			   size_t bytes)
{
	snprintf(
		text, bytes,
		"The steps of the two runs do different work, so their times are not compared: %s steps of %s, %s of %s before. All steps together take %s, %s before",
		gp_format_count((uint64_t)now->steps).text, gp_format_ns_about(now->step_ns).text,
		gp_format_count((uint64_t)before->steps).text,
		gp_format_ns_about(before->step_ns).text,
		gp_format_ns_about(now->steps * now->mean_ns).text,
		gp_format_ns_about(before->steps * before->mean_ns).text);
}

static void say_change(struct side *before, struct side *now, char *text, size_t bytes)
{
	double percent = 100 * fabs(now->step_ns - before->step_ns) / before->step_ns;
	char speed[32] = "no change", phase[160] = "";

	if (percent >= LEAST_PERCENT) {
		snprintf(speed, sizeof(speed), "%.*f %% %s", percent < 1000 ? 1 : 0, percent,
			 now->step_ns > before->step_ns ? "slower" : "faster");
		say_phase(before, now, phase, sizeof(phase));
	}
	snprintf(text, bytes,
		 "The step takes %s (the middle half of the steps spans %s), %s before (%s): %s%s",
		 gp_format_ns_about(now->step_ns).text, gp_format_ns_about(now->spread_ns).text,
		 gp_format_ns_about(before->step_ns).text,
		 gp_format_ns_about(before->spread_ns).text, speed, phase);
}

/* "this run has 3", "2 of 7 runs before have fewer" */
static void print_unknown(FILE *out, const struct side *side, const char *this, const char *when)
{
	bool has_loop = side->steps > 0;

	if (side->set->count > 1)
		fprintf(out, "%u of %u runs%s have fewer", side->unknown, side->set->count, when);
	else if (has_loop)
		fprintf(out, "%s has %s in all", this, gp_format_count((uint64_t)side->steps).text);
	else
		fprintf(out, "no main loop was found in %s", this);
}

static void say_unknown(const struct side *before, const struct side *now, char *text, size_t bytes)
{
	FILE *out = fmemopen(text, bytes, "w");

	fprintf(out, "The step time is not compared. It needs %u steps after the warm-up; ",
		GP_STEADY_LEAST);
	if (now->unknown > 0)
		print_unknown(out, now, "this run", "");
	if (now->unknown > 0 && before->unknown > 0)
		fputs(", and ", out);
	if (before->unknown > 0)
		print_unknown(out, before, "the run before", " before");
	fputs(". Record more steps; if they are not found, mark each with a range", out);
	fclose(out);
}

static void say(struct side *before, struct side *now, char *text, size_t bytes)
{
	uint32_t unknown = before->unknown + now->unknown;

	text[0] = '\0';
	if (unknown == before->set->count + now->set->count)
		return;
	if (are_other_work(before, now)) {
		say_other_work(before, now, text, bytes);
		return;
	}
	if (unknown == 0) {
		say_change(before, now, text, bytes);
		return;
	}
	say_unknown(before, now, text, bytes);
}

static void open_sides(struct side *from, struct side *to, const struct gp_run_set *before,
		       const struct gp_run_set *now)
{
	open_side(from, before);
	*to = (struct side){0};
	open_side(to, now);
}

int gp_step_change_say(const struct gp_run_set *before, const struct gp_run_set *now, char *text,
		       size_t bytes)
{
	struct side from, to;

	open_sides(&from, &to, before, now);
	say(&from, &to, text, bytes);
	free(from.values);
	free(to.values);
	return 0;
}

void gp_step_change_is_other_work(const struct gp_run_set *before, const struct gp_run_set *now,
				  bool *is_other)
{
	struct side from, to;

	open_sides(&from, &to, before, now);
	*is_other = are_other_work(&from, &to);
	free(from.values);
	free(to.values);
}
