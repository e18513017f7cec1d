#include "inject/control.h"

#include <errno.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/process_info.h"
#include "collector/sys.h"
#include "gpuprof/job_place.h"
#include "inject/options.h"
#include "inject/pattern.h"
#include "inject/log.h"
#include "inject/sample_budget.h"
#include "inject/toggle_signal.h"

/* The conditions that must still be met before a window begins. */
#define WAITS_FOR_DELAY    1u
#define WAITS_FOR_LAUNCHES 2u
#define WAITS_FOR_SIGNAL   4u
#define WAITS_FOR_SAMPLE   8u

static struct {
	bool has_profiler_range, has_nvtx_range;
	bool has_windows; /* any option that opens or closes the gate */
	const char *range_name, *range_domain, *kernels;
	size_t range_name_bytes;
	uint64_t start_ns, delay_ns, duration_ns;
	uint64_t launches_before, launches_within; /* 0 = no limit */
	uint64_t skipped_ranges, most_ranges;
	uint64_t share_millionths; /* of --sample; 0 = without */
	uint64_t short_ticks;
	bool is_attached; /* to a running program: gp_control_attach() begins the first window */
	void (*wake)(void);

	uint32_t is_over; /* detached: no further window */
	uint32_t waits_for;
	uint32_t in_range;
	uint32_t depth;           /* number of open NVTX ranges */
	uint64_t ranges;          /* number of ranges, skipped ones included */
	uint64_t launches;        /* before the first window */
	uint64_t window_launches; /* in this window */
	uint64_t window_end_ns;   /* 0 = unknown */
	/* of the last window, for --sample */
	uint64_t window_start_ns, window_paused_ns; /* paused_ns = 0: there was none yet */
	uint64_t window_calls, window_random;
} control = {.kernels = ""};

/* ---- windows ---- */

static bool has_ranges(void)
{
	return control.has_profiler_range || control.has_nvtx_range;
}

static bool is_sampling(void)
{
	return control.share_millionths != 0;
}

/* The next window has to wait before this one is open, so that no range opens one in between. */
static void begin_sample(void)
{
	gp_store64(&control.window_calls, 0);
	gp_store64(&control.window_random, gp_sys_random());
	gp_store64(&control.window_start_ns, gp_sys_now_ns());
	gp_or32(&control.waits_for, WAITS_FOR_SAMPLE);
}

static void begin_window(enum gp_gate_reason reason)
{
	if (gp_recording_gate_is_open() || gp_collector_is_full() || gp_load32(&control.is_over))
		return;
	if (is_sampling())
		begin_sample();
	gp_store64(&control.window_launches, 0);
	gp_store64(&control.window_end_ns,
		   control.duration_ns == 0 ? 0 : gp_sys_now_ns() + control.duration_ns);
	gp_recording_gate_set(true, reason);
	if (control.duration_ns != 0 && control.wake != NULL)
		control.wake();
}

static void end_window(enum gp_gate_reason reason)
{
	if (is_sampling() && gp_recording_gate_is_open())
		gp_store64(&control.window_paused_ns, gp_sys_now_ns());
	gp_recording_gate_set(false, reason);
}

static void begin_range_window(enum gp_gate_reason reason)
{
	uint64_t number = gp_take64(&control.ranges, 1);

	if (number >= control.skipped_ranges &&
	    (control.most_ranges == 0 || number - control.skipped_ranges < control.most_ranges))
		begin_window(reason);
}

/* The last condition to be met opens the gate. */
static void stop_waiting(uint32_t what, enum gp_gate_reason reason)
{
	if (gp_clear32(&control.waits_for, what) != what)
		return;
	if (!has_ranges())
		begin_window(reason);
	else if (gp_load32(&control.in_range) && !is_sampling()) /* a sample is of whole ranges */
		begin_range_window(reason);
}

/*
 * in_range is set before waits_for is checked, and stop_waiting() does it in the opposite order:
 * one of the two opens.
 */
static void begin_range(enum gp_gate_reason reason)
{
	if (gp_swap32(&control.in_range, 1) == 0 && gp_clear32(&control.waits_for, 0) == 0)
		begin_range_window(reason);
}

/* A window of --sample goes on to the next range until its time is over. */
static bool goes_on(void)
{
	return is_sampling() && gp_recording_gate_is_open() &&
	       gp_sys_now_ns() < gp_load64(&control.window_end_ns);
}

static void end_range(enum gp_gate_reason reason)
{
	if (gp_swap32(&control.in_range, 0) != 0 && !goes_on())
		end_window(reason);
}

