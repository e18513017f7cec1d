#include "report/tables/by/host_clocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/message.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"
#include "report/model/process_name.h"

#define LEAST_OPERATIONS 16   /* fewer do not show how much ends vary */
#define GPU_ERROR_NS     1000 /* a time of a GPU is converted to its host's clock to about this */
#define MOST_NS          1000000 /* if the error is larger, wall clocks are as good */
#define SIGMAS           3       /* the stated error, in standard errors */
/* A trace may be damaged: no clocks are farther apart, and none gains more. */
#define MOST_APART_NS (INT64_C(1) << 61)
#define MOST_DRIFT    1e-3
/* The median of n normal values has a standard error of MEDIAN_ERROR standard deviations / sqrt(n);
 * their standard deviation is DEVIATION median deviations. */
#define MEDIAN_ERROR 1.2533
#define DEVIATION    1.4826

struct gp_clock_host {
	uint64_t wall_ns; /* wall clock less CLOCK_MONOTONIC, by its first process */
	/* the largest error of its processes' anchors; later with the typical distance of its ends */
	uint64_t error_ns;
	uint32_t rank; /* the lowest rank of its processes; GP_NONE = none has one */
};

struct gp_clock_process {
	uint32_t host; /* GP_NONE = unknown */
	uint64_t monotonic_ns;
};

/* An operation's end on a host, in the order of (operation, host). */
struct end {
	uint32_t operation, host;
	uint64_t monotonic_ns;
};

/* The distance of the aligned clock from a host's wall clock, at a moment of the host. */
struct point {
	uint32_t host;
	uint64_t monotonic_ns;
	int64_t distance_ns;
};

/* How far an end on a host was from the one that was kept, at most. */
struct apart {
	uint32_t host;
	uint64_t apart_ns;
};

struct solving {
	struct gp_clock_fit *fit;
	struct end *ends;
	struct point *points;
	int64_t *scratch;
	struct apart *apart;
	uint32_t end_count, end_capacity, point_count, point_capacity, apart_count, apart_capacity;
	uint32_t operations;
};

/* ---- the models ---- */

static uint32_t add_host(struct gp_clock_fit *fit, const struct gp_model *model)
{
	struct gp_host_clocks *clocks = &fit->clocks;
	const char *boot = model->info[GP_INFO_BOOT_ID];
	struct gp_host_clock *known = gp_host_clock_find(clocks, boot);

	if (!boot || model->base_monotonic_ns == 0)
		return GP_NONE;
	if (known)
		return (uint32_t)(known - clocks->hosts);
	gp_array_grow(&clocks->hosts, &clocks->capacity, clocks->count, sizeof(*clocks->hosts));
	gp_array_grow(&fit->hosts, &fit->host_capacity, clocks->count, sizeof(*fit->hosts));
	fit->hosts[clocks->count] = (struct gp_clock_host){
		.wall_ns = model->base_unix_ns - model->base_monotonic_ns, .rank = GP_NONE};
	clocks->hosts[clocks->count] = (struct gp_host_clock){.is_known = false};
	snprintf(clocks->hosts[clocks->count].boot, GP_BOOT_ID_TEXT_BYTES, "%s", boot);
	return clocks->count++;
}

int gp_clock_fit_add(struct gp_clock_fit *fit, const struct gp_model *model)
{
	char message[GP_MESSAGE_BYTES];
	uint32_t host, rank = gp_model_rank(model);

	if (fit->process_count > UINT16_MAX) /* a part has 16 bits for its process */
		return 0;
	host = add_host(fit, model);
	if (!fit->kinds)
		fit->kinds = gp_kinds_new(NULL, message, sizeof(message));
	gp_array_grow(&fit->processes, &fit->process_capacity, fit->process_count,
		      sizeof(*fit->processes));
	if (host != GP_NONE && rank < fit->hosts[host].rank)
		fit->hosts[host].rank = rank;
	if (host != GP_NONE && model->anchor_error_ns > fit->hosts[host].error_ns)
		fit->hosts[host].error_ns = model->anchor_error_ns;
	fit->processes[fit->process_count] =
		(struct gp_clock_process){host, model->base_monotonic_ns};
	fit->collectives.names = &fit->names;
	fit->collectives.kinds = fit->kinds;
	return gp_collectives_add(&fit->collectives, model, (uint16_t)fit->process_count++);
}

