#include "hardware/metric_set.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
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

#define PLUS(NAME) +COUNT(metrics_##NAME)
_Static_assert(GP_METRIC_SETS_OF_ROOFLINE(PLUS) <= GP_METRIC_SET_MOST, "--roofline");

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

static bool has(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void take(struct gp_metric_choice *choice, size_t index)
{
	choice->fits[index] = GP_METRIC_TAKEN;
	if (!has(choice->taken, choice->taken_count, choice->names[index]))
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

static int open_again(struct gp_profiler_config *config, const char *chip,
		      enum gp_profiler_kind kind)
{
	struct gp_profiler_host *host = config->host;

	gp_profiler_config_close(config);
	return gp_profiler_config_open(config, host, chip, kind);
}

/*
 * Replaces the config by one of the taken metrics.  It has no passes if the metrics exclude each
 * other.  CUPTI has an error, and not always the same, for a config without metrics.
 */
static int make(struct gp_metric_choice *choice, const char *chip, enum gp_profiler_kind kind)
{
	int error;

	if (choice->taken_count == 0)
		return -ENOTSUP;
	error = open_again(&choice->config, chip, kind);
	if (error == 0)
		error = gp_profiler_config_add(&choice->config, choice->taken, choice->taken_count);
	if (error == 0)
		error = gp_profiler_config_make(&choice->config);
	return error == -ENOTSUP ? 0 : error;
}

size_t gp_metric_passes(struct gp_profiler_host *host, const char *chip, enum gp_profiler_kind kind,
			const char *const *metrics, size_t count)
{
	struct gp_profiler_config config;
	size_t passes = 0;

	if (gp_profiler_config_open(&config, host, chip, kind) != 0)
		return 0;
	if (gp_profiler_config_add(&config, metrics, count) == 0 &&
	    gp_profiler_config_make(&config) == 0)
		passes = config.passes;
	gp_profiler_config_close(&config);
	return passes;
}

/* Without the other metrics. */
static bool is_too_large(const struct gp_metric_choice *choice, const char *chip,
			 enum gp_profiler_kind kind, size_t index)
{
	return gp_metric_passes(choice->config.host, chip, kind, &choice->names[index], 1) != 1;
}

/* Takes one metric after the other while they fit into so many passes, and none excludes another. */
static int fit(struct gp_metric_choice *choice, const char *chip, const struct gp_metric_set *set,
	       size_t most_passes)
{
	bool fits = false;
	int error = 0;

	choice->taken_count = 0;
	for (size_t i = 0; i < set->count && error == 0; i++) {
		if (choice->fits[i] == GP_METRIC_LACKING)
			continue;
		if (is_too_large(choice, chip, set->kind, i)) {
			choice->fits[i] = GP_METRIC_TOO_LARGE;
			continue;
		}
		take(choice, i);
		error = make(choice, chip, set->kind);
		fits = choice->config.passes != 0 && choice->config.passes <= most_passes;
		if (error == 0 && !fits) {
			choice->fits[i] = GP_METRIC_LEFT_OUT;
			choice->taken_count--;
		}
	}
	return error == 0 && !fits ? make(choice, chip, set->kind) : error;
}

/* Metrics of each pass. */
struct passes {
	struct {
		const char *names[GP_METRIC_SET_MOST];
		size_t count;
	} list[GP_METRIC_MOST_PASSES];
	size_t count;
};

/* Whether a pass, which may be new, has room for the metric, and does not have it yet. */
static bool add(struct passes *passes, size_t pass, struct gp_profiler_host *host, const char *chip,
		const char *name)
{
	const char **names = passes->list[pass].names;
	size_t count = passes->list[pass].count;

	if (has(names, count, name))
		return false;
	names[count] = name;
	if (gp_metric_passes(host, chip, GP_PROFILER_RANGE, names, count + 1) != 1)
		return false;
	passes->list[pass].count++;
	return true;
}

/* Puts the metric into the first pass that has room for it. */
static bool place(struct passes *passes, struct gp_profiler_host *host, const char *chip,
		  const char *name)
{
	for (size_t i = 0; i < passes->count; i++)
		if (add(passes, i, host, chip, name))
			return true;
	if (passes->count == GP_METRIC_MOST_PASSES || !add(passes, passes->count, host, chip, name))
		return false;
	passes->count++;
	return true;
}

/*
 * Chooses the metrics of each pass, because CUPTI would give the counters of one metric to several.
 * A metric that is there twice is in two passes.
 */
static int divide(struct gp_metric_choice *choice, const char *chip,
		  const struct gp_metric_set *set)
{
	struct passes *passes = calloc(1, sizeof(*passes));
	int error = passes != NULL ? open_again(&choice->config, chip, set->kind) : -ENOMEM;

	choice->taken_count = 0;
	for (size_t i = 0; i < set->count && error == 0; i++) {
		if (choice->fits[i] != GP_METRIC_TAKEN)
			continue;
		if (place(passes, choice->config.host, chip, choice->names[i]))
			take(choice, i);
		else
			choice->fits[i] = is_too_large(choice, chip, set->kind, i)
						  ? GP_METRIC_TOO_LARGE
						  : GP_METRIC_LEFT_OUT;
	}
	if (error == 0 && passes->count == 0)
		error = -ENOTSUP;
	for (size_t i = 0; error == 0 && i < passes->count; i++)
		error = gp_profiler_config_add(&choice->config, passes->list[i].names,
					       passes->list[i].count);
	free(passes);
	return error == 0 ? gp_profiler_config_make(&choice->config) : error;
}

int gp_metric_set_choose(struct gp_metric_choice *choice, struct gp_profiler_host *host,
			 const char *chip, const struct gp_metric_set *set)
{
	size_t most_passes = set->kind == GP_PROFILER_RANGE ? SIZE_MAX : 1;
	int error;

	memset(choice, 0, sizeof(*choice));
	error = gp_profiler_config_open(&choice->config, host, chip, set->kind);
	if (error != 0)
		return error;
	take_known(choice, set);
	error = make(choice, chip, set->kind);
	if (error == 0 && (choice->config.passes == 0 || choice->config.passes > most_passes))
		error = fit(choice, chip, set, most_passes);
	if (error == 0 && choice->config.passes > 1)
		error = divide(choice, chip, set);
	if (error != 0 && choice->config.object != NULL)
		gp_profiler_config_close(&choice->config);
	return error;
}