void gp_control_begin_range(void)
{
	if (gp_add32(&control.depth, 1) == 0)
		begin_range(GP_GATE_RANGE);
}

void gp_control_end_range(void)
{
	if (gp_add32(&control.depth, UINT32_MAX) == 1)
		end_range(GP_GATE_RANGE);
}

void gp_control_switch(bool on)
{
	gp_watch_set(GP_WATCH_GATE);
	if (on)
		begin_window(GP_GATE_API);
	else
		end_window(GP_GATE_API);
}

static void toggle(void)
{
	if (gp_recording_gate_is_open())
		end_window(GP_GATE_SIGNAL);
	else
		begin_window(GP_GATE_SIGNAL);
}

static void take_signals(void)
{
	if (gp_toggle_signal_take())
		toggle();
}

/* ---- the fetching thread ---- */

static uint64_t pass_delay(uint64_t now_ns)
{
	uint64_t due_ns = control.start_ns + control.delay_ns;

	if (!(gp_load32(&control.waits_for) & WAITS_FOR_DELAY))
		return UINT64_MAX;
	if (now_ns < due_ns)
		return due_ns - now_ns;
	stop_waiting(WAITS_FOR_DELAY, GP_GATE_TIME);
	return UINT64_MAX;
}

static uint64_t pass_duration(uint64_t now_ns)
{
	uint64_t end_ns = gp_load64(&control.window_end_ns);

	if (end_ns == 0 || !gp_recording_gate_is_open())
		return UINT64_MAX;
	if (is_sampling() && gp_load32(&control.in_range)) /* its end ends the window */
		end_ns += GP_SAMPLE_RANGE_MOST_NS;
	if (now_ns < end_ns)
		return end_ns - now_ns;
	end_window(is_sampling() ? GP_GATE_SAMPLE : GP_GATE_TIME);
	return UINT64_MAX;
}

/* CUPTI stays on for a while after the window, which costs the same. */
static uint64_t next_sample_ns(void)
{
	uint64_t start_ns = gp_load64(&control.window_start_ns);
	uint64_t paused_ns = gp_load64(&control.window_paused_ns);
	uint64_t period_ns = GP_SAMPLE_FIRST_NS;

	if (paused_ns > start_ns)
		period_ns = gp_sample_period_ns(gp_load64(&control.window_calls),
						paused_ns - start_ns + GP_RECORDING_GATE_LINGER_NS,
						control.share_millionths);
	return start_ns + gp_sample_vary_ns(period_ns, gp_load64(&control.window_random));
}

static uint64_t pass_sample(uint64_t now_ns)
{
	uint64_t due_ns;

	if (!(gp_load32(&control.waits_for) & WAITS_FOR_SAMPLE) || gp_recording_gate_is_open())
		return UINT64_MAX;
	due_ns = next_sample_ns();
	if (now_ns < due_ns)
		return due_ns - now_ns;
	stop_waiting(WAITS_FOR_SAMPLE, GP_GATE_SAMPLE);
	return UINT64_MAX;
}

/* Final: nothing opens the gate again. */
static void end_at_limit(void)
{
	if (!gp_collector_is_full() || !gp_recording_gate_is_open())
		return;
	gp_watch_set(GP_WATCH_GATE);
	gp_recording_gate_set(false, GP_GATE_FULL);
}

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

uint64_t gp_control_pass(uint64_t now_ns)
{
	uint64_t due_ns;

	take_signals();
	end_at_limit();
	due_ns = pass_delay(now_ns);
	due_ns = least(due_ns, pass_duration(now_ns));
	due_ns = least(due_ns, pass_sample(now_ns));
	return least(due_ns, gp_recording_gate_poll(now_ns));
}

/* ---- in callbacks ---- */

static bool is_launch(uint8_t class)
{
	return class == GP_API_LAUNCH || class == GP_API_GRAPH_LAUNCH;
}

static bool is_profiler_call(uint16_t api, uint32_t runtime, uint32_t driver)
{
	return api == runtime || api == (GP_API_DRIVER | driver);
}

