#include "report/base/quantile_cut.h"

#include <stdbool.h>
#include <stdlib.h>

#include "report/base/array.h"

/* At `ns` the rate changes by per_ns events per ns; the end of a stretch has a negative change. */
struct gp_quantile_cut_edge {
	int64_t ns;
	double per_ns;
};

/* Walks from one edge to the next. */
struct walk {
	const struct gp_quantile_cut *share;
	int64_t from_ns, to_ns; /* the range that is cut */
	uint32_t next;          /* index of the next edge */
	int64_t start_ns, end_ns;
	double per_ns;
};

void gp_quantile_cut_free(struct gp_quantile_cut *share)
{
	free(share->edges);
	*share = (struct gp_quantile_cut){0};
}

static int add_edge(struct gp_quantile_cut *share, int64_t ns, double per_ns)
{
	int result =
		gp_array_grow(&share->edges, &share->capacity, share->count, sizeof(*share->edges));

	if (result == 0)
		share->edges[share->count++] = (struct gp_quantile_cut_edge){ns, per_ns};
	return result;
}

int gp_quantile_cut_add(struct gp_quantile_cut *share, int64_t from_ns, int64_t to_ns,
			uint64_t events)
{
	double length_ns;
	int result;

	if (to_ns <= from_ns)
		to_ns = from_ns + 1;
	length_ns = (double)to_ns - (double)from_ns;
	result = add_edge(share, from_ns, (double)events / length_ns);
	return result == 0 ? add_edge(share, to_ns, -(double)events / length_ns) : result;
}

static int compare_edges(const void *a, const void *b)
{
	const struct gp_quantile_cut_edge *left = a, *right = b;

	return (left->ns > right->ns) - (left->ns < right->ns);
}

static struct walk begin(const struct gp_quantile_cut *share, int64_t from_ns, int64_t to_ns)
{
	return (struct walk){share, from_ns, to_ns, 0, from_ns, from_ns, 0};
}

/*
 * Goes to the next piece of the range that has a constant rate. Returns false after the last one.
 */
static bool go_on(struct walk *walk)
{
	const struct gp_quantile_cut *share = walk->share;

	while (walk->end_ns < walk->to_ns && walk->next < share->count) {
		walk->start_ns = walk->end_ns;
		while (walk->next < share->count && share->edges[walk->next].ns <= walk->start_ns)
			walk->per_ns += share->edges[walk->next++].per_ns;
		if (walk->next == share->count)
			return false;
		walk->end_ns = share->edges[walk->next].ns;
		if (walk->end_ns > walk->to_ns)
			walk->end_ns = walk->to_ns;
		return true;
	}
	return false;
}

static double events_of(const struct walk *walk)
{
	return walk->per_ns * ((double)walk->end_ns - (double)walk->start_ns);
}

void gp_quantile_cut_cut(struct gp_quantile_cut *share, int64_t from_ns, int64_t to_ns,
			 int64_t *starts, uint32_t count)
{
	struct walk walk = begin(share, from_ns, to_ns);
	double total = 0, before = 0, each;
	uint32_t cut = 1;

	if (share->count > 0)
		qsort(share->edges, share->count, sizeof(*share->edges), compare_edges);
	while (go_on(&walk))
		total += events_of(&walk);
	each = total / count;
	for (uint32_t i = 0; i < count; i++)
		starts[i] = from_ns;
	for (walk = begin(share, from_ns, to_ns); go_on(&walk); before += events_of(&walk))
		for (; cut < count && cut * each < before + events_of(&walk); cut++)
			starts[cut] =
				walk.start_ns + (int64_t)((cut * each - before) / walk.per_ns);
}
