#include "hardware/metric_set.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "gpuprof/count.h"

#define METRIC(...)                                                                                \
	{                                                                                          \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define GP_METRIC_SET(NAME, name, KIND, meaning, ...)                                              \
	static const struct gp_metric_names metrics_##NAME[] = {__VA_ARGS__};                      \
	_Static_assert(COUNT(metrics_##NAME) <= GP_METRIC_SET_MOST, name);
#include "hardware/metric_set.def"
#undef GP_METRIC_SET

const struct gp_metric_set gp_metric_sets[GP_METRIC_SETS] = {
#define GP_METRIC_SET(NAME, name, KIND, meaning, ...)                                              \
	{name, GP_PROFILER_##KIND, meaning, metrics_##NAME, COUNT(metrics_##NAME)},
#include "hardware/metric_set.def"
#undef GP_METRIC_SET
};

const struct gp_metric_set *gp_metric_set_find(const char *name)
{
	for (size_t i = 0; i < GP_METRIC_SETS; i++)
		if (strcmp(gp_metric_sets[i].name, name) == 0)
			return &gp_metric_sets[i];
	return NULL;
}

/* The first of the names that the chip has, or NULL. */
static const char *find_name(struct gp_profiler_config *config, const struct gp_metric_names *names)
{
	struct gp_profiler_metric metric;

	for (size_t i = 0; i < COUNT(names->names); i++)
		if (names->names[i] != NULL &&
		    gp_profiler_describe(config, names->names[i], &metric) == 0)
			return names->names[i];
	return NULL;
}

static void take(struct gp_metric_choice *choice, size_t index)
{
	choice->fits[index] = GP_METRIC_TAKEN;
	choice->taken[choice->taken_count++] = choice->names[index];
}

/* Takes all metrics that the chip has. */
static void take_known(struct gp_metric_choice *choice, const struct gp_metric_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		const char *name = find_name(&choice->config, &set->metrics[i]);

		choice->names[i] = name != NULL ? name : set->metrics[i].names[0];
		choice->fits[i] = GP_METRIC_LACKING;
		if (name != NULL)
			take(choice, i);
	}
}

/*
 * Replaces the config by one of the taken metrics.  It has no passes if the metrics exclude each
 * other.
 */
static int make(struct gp_metric_choice *choice, const char *chip, enum gp_profiler_kind kind)
{
	struct gp_profiler_host *host = choice->config.host;
	int error;

	gp_profiler_config_close(&choice->config);
	error = gp_profiler_config_open(&choice->config, host, chip, kind);
	if (error == 0)
		error = gp_profiler_config_make(&choice->config, choice->taken,
						choice->taken_count);
	return error == -ENOTSUP ? 0 : error;
}

size_t gp_metric_passes(struct gp_profiler_host *host, const char *chip, enum gp_profiler_kind kind,
			const char *const *metrics, size_t count)
{
	struct gp_profiler_config config;
	size_t passes = 0;

	if (gp_profiler_config_open(&config, host, chip, kind) != 0)
		return 0;
	if (gp_profiler_config_make(&config, metrics, count) == 0)
		passes = config.passes;
	gp_profiler_config_close(&config);
	return passes;
}

static bool fits(size_t passes, enum gp_profiler_kind kind)
{
	return passes > 0 && passes <= (kind == GP_PROFILER_RANGE ? GP_METRIC_MOST_PASSES : 1);
}

/* Leaves out metrics that need several passes alone: no kernel would have their values. */
static int leave_out_long(struct gp_metric_choice *choice, const char *chip,
			  const struct gp_metric_set *set)
{
	choice->taken_count = 0;
	for (size_t i = 0; i < set->count; i++) {
		if (choice->fits[i] == GP_METRIC_LACKING)
			continue;
		if (gp_metric_passes(choice->config.host, chip, set->kind, &choice->names[i], 1) ==
		    1)
			take(choice, i);
		else
			choice->fits[i] = GP_METRIC_LEFT_OUT;
	}
	return make(choice, chip, set->kind);
}

/* Takes one metric after the other while they fit. */
static int fit(struct gp_metric_choice *choice, const char *chip, const struct gp_metric_set *set)
{
	int error = 0;

	choice->taken_count = 0;
	for (size_t i = 0; i < set->count && error == 0; i++) {
		if (choice->fits[i] != GP_METRIC_TAKEN)
			continue;
		take(choice, i);
		error = make(choice, chip, set->kind);
		if (error == 0 && !fits(choice->config.passes, set->kind)) {
			choice->fits[i] = GP_METRIC_LEFT_OUT;
			choice->taken_count--;
		}
	}
	return error == 0 && !fits(choice->config.passes, set->kind) ? make(choice, chip, set->kind)
								     : error;
}

int gp_metric_set_choose(struct gp_metric_choice *choice, struct gp_profiler_host *host,
			 const char *chip, const struct gp_metric_set *set)
{
	int error;

	memset(choice, 0, sizeof(*choice));
	error = gp_profiler_config_open(&choice->config, host, chip, set->kind);
	if (error != 0)
		return error;
	take_known(choice, set);
	error = make(choice, chip, set->kind);
	choice->passes = choice->config.passes;
	if (error == 0 && choice->passes != 1)
		error = leave_out_long(choice, chip, set);
	if (error == 0 && !fits(choice->config.passes, set->kind))
		error = fit(choice, chip, set);
	if (error == 0 && choice->taken_count == 0)
		error = -ENOTSUP;
	if (error != 0 && choice->config.object != NULL)
		gp_profiler_config_close(&choice->config);
	return error;
}
