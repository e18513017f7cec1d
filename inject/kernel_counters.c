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

#define LIST_BYTES 1024u /* as long as an option */

static struct {
	struct gp_range_profiler range;
	struct gp_profiler_host host;
	struct gp_metric_choice choice;
	char chip[32]; /* of the choice */
	uint8_t *data; /* counter data: the values of each range */
	size_t data_bytes;
	bool is_defined;  /* the names are in the trace */
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

static struct gp_metric_names names[GP_METRIC_SET_MOST];

/* What is beyond the most only counts. */
static void add_metric(struct gp_metric_set *set, const struct gp_metric_names *metric)
{
	if (set->count < GP_METRIC_SET_MOST)
		names[set->count] = *metric;
	set->count++;
}

/* The metrics of --counters as a set. */
static struct gp_metric_set listed_set(const char *list)
{
	static char text[LIST_BYTES];
	struct gp_metric_set set = {"--counters", GP_PROFILER_RANGE, "", names, 0};
	char *rest = text, *name;

	strncpy(text, list, sizeof(text) - 1);
	while ((name = strsep(&rest, ",")) != NULL)
		if (*name != '\0')
			add_metric(&set, &(struct gp_metric_names){{name}});
	return set;
}

/* The sets of --roofline as one.  What several of them have is measured in several passes. */
static struct gp_metric_set roofline_set(void)
{
#define X(NAME) GP_METRIC_SET_##NAME,
	static const enum gp_metric_set_id ids[] = {GP_METRIC_SETS_OF_ROOFLINE(X)};
#undef X
	struct gp_metric_set set = {"--roofline", GP_PROFILER_RANGE, "", names, 0};

