/*
 * hw_sampler: --hw-timeline: samples the hardware counters of each GPU by CUPTI's PM sampling.
 *
 * The GPU counts by itself and writes one sample in each interval to a buffer in host memory.  The
 * collector's thread empties the buffer and emits GP_RECORD_HW_SAMPLE records.  Kernels run as fast
 * as without it.  Setup takes 0.2 to 0.5 s while the program runs; this time has no samples.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/sys.h"
#include "gpuprof/count.h"
#include "gpuprof/hw_metric.h"
#include "gpuprof/option.h"
#include "hardware/metric_set.h"
#include "inject/callbacks.h"
#include "inject/dlsym.h"
#include "inject/hw_collector.h"
#include "inject/options.h"
#include "inject/pm_sampling.h"
#include "inject/recording_gate.h"

#define MOST_VALUE    1e15        /* more is no measurement */
#define DEVICES       32u         /* further ones have no samples */
#define BUFFER_NS     3000000000u /* the hardware's buffer holds so much */
#define SAMPLE_BYTES  12288u      /* of it, for these metrics: measured with nine, 8.2 KB */
#define LEAST_BUFFER  (16u << 20)
#define MOST_BUFFER   (128u << 20)
#define SPARE_SAMPLES 64u /* of a fetch, beside twice the expected ones */

static const enum gp_hw_unit units[] = {
#define GP_HW_METRIC(name, id, unit, track, series) [GP_HW_##name] = GP_HW_UNIT_##unit,
#include "gpuprof/hw_metric.def"
#undef GP_HW_METRIC
};

static_assert(GP_HW_METRICS == GP_HW_VALUES, "a record has a place for each metric");

struct device {
	uint16_t id;
	bool has_config, is_running;
	bool is_fresh; /* the next sample is the first after a start: it covers earlier time */
	bool was_fetched;
	bool is_recorded; /* the gate was open since the last fetch; readers drop samples outside */
	uint64_t fetched_ns;            /* that fetch */
	struct gp_metric_choice choice; /* the metrics that the chip has */
	void *object;
	uint8_t *data; /* counter data: the decoded samples */
	size_t data_bytes;
	uint64_t last_end_ns; /* of the last sample */
	struct gp_hw_try try;
};

static struct {
	struct gp_pm_sampling pm;
	struct gp_profiler_host host;
	uint64_t interval_ns;
	uint32_t wanted; /* a bit for each device */
	struct device devices[DEVICES];
} sampler;

/* ---- setting up ---- */

/* Takes 0.1 s. */
static int open_profiler(const struct gp_cupti *cupti, void *libcupti)
{
	static const char *const symbols[] = {
#define X(name, symbol, type) symbol,
		GP_PM_FUNCTIONS(X)
#undef X
	};
	struct gp_cupti_initialize initialize = {GP_CUPTI_HEAD(struct gp_cupti_initialize, head)};
	int error = gp_hw_find_functions(libcupti, symbols, (void **)&sampler.pm, COUNT(symbols));

	(void)cupti;
	sampler.interval_ns = gp_option_interval_ns(GP_OPTION_ID_HW_TIMELINE);
	if (error == 0)
		error = gp_profiler_host_open(&sampler.host, libcupti, gp_dlsym);
	gp_callbacks_exclude_thread(true);
	if (error == 0 && sampler.pm.initialize(&initialize) != 0)
		error = -EIO;
	gp_callbacks_exclude_thread(false);
	return error;
}

