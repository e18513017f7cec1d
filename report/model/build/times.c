#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/stats.h"
#include "report/model/build/build.h"
#include "report/model/sums/totals.h"

/* Events that begin so long before the first anchor have no true time. */
#define EARLIEST_NS (-3600 * INT64_C(1000000000))

/* Nor have events that end so long after the last sign of life. */
#define LATEST_NS (3600 * INT64_C(1000000000))

/* Clocks that run evenly differ by less in a span. */
#define CLOCK_DRIFT_NS 1000000

/* Without any anchor the two clocks are put together where each first occurs. */
static struct gp_record_anchor make_anchor(const struct gp_model *m)
{
	struct gp_record_anchor anchor = {.ticks = UINT64_MAX, .cupti_ns = UINT64_MAX};

	for (uint32_t i = 0; i < m->call_count; i++)
		if (m->calls[i].start_ns < anchor.ticks)
			anchor.ticks = m->calls[i].start_ns;
	for (uint32_t i = 0; i < m->op_count; i++)
		if (m->ops[i].start_ns != 0 && m->ops[i].start_ns < anchor.cupti_ns)
			anchor.cupti_ns = m->ops[i].start_ns;
	anchor.cupti_ticks = anchor.ticks;
	anchor.realtime_ns = anchor.cupti_ns == UINT64_MAX ? 0 : anchor.cupti_ns;
	return anchor;
}

static struct gp_clock_sync *make_timeline(const struct gp_model_builder *b)
{
	const char *text = b->model->info[GP_INFO_TICKS_PER_SECOND];
	double ticks_per_second = text ? strtod(text, NULL) : 0;
	struct gp_record_anchor substitute;

	if (b->anchor_count > 0)
		return gp_clock_sync_new(b->anchors, b->anchor_count, ticks_per_second);
	substitute = make_anchor(b->model);
	return gp_clock_sync_new(&substitute, 1, ticks_per_second);
}

/* From the first call or operation to the last one's end; first_ns INT64_MAX: there is none. */
struct window {
	int64_t first_ns, last_ns;
};

static void widen(struct window *window, int64_t start_ns, int64_t end_ns)
{
	window->first_ns = start_ns < window->first_ns ? start_ns : window->first_ns;
	window->last_ns = end_ns > window->last_ns ? end_ns : window->last_ns;
}

static void time_calls(struct gp_model *m, struct gp_clock_sync *t, struct window *window)
{
	for (uint32_t i = 0; i < m->call_count; i++) {
		struct gp_call *call = &m->calls[i];
		int64_t start = gp_clock_sync_from_ticks(t, call->start_ns);
		int64_t end = gp_clock_sync_from_ticks(t, call->start_ns + call->duration_ns);

		call->start_ns = (uint64_t)start;
		call->duration_ns = end > start ? (uint64_t)(end - start) : 0;
		widen(window, start, end > start ? end : start);
	}
}

/*
 * Whether a span of this length by CUPTI's clock is as long on the timeline, or shorter as the
 * clock was set forward.
 */
static bool is_length(int64_t ns, uint64_t cupti_ns)
{
	return ns >= 0 && (uint64_t)ns <= cupti_ns + cupti_ns / 1000 + CLOCK_DRIFT_NS;
}

/*
 * Converts a span of CUPTI's clock; true if its end came before its start. If the clock was set
 * back between them, start and length count.
 */
static bool time_span(struct gp_clock_sync *t, uint32_t anchors_before, uint64_t *start_ns,
		      uint64_t *end_ns)
{
	bool reversed = *end_ns < *start_ns;
	int64_t start = gp_clock_sync_from_cupti(t, *start_ns, anchors_before);
	int64_t end = reversed ? start : gp_clock_sync_from_cupti(t, *end_ns, anchors_before);

	if (!reversed && !is_length(end - start, *end_ns - *start_ns) &&
	    __builtin_add_overflow(start, (int64_t)(*end_ns - *start_ns), &end))
		end = start;
	*start_ns = (uint64_t)start;
	*end_ns = (uint64_t)(end < start ? start : end);
	return reversed;
}

static void leave_untimed(struct gp_model *m, struct gp_op *op)
{
	op->start_ns = op->end_ns = 0;
	op->untimed = 1;
	m->losses.ops_untimed++;
}

