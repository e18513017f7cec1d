#include "report/trace/clock_sync.h"
#include "report/base/array.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * CUPTI's clock was set, not slewed, if it and the host's clock differ by more than this and by 0.1
 * % of the elapsed time.
 */
#define STEP_NS 1000000

/*
 * An anchor that was interrupted while it was read is dropped if it is this much coarser than the
 * best.
 */
#define COARSE_FACTOR      8u
#define COARSE_LEAST_TICKS 20000u

/* Epochs that a lookup goes back at most, newest first. */
#define MAX_EPOCHS_BACK 64

/* Records are usually in the file this long after their time. */
#define DELIVERY_NS 100000000

/* The usual longest time after the last anchor. */
#define BETWEEN_ANCHORS_NS 2000000000

/* A common point of two clocks. The clocks run evenly between points. */
struct point {
	uint64_t from;
	int64_t to;
	double rate;        /* to per from, up to the next one */
	uint32_t gap_ticks; /* of the anchor */
};

struct clock {
	struct point *points;
	uint32_t count;
	uint32_t hint; /* interval of the last conversion */
	double rate;   /* `to` units per `from` unit before the first and after the last point */
};

/* A stretch of CUPTI's clock in which it was not set. */
struct epoch {
	struct clock clock;
	uint64_t low; /* begin of its times */
	/* the last reading before the clock was set back to this epoch; else 0 */
	uint64_t left_at;
	uint32_t anchors_before; /* number of anchors before its first one */
};

struct gp_clock_sync {
	struct clock ticks;
	struct point *cupti_points;
	struct epoch *epochs;
	uint32_t epoch_count;
	uint64_t base_unix_ns;
	uint32_t misfits;
};

static double difference(uint64_t a, uint64_t b)
{
	return a >= b ? (double)(a - b) : -(double)(b - a);
}

/* As llround(), which is a slow call. */
static int64_t rounded(double ns)
{
	int64_t whole = (int64_t)ns;
	double rest = ns - (double)whole;

	return whole + (rest >= 0.5) - (rest <= -0.5);
}

static int64_t add_ns(int64_t to, double ns)
{
	const double limit = 4e18; /* within int64_t, with reserve for sums */
	double sum = (double)to + ns;

	if (sum > limit)
		return (int64_t)limit;
	if (sum < -limit)
		return -(int64_t)limit;
	return to + rounded(ns);
}

static bool is_point_until(const void *element, const void *from)
{
	return ((const struct point *)element)->from <= *(const uint64_t *)from;
}

/* The last point at or before `from`; the first point if there is none. */
static uint32_t find_point(struct clock *c, uint64_t from)
{
	uint32_t after;

	if (c->points[c->hint].from <= from &&
	    (c->hint + 1 == c->count || from < c->points[c->hint + 1].from))
		return c->hint;
	after = gp_array_lower_bound(c->points, c->count, sizeof(*c->points), is_point_until,
				     &from);
	c->hint = after > 0 ? after - 1 : 0;
	return c->hint;
}

static int64_t convert(struct clock *c, uint64_t from)
{
	const struct point *p = &c->points[find_point(c, from)];

	if (from < p->from)
		return add_ns(p->to, -(double)(p->from - from) * c->rate);
	return add_ns(p->to, (double)(from - p->from) * p->rate);
}

static double mean_rate(const struct clock *c, double otherwise)
{
	const struct point *first = c->points, *last = c->points + c->count - 1;

	if (c->count < 2)
		return otherwise;
	return (double)(last->to - first->to) / difference(last->from, first->from);
}

static bool is_coarse(const struct gp_record_anchor *anchor, uint32_t best_gap)
{
	return anchor->gap_ticks > COARSE_LEAST_TICKS &&
	       anchor->gap_ticks / COARSE_FACTOR > best_gap;
}

/* by_cupti: of the anchors with a reading of CUPTI's clock. */
static uint32_t best_gap_of(const struct gp_record_anchor *anchors, uint32_t count, bool by_cupti)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < count; i++)
		if ((!by_cupti || anchors[i].cupti_ns != 0) && anchors[i].gap_ticks < best)
			best = anchors[i].gap_ticks;
	return best;
}

/* Monotonic time relative to the first anchor, clamped to a quarter of the int64_t range. */
static int64_t relative(uint64_t monotonic_ns, uint64_t base)
{
	return add_ns(0, difference(monotonic_ns, base));
}

static double rate_between(const struct point *p)
{
	return (double)(p[1].to - p[0].to) / difference(p[1].from, p[0].from);
}

/* For a complete clock. */
static void note_rates(struct clock *c, double rate)
{
	c->rate = rate;
	for (uint32_t i = 0; i < c->count; i++)
		c->points[i].rate = i + 1 < c->count ? rate_between(&c->points[i]) : rate;
}