/* Returns 0, or CUPTI's error. */
static int make_config(struct device *device)
{
	struct gp_cupti_chip_name chip = {GP_CUPTI_HEAD(struct gp_cupti_chip_name, name),
					  device->id, NULL};
	int result = sampler.pm.chip_name(&chip), error;

	if (result != 0)
		return result;
	error = gp_metric_set_choose(&device->choice, &sampler.host, chip.name,
				     &gp_metric_sets[GP_METRIC_SET_TIMELINE]);
	device->has_config = error == 0;
	return error == -ENOMEM ? GP_HW_NO_MEMORY : error == 0 ? 0 : sampler.host.result;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static size_t hardware_buffer_bytes(void)
{
	uint64_t bytes = BUFFER_NS / sampler.interval_ns * SAMPLE_BYTES;

	return bytes < LEAST_BUFFER ? LEAST_BUFFER : (size_t)least(bytes, MOST_BUFFER);
}

/* The samples that one decoding can return. */
static uint32_t most_samples(void)
{
	return (uint32_t)(2 * GP_HW_PERIOD_NS / sampler.interval_ns) + SPARE_SAMPLES;
}

/* begin_data() takes longer the more samples fit into the data. */
static int make_data(struct device *device)
{
	struct gp_pm_data_size size = {
		GP_CUPTI_HEAD(struct gp_pm_data_size, data_bytes),
		device->object,
		device->choice.taken,
		device->choice.taken_count,
		most_samples(),
		0,
	};
	int result = device->data == NULL ? sampler.pm.data_size(&size) : 0;

	if (result != 0 || device->data != NULL)
		return result;
	device->data_bytes = size.data_bytes;
	device->data = malloc(size.data_bytes);
	return device->data != NULL ? 0 : GP_HW_NO_MEMORY;
}

static int empty_data(struct device *device)
{
	struct gp_pm_data data = {GP_CUPTI_HEAD(struct gp_pm_data, data), device->object,
				  device->data_bytes, device->data};

	return sampler.pm.begin_data(&data);
}

static int call_with_object(struct device *device, int (*function)(struct gp_pm_object *))
{
	struct gp_pm_object object = {GP_CUPTI_HEAD(struct gp_pm_object, object), device->object};

	return function(&object);
}

/* Only set_config fails if another process holds the counters; the calls before it succeed. */
static int configure(struct device *device)
{
	struct gp_pm_config config = {
		GP_CUPTI_HEAD(struct gp_pm_config, append),
		device->object,
		device->choice.config.image_bytes,
		device->choice.config.image,
		hardware_buffer_bytes(),
		sampler.interval_ns,
		GP_PM_BY_TIME,
		GP_PM_KEEP_OLDEST,
	};
	int result = sampler.pm.set_config(&config);

	if (result == 0)
		result = make_data(device);
	if (result == 0)
		result = empty_data(device);
	return result == 0 ? call_with_object(device, sampler.pm.start) : result;
}

static int start_device(struct device *device)
{
	struct gp_pm_enable enable = {GP_CUPTI_HEAD(struct gp_pm_enable, object), device->id, NULL};
	int result = device->has_config ? 0 : make_config(device);

	if (result == 0)
		result = sampler.pm.enable(&enable);
	if (result != 0)
		return result;
	device->object = enable.object;
	result = configure(device);
	if (result != 0)
		call_with_object(device, sampler.pm.disable);
	device->is_running = device->is_fresh = result == 0;
	return result;
}

static void try_device(struct device *device)
{
	if (gp_hw_try_is_due(&device->try))
		gp_hw_try_took(&device->try, device->id, start_device(device));
}

/* ---- samples ---- */

/* The value is NaN if the GPU lacks the unit, such as NVLink. */
static void put_value(struct gp_record_hw_sample *record, size_t metric, double value)
{
	double scale = units[metric] == GP_HW_UNIT_PERCENT ? 1000 : 1;

	if (value >= 0 && value < MOST_VALUE) { /* not NaN */
		record->value[metric] = (uint64_t)(value * scale + 0.5);
		record->absent &= ~(UINT32_C(1) << metric);
	}
}

/* values: of the taken metrics, in their order. */
static void emit(const struct device *device, const struct gp_pm_sample_info *info,
		 const double *values)
{
	struct gp_record_hw_sample record = {.kind = GP_RECORD_HW_SAMPLE,
					     .slots = sizeof(record) / GP_SLOT_BYTES,
					     .device_id = device->id,
					     .absent = (UINT32_C(1) << GP_HW_METRICS) - 1,
					     .start_ns = info->start_ns,
					     .end_ns = info->end_ns};

	for (size_t i = 0; i < GP_HW_METRICS; i++)
		if (device->choice.fits[i] == GP_METRIC_TAKEN)
			put_value(&record, i, *values++);
	if (device->is_recorded)
		gp_emit((const struct gp_record *)&record);
}

static void take_sample(struct device *device, size_t index)
{
	struct gp_pm_sample_info info = {GP_CUPTI_HEAD(struct gp_pm_sample_info, end_ns),
					 device->object,
					 device->data,
					 device->data_bytes,
					 index,
					 0,
					 0};
	bool is_first = device->is_fresh;
	double values[GP_HW_METRICS];

	if (sampler.pm.sample_info(&info) != 0)
		return;
	device->is_fresh = false;
	if (is_first || info.end_ns <= info.start_ns)
		return;
	if (device->last_end_ns != 0 &&
	    info.start_ns > device->last_end_ns + sampler.interval_ns / 2)
		gp_count(GP_COUNTER_HW_GAPS, 1);
	device->last_end_ns = info.end_ns;
	if (gp_profiler_config_evaluate(&device->choice.config, device->choice.taken,
					device->choice.taken_count, device->data,
					device->data_bytes, index, values) == 0)
		emit(device, &info, values);
}

static int decode(struct device *device, size_t *count)
{
	struct gp_pm_decode parameters = {GP_CUPTI_HEAD(struct gp_pm_decode, overflow),
					  device->object,
					  device->data,
					  device->data_bytes,
					  0,
					  0};
	struct gp_pm_data_info info = {GP_CUPTI_HEAD(struct gp_pm_data_info, completed),
				       device->data,
				       device->data_bytes,
				       0,
				       0,
				       0};
	int result = sampler.pm.decode(&parameters);

	if (result == 0 && parameters.overflow != 0)
		result = GP_HW_NO_MEMORY;
	if (result == 0)
		result = sampler.pm.data_info(&info);
	*count = info.populated;
	return result;
}

/* A buffer that was full stays unusable: the sampling starts again, after a gap. */
static void restart(struct device *device, int result)
{
	call_with_object(device, sampler.pm.disable);
	device->is_running = false;
	if (result != GP_HW_NO_MEMORY)
		gp_hw_give_up(&device->try, device->id, result);
}

/* Fetches all samples: while the data comes back full, there are more. */
static int fetch(struct device *device)
{
	uint64_t now_ns = gp_sys_now_ns();
	size_t count;
	int result;

	device->is_recorded = gp_recording_gate_was_open_since(device->fetched_ns);
	device->fetched_ns = now_ns;
	do {
		count = 0;
		result = decode(device, &count);
		for (size_t i = 0; result == 0 && i < count; i++)
			take_sample(device, i);
		if (result == 0 && count > 0) {
			gp_count(GP_COUNTER_HW_SAMPLES, count);
			result = empty_data(device);
		}
		if (count > 0 && !device->was_fetched)
			gp_hw_stay_before_others();
		device->was_fetched = device->was_fetched || count > 0;
	} while (result == 0 && count >= most_samples());
	return result;
}

static void serve_devices(void)
{
	uint32_t wanted = gp_load32(&sampler.wanted);

	for (uint32_t i = 0; i < DEVICES; i++) {
		struct device *device = &sampler.devices[i];
		int result;

		if ((wanted >> i & 1) == 0 || device->try.is_given_up)
			continue;
		device->id = (uint16_t)i;
		if (!device->is_running)
			try_device(device);
		else if ((result = fetch(device)) != 0)
			restart(device, result);
	}
}

/* The sampling is stopped, but not disabled: that may hang while the program exits. */
static void fetch_last(void)
{
	for (uint32_t i = 0; i < DEVICES; i++)
		if (sampler.devices[i].is_running &&
		    call_with_object(&sampler.devices[i], sampler.pm.stop) == 0)
			fetch(&sampler.devices[i]);
}

/* Any thread, also before the start. */
static void use_device(CUcontext context, uint16_t device_id)
{
	(void)context;
	if (device_id < DEVICES)
		(void)gp_or32(&sampler.wanted, UINT32_C(1) << device_id);
}

const struct gp_hw_collector gp_hw_sampler = {
	.option = GP_OPTION_ID_HW_TIMELINE,
	.samples = "hardware samples",
	.oldest = "12.6",
	.time_counter = GP_COUNTER_HW_SAMPLING_NS,
	.open = open_profiler,
	.serve = serve_devices,
	.fetch_last = fetch_last,
	.context_begins = use_device,
	.tries_again = true,
};
