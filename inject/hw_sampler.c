#include "inject/hw_sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/profiler_threads.h"
#include "collector/sys.h"
#include "gpuprof/hw_metric.h"
#include "gpuprof/option.h"
#include "hardware/metric_set.h"
#include "inject/callbacks.h"
#include "inject/dlsym.h"
#include "inject/log.h"
#include "inject/options.h"
#include "inject/pm_sampling.h"
#include "inject/recording_gate.h"

#define MOST_VALUE       1e15       /* more is no measurement */
#define STACK_BYTES      (8u << 20) /* CUPTI decodes on it */
#define DEVICES          32u        /* further ones have no samples */
#define PERIOD_NS        100000000u
#define END_MOST_NS      5000000000u
#define FIRST_RETRY_NS   1000000000u
#define LAST_RETRY_NS    60000000000u
#define BUFFER_NS        3000000000u /* the hardware's buffer holds so much */
#define SAMPLE_BYTES     12288u      /* of it, for these metrics: measured with nine, 8.2 KB */
#define LEAST_BUFFER     (16u << 20)
#define MOST_BUFFER      (128u << 20)
#define SPARE_SAMPLES    64u /* of a fetch, beside twice the expected ones */
#define BUSY_RESULT      26  /* CUPTI_ERROR_HARDWARE_BUSY */
#define NO_MEMORY_RESULT 8   /* CUPTI_ERROR_OUT_OF_MEMORY: the buffer was full, for good */
#define FORBIDDEN_RESULT 35  /* CUPTI_ERROR_INSUFFICIENT_PRIVILEGES */

static const enum gp_hw_unit units[] = {
#define GP_HW_METRIC(name, id, unit, track, series) [GP_HW_##name] = GP_HW_UNIT_##unit,
#include "gpuprof/hw_metric.def"
#undef GP_HW_METRIC
};

static_assert(GP_HW_METRICS == GP_HW_VALUES, "a record has a place for each metric");

struct device {
	uint16_t id;
	bool has_config, is_running, is_given_up;
	bool is_fresh; /* the next sample is the first after a start: it covers earlier time */
	bool was_fetched;
	bool is_recorded; /* the gate was open since the last fetch; readers drop samples outside */
	uint64_t fetched_ns;            /* that fetch */
	struct gp_metric_choice choice; /* the metrics that the chip has */
	void *object;
	uint8_t *data; /* counter data: the decoded samples */
	size_t data_bytes;
	uint64_t last_end_ns; /* of the last sample */
	uint64_t next_try_ns, retry_ns;
};

static struct {
	const struct gp_cupti *cupti;
	struct gp_pm_sampling pm;
	struct gp_profiler_host host;
	uint64_t interval_ns;
	uint32_t wanted; /* a bit for each device */
	uint32_t has_begun, is_set_up, finish, finished;
	bool is_started;
	uint32_t process; /* which has the thread: not a forked child */
	uint64_t exit_deadline_ns;
	struct device devices[DEVICES];
} sampler;

/* ---- what went wrong ---- */

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *format, ...)
{
	char text[640];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	gp_log("%s", text);
	gp_emit_info(GP_INFO_NOTE, text);
}

static void note_result(const struct device *device, int result)
{
	const char *name = NULL;

	if (result == FORBIDDEN_RESULT) {
		note("no hardware samples of GPU %u: the driver lets only administrators read performance counters; run as root or with CAP_SYS_ADMIN (containers: --cap-add=SYS_ADMIN), or let an administrator load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0",
		     device->id);
		return;
	}
	sampler.cupti->cuptiGetResultString((CUptiResult)result, &name);
	note("no hardware samples of GPU %u: CUPTI cannot sample its counters (%s)", device->id,
	     name != NULL ? name : "unknown error");
}

/* Why the whole sampler cannot start: -errno. */
static void note_start(int error)
{
	if (error == -ENOSYS)
		note("no hardware samples: they need CUPTI 12.6 or newer, and %s is older; name another one with --cupti or GPUPROF_CUPTI",
		     sampler.cupti->path);
	else if (error == -ENOENT)
		note("no hardware samples: libnvperf_host.so is missing beside %s; install the CUPTI package of the CUDA Toolkit",
		     sampler.cupti->path);
	else if (error == -ENOTSUP)
		note("no hardware samples: the program has a sanitizer's runtime, which would end it when CUPTI's profiler is loaded; build without -fsanitize");
	else
		note("no hardware samples: CUPTI's profiler cannot start in this process");
}

/* ---- setting up ---- */

