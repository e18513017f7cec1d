#include "inject/kernel_counters.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collector/collector.h"
#include "gpuprof/count.h"
#include "hardware/metric_set.h"
#include "inject/callbacks.h"
#include "inject/dlsym.h"
#include "inject/hw_collector.h"
#include "inject/options.h"
#include "inject/range_profiler.h"

#define MOST_SETS  4u
#define LIST_BYTES 1024u /* as long as an option */

/* A set of metrics. */
struct set {
	const char *name;
	struct gp_metric_choice choice;
	uint8_t *data; /* counter data: the values of each range */
	size_t data_bytes;
	bool is_defined; /* its names are in the trace */
};

static struct {
	struct gp_range_profiler range;
	struct gp_profiler_host host;
	struct set sets[MOST_SETS];
	uint32_t set_count;
	bool has_noted;   /* why there are none */
	void *object;     /* of CUPTI, for the context; NULL: not enabled */
	uint32_t kernels; /* records of our own */
} counters;

/* ---- what is measured ---- */

bool gp_kernel_counters_patch_code(void)
{
	const char *list = gp_option_text(GP_OPTION_ID_COUNTERS);

	if (strcmp(list, gp_metric_sets[GP_METRIC_SET_FLOPS].name) == 0)
		return true;
	for (const char *at = list; (at = strstr(at, "__sass_")) != NULL; at++) {
		const char *end = strchrnul(at, ','), *peak = strstr(at, ".peak_sustained");

		if (peak == NULL || peak > end)
			return true;
	}
	return false;
}

int gp_kernel_counters_open(void *libcupti)
{
	static const char *const symbols[] = {
#define X(name, symbol, type) symbol,
		GP_RANGE_FUNCTIONS(X)
#undef X
	};
	struct gp_cupti_initialize initialize = {GP_CUPTI_HEAD(struct gp_cupti_initialize, head)};
	int error =
		gp_hw_find_functions(libcupti, symbols, (void **)&counters.range, COUNT(symbols));

	if (error == 0)
		error = gp_profiler_host_open(&counters.host, libcupti, gp_dlsym);
	gp_callbacks_exclude_thread(true);
	if (error == 0 && counters.range.initialize(&initialize) != 0)
		error = -EIO;
	gp_callbacks_exclude_thread(false);
	return error;
}

/* The metrics of --counters as a set. */
static const struct gp_metric_set *listed_set(const char *list)
{
	static char text[LIST_BYTES];
	static struct gp_metric_names names[GP_METRIC_SET_MOST];
	static struct gp_metric_set set = {"--counters", GP_PROFILER_RANGE, "", names, 0};
	char *rest = text, *name;

	strncpy(text, list, sizeof(text) - 1);
	set.count = 0;
	while ((name = strsep(&rest, ",")) != NULL && set.count < GP_METRIC_SET_MOST)
		if (*name != '\0')
			names[set.count++].names[0] = name;
	return &set;
}

/* Says what is wrong with listed metrics.  True: nothing. */
static bool has_all(const struct gp_metric_set *set, const struct gp_metric_choice *choice)
{
	for (size_t i = 0; i < set->count; i++) {
		if (choice->fits[i] == GP_METRIC_LACKING)
			gp_hw_note(
				"no hardware counters: this GPU has no metric '%s' (--counters); the metrics and sets that it has: gpuprof metrics list --ends, gpuprof metrics sets",
				set->metrics[i].names[0]);
		else if (choice->fits[i] == GP_METRIC_LEFT_OUT)
			gp_hw_note(
				"no hardware counters: the metric '%s' does not fit into one pass with those before it (--counters); gpuprof metrics passes says which do",
				set->metrics[i].names[0]);
		else
			continue;
		counters.has_noted = true;
		return false;
	}
	return true;
}

/* A set without any metric of this chip is left out. */
static void add_set(const char *chip, const struct gp_metric_set *set, bool is_listed)
{
	struct set *added = &counters.sets[counters.set_count];
	int error = gp_metric_set_choose(&added->choice, &counters.host, chip, set);

	if (is_listed && error == -ENOTSUP) /* none of the metrics */
		has_all(set, &added->choice);
	if (error != 0 || (is_listed && !has_all(set, &added->choice)))
		return;
	added->name = set->name;
	counters.set_count++;
}