static bool is_start(uint16_t api)
{
	return is_profiler_call(api, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000,
				CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
}

static bool is_stop(uint16_t api)
{
	return is_profiler_call(api, CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000,
				CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
}

bool gp_control_needs(const struct gp_api_entry *entry)
{
	if (control.has_profiler_range && (is_start(entry->api) || is_stop(entry->api)))
		return true;
	return is_launch(entry->class) && (gp_load32(&control.waits_for) & WAITS_FOR_LAUNCHES);
}

/*
 * The last launch of a window closes the gate after itself; concurrent launches before that are
 * excluded.
 */
static void count_within(void)
{
	if (gp_take64(&control.window_launches, 1) >= control.launches_within)
		end_window(GP_GATE_COUNT);
}

/*
 * Asked once for each call, also for one excluded by name, because its GPU activity is excluded by
 * its id.
 */
static bool is_included(uint32_t watch, const CUpti_CallbackData *data)
{
	return !(watch & (GP_WATCH_CLOSED | GP_WATCH_GATE)) ||
	       gp_recording_gate_admits(data->correlationId);
}

bool gp_control_enter(const struct gp_api_entry *entry, const CUpti_CallbackData *data)
{
	uint32_t watch = gp_load32(&gp_watch);
	uint8_t class = entry != NULL ? entry->class : GP_API_OTHER;

	if (watch & GP_WATCH_SAMPLE)
		gp_take64(&control.window_calls, 1);
	if ((watch & GP_WATCH_KERNELS) && class == GP_API_LAUNCH && data->symbolName != NULL &&
	    !gp_control_wants_kernel(data->symbolName)) {
		gp_count(GP_COUNTER_LEFT_OUT_LAUNCHES, is_included(watch, data));
		return false;
	}
	if ((watch & GP_WATCH_WITHIN) && !(watch & GP_WATCH_CLOSED) && is_launch(class))
		count_within();
	return is_included(watch, data);
}

static bool is_worth_keeping(uint8_t class)
{
	return is_launch(class) || class == GP_API_COPY || class == GP_API_MEMSET ||
	       class == GP_API_ALLOC || class == GP_API_FREE;
}

bool gp_control_keeps(uint8_t class, bool failed, uint64_t duration_ticks)
{
	if (duration_ticks >= control.short_ticks || failed || is_worth_keeping(class))
		return true;
	gp_count(GP_COUNTER_LEFT_OUT_SHORT, 1);
	return false;
}

void gp_control_exit(const struct gp_api_entry *entry)
{
	uint32_t watch = gp_load32(&gp_watch);

	if (entry == NULL)
		return;
	if (watch & GP_WATCH_PROFILER) {
		if (is_start(entry->api))
			begin_range(GP_GATE_PROFILER);
		if (is_stop(entry->api))
			end_range(GP_GATE_PROFILER);
	}
	if ((watch & GP_WATCH_WITHIN) && is_launch(entry->class) &&
	    gp_load64(&control.window_launches) >= control.launches_within)
		end_window(GP_GATE_COUNT);
	if ((watch & GP_WATCH_BEFORE) && is_launch(entry->class) &&
	    gp_take64(&control.launches, 1) + 1 == control.launches_before) {
		gp_watch_clear(GP_WATCH_BEFORE);
		stop_waiting(WAITS_FOR_LAUNCHES, GP_GATE_COUNT);
	}
}

bool gp_control_wants_kernel(const char *name)
{
	return *control.kernels == '\0' || gp_pattern_matches_function(control.kernels, name);
}

bool gp_control_wants_ranges(void)
{
	return control.has_nvtx_range;
}

bool gp_control_wants_range(const char *name, const char *domain)
{
	return control.has_nvtx_range &&
	       gp_pattern_matches_one(control.range_name, control.range_name_bytes, name) &&
	       gp_pattern_matches_one(control.range_domain, strlen(control.range_domain), domain);
}

/* ---- the options ---- */

/* nvtx:NAME or nvtx:NAME@DOMAIN; a name may itself contain an @. */
static void read_range(const char *text)
{
	const char *name = strchr(text, ':'), *at = strrchr(text, '@');

	control.has_profiler_range = strcmp(text, "cudaProfilerApi") == 0;
	control.has_nvtx_range = name != NULL;
	if (name == NULL)
		return;
	control.range_name = name + 1;
	control.range_name_bytes = at != NULL ? (size_t)(at - name) - 1 : strlen(name + 1);
	control.range_domain = at != NULL ? at + 1 : "*";
}

static bool has_toggle(void)
{
	return strcmp(gp_option_text(GP_OPTION_ID_TOGGLE_SIGNAL), "none") != 0;
}

static void read_windows(void)
{
	read_range(gp_option_text(GP_OPTION_ID_CAPTURE_RANGE));
	control.skipped_ranges = gp_option_number(GP_OPTION_ID_CAPTURE_SKIP);
	control.most_ranges = gp_option_number(GP_OPTION_ID_CAPTURE_REPEAT);
	control.delay_ns = gp_option_ns(GP_OPTION_ID_DELAY);
	control.duration_ns = gp_option_ns(GP_OPTION_ID_DURATION);
	control.share_millionths = gp_option_share_millionths(GP_OPTION_ID_SAMPLE);
	if (is_sampling() && control.duration_ns == 0)
		control.duration_ns = GP_SAMPLE_WINDOW_NS;
	control.launches_before = gp_option_number(GP_OPTION_ID_AFTER_LAUNCHES);
	control.launches_within = gp_option_number(GP_OPTION_ID_LAUNCHES);
	control.waits_for = (control.delay_ns != 0 ? WAITS_FOR_DELAY : 0) |
			    (control.launches_before != 0 ? WAITS_FOR_LAUNCHES : 0) |
			    (is_sampling() ? WAITS_FOR_SAMPLE : 0);
}

static void start_windows(void)
{
	bool closed = control.waits_for != 0 || has_ranges() || control.is_attached;

	/* no other option opens the gate: the signal does */
	if (has_toggle() && !closed) {
		control.waits_for = WAITS_FOR_SIGNAL;
		closed = true;
	}
	control.has_windows = closed || control.duration_ns != 0 || control.launches_within != 0;
	gp_recording_gate_init(!closed);
}

static void start_watching(void)
{
	const struct {
		bool wanted;
		uint32_t bit;
	} watches[] = {
		{control.has_windows, GP_WATCH_GATE},
		{is_sampling(), GP_WATCH_SAMPLE},
		{control.has_profiler_range, GP_WATCH_PROFILER},
		{control.launches_before != 0, GP_WATCH_BEFORE},
		{control.launches_within != 0, GP_WATCH_WITHIN},
		{*control.kernels != '\0', GP_WATCH_KERNELS},
		{gp_option_number(GP_OPTION_ID_MIN_API_US) != 0, GP_WATCH_SHORT},
	};

	for (size_t i = 0; i < sizeof(watches) / sizeof(watches[0]); i++)
		if (watches[i].wanted)
			gp_watch_set(watches[i].bit);
}

bool gp_control_wants_process(void)
{
	const char *list = gp_option_text(GP_OPTION_ID_PROCESSES);
	char name[256];

	if (!gp_job_is_included(gp_option_text(GP_OPTION_ID_RANKS)))
		return false;
	if (*list == '\0')
		return true;
	gp_process_info_program(name, sizeof(name));
	return gp_pattern_matches(list, name);
}

void gp_control_init_attached(void)
{
	memset(&control, 0, sizeof(control));
	control.is_attached = true;
	gp_control_init();
}

void gp_control_attach(void)
{
	if (gp_load32(&control.waits_for) == 0 && !has_ranges())
		begin_window(GP_GATE_ATTACH);
}

void gp_control_detach(void)
{
	gp_store32(&control.is_over, 1);
	end_window(GP_GATE_ATTACH);
}

void gp_control_init(void)
{
	control.start_ns = gp_sys_now_ns();
	control.kernels = gp_option_text(GP_OPTION_ID_KERNELS);
	read_windows();
	start_windows();
	start_watching();
	/*
	 * install early: the sender cannot know when the program initializes CUDA, and until then
	 * the signal would end it
	 */
	if (has_toggle() && gp_control_wants_process())
		gp_toggle_signal_install(gp_option_text(GP_OPTION_ID_TOGGLE_SIGNAL), NULL);
}

static void install_toggle(void)
{
	const char *name = gp_option_text(GP_OPTION_ID_TOGGLE_SIGNAL);

	if (gp_toggle_signal_install(name, control.wake) == -EBUSY)
		gp_log("the program handles SIG%s itself, so the signal does not switch the recording; choose another --toggle-signal",
		       name);
}

void gp_control_begin_trace(void)
{
	if (control.has_windows)
		gp_recording_gate_emit_start();
}

void gp_control_begin(void (*wake)(void))
{
	control.wake = wake;
	control.short_ticks =
		gp_option_number(GP_OPTION_ID_MIN_API_US) * gp_clock_ticks_per_second() / 1000000u;
	if (gp_recording_gate_is_open() && control.duration_ns != 0)
		gp_store64(&control.window_end_ns, gp_sys_now_ns() + control.duration_ns);
	if (is_sampling()) {
		control.window_random = gp_sys_random();
		control.window_start_ns = gp_sys_now_ns();
	}
	if (has_toggle())
		install_toggle();
	/* signals that came earlier: at this point no operation of the program has begun */
	take_signals();
}