/* A record of a layout that was taken for another may have any. */
static bool is_impossible(uint64_t start_ns, uint64_t end_ns, int64_t latest_ns)
{
	return (int64_t)start_ns < EARLIEST_NS || (int64_t)end_ns > latest_ns;
}

/*
 * Traces of other recorders, and traces that lost their anchors, may have no record of their end.
 */
static int64_t latest_of(const struct gp_model_builder *b, struct gp_clock_sync *t,
			 const struct window *calls)
{
	int64_t latest_ns = calls->last_ns;

	if (b->model->recorder || b->anchor_count == 0)
		return INT64_MAX;
	for (uint32_t i = 0; i < b->anchor_count; i++) {
		int64_t anchor_ns = gp_clock_sync_from_ticks(t, b->anchors[i].ticks);

		if (anchor_ns > latest_ns)
			latest_ns = anchor_ns;
	}
	return latest_ns > INT64_MAX - LATEST_NS ? INT64_MAX : latest_ns + LATEST_NS;
}

/* In the same pass over the operations their ids become indices. */
static void time_ops(struct gp_model_builder *b, struct gp_clock_sync *t, struct window *window,
		     int64_t latest_ns)
{
	struct gp_model *m = b->model;

	for (uint32_t i = 0; i < m->op_count; i++) {
		struct gp_op *op = &m->ops[i];
		uint32_t anchors_before = op->next_op;
		bool has_times = op->start_ns != 0 && op->end_ns != 0;

		op->next_op = GP_NONE;
		gp_resolve_op(b, op);
		if (has_times && time_span(t, anchors_before, &op->start_ns, &op->end_ns))
			m->losses.ops_reversed++;
		if (!has_times || is_impossible(op->start_ns, op->end_ns, latest_ns))
			leave_untimed(m, op);
		else
			widen(window, (int64_t)op->start_ns, (int64_t)op->end_ns);
	}
}

/* ---- records with a time or two and nothing special ---- */

#define IN_TICKS SIZE_MAX

/* Where an array of records keeps its times. */
struct timed {
	void *array;
	uint32_t *count;
	size_t record_bytes;
	size_t start, end; /* fields; the same one: a moment */
	size_t anchors;    /* field: how many came before it; IN_TICKS: its time is in ticks */
	bool is_optional;  /* 0 is no time, and stays */
};

static uint64_t *field(const struct timed *timed, uint32_t index, size_t offset)
{
	return (uint64_t *)((char *)timed->array + index * timed->record_bytes + offset);
}

static void time_by_cupti(const struct timed *timed, struct gp_clock_sync *t, uint32_t index)
{
	uint64_t *start_ns = field(timed, index, timed->start);
	uint64_t *end_ns = field(timed, index, timed->end);
	uint32_t *anchors = (uint32_t *)field(timed, index, timed->anchors);

	if (*end_ns == 0)
		*end_ns = *start_ns;
	time_span(t, *anchors, start_ns, end_ns);
	*anchors = 0;
}

static void time_by_ticks(const struct timed *timed, struct gp_clock_sync *t, uint32_t index)
{
	uint64_t *start_ns = field(timed, index, timed->start);
	uint64_t *end_ns = field(timed, index, timed->end);
	int64_t start = gp_clock_sync_from_ticks(t, *start_ns);
	int64_t end = gp_clock_sync_from_ticks(t, *end_ns);

	*start_ns = (uint64_t)start;
	*end_ns = (uint64_t)(end < start ? start : end);
}

/* False: it cannot be placed. */
static bool time_record(const struct timed *timed, struct gp_clock_sync *t, uint32_t index,
			int64_t *earliest, int64_t latest_ns)
{
	uint64_t *start_ns = field(timed, index, timed->start);

	if (timed->is_optional && *start_ns == 0) {
		*(uint32_t *)field(timed, index, timed->anchors) = 0;
		return true;
	}
	if (timed->anchors == IN_TICKS)
		time_by_ticks(timed, t, index);
	else
		time_by_cupti(timed, t, index);
	if (timed->anchors != IN_TICKS &&
	    is_impossible(*start_ns, *field(timed, index, timed->end), latest_ns))
		return false;
	if ((int64_t)*start_ns < *earliest)
		*earliest = (int64_t)*start_ns;
	return true;
}