void gp_clock_fit_free(struct gp_clock_fit *fit)
{
	gp_collectives_free(&fit->collectives);
	gp_groups_free(&fit->names);
	gp_kinds_free(fit->kinds);
	free(fit->clocks.hosts);
	free(fit->hosts);
	free(fit->processes);
	*fit = (struct gp_clock_fit){0};
}

/* ---- ends ---- */

static int compare_ends(const void *a, const void *b)
{
	const struct end *left = a, *right = b;

	if (left->host != right->host)
		return left->host < right->host ? -1 : 1;
	return (left->monotonic_ns > right->monotonic_ns) -
	       (left->monotonic_ns < right->monotonic_ns);
}

static void note_apart(struct solving *s, const struct end *kept, const struct end *first,
		       const struct end *last)
{
	uint64_t before_ns = kept->monotonic_ns - first->monotonic_ns;
	uint64_t after_ns = last->monotonic_ns - kept->monotonic_ns;

	gp_array_grow_spill(&s->apart, &s->apart_capacity, s->apart_count, sizeof(*s->apart));
	s->apart[s->apart_count++] =
		(struct apart){kept->host, before_ns > after_ns ? before_ns : after_ns};
}

/* The middle of sorted ends; between the two in the middle, if their number is even. */
static struct end middle_end(const struct end *ends, uint32_t count)
{
	struct end middle = ends[count / 2];

	if (count % 2 == 0)
		middle.monotonic_ns -= (middle.monotonic_ns - ends[count / 2 - 1].monotonic_ns) / 2;
	return middle;
}

/* Keeps one end for each host. */
static void keep_middle(struct solving *s, uint32_t first)
{
	struct end *ends = &s->ends[first];
	uint32_t count = s->end_count - first, kept = 0;

	qsort(ends, count, sizeof(*ends), compare_ends);
	for (uint32_t from = 0, to; from < count; from = to) {
		struct end middle;

		for (to = from + 1; to < count && ends[to].host == ends[from].host;)
			to++;
		middle = middle_end(&ends[from], to - from);
		if (to - from > 1)
			note_apart(s, &middle, &ends[from], &ends[to - 1]);
		ends[kept++] = middle;
	}
	s->end_count = first + kept;
}

static void take_operation(void *context, const struct gp_collective_part *parts, uint32_t gpus)
{
	struct solving *s = context;
	uint32_t first = s->end_count;

	if (!gp_collective_is_of_all(parts))
		return;
	for (uint32_t i = 0; i < gpus; i++) {
		const struct gp_clock_process *process = &s->fit->processes[parts[i].process];

		if (process->host == GP_NONE)
			continue;
		gp_array_grow_spill(&s->ends, &s->end_capacity, s->end_count, sizeof(*s->ends));
		s->ends[s->end_count++] = (struct end){s->operations, process->host,
						       process->monotonic_ns + parts[i].start_ns +
							       parts[i].duration_ns};
	}
	s->operations++;
	keep_middle(s, first);
}

/* ---- lines ---- */

/* count: at least 1 */
static int64_t median(int64_t *values, uint32_t count)
{
	uint64_t middle;

	for (uint32_t i = 0; i < count; i++)
		values[i] ^= INT64_MIN; /* their order as unsigned numbers */
	middle = gp_stats_select((uint64_t *)values, count, count / 2);
	return (int64_t)middle ^ INT64_MIN;
}

static uint64_t since(const struct point *points, uint32_t at)
{
	return points[at].monotonic_ns - points[0].monotonic_ns;
}