static void add_sets(const char *chip)
{
	static const enum gp_metric_set_id roofline[MOST_SETS] = {
		GP_METRIC_SET_ROOFLINE, GP_METRIC_SET_TENSOR, GP_METRIC_SET_PIPES,
		GP_METRIC_SET_MEMORY};
	const char *name = gp_option_text(GP_OPTION_ID_COUNTERS);
	const struct gp_metric_set *set = gp_metric_set_find(name);
	bool is_listed = set == NULL || set->kind != GP_PROFILER_RANGE;

	if (gp_option_flag(GP_OPTION_ID_ROOFLINE)) {
		for (size_t i = 0; i < MOST_SETS; i++)
			add_set(chip, &gp_metric_sets[roofline[i]], false);
	} else if (strcmp(name, "on") == 0) {
		add_set(chip, &gp_metric_sets[GP_METRIC_SET_ROOFLINE], false);
	} else {
		add_set(chip, is_listed ? listed_set(name) : set, is_listed);
	}
}

int gp_kernel_counters_choose(uint16_t device_id, uint32_t *count)
{
	struct gp_cupti_chip_name chip = {GP_CUPTI_HEAD(struct gp_cupti_chip_name, name), device_id,
					  NULL};
	int result = counters.range.chip_name(&chip);

	if (result == 0)
		add_sets(chip.name);
	if (result == 0 && counters.set_count == 0 && !counters.has_noted)
		gp_hw_note(
			"no hardware counters of GPU %u: CUPTI's range profiler cannot read these metrics on a %s",
			device_id, chip.name);
	*count = counters.set_count;
	return result;
}

/* ---- sessions ---- */

static int call_with_object(int (*function)(struct gp_range_object *))
{
	struct gp_range_object object = {GP_CUPTI_HEAD(struct gp_range_object, object),
					 counters.object};

	return function(&object);
}

static int enable(uint64_t context)
{
	struct gp_range_enable enabled = {GP_CUPTI_HEAD(struct gp_range_enable, object),
					  (void *)(uintptr_t)context, NULL};
	int result = counters.object == NULL ? counters.range.enable(&enabled) : 0;

	if (counters.object == NULL && result == 0)
		counters.object = enabled.object;
	return result;
}

/*
 * CUPTI 13.0 initializes data with the size that it was asked for last, whatever size they have: ask
 * before each session, as another set may need more.
 */
static int make_data(struct set *set)
{
	struct gp_range_data_size size = {
		GP_CUPTI_HEAD(struct gp_range_data_size, data_bytes),
		counters.object,
		set->choice.taken,
		set->choice.taken_count,
		GP_KERNEL_COUNTERS_MOST,
		GP_KERNEL_COUNTERS_MOST,
		0,
	};
	int result = counters.range.data_size(&size);

	if (result != 0 || set->data_bytes >= size.data_bytes)
		return result;
	free(set->data);
	set->data = malloc(size.data_bytes);
	set->data_bytes = set->data != NULL ? size.data_bytes : 0;
	return set->data != NULL ? 0 : GP_HW_NO_MEMORY;
}

static int start(struct set *set)
{
	struct gp_range_data data = {GP_CUPTI_HEAD(struct gp_range_data, data), counters.object,
				     set->data_bytes, set->data};
	struct gp_range_config config = {
		.head = GP_CUPTI_HEAD(struct gp_range_config, target_level),
		.object = counters.object,
		.image_bytes = set->choice.config.image_bytes,
		.image = set->choice.config.image,
		.data_bytes = set->data_bytes,
		.data = set->data,
		.range = GP_RANGE_EACH_KERNEL,
		.replay = GP_RANGE_USER_REPLAY,
		.most_ranges = GP_KERNEL_COUNTERS_MOST,
		.levels = 1,
		.first_level = 1,
	};
	int result = counters.range.begin_data(&data);

	if (result == 0)
		result = counters.range.set_config(&config);
	return result == 0 ? call_with_object(counters.range.start) : result;
}

void gp_kernel_counters_disable(void)
{
	if (counters.object != NULL)
		call_with_object(counters.range.disable);
	counters.object = NULL;
}

/* Only start() fails if another process uses the counters. */
int gp_kernel_counters_begin(uint32_t index, uint64_t context)
{
	struct set *set = &counters.sets[index];
	int result = enable(context);

	if (result == 0)
		result = make_data(set);
	if (result == 0)
		result = start(set);
	if (result != 0)
		gp_kernel_counters_disable();
	return result;
}