static int64_t time_records(struct gp_model *m, const struct timed *timed, struct gp_clock_sync *t,
			    int64_t earliest, int64_t latest_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *timed->count; i++) {
		if (!time_record(timed, t, i, &earliest, latest_ns))
			continue;
		if (kept != i)
			memcpy(field(timed, kept, 0), field(timed, i, 0), timed->record_bytes);
		kept++;
	}
	m->losses.unknown_records += *timed->count - kept;
	*timed->count = kept;
	return earliest;
}

static void shift_records(const struct timed *timed, uint64_t shift)
{
	for (uint32_t i = 0; i < *timed->count; i++) {
		if (timed->is_optional && *field(timed, i, timed->start) == 0)
			continue;
		*field(timed, i, timed->start) += shift;
		if (timed->end != timed->start)
			*field(timed, i, timed->end) += shift;
	}
}

/* Nothing may lie before 0: let the base begin as early as the earliest. */
static void shift_base(struct gp_model *m, uint64_t shift)
{
	for (uint32_t i = 0; i < m->call_count; i++)
		m->calls[i].start_ns += shift;
	for (uint32_t i = 0; i < m->op_count; i++) {
		m->ops[i].start_ns += shift;
		m->ops[i].end_ns += shift;
	}
	m->base_unix_ns -= shift < m->base_unix_ns ? shift : m->base_unix_ns;
	m->base_monotonic_ns -= shift < m->base_monotonic_ns ? shift : m->base_monotonic_ns;
}

static uint64_t time_of(struct gp_clock_sync *t, uint64_t ticks, uint64_t shift)
{
	int64_t time = gp_clock_sync_from_ticks(t, ticks) + (int64_t)shift;

	return ticks != 0 && time > 0 ? (uint64_t)time : 0;
}

/* How long before 0 the recording began, where only its last part is kept. */
static uint64_t time_before(struct gp_clock_sync *t, uint64_t first_ticks, uint64_t shift)
{
	int64_t time = first_ticks != 0 ? gp_clock_sync_from_ticks(t, first_ticks) : 0;

	return time < 0 && (uint64_t)-time > shift ? (uint64_t)-time - shift : 0;
}

#define FIELD(array, member) offsetof(__typeof__(*(array)), member)
#define TIMED(array, count, start, end, anchors, is_optional)                                      \
	{                                                                                          \
		array, &(count), sizeof(*(array)), FIELD(array, start), FIELD(array, end),         \
			anchors, is_optional                                                       \
	}
#define BY_TICKS(array, count, start, end) TIMED(array, count, start, end, IN_TICKS, false)

static uint64_t time_all(struct gp_model_builder *b, struct gp_clock_sync *t)
{
	enum { ANY, DEVICE, UNTIMED }; /* of array.def */
	struct gp_model *m = b->model;
	const struct timed kinds[] = {
		BY_TICKS(m->usages, m->usage_count, time_ns, time_ns),
		BY_TICKS(m->gates, m->gate_count, time_ns, time_ns),
		BY_TICKS(m->waiting, m->waiting_count, start_ns, start_ns),
		BY_TICKS(m->in_flight, m->in_flight_count, time_ns, time_ns),
		BY_TICKS(m->samples, m->sample_count, start_ns, end_ns),
		BY_TICKS(m->hw_windows, m->hw_window_count, start_ns, end_ns),
		BY_TICKS(m->hw_windows, m->hw_window_count, first_ns, last_ns),
		BY_TICKS(b->context_ends, b->context_end_count, time_ns, time_ns),
		BY_TICKS(b->range_points, b->range_point_count, time_ns, time_ns),
		TIMED(m->overheads, m->overhead_count, start_ns, end_ns, FIELD(m->overheads, zero),
		      false),
#define GP_MODEL_RECORDS(name, kind, key, start, end, anchors)                                     \
	TIMED(m->name##s, m->name##_count, start, end, FIELD(m->name##s, anchors),                 \
	      (kind) == UNTIMED),
#include "report/model/array.def"
	};
	struct window window = {INT64_MAX, INT64_MIN}, calls;
	int64_t earliest, latest_ns;
	uint64_t shift;

	time_calls(m, t, &window);
	if (b->last_ticks != 0)
		widen(&window, gp_clock_sync_from_ticks(t, b->first_ticks),
		      gp_clock_sync_from_ticks(t, b->last_ticks));
	calls = window;
	latest_ns = latest_of(b, t, &calls);
	time_ops(b, t, &window, latest_ns);
	earliest = window.first_ns < 0 ? window.first_ns : 0;
	for (size_t i = 0; i < COUNT(kinds); i++)
		earliest = time_records(m, &kinds[i], t, earliest, latest_ns);
	shift = (uint64_t)-earliest;
	if (window.first_ns <= window.last_ns) {
		m->first_ns = (uint64_t)window.first_ns + shift;
		m->last_ns = (uint64_t)window.last_ns + shift;
	}
	if (calls.first_ns <= calls.last_ns) {
		m->first_call_ns = (uint64_t)calls.first_ns + shift;
		m->last_call_ns = (uint64_t)calls.last_ns + shift;
	}
	if (shift == 0)
		return 0;
	shift_base(m, shift);
	for (size_t i = 0; i < COUNT(kinds); i++)
		shift_records(&kinds[i], shift);
	return shift;
}