static int64_t above(const struct point *points, uint32_t at, double drift)
{
	return points[at].distance_ns - (int64_t)(drift * (double)since(points, at));
}

static double middle_of(const struct point *points, uint32_t from, uint32_t to, int64_t *scratch)
{
	for (uint32_t i = from; i < to; i++)
		scratch[i - from] = points[i].distance_ns;
	return (double)median(scratch, to - from);
}

/* The typical distance of the points from a line. */
static double spread_of(const struct point *points, uint32_t count, double drift, int64_t start_ns,
			int64_t *scratch)
{
	for (uint32_t i = 0; i < count; i++)
		scratch[i] = llabs(above(points, i, drift) - start_ns);
	return DEVIATION * (double)median(scratch, count);
}

/* points: of one host, in order of time.  If the error is too large, the clock stays unknown. */
static void fit_line(struct gp_host_clock *clock, const struct gp_clock_host *host,
		     const struct point *points, uint32_t count, int64_t *scratch)
{
	uint32_t third = count / 3, middle = count / 2;
	double span_ns =
		(double)since(points, count - 1 - third / 2) - (double)since(points, third / 2);
	double drift = span_ns > 0 ? (middle_of(points, count - third, count, scratch) -
				      middle_of(points, 0, third, scratch)) /
					     span_ns
				   : 0;
	double spread, drift_error, error_ns;
	int64_t start_ns;

	if (fabs(drift) > MOST_DRIFT)
		drift = 0;
	for (;;) {
		for (uint32_t i = 0; i < count; i++)
			scratch[i] = above(points, i, drift);
		start_ns = median(scratch, count);
		spread = spread_of(points, count, drift, start_ns, scratch);
		drift_error =
			span_ns > 0 ? M_SQRT2 * MEDIAN_ERROR * spread / sqrt(third) / span_ns : 0;
		if (drift == 0 || fabs(drift) > SIGMAS * drift_error)
			break;
		drift = 0; /* it is not significant */
	}
	start_ns += (int64_t)(drift * (double)since(points, middle));
	clock->monotonic_ns = points[middle].monotonic_ns;
	clock->unix_ns = clock->monotonic_ns + host->wall_ns + (uint64_t)start_ns;
	clock->drift = drift;
	clock->ahead_ns = -start_ns;
	clock->operations = count;
	error_ns = SIGMAS * (MEDIAN_ERROR * spread / sqrt(count) +
			     drift_error * (double)since(points, count - 1) / 2);
	clock->error_ns += (uint64_t)fmin(error_ns, 2.0 * MOST_NS);
	clock->is_known = clock->error_ns <= MOST_NS;
}

/* ---- hosts ---- */

/* The end of an operation on the host with the best known clock; NULL: no clock is known. */
static const struct end *find_aligned(const struct solving *s, uint32_t first, uint32_t end)
{
	const struct gp_host_clock *hosts = s->fit->clocks.hosts;
	const struct end *best = NULL;

	for (uint32_t i = first; i < end; i++)
		if (hosts[s->ends[i].host].is_known &&
		    (!best || hosts[s->ends[i].host].error_ns < hosts[best->host].error_ns))
			best = &s->ends[i];
	return best;
}

static void add_point(struct solving *s, const struct end *end, const struct end *aligned)
{
	struct gp_host_clock *hosts = s->fit->clocks.hosts;
	uint64_t unix_ns = gp_host_clock_unix_ns(&hosts[aligned->host], aligned->monotonic_ns);
	int64_t distance_ns =
		(int64_t)(unix_ns - end->monotonic_ns - s->fit->hosts[end->host].wall_ns);
	uint64_t error_ns;

	if (distance_ns < -MOST_APART_NS || distance_ns > MOST_APART_NS)
		return;
	gp_array_grow_spill(&s->points, &s->point_capacity, s->point_count, sizeof(*s->points));
	s->points[s->point_count++] = (struct point){end->host, end->monotonic_ns, distance_ns};
	error_ns = hosts[aligned->host].error_ns + s->fit->hosts[aligned->host].error_ns;
	if (error_ns > hosts[end->host].error_ns)
		hosts[end->host].error_ns = error_ns;
}