static int compare_rates(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/*
 * The median rate of all intervals, which one wrong interval does not change; 0 if there are too
 * few intervals to find a wrong one.
 */
static double usual_rate(const struct clock *c, double *rates)
{
	for (uint32_t i = 0; i + 1 < c->count; i++)
		rates[i] = c->points[i].rate;
	if (c->count < 4)
		return 0;
	qsort(rates, c->count - 1, sizeof(*rates), compare_rates);
	return rates[(c->count - 1) / 2];
}

static bool count_misfits(struct gp_clock_sync *t)
{
	const struct clock *c = &t->ticks;
	double *rates = calloc(c->count + 1, sizeof(*rates));
	double usual = rates ? usual_rate(c, rates) : 0;

	for (uint32_t i = 0; i + 1 < c->count && usual > 0; i++) {
		double passed = (double)(c->points[i + 1].to - c->points[i].to);
		double ticked = difference(c->points[i + 1].from, c->points[i].from) * usual;

		t->misfits += fabs(ticked - passed) > STEP_NS + passed / 1000;
	}
	free(rates);
	return rates != NULL;
}

static bool build_ticks(struct gp_clock_sync *t, const struct gp_record_anchor *anchors,
			uint32_t count, double ticks_per_second)
{
	uint32_t best_gap = best_gap_of(anchors, count, false);
	struct clock *c = &t->ticks;

	c->points = calloc(count, sizeof(*c->points));
	if (!c->points)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct point p = {anchors[i].ticks,
				  relative(anchors[i].monotonic_ns, anchors[0].monotonic_ns), 0,
				  anchors[i].gap_ticks};
		const struct point *last = c->points + c->count - 1;

		if (is_coarse(&anchors[i], best_gap))
			continue;
		if (c->count > 0 && (p.from <= last->from || p.to < last->to)) {
			t->misfits += p.from < last->from && p.to > last->to;
			continue;
		}
		c->points[c->count++] = p;
	}
	note_rates(c, mean_rate(c, ticks_per_second >= 1 ? 1e9 / ticks_per_second : 1.0));
	return count_misfits(t);
}

static bool is_step(const struct point *a, const struct point *b)
{
	double passed = (double)(b->to - a->to);
	double drift = difference(b->from, a->from) - passed;

	return b->from <= a->from || b->to <= a->to || fabs(drift) > STEP_NS + passed / 1000;
}

/*
 * The begin of an epoch that the clock entered by a step between points a and b. The moment of the
 * step is unknown: take the middle of the possible range if the clock was set forward, and the
 * whole range if it was set back.
 */
static uint64_t low_of_epoch(const struct point *a, const struct point *b)
{
	double passed = (double)(b->to - a->to);
	double step = difference(b->from, a->from) - passed;
	double back = passed; /* from b back to the step, by the clock after it */

	if (step >= 0 && step < passed)
		back = (passed + step) / 2;
	if (back < 0)
		back = 0;
	return back < (double)b->from ? b->from - (uint64_t)back : 0;
}

static void begin_epoch(struct gp_clock_sync *t, struct point *first, uint32_t anchors_before)
{
	struct epoch *e = &t->epochs[t->epoch_count++];

	e->clock = (struct clock){.points = first, .rate = 1.0};
	e->anchors_before = anchors_before;
	if (t->epoch_count < 2)
		return;
	e->low = low_of_epoch(first - 1, first);
	if (difference(first->from, first[-1].from) < (double)(first->to - first[-1].to))
		e->left_at = first[-1].from;
}

/* CUPTI's clock at an anchor; the wall clock, which it follows, if no anchor has it. */
static bool cupti_point(struct gp_clock_sync *t, const struct gp_record_anchor *anchor,
			bool by_wall, struct point *point)
{
	point->from = by_wall ? anchor->realtime_ns : anchor->cupti_ns;
	point->to = gp_clock_sync_from_ticks(t, by_wall ? anchor->ticks : anchor->cupti_ticks);
	point->gap_ticks = anchor->gap_ticks;
	return point->from != 0;
}

static bool lacks_cupti(const struct gp_record_anchor *anchors, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (anchors[i].cupti_ns != 0)
			return false;
	return true;
}

/*
 * The rate of CUPTI's clock outside its anchors; 1 if their error may explain a difference. Short
 * runs have two anchors 15 us apart: an error of 5 ns would be 100 us at a time 300 ms later. An
 * anchor joins two clocks by the ticks; each reading is exact to half of the gap.
 */
static double rate_of_epoch(const struct clock *c, double ns_per_tick)
{
	const struct point *first = c->points, *last = c->points + c->count - 1;
	double error_ns = ((double)first->gap_ticks + (double)last->gap_ticks) * ns_per_tick;
	double drift_ns = difference(last->from, first->from) - (double)(last->to - first->to);

	return fabs(drift_ns) <= error_ns ? 1.0 : mean_rate(c, 1.0);
}