	for (size_t i = 0; i < COUNT(ids); i++)
		for (size_t j = 0; j < gp_metric_sets[ids[i]].count; j++)
			add_metric(&set, &gp_metric_sets[ids[i]].metrics[j]);
	return set;
}

/* A list of more metrics than a config takes. */
static bool note_too_many(const struct gp_metric_set *set)
{
	if (set->count <= GP_METRIC_SET_MOST)
		return false;
	gp_hw_note(
		"no hardware counters: --counters takes %d metrics at most, not %zu; record the others in another run",
		GP_METRIC_SET_MOST, set->count);
	counters.has_noted = true;
	return true;
}

/* Says which listed metric no run can measure.  False: none. */
static bool note_impossible(const struct gp_metric_set *set, const struct gp_metric_choice *choice)
{
	for (size_t i = 0; i < set->count && !counters.has_noted; i++) {
		const char *name = set->metrics[i].names[0];

		counters.has_noted = true;
		if (choice->fits[i] == GP_METRIC_LACKING)
			gp_hw_note(
				"no hardware counters: this GPU has no metric '%s' (--counters); the metrics and sets that it has: gpuprof metrics list --ends, gpuprof metrics sets",
				name);
		else if (choice->fits[i] == GP_METRIC_TOO_LARGE)
			gp_hw_note(
				"no hardware counters: the metric '%s' (--counters) needs several passes by itself; leave it out, and see gpuprof metrics passes",
				name);
		else
			counters.has_noted = false;
	}
	return counters.has_noted;
}

/* The other metrics are measured. */
static void note_left_out(const struct gp_metric_set *set, const struct gp_metric_choice *choice)
{
	char list[LIST_BYTES] = "", *end = list;

	for (size_t i = 0; i < set->count; i++)
		if (choice->fits[i] == GP_METRIC_LEFT_OUT)
			end += sprintf(end, "%s%s", end == list ? "" : ",",
				       set->metrics[i].names[0]);
	if (end != list)
		gp_hw_note(
			"some hardware counters are missing, because they cannot be combined with the metrics before them; to count these, too, record another run with --counters=%s",
			list);
}

/* The passes of the metrics of the options; 0: none of them can be measured. */
static uint32_t choose(const char *chip)
{
	const char *name = gp_option_text(GP_OPTION_ID_COUNTERS);
	const struct gp_metric_set *named =
		gp_metric_set_find(strcmp(name, "on") == 0 ? "roofline-hw" : name);
	bool is_roofline = gp_option_flag(GP_OPTION_ID_ROOFLINE);
	bool is_listed = !is_roofline && (named == NULL || named->kind != GP_PROFILER_RANGE);
	struct gp_metric_set set = is_roofline ? roofline_set()
				   : is_listed ? listed_set(name)
					       : *named;
	int error;

	if (note_too_many(&set))
		return 0;
	error = gp_metric_set_choose(&counters.choice, &counters.host, chip, &set);
	if (is_listed && (error == 0 || error == -ENOTSUP)) {
		if (note_impossible(&set, &counters.choice))
			return 0;
		note_left_out(&set, &counters.choice);
	}
	return error == 0 ? (uint32_t)counters.choice.config.passes : 0;
}

static int find_chip(uint16_t device_id, const char **name)
{
	struct gp_cupti_chip_name chip = {GP_CUPTI_HEAD(struct gp_cupti_chip_name, name), device_id,
					  NULL};
	int result = counters.range.chip_name(&chip);

	*name = chip.name;
	return result;
}

int gp_kernel_counters_choose(uint16_t device_id, uint32_t *passes)
{
	const char *chip;
	int result = find_chip(device_id, &chip);

	*passes = result == 0 ? choose(chip) : 0;
	if (result == 0)
		strncpy(counters.chip, chip, sizeof(counters.chip) - 1);
	if (result == 0 && *passes == 0 && !counters.has_noted)
		gp_hw_note(
			"no hardware counters of GPU %u: CUPTI's range profiler cannot read these metrics on a %s",
			device_id, chip);
	return result;
}

/* ---- sessions ---- */

static int call_with_object(int (*function)(struct gp_range_object *))
{
	struct gp_range_object object = {GP_CUPTI_HEAD(struct gp_range_object, object),
					 counters.object};

	return function(&object);
}

/*
 * CUPTI initializes data with the size that its object was asked for last, whatever size these
 * have.
 */
static int make_data(void)
{
	struct gp_range_data_size size = {
		GP_CUPTI_HEAD(struct gp_range_data_size, data_bytes),
		counters.object,
		counters.choice.taken,
		counters.choice.taken_count,
		GP_KERNEL_COUNTERS_MOST,
		GP_KERNEL_COUNTERS_MOST,
		0,
	};
	int result = counters.range.data_size(&size);

	if (result != 0 || counters.data_bytes >= size.data_bytes)
		return result;
	free(counters.data);
	counters.data = malloc(size.data_bytes);
	counters.data_bytes = counters.data != NULL ? size.data_bytes : 0;
	return counters.data != NULL ? 0 : GP_HW_NO_MEMORY;
}

static int enable(uint64_t context, uint16_t device_id)
{
	const char *chip;
	struct gp_range_enable enabled = {GP_CUPTI_HEAD(struct gp_range_enable, object),
					  (void *)(uintptr_t)context, NULL};
	int result = find_chip(device_id, &chip);

	if (result == 0 && strncmp(chip, counters.chip, sizeof(counters.chip) - 1) != 0)
		return GP_HW_OTHER_CHIP;
	if (result == 0)
		result = counters.range.enable(&enabled);
	if (result != 0)
		return result;
	counters.object = enabled.object;
	return make_data();
}

/*
 * The passes are those of one config: CUPTI keeps the first one until the object is disabled, which
 * costs 0.2 s.  The data of each session begin anew, because its kernels are others than those of
 * the pass before.
 */
static int start(uint32_t pass)
{
	struct gp_range_data data = {GP_CUPTI_HEAD(struct gp_range_data, data), counters.object,
				     counters.data_bytes, counters.data};
	struct gp_range_config config = {
		.head = GP_CUPTI_HEAD(struct gp_range_config, target_level),
		.object = counters.object,
		.image_bytes = counters.choice.config.image_bytes,
		.image = counters.choice.config.image,
		.data_bytes = counters.data_bytes,
		.data = counters.data,
		.range = GP_RANGE_EACH_KERNEL,
		.replay = GP_RANGE_USER_REPLAY,
		.most_ranges = GP_KERNEL_COUNTERS_MOST,
		.levels = 1,
		.first_level = 1,
		.pass = pass,
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
int gp_kernel_counters_begin(uint32_t pass, uint64_t context, uint16_t device_id)
{
	int result = counters.object == NULL ? enable(context, device_id) : 0;

	if (result == 0)
		result = start(pass);
	if (result != 0)
		gp_kernel_counters_disable();
	return result;
}

int gp_kernel_counters_end(size_t *ranges)
{
	struct gp_range_stop stopped = {.head = GP_CUPTI_HEAD(struct gp_range_stop, is_last_pass),
					.object = counters.object};
	struct gp_range_decode decoded = {.head = GP_CUPTI_HEAD(struct gp_range_decode, dropped),
					  .object = counters.object};
	struct gp_range_data_info info = {
		.head = GP_CUPTI_HEAD(struct gp_range_data_info, ranges),
		.data = counters.data,
		.data_bytes = counters.data_bytes,
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

static uint32_t metric_id(size_t metric)
{
	return (uint32_t)metric + 1;
}

static void define_metric(size_t index)
{
	uint32_t id = metric_id(index);
	const char *name = counters.choice.taken[index];
	struct gp_profiler_metric metric;

	gp_emit_string(GP_STRING_METRIC, id, 0, name, (uint32_t)strlen(name));
	if (gp_profiler_describe(&counters.choice.config, name, &metric) == 0 &&
	    *metric.unit != '\0')
		gp_emit_string(GP_STRING_METRIC_UNIT, id, 0, metric.unit,
			       (uint32_t)strlen(metric.unit));
}

static void define_metrics(void)
{
	for (size_t i = 0; i < counters.choice.taken_count; i++)
		define_metric(i);
	counters.is_defined = true;
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
	if (!isnan(value)) /* else the GPU lacks the unit, or it is a metric of another pass */
		gp_emit((const struct gp_record *)&record);
}

bool gp_kernel_counters_emit(uint32_t range, uint32_t correlation_id, uint32_t window_id)
{
	const struct gp_metric_choice *choice = &counters.choice;
	double values[GP_METRIC_SET_MOST];

	if (!counters.is_defined)
		define_metrics();
	if (gp_profiler_config_evaluate(&counters.choice.config, choice->taken, choice->taken_count,
					counters.data, counters.data_bytes, range, values) != 0)
		return false;
	for (size_t i = 0; i < choice->taken_count; i++)
		emit_value(correlation_id, window_id, metric_id(i), values[i]);
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