static uint64_t moment_of(struct gp_clock_sync *t, uint64_t cupti_ns, uint64_t shift)
{
	int64_t time = gp_clock_sync_from_cupti(t, cupti_ns, UINT32_MAX) + (int64_t)shift;

	return time > 0 ? (uint64_t)time : 0;
}

/* Of operations that are summed up, the first one's start and the last one's end. */
static void time_totals(struct gp_totals *totals, struct gp_clock_sync *t, uint64_t shift)
{
	struct gp_interval span;

	if (!totals || !gp_cover_span(&totals->cover, &span))
		return;
	totals->first_op_ns = moment_of(t, span.start_ns, shift);
	totals->last_op_ns = moment_of(t, span.end_ns, shift);
}

static int find_anchor_error(struct gp_model_builder *b)
{
	uint64_t *gaps = calloc((size_t)b->anchor_count + 1, sizeof(*gaps));

	for (uint32_t i = 0; gaps && i < b->anchor_count; i++)
		gaps[i] = b->anchors[i].gap_ticks;
	if (gaps && b->anchor_count > 0)
		b->model->anchor_error_ns =
			(uint64_t)(b->model->ns_per_tick / 2 *
				   (double)gp_stats_select(gaps, b->anchor_count,
							   b->anchor_count / 2));
	free(gaps);
	return gaps ? 0 : -ENOMEM;
}

/* Replaces the host's own clock in the anchors by its aligned clock. */
static void align_anchors(struct gp_model_builder *b)
{
	const struct gp_host_clock *clock =
		gp_host_clock_find(b->clocks, b->model->info[GP_INFO_BOOT_ID]);

	if (!clock || !clock->is_known)
		return;
	b->model->clock = *clock;
	for (uint32_t i = 0; i < b->anchor_count; i++)
		b->anchors[i].monotonic_ns =
			gp_host_clock_unix_ns(clock, b->anchors[i].monotonic_ns);
}

void gp_model_time_energies(struct gp_model *m)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->energy_count; i++) {
		uint64_t monotonic_ns = m->energies[i].time_ns;
		uint64_t time_ns =
			m->clock.is_known
				? gp_host_clock_unix_ns(&m->clock, monotonic_ns) - m->base_unix_ns
				: monotonic_ns - m->base_monotonic_ns;

		m->energies[kept] = m->energies[i];
		m->energies[kept].time_ns = time_ns;
		kept += (int64_t)time_ns >= 0;
	}
	m->energy_count = kept;
}

int gp_resolve_times(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;
	struct gp_clock_sync *t;
	uint64_t shift;

	m->base_monotonic_ns = b->anchor_count > 0 ? b->anchors[0].monotonic_ns : 0;
	align_anchors(b);
	t = make_timeline(b);
	if (!t)
		return -ENOMEM;
	m->base_unix_ns = m->clock.is_known && b->anchor_count > 0 ? b->anchors[0].monotonic_ns
								   : gp_clock_sync_base_unix_ns(t);
	m->losses.clock_misfits = gp_clock_sync_misfits(t);
	m->ns_per_tick = gp_clock_sync_ns_per_tick(t);
	shift = time_all(b, t);
	time_totals(m->totals, t, shift);
	gp_model_time_energies(m);
	m->end_ns = time_of(t, b->end_ticks, shift);
	m->last_delivery_ns = time_of(t, m->counters[GP_COUNTER_LAST_DELIVERY_TICKS], shift);
	m->before_ns = time_before(t, m->counters[GP_COUNTER_FIRST_TICKS], shift);
	gp_clock_sync_free(t);
	return find_anchor_error(b);
}
