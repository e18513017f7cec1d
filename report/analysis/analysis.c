#include "report/analysis/analysis.h"

#include <stdlib.h>

/* The states of devices in the parts of the run. */
struct within {
	struct gp_analysis *basis;
	struct gp_model *const *models;
};

static void find_loops(struct gp_analysis *basis, struct gp_model *const *models,
		       const struct gp_kinds *kinds)
{
	basis->tunings = calloc(basis->model_count + 1, sizeof(*basis->tunings));
	basis->iterations = calloc(basis->model_count + 1, sizeof(*basis->iterations));
	basis->steps = calloc(basis->model_count + 1, sizeof(*basis->steps));
	basis->phases = calloc(basis->model_count + 1, sizeof(*basis->phases));
	basis->backward = calloc(basis->model_count + 1, sizeof(*basis->backward));
	for (size_t i = 0; i < basis->model_count; i++) {
		gp_tuning_of(&basis->tunings[i], models[i]);
		gp_iterations_of(&basis->iterations[i], models[i], &basis->tunings[i]);
		gp_steps_of(&basis->steps[i], &basis->iterations[i], models[i]);
		gp_phases_of(&basis->phases[i], models[i], &basis->iterations[i], kinds);
		gp_backward_of(&basis->backward[i], models[i]);
	}
}

/* The steps of a device's owner; NULL: there are none.  start_ns and end_ns become the model's. */
static const struct gp_steps *steps_of(const struct within *within, size_t device,
				       uint64_t *start_ns, uint64_t *end_ns)
{
	size_t process = within->basis->owners[device];
	const struct gp_steps *steps;
	uint64_t base_ns;

	if (process == SIZE_MAX)
		return NULL;
	steps = &within->basis->steps[process];
	base_ns = within->models[process]->base_unix_ns;
	*start_ns = *start_ns > base_ns ? *start_ns - base_ns : 0;
	*end_ns = *end_ns > base_ns ? *end_ns - base_ns : 0;
	return steps->count > 0 ? steps : NULL;
}

static void add_within(void *context, size_t device, unsigned state, uint64_t start_ns,
		       uint64_t end_ns)
{
	const struct within *within = context;
	const struct gp_steps *steps = steps_of(within, device, &start_ns, &end_ns);

	for (uint32_t i = steps ? gp_steps_piece_at(steps, start_ns) : 0;
	     steps && start_ns < end_ns; i++) {
		const struct gp_run_piece *piece = &steps->pieces[i];
		bool is_last = i + 1 == steps->piece_count || piece[1].start_ns > end_ns;
		uint64_t to_ns = is_last ? end_ns : piece[1].start_ns;

		within->basis->part_ns[device][piece->part][state] += to_ns - start_ns;
		start_ns = to_ns;
	}
}

/* Whether a part of a run begins within a gap. */
static bool is_cut(void *context, size_t device, uint64_t start_ns, uint64_t end_ns)
{
	const struct gp_steps *steps = steps_of(context, device, &start_ns, &end_ns);

	return steps && gp_steps_piece_at(steps, start_ns) != gp_steps_piece_at(steps, end_ns);
}

static void find_owners(struct gp_analysis *basis, struct gp_model *const *models,
			struct gp_device_list *devices)
{
	bool *has_user = calloc(devices->count + 1, sizeof(*has_user));

	basis->owners = calloc(devices->count + 1, sizeof(*basis->owners));
	for (size_t i = 0; i < devices->count; i++)
		basis->owners[i] = SIZE_MAX;
	for (size_t i = 0; i < basis->model_count; i++) {
		bool *used = gp_device_list_used(devices, models[i]);

		for (size_t k = 0; k < devices->count; k++) {
			if (!used[k])
				continue;
			basis->owners[k] = has_user[k] ? SIZE_MAX : i;
			has_user[k] = true;
		}
		free(used);
	}
	free(has_user);
}

