#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/boot_id.h"
#include "report/base/monotonic.h"
#include "report/stream/live.h"

#define NS_PER_S  1e9
#define NS_PER_MS UINT64_C(1000000)

/*
 * GPU records come after the next flush, and that takes a moment. GPU time is counted up to the
 * last moment whose records must have come.
 */
#define DEFAULT_FLUSH_MS 50
#define WRITING_MS       150

/* ---- clocks ---- */

static double ns_per_tick(const struct gp_live *l)
{
	const char *text = l->info[GP_INFO_TICKS_PER_SECOND];
	double ticks_per_second = text ? strtod(text, NULL) : 0;
	double ticks = (double)l->last_anchor.ticks - (double)l->first_anchor.ticks;
	double ns = (double)l->last_anchor.monotonic_ns - (double)l->first_anchor.monotonic_ns;

	if (ticks > 0 && ns > 0)
		return ns / ticks;
	return ticks_per_second >= 1 ? NS_PER_S / ticks_per_second : 1;
}

/* A time after or before another one; 0 where there is none. */
static uint64_t add_ns(uint64_t time_ns, double ns)
{
	double sum = (double)time_ns + ns;

	return fabs(ns) < 9e18 && sum > 0 && sum < 9e18 ? time_ns + (uint64_t)llround(ns) : 0;
}

uint64_t gp_live_from_ticks(const struct gp_live *l, uint64_t ticks)
{
	const struct gp_record_anchor *anchor = &l->last_anchor;
	double distance = (double)(int64_t)(ticks - anchor->ticks);

	if (anchor->slots == 0 || ticks == 0)
		return 0;
	return add_ns(anchor->monotonic_ns, distance * ns_per_tick(l));
}

uint64_t gp_live_from_cupti(const struct gp_live *l, uint64_t cupti_ns)
{
	const struct gp_record_anchor *anchor = &l->cupti_anchor;

	if (anchor->slots == 0 || cupti_ns == 0)
		return 0;
	return add_ns(anchor->monotonic_ns, (double)(int64_t)(cupti_ns - anchor->cupti_ns));
}

/* The reverse. */
static uint64_t to_cupti(const struct gp_live *l, uint64_t monotonic_ns)
{
	const struct gp_record_anchor *anchor = &l->cupti_anchor;

	if (anchor->slots == 0 || monotonic_ns == 0)
		return 0;
	return add_ns(anchor->cupti_ns, (double)(int64_t)(monotonic_ns - anchor->monotonic_ns));
}

uint64_t gp_live_start_ns(const struct gp_live *l)
{
	return l->first_anchor.slots != 0 ? l->first_anchor.monotonic_ns : 0;
}

uint64_t gp_live_recorded_ns(const struct gp_live *l)
{
	uint64_t start_ns = gp_live_start_ns(l), end_ns = l->interval.end_ns, paused_ns;

	if (l->is_paused && gp_live_from_ticks(l, l->paused_since_ticks) < end_ns)
		end_ns = gp_live_from_ticks(l, l->paused_since_ticks);
	paused_ns = (uint64_t)((double)l->paused_ticks * ns_per_tick(l));
	return start_ns != 0 && end_ns > start_ns + paused_ns ? end_ns - start_ns - paused_ns : 0;
}

/* When the recording gave its last sign of life, by CLOCK_MONOTONIC; 0 = not known. */
static uint64_t last_sign_ns(const struct gp_live *l)
{
	uint64_t last_ns = l->last_anchor.slots != 0 ? l->last_anchor.monotonic_ns : 0;
	uint64_t ends_ns[] = {
		gp_live_from_ticks(l, l->sums.last_ticks),
		gp_live_from_ticks(l, l->end_ticks),
		gp_live_from_cupti(l, l->newest_operation_ns),
	};

	for (size_t i = 0; i < sizeof(ends_ns) / sizeof(ends_ns[0]); i++)
		last_ns = ends_ns[i] > last_ns ? ends_ns[i] : last_ns;
	return last_ns;
}

uint64_t gp_live_now_ns(const struct gp_live *l)
{
	const struct gp_record_anchor *anchor = &l->last_anchor;
	const char *boot = l->info[GP_INFO_BOOT_ID];
	char here[GP_BOOT_ID_TEXT_BYTES];
	struct timespec now;

	if (!boot || anchor->slots == 0 || (gp_boot_id(here) && strcmp(here, boot) == 0))
		return gp_monotonic_ns();
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec -
	       (anchor->realtime_ns - anchor->monotonic_ns);
}

/* ---- intervals ---- */

uint64_t gp_live_delay_ns(const struct gp_live *l)
{
	const char *options = l->info[GP_INFO_OPTIONS];
	const char *text = options ? strstr(options, "FLUSH_MS=") : NULL;
	uint64_t flush_ms =
		text ? strtoull(text + strlen("FLUSH_MS="), NULL, 10) : DEFAULT_FLUSH_MS;

	return ((flush_ms < 1000 ? flush_ms : 1000) * 2 + WRITING_MS) * NS_PER_MS;
}