int gp_kernel_counters_end(uint32_t index, size_t *ranges)
{
	struct set *set = &counters.sets[index];
	struct gp_range_stop stopped = {.head = GP_CUPTI_HEAD(struct gp_range_stop, is_last_pass),
					.object = counters.object};
	struct gp_range_decode decoded = {.head = GP_CUPTI_HEAD(struct gp_range_decode, dropped),
					  .object = counters.object};
	struct gp_range_data_info info = {
		.head = GP_CUPTI_HEAD(struct gp_range_data_info, ranges),
		.data = set->data,
		.data_bytes = set->data_bytes,
	};
	int result = counters.range.stop(&stopped);

	if (result == 0)
		result = counters.range.decode(&decoded);
	if (result == 0)
		result = counters.range.data_info(&info);
	*ranges = result == 0 ? info.ranges : 0;
	return result;
}

void gp_kernel_counters_forget(void)
{
	counters.object = NULL;
}

/* ---- the trace ---- */

static uint32_t metric_id(uint32_t set, size_t metric)
{
	return (uint32_t)(set * GP_METRIC_SET_MOST + metric + 1);
}

static void define_metric(struct gp_metric_choice *choice, size_t index, uint32_t id)
{
	const char *name = choice->taken[index];
	struct gp_profiler_metric metric;

	gp_emit_string(GP_STRING_METRIC, id, 0, name, (uint32_t)strlen(name));
	if (gp_profiler_describe(&choice->config, name, &metric) == 0 && *metric.unit != '\0')
		gp_emit_string(GP_STRING_METRIC_UNIT, id, 0, metric.unit,
			       (uint32_t)strlen(metric.unit));
}

void gp_kernel_counters_define(uint32_t index)
{
	struct set *set = &counters.sets[index];

	if (set->is_defined)
		return;
	gp_emit_string(GP_STRING_METRIC_SET, index + 1, 0, set->name, (uint32_t)strlen(set->name));
	for (size_t i = 0; i < set->choice.taken_count; i++)
		define_metric(&set->choice, i, metric_id(index, i));
	set->is_defined = true;
}

static void emit_value(uint32_t correlation_id, uint32_t window_id, uint32_t metric, double value)
{
	struct gp_record_hw_value record = {
		.kind = GP_RECORD_HW_VALUE,
		.slots = sizeof(record) / GP_SLOT_BYTES,
		.correlation_id = correlation_id,
		.metric_id = metric,
		.window_id = window_id,
	};

	memcpy(&record.value, &value, sizeof(value));
	if (!isnan(value)) /* the GPU lacks the unit */
		gp_emit((const struct gp_record *)&record);
}

bool gp_kernel_counters_emit(uint32_t index, uint32_t range, uint32_t correlation_id,
			     uint32_t window_id)
{
	struct set *set = &counters.sets[index];
	double values[GP_METRIC_SET_MOST];

	if (gp_profiler_config_evaluate(&set->choice.config, set->choice.taken,
					set->choice.taken_count, set->data, set->data_bytes, range,
					values) != 0)
		return false;
	for (size_t i = 0; i < set->choice.taken_count; i++)
		emit_value(correlation_id, window_id, metric_id(index, i), values[i]);
	return true;
}

/* The grid and the block of a launch: six numbers. */
static const uint32_t *dimensions_of(const struct gp_api_entry *entry, const void *parameters)
{
	if (entry->shape == GP_SHAPE_LAUNCHED || entry->shape == GP_SHAPE_COOPERATIVE)
		return (const uint32_t *)((const char *)parameters + sizeof(void *));
	return entry->shape == GP_SHAPE_CONFIGURED ? *(const uint32_t *const *)parameters : NULL;
}

void gp_kernel_counters_emit_kernel(const struct gp_api_entry *entry,
				    const CUpti_CallbackData *data, uint16_t device_id)
{
	const uint32_t *dimensions = dimensions_of(entry, data->functionParams);
	struct gp_record_shape shape = {.kind = GP_RECORD_SHAPE,
					.slots = sizeof(shape) / GP_SLOT_BYTES,
					.id = ++counters.kernels};
	struct gp_record_kernel kernel = {.kind = GP_RECORD_KERNEL,
					  .slots = sizeof(kernel) / GP_SLOT_BYTES,
					  .device_id = device_id,
					  .correlation_id = data->correlationId,
					  .name_id = shape.id,
					  .shape_id = shape.id,
					  .context_id = data->contextUid};

	if (dimensions == NULL || data->symbolName == NULL)
		return;
	memcpy(shape.grid, dimensions, sizeof(shape.grid));
	memcpy(shape.block, dimensions + 3, sizeof(shape.block));
	gp_emit_string(GP_STRING_KERNEL, shape.id, 0, data->symbolName,
		       (uint32_t)strlen(data->symbolName));
	gp_emit((const struct gp_record *)&shape);
	gp_emit((const struct gp_record *)&kernel);
}