static int find_functions(void *libcupti)
{
	bool has_all = true;

#define X(name, symbol, type)                                                                      \
	*(void **)&sampler.pm.name = gp_dlsym(libcupti, symbol);                                   \
	has_all = has_all && sampler.pm.name != NULL;
	GP_PM_FUNCTIONS(X)
#undef X
	return has_all ? 0 : -ENOSYS;
}

/* Takes 0.1 s on the program's thread, before the exit handlers of both are registered. */
static int open_profiler(void)
{
	struct gp_pm_initialize initialize = {GP_PM_HEAD(struct gp_pm_initialize, head)};
	void *libcupti = dlopen(sampler.cupti->path, RTLD_NOW | RTLD_NOLOAD);
	int error = libcupti != NULL ? find_functions(libcupti) : -ENOSYS;

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
	struct gp_pm_chip_name chip = {GP_PM_HEAD(struct gp_pm_chip_name, name), device->id, NULL};
	int result = sampler.pm.chip_name(&chip), error;

	if (result != 0)
		return result;
	error = gp_metric_set_choose(&device->choice, &sampler.host, chip.name,
				     &gp_metric_sets[GP_METRIC_SET_TIMELINE]);
	device->has_config = error == 0;
	return error == -ENOMEM ? NO_MEMORY_RESULT : error == 0 ? 0 : sampler.host.result;
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
	return (uint32_t)(2 * PERIOD_NS / sampler.interval_ns) + SPARE_SAMPLES;
}