int gp_live_settle(struct gp_live *l)
{
	uint64_t counted_ns = l->newest_operation_ns > gp_live_delay_ns(l)
				      ? l->newest_operation_ns - gp_live_delay_ns(l)
				      : 0;
	int result = gp_live_memory_settle(&l->memory);

	return result == 0 ? gp_cover_settle(&l->sums.cover, counted_ns) : result;
}

/* How long the device was busy in all settled time. */
static uint64_t busy_until_now(const struct gp_live *l, uint16_t device)
{
	const struct gp_cover *cover = &l->sums.cover;

	for (uint32_t i = 0; i < cover->device_count; i++)
		if (cover->devices[i].device == device)
			return cover->devices[i].settled_ns;
	return 0;
}

static int end_busy_span(struct gp_live *l, bool is_over)
{
	struct gp_live_interval *interval = &l->interval;
	uint64_t end_ns = to_cupti(l, interval->end_ns);
	int result;

	if (!is_over)
		end_ns -= gp_live_delay_ns(l) < end_ns ? gp_live_delay_ns(l) : end_ns;
	interval->busy_start_ns = interval->busy_end_ns != 0 ? interval->busy_end_ns
							     : to_cupti(l, interval->start_ns);
	interval->busy_end_ns = end_ns > interval->busy_start_ns ? end_ns : interval->busy_start_ns;
	result = gp_cover_settle(&l->sums.cover, interval->busy_end_ns);
	for (uint32_t i = 0; i < l->device_count; i++) {
		struct gp_live_device *device = &l->devices[i];

		device->busy_ns = busy_until_now(l, device->id) - device->busy_before_ns;
		device->busy_before_ns += device->busy_ns;
	}
	return result;
}

/* Devices are also known by their allocations. */
static int meet_devices(struct gp_live *l)
{
	for (uint32_t i = 0; i < l->memory.ledger.row_count; i++)
		if (l->memory.ledger.rows[i].device != GP_MEMORY_OF_HOST &&
		    !gp_live_device(l, (uint16_t)l->memory.ledger.rows[i].device))
			return -ENOMEM;
	return 0;
}

int gp_live_end_interval(struct gp_live *l, uint64_t now_ns, bool is_over)
{
	struct gp_live_interval *interval = &l->interval;
	int result = gp_live_settle(l);

	if (interval->end_ns == 0) {
		interval->start_ns = gp_live_start_ns(l);
		interval->is_first = true;
	}
	interval->end_ns = is_over ? last_sign_ns(l) : now_ns;
	if (interval->end_ns < interval->start_ns)
		interval->end_ns = interval->start_ns;
	if (result == 0)
		result = end_busy_span(l, is_over);
	return result == 0 ? meet_devices(l) : result;
}

void gp_live_next_interval(struct gp_live *l)
{
	gp_sums_mark(&l->sums);
	l->interval.start_ns = l->interval.end_ns;
	l->interval.is_first = false;
}

/* ---- sums of sums ---- */

struct gp_live_flow gp_live_flow_of(const struct gp_sum *sum)
{
	return (struct gp_live_flow){gp_sum_values(sum), sum->before};
}

struct gp_sum_values gp_live_gained(const struct gp_live_flow *flow)
{
	return (struct gp_sum_values){
		flow->now.count - flow->before.count,
		flow->now.done - flow->before.done,
		flow->now.ns - flow->before.ns,
		flow->now.bytes - flow->before.bytes,
	};
}

static bool is_among(const struct gp_live *l, const struct gp_sum *sum, uint32_t which)
{
	uint32_t bit = 0;

	if (sum->kind == GP_SUM_CALL)
		bit = gp_api_table_find(&l->api_names, sum->first.call.api).class;
	else if (sum->kind == GP_SUM_COPY && sum->first.copy.copy_kind < GP_COPY_KINDS)
		bit = sum->first.copy.copy_kind;
	return which >> bit & 1;
}

static void add(struct gp_sum_values *values, struct gp_sum_values other)
{
	values->count += other.count;
	values->done += other.done;
	values->ns += other.ns;
	values->bytes += other.bytes;
}

struct gp_live_flow gp_live_flow(const struct gp_live *l, enum gp_sum_kind kind, uint32_t which)
{
	struct gp_live_flow flow = {0};

	for (uint32_t i = 0; i <= l->sums.count; i++) {
		const struct gp_sum *sum =
			i < l->sums.count ? l->sums.sums[i] : l->sums.others[kind];

		if (!sum || sum->kind != kind || !is_among(l, sum, which))
			continue;
		add(&flow.now, gp_sum_values(sum));
		add(&flow.before, sum->before);
	}
	return flow;
}

uint64_t gp_live_in_flight(const struct gp_live *l, bool of_all, uint64_t lost)
{
	struct gp_live_flow calls = gp_live_flow(l, GP_SUM_CALL, 1u << GP_API_LAUNCH);
	uint64_t launches = of_all ? calls.now.done : calls.before.done;
	uint64_t known = l->sums.own_kernels + lost;

	return launches > known ? launches - known : 0;
}
