/* The phases of the main loop's steps (report/analysis/loop/phases.h), on a track of their own. */

#include "report/analysis/loop/phases.h"
#include "report/timeline/walk.h"

static int find_phases(struct gp_phases *phases, const struct gp_model *model)
{
	struct gp_kinds *kinds = gp_kinds_new(NULL, NULL, 0);
	struct gp_iterations iterations = {0};
	struct gp_tuning tuning;

	gp_tuning_of(&tuning, model);
	gp_iterations_of(&iterations, model, &tuning);
	gp_phases_of(phases, model, &iterations, kinds);
	gp_iterations_free(&iterations);
	gp_tuning_free(&tuning);
	gp_kinds_free(kinds);
	return 0;
}

static void walk_time(struct gp_timeline *t, const struct gp_phases *phases,
		      const struct gp_phase_time *time)
{
	struct gp_timeline_event event = {.kind = GP_TIMELINE_PHASE,
					  .start_ns = time->start_ns,
					  .end_ns = time->end_ns,
					  .name = phases->rows[time->phase].name};

	if (!gp_walk_wants(t, &event))
		return;
	gp_walk_number(&event, "step", time->step + UINT64_C(1));
	gp_walk_event(t, &event);
}

/* Of a part of a process, no loop is known; without frames, no phase is. */
void gp_walk_phases(struct gp_timeline *t)
{
	struct gp_phases phases = {0};

	if (t->is_table || t->slices_only || !gp_model_is_whole(t->model) ||
	    t->model->frame_count == 0)
		return;
	t->error = find_phases(&phases, t->model);
	if (phases.time_count > 0)
		gp_walk_track(t, &(struct gp_timeline_track){.kind = GP_TRACK_HOST,
							     .name = "phases of the main loop"});
	for (uint32_t i = 0; t->error == 0 && i < phases.time_count; i++)
		walk_time(t, &phases, &phases.times[i]);
	gp_phases_free(&phases);
}
