#include "report/analysis/analysis.h"

#include <errno.h>
#include <stdlib.h>

/* The activity of devices within a time. */
struct within {
	const struct gp_iterations *loop; /* its stretches ... */
	uint64_t base_unix_ns;            /* ... since then */
	uint64_t (*state_ns)[GP_STATES];
};

static int find_loops(struct gp_analysis *basis, struct gp_model *const *models)
{
	int result = 0;

	basis->tunings = calloc(basis->model_count + 1, sizeof(*basis->tunings));
	basis->iterations = calloc(basis->model_count + 1, sizeof(*basis->iterations));
	if (!basis->tunings || !basis->iterations)
		return -ENOMEM;
	for (size_t i = 0; result == 0 && i < basis->model_count; i++) {
		result = gp_tuning_of(&basis->tunings[i], models[i]);
		if (result == 0)
			result = gp_iterations_of(&basis->iterations[i], models[i],
						  &basis->tunings[i]);
	}
	return result;
}

static uint64_t since_base(const struct within *within, uint64_t unix_ns)
{
	return unix_ns > within->base_unix_ns ? unix_ns - within->base_unix_ns : 0;
}

static void add_within(void *context, size_t device, unsigned state, uint64_t start_ns,
		       uint64_t end_ns)
{
	const struct within *within = context;
	const struct gp_iterations *loop = within->loop;
	uint64_t first_ns = since_base(within, start_ns), last_ns = since_base(within, end_ns);

	for (uint32_t i = gp_iterations_stretch_at(loop, first_ns);
	     state > 0 && i < loop->stretch_count && loop->stretches[i].start_ns < last_ns; i++) {
		const struct gp_interval *stretch = &loop->stretches[i];
		uint64_t from_ns = first_ns > stretch->start_ns ? first_ns : stretch->start_ns;
		uint64_t to_ns = last_ns < stretch->end_ns ? last_ns : stretch->end_ns;

		within->state_ns[device][state] += to_ns - from_ns;
	}
}

/* Where a stretch of the loop begins or ends within a gap. */
static bool is_cut(void *context, uint64_t start_ns, uint64_t end_ns)
{
	const struct within *within = context;
	const struct gp_iterations *loop = within->loop;
	uint64_t first_ns = since_base(within, start_ns), last_ns = since_base(within, end_ns);
	uint32_t at = gp_iterations_stretch_at(loop, first_ns);

	return at < loop->stretch_count && ((loop->stretches[at].start_ns > first_ns &&
					     loop->stretches[at].start_ns < last_ns) ||
					    loop->stretches[at].end_ns < last_ns);
}

static int sweep(struct gp_analysis *basis, struct gp_model *const *models,
		 struct gp_device_list *devices, const struct gp_kinds *kinds, size_t gap_limit)
{
	static const struct gp_iterations none = {0};
	bool is_alone = basis->model_count == 1;
	struct within loop = {.loop = is_alone ? &basis->iterations[0] : &none,
			      .base_unix_ns = is_alone ? models[0]->base_unix_ns : 0,
			      .state_ns = basis->in_loop_ns};
	struct gp_sweep_taker takers[] = {
		{0}, {0}, {.segment = add_within, .context = &loop, .needs_order = is_cut}};
	int result = gp_wheres_open(&basis->wheres, devices->count, gap_limit, &takers[0]);

	if (result == 0)
		result = gp_idle_gaps_open(&basis->idle_gaps, devices->count, basis->model_count,
					   &takers[1]);
	if (result == 0)
		result = gp_gpu_sweep(models, basis->model_count,
				      gp_busy_window(models, basis->model_count), devices, kinds,
				      takers, sizeof(takers) / sizeof(takers[0]));
	if (result == 0)
		result = gp_wheres_finish(&basis->wheres);
	return result == 0 ? gp_idle_gaps_finish(&basis->idle_gaps) : result;
}

int gp_analysis_of(struct gp_analysis *basis, struct gp_model *const *models, size_t model_count,
		   struct gp_device_list *devices, const struct gp_kinds *kinds, size_t gap_limit)
{
	int result;

	*basis = (struct gp_analysis){.model_count = model_count};
	basis->in_loop_ns = calloc(devices->count + 1, sizeof(*basis->in_loop_ns));
	if (!basis->in_loop_ns)
		return -ENOMEM;
	result = find_loops(basis, models);
	return result == 0 ? sweep(basis, models, devices, kinds, gap_limit) : result;
}

void gp_analysis_free(struct gp_analysis *basis)
{
	for (size_t i = 0; basis->tunings && i < basis->model_count; i++)
		gp_tuning_free(&basis->tunings[i]);
	for (size_t i = 0; basis->iterations && i < basis->model_count; i++)
		gp_iterations_free(&basis->iterations[i]);
	free(basis->tunings);
	free(basis->iterations);
	free(basis->in_loop_ns);
	gp_wheres_free(&basis->wheres);
	gp_idle_gaps_free(&basis->idle_gaps);
	*basis = (struct gp_analysis){0};
}