static void sweep(struct gp_analysis *basis, struct gp_model *const *models,
		  struct gp_device_list *devices, const struct gp_kinds *kinds, size_t gap_limit)
{
	struct within within = {basis, models};
	struct gp_sweep_taker takers[] = {
		{0}, {0}, {.segment = add_within, .context = &within, .needs_order = is_cut}};

	gp_wheres_open(&basis->wheres, devices->count, gap_limit, &takers[0]);
	gp_idle_gaps_open(&basis->idle_gaps, devices->count, basis->model_count, &takers[1]);
	gp_gpu_sweep(models, basis->model_count, gp_busy_window(models, basis->model_count),
		     devices, kinds, takers, sizeof(takers) / sizeof(takers[0]));
	gp_wheres_finish(&basis->wheres);
	gp_idle_gaps_finish(&basis->idle_gaps);
}

/* Only if there are phases: this is one more sweep. */
static int add_devices_to_phases(struct gp_analysis *basis, struct gp_model *const *models,
				 struct gp_device_list *devices, const struct gp_kinds *kinds)
{
	struct gp_gpu_lines lines = {0};
	bool any = false;

	for (size_t i = 0; i < basis->model_count; i++)
		any |= basis->phases[i].time_count > 0;
	if (any)
		gp_gpu_lines_of(&lines, models, basis->model_count,
				gp_busy_window(models, basis->model_count), devices, kinds);
	for (size_t i = 0; any && i < basis->model_count; i++) {
		basis->phases[i].warm_up = basis->steps[i].counts[GP_RUN_WARM_UP];
		gp_phases_add_devices(&basis->phases[i], models[i], devices, &lines);
	}
	gp_gpu_lines_free(&lines);
	return 0;
}

int gp_analysis_of(struct gp_analysis *basis, struct gp_model *const *models, size_t model_count,
		   struct gp_device_list *devices, const struct gp_kinds *kinds, size_t gap_limit)
{
	*basis = (struct gp_analysis){.model_count = model_count};
	basis->part_ns = calloc(devices->count + 1, sizeof(*basis->part_ns));
	find_owners(basis, models, devices);
	find_loops(basis, models, kinds);
	sweep(basis, models, devices, kinds, gap_limit);
	return add_devices_to_phases(basis, models, devices, kinds);
}

size_t gp_analysis_main_process(const struct gp_analysis *basis)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < basis->model_count; i++)
		if (basis->steps[i].count > 0 &&
		    (found == SIZE_MAX || gp_steps_recurring_ns(&basis->steps[i]) >
						  gp_steps_recurring_ns(&basis->steps[found])))
			found = i;
	return found;
}

void gp_analysis_add_part(const struct gp_analysis *basis, size_t process, enum gp_run_part part,
			  uint64_t state_ns[GP_STATES])
{
	for (size_t device = 0; device < basis->wheres.count; device++)
		for (unsigned i = 0; basis->owners[device] == process && i < GP_STATES; i++)
			state_ns[i] += basis->part_ns[device][part][i];
}

void gp_analysis_free(struct gp_analysis *basis)
{
	for (size_t i = 0; basis->tunings && i < basis->model_count; i++)
		gp_tuning_free(&basis->tunings[i]);
	for (size_t i = 0; basis->iterations && i < basis->model_count; i++)
		gp_iterations_free(&basis->iterations[i]);
	free(basis->tunings);
	free(basis->iterations);
	for (size_t i = 0; basis->steps && i < basis->model_count; i++)
		gp_steps_free(&basis->steps[i]);
	for (size_t i = 0; basis->phases && i < basis->model_count; i++)
		gp_phases_free(&basis->phases[i]);
	for (size_t i = 0; basis->backward && i < basis->model_count; i++)
		gp_backward_free(&basis->backward[i]);
	free(basis->backward);
	free(basis->steps);
	free(basis->phases);
	free(basis->owners);
	free(basis->part_ns);
	gp_wheres_free(&basis->wheres);
	gp_idle_gaps_free(&basis->idle_gaps);
	*basis = (struct gp_analysis){0};
}