static bool build_cupti(struct gp_clock_sync *t, const struct gp_record_anchor *anchors,
			uint32_t count)
{
	bool by_wall = lacks_cupti(anchors, count);
	uint32_t best_gap = best_gap_of(anchors, count, !by_wall);
	uint32_t points = 0;

	t->cupti_points = malloc(count * sizeof(*t->cupti_points));
	t->epochs = calloc(count, sizeof(*t->epochs));
	if (!t->cupti_points || !t->epochs)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct point *p = &t->cupti_points[points];

		if (is_coarse(&anchors[i], best_gap) || !cupti_point(t, &anchors[i], by_wall, p))
			continue;
		if (points == 0 || is_step(p - 1, p))
			begin_epoch(t, p, i);
		t->epochs[t->epoch_count - 1].clock.count++;
		points++;
	}
	for (uint32_t i = 0; i < t->epoch_count; i++)
		note_rates(&t->epochs[i].clock, rate_of_epoch(&t->epochs[i].clock, t->ticks.rate));
	return true;
}

struct gp_clock_sync *gp_clock_sync_new(const struct gp_record_anchor *anchors, uint32_t count,
					double ticks_per_second)
{
	struct gp_clock_sync *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->base_unix_ns = anchors[0].realtime_ns;
	if (build_ticks(t, anchors, count, ticks_per_second) && build_cupti(t, anchors, count))
		return t;
	gp_clock_sync_free(t);
	return NULL;
}

uint32_t gp_clock_sync_misfits(const struct gp_clock_sync *t)
{
	return t->misfits;
}

bool gp_clock_sync_is_even(const struct gp_clock_sync *t)
{
	return t->epoch_count <= 1 && t->misfits == 0;
}

void gp_clock_sync_free(struct gp_clock_sync *t)
{
	if (!t)
		return;
	free(t->ticks.points);
	free(t->cupti_points);
	free(t->epochs);
	free(t);
}

int64_t gp_clock_sync_from_ticks(struct gp_clock_sync *t, uint64_t ticks)
{
	return convert(&t->ticks, ticks);
}

static bool is_epoch_until(const void *element, const void *anchors_before)
{
	return ((const struct epoch *)element)->anchors_before <= *(const uint32_t *)anchors_before;
}

/*
 * The last epoch that the clock can be in after that many anchors. The next epoch begins with the
 * anchor that shows its step.
 */
static uint32_t last_epoch(const struct gp_clock_sync *t, uint32_t anchors_before)
{
	uint32_t after = gp_array_lower_bound(t->epochs, t->epoch_count, sizeof(*t->epochs),
					      is_epoch_until, &anchors_before);

	return after > 0 ? after - 1 : 0;
}

/*
 * Whether the record was made in this epoch rather than in an earlier one; after the clock was set
 * back, times occur twice. A record that precedes an anchor in the file has no later time than the
 * anchor. Records arrive soon. So a record before the anchor that shows the step is either from the
 * new epoch, or its time was at most shortly before the previous anchor.
 */
static bool is_time_of(const struct epoch *e, uint64_t cupti_ns, uint32_t anchors_before)
{
	uint32_t next = anchors_before - e->anchors_before, last = e->clock.count - 1;
	uint64_t latest = e->clock.points[next < last ? next : last].from;

	if (cupti_ns < e->low || e->left_at == 0)
		return cupti_ns >= e->low;
	if (cupti_ns > latest && (next <= last || cupti_ns - latest > BETWEEN_ANCHORS_NS))
		return false;
	return next > 0 || cupti_ns < e->left_at - DELIVERY_NS;
}

/* The epoch of a time: the newest possible one. */
static struct epoch *find_epoch(struct gp_clock_sync *t, uint64_t cupti_ns, uint32_t anchors_before)
{
	uint32_t at = last_epoch(t, anchors_before);

	for (unsigned back = 0; at > 0 && back < MAX_EPOCHS_BACK; back++) {
		if (is_time_of(&t->epochs[at], cupti_ns, anchors_before))
			break;
		at--;
	}
	return &t->epochs[at];
}

int64_t gp_clock_sync_from_cupti(struct gp_clock_sync *t, uint64_t cupti_ns,
				 uint32_t anchors_before)
{
	if (t->epoch_count == 0)
		return relative(cupti_ns, t->base_unix_ns);
	return convert(&find_epoch(t, cupti_ns, anchors_before)->clock, cupti_ns);
}

uint64_t gp_clock_sync_base_unix_ns(const struct gp_clock_sync *t)
{
	return t->base_unix_ns;
}

double gp_clock_sync_ns_per_tick(const struct gp_clock_sync *t)
{
	return t->ticks.rate;
}