/* begin_data() takes longer the more samples fit into the data. */
static int make_data(struct device *device)
{
	struct gp_pm_data_size size = {
		GP_PM_HEAD(struct gp_pm_data_size, data_bytes),
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
	return device->data != NULL ? 0 : NO_MEMORY_RESULT;
}

static int empty_data(struct device *device)
{
	struct gp_pm_data data = {GP_PM_HEAD(struct gp_pm_data, data), device->object,
				  device->data_bytes, device->data};

	return sampler.pm.begin_data(&data);
}

static int call_with_object(struct device *device, int (*function)(struct gp_pm_object *))
{
	struct gp_pm_object object = {GP_PM_HEAD(struct gp_pm_object, object), device->object};

	return function(&object);
}

/* Only set_config fails if another process holds the counters; the calls before it succeed. */
static int configure(struct device *device)
{
	struct gp_pm_config config = {
		GP_PM_HEAD(struct gp_pm_config, append),
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
	struct gp_pm_enable enable = {GP_PM_HEAD(struct gp_pm_enable, object), device->id, NULL};
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

/* All handlers together wait once. */
static void end_before_others(void)
{
	gp_hw_sampler_finish();
	gp_replace64(&sampler.exit_deadline_ns, 0, gp_sys_now_ns() + END_MOST_NS);
	gp_hw_sampler_await(gp_load64(&sampler.exit_deadline_ns));
}

/*
 * The libraries behind CUPTI register destructors at their first use.  At exit these run before
 * handlers that were registered earlier, so ours is registered again after each first use.
 */
static void stay_before_others(void)
{
	atexit(end_before_others);
}

/* Tries again later if another process uses the counters. */
static void try_device(struct device *device, uint64_t now_ns)
{
	int result;

	if (now_ns < device->next_try_ns)
		return;
	result = start_device(device);
	if (device->retry_ns == 0 || result != BUSY_RESULT)
		stay_before_others();
	if (result == BUSY_RESULT) {
		if (device->retry_ns == 0)
			note("no hardware samples of GPU %u yet: another process, such as a profiler, uses its performance counters (dcgmi profile --pause frees those of DCGM); gpuprof tries again",
			     device->id);
		device->retry_ns = device->retry_ns == 0
					   ? FIRST_RETRY_NS
					   : least(2 * device->retry_ns, LAST_RETRY_NS);
		device->next_try_ns = gp_sys_now_ns() + device->retry_ns;
	} else if (result != 0) {
		note_result(device, result);
		device->is_given_up = true;
	}
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
	struct gp_pm_sample_info info = {GP_PM_HEAD(struct gp_pm_sample_info, end_ns),
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
	struct gp_pm_decode parameters = {GP_PM_HEAD(struct gp_pm_decode, overflow),
					  device->object,
					  device->data,
					  device->data_bytes,
					  0,
					  0};
	struct gp_pm_data_info info = {GP_PM_HEAD(struct gp_pm_data_info, completed),
				       device->data,
				       device->data_bytes,
				       0,
				       0,
				       0};
	int result = sampler.pm.decode(&parameters);

	if (result == 0 && parameters.overflow != 0)
		result = NO_MEMORY_RESULT;
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
	if (result != NO_MEMORY_RESULT) {
		note_result(device, result);
		device->is_given_up = true;
	}
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
			stay_before_others();
		device->was_fetched = device->was_fetched || count > 0;
	} while (result == 0 && count >= most_samples());
	return result;
}

/* ---- the thread ---- */

static void serve_devices(void)
{
	uint32_t wanted = gp_load32(&sampler.wanted);

	for (uint32_t i = 0; i < DEVICES; i++) {
		struct device *device = &sampler.devices[i];
		int result;

		if ((wanted >> i & 1) == 0 || device->is_given_up)
			continue;
		device->id = (uint16_t)i;
		if (!device->is_running)
			try_device(device, gp_sys_now_ns());
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

static void *sampling_thread(void *unused)
{
	(void)unused;
	gp_profiler_thread_begin();
	gp_sys_set_thread_name("gpuprof-hw");
	gp_callbacks_exclude_thread(true);
	gp_emit_always_waits();
	gp_store32_release(&sampler.has_begun, 1);
	gp_sys_wake(&sampler.has_begun);
	while (gp_load32_acquire(&sampler.finish) == 0) {
		uint64_t until_ns = gp_sys_now_ns() + PERIOD_NS, now_ns;

		serve_devices();
		gp_store32_release(&sampler.is_set_up, 1);
		gp_sys_wake(&sampler.is_set_up);
		gp_count_set(GP_COUNTER_HW_SAMPLING_NS, gp_sys_own_time_ns());
		now_ns = gp_sys_now_ns();
		if (now_ns < until_ns)
			gp_sys_wait(&sampler.finish, 0, until_ns - now_ns);
	}
	fetch_last();
	gp_count_set(GP_COUNTER_HW_SAMPLING_NS, gp_sys_own_time_ns());
	gp_profiler_thread_end();
	gp_store32_release(&sampler.finished, 1);
	gp_sys_wake(&sampler.finished);
	return NULL;
}

void gp_hw_sampler_use(uint16_t device_id)
{
	if (device_id < DEVICES)
		(void)gp_or32(&sampler.wanted, UINT32_C(1) << device_id);
}

static void end_of_main_thread(void *unused)
{
	(void)unused;
	end_before_others();
}

/*
 * While the sampling is set up, destructors of libraries are registered that no handler of ours
 * precedes yet.  exit() runs the destructors of its thread's variables before all handlers: ours is
 * one of the main thread.  False: this is another thread, or the C library has no such function.
 */
static bool ends_with_main_thread(void)
{
	int (*add)(void (*destructor)(void *), void *object, void *library) = (int (*)(
		void (*)(void *), void *, void *))gp_dlsym_in_libc("__cxa_thread_atexit_impl", 0);

	return add != NULL && gp_sys_thread_id() == gp_sys_process_id() &&
	       add(end_of_main_thread, NULL, &sampler) == 0;
}

void gp_hw_sampler_start(const struct gp_cupti *cupti)
{
	uint64_t interval_ns = gp_option_interval_ns(GP_OPTION_ID_HW_TIMELINE);
	pthread_t thread;
	int error;

	if (interval_ns == 0 || !gp_collector_is_live())
		return;
	sampler.cupti = cupti;
	sampler.interval_ns = interval_ns;
	sampler.process = gp_sys_process_id();
	error = open_profiler();
	if (error == 0)
		error = gp_sys_thread_with_stack(&thread, STACK_BYTES, sampling_thread);
	if (error != 0) {
		note_start(error);
		return;
	}
	pthread_detach(thread);
	sampler.is_started = true;
	/* else the program must not end before the sampling is set up: this thread waits for it */
	gp_profiler_thread_await_start(ends_with_main_thread() ? &sampler.has_begun
							       : &sampler.is_set_up);
}

void gp_hw_sampler_finish(void)
{
	gp_store32_release(&sampler.finish, 1);
	gp_sys_wake(&sampler.finish);
}

void gp_hw_sampler_await(uint64_t deadline_ns)
{
	uint64_t now_ns = gp_sys_now_ns();

	if (sampler.process != gp_sys_process_id())
		return;
	while (sampler.is_started && gp_load32_acquire(&sampler.finished) == 0 &&
	       now_ns < deadline_ns) {
		gp_sys_wait(&sampler.finished, 0, deadline_ns - now_ns);
		now_ns = gp_sys_now_ns();
	}
}