static void find_points(struct solving *s)
{
	s->point_count = 0;
	for (uint32_t i = 0; i < s->fit->clocks.count; i++)
		if (!s->fit->clocks.hosts[i].is_known)
			s->fit->clocks.hosts[i].error_ns = 0;
	for (uint32_t first = 0, end; first < s->end_count; first = end) {
		const struct end *aligned;

		for (end = first + 1;
		     end < s->end_count && s->ends[end].operation == s->ends[first].operation;)
			end++;
		aligned = find_aligned(s, first, end);
		for (uint32_t i = first; aligned && i < end; i++)
			if (!s->fit->clocks.hosts[s->ends[i].host].is_known)
				add_point(s, &s->ends[i], aligned);
	}
}

GP_COMPARE_BY_TWO(compare_points, struct point, host, monotonic_ns)

/* Aligns the hosts that have operations in common with aligned hosts.  Returns how many. */
static uint32_t align_more(struct solving *s)
{
	uint32_t aligned = 0;

	find_points(s);
	gp_array_sort(s->points, s->point_count, sizeof(*s->points), compare_points, NULL);
	for (uint32_t first = 0, end; first < s->point_count; first = end) {
		uint32_t host = s->points[first].host;
		struct gp_host_clock *clock = &s->fit->clocks.hosts[host];

		for (end = first + 1; end < s->point_count && s->points[end].host == host;)
			end++;
		if (end - first < LEAST_OPERATIONS)
			continue;
		clock->error_ns += s->fit->hosts[host].error_ns + GPU_ERROR_NS;
		fit_line(clock, &s->fit->hosts[host], &s->points[first], end - first, s->scratch);
		aligned += clock->is_known;
	}
	return aligned;
}

/* All clocks are aligned with that of the host of the lowest rank, else of the first process. */
static void choose_reference(struct gp_clock_fit *fit)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < fit->clocks.count; i++)
		if (fit->hosts[i].rank < fit->hosts[best].rank)
			best = i;
	fit->clocks.hosts[best].is_known = true;
	fit->clocks.hosts[best].unix_ns = fit->hosts[best].wall_ns;
}

GP_COMPARE_BY(compare_apart, struct apart, apart_ns)
GP_COMPARE_BY_TWO(compare_apart_by_host, struct apart, host, apart_ns)

/*
 * The median distance of a host's ends is a part of the error of its clock: nobody knows which of its
 * ranks ends with those of other hosts.  A host with one rank has the median of all.
 */
static void add_distances(struct solving *s)
{
	uint64_t all_ns = 0;
	uint32_t first = 0, end;

	gp_array_sort(s->apart, s->apart_count, sizeof(*s->apart), compare_apart, NULL);
	if (s->apart_count == 0)
		return;
	all_ns = s->apart[s->apart_count / 2].apart_ns;
	gp_array_sort(s->apart, s->apart_count, sizeof(*s->apart), compare_apart_by_host, NULL);
	for (uint32_t host = 0; host < s->fit->clocks.count; host++, first = end) {
		for (end = first; end < s->apart_count && s->apart[end].host == host;)
			end++;
		s->fit->hosts[host].error_ns +=
			end > first ? s->apart[(first + end) / 2].apart_ns : all_ns;
	}
}

int gp_clock_fit_solve(struct gp_clock_fit *fit)
{
	struct solving s = {.fit = fit};

	if (fit->clocks.count < 2)
		return 0;
	choose_reference(fit);
	gp_collectives_each(&fit->collectives, take_operation, &s);
	s.scratch = calloc((size_t)s.operations + 1, sizeof(*s.scratch));
	add_distances(&s);
	while (align_more(&s) > 0)
		;
	gp_spill_free(s.ends);
	gp_spill_free(s.points);
	gp_spill_free(s.apart);
	free(s.scratch);
	return 0;
}
