/* Axes of parallelism. */
#include "report/tables/by/axes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/base/tally.h"
#include "report/model/process_name.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/job.h"

/* The distance in a group with only one trace, until its axis is known. */
#define LONE UINT32_MAX

#define REDUCES                                                                                    \
	(1u << GP_ALL_REDUCE | 1u << GP_ALL_GATHER | 1u << GP_REDUCE_SCATTER | 1u << GP_REDUCE |   \
	 1u << GP_BROADCAST)

/* A rank of a communicator. */
struct member {
	uint64_t communicator;
	uint32_t rank;
	uint32_t ranks; /* of the communicator, by NCCL; 0 = not known */
};

struct finding {
	struct gp_axes *axes;
	struct member *members;
	uint32_t member_count, member_capacity;
	struct gp_tally sums;  /* by communicator */
	struct gp_tally index; /* of axes, by ranks and distance */
	int error;
};

enum { TOTAL_NS, OPERATIONS, KINDS, WAITED_NS };

/* ---- communicators ---- */

static void add_member(struct finding *finding, const struct gp_model *model,
		       const struct gp_collective_part *part)
{
	uint32_t rank = gp_model_rank(model);
	struct member *last =
		finding->member_count > 0 ? &finding->members[finding->member_count - 1] : NULL;

	if (rank == GP_NONE || finding->error != 0 ||
	    (last && last->communicator == part->communicator && last->rank == rank))
		return;
	finding->error = gp_array_grow_spill(&finding->members, &finding->member_capacity,
					     finding->member_count, sizeof(*finding->members));
	if (finding->error == 0 && finding->members)
		finding->members[finding->member_count++] =
			(struct member){part->communicator, rank, part->ranks};
}

static void add_part(struct finding *finding, const struct gp_collective_part *part)
{
	const uint64_t key[GP_TALLY_KEYS] = {part->communicator};
	struct gp_tally_row *row = gp_tally_find(&finding->sums, key);

	row->sums[TOTAL_NS] += part->duration_ns;
	row->sums[OPERATIONS]++;
	row->sums[KINDS] |= UINT64_C(1) << part->kind;
}

static void add_waits(void *context, const struct gp_collective_part *parts, uint32_t gpus)
{
	struct finding *finding = context;
	const uint64_t key[GP_TALLY_KEYS] = {parts->communicator};

	for (uint32_t i = 0; i < gpus && parts->communicator != 0 && gp_collective_is_of_all(parts);
	     i++)
		gp_tally_find(&finding->sums, key)->sums[WAITED_NS] += parts[i].waited_ns;
}

static int compare_members(const void *a, const void *b, const void *context)
{
	const struct member *left = a, *right = b;

	(void)context;
	if (left->communicator != right->communicator)
		return left->communicator < right->communicator ? -1 : 1;
	return (left->rank > right->rank) - (left->rank < right->rank);
}

/* ---- axes ---- */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b > 0) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Ranks of one communicator, sorted.  A rank without a trace leaves a gap. */
static uint32_t distance_of(const struct member *members, uint32_t count)
{
	uint32_t distance = 0, ranks = members->ranks > 0 ? members->ranks : count;
	uint64_t most;

	if (count == 1)
		return LONE;
	for (uint32_t i = 1; i < count; i++)
		distance = common_divisor(distance, members[i].rank - members[i - 1].rank);
	most = (uint64_t)distance * (ranks - 1);
	return members[count - 1].rank - members[0].rank <= most ? distance : 0;
}

static void add_group(struct finding *finding, const struct member *members, uint32_t count)
{
	const uint64_t communicator[GP_TALLY_KEYS] = {members->communicator};
	const struct gp_tally_row *sums = gp_tally_find(&finding->sums, communicator);
	uint32_t ranks = members->ranks > 0 ? members->ranks : count;
	const uint64_t key[GP_TALLY_KEYS] = {ranks, distance_of(members, count)};
	struct gp_tally_row *row = gp_tally_find(&finding->index, key);
	struct gp_axes *axes = finding->axes;
	struct gp_axis *axis;

	if (ranks < 2 || finding->error != 0)
		return;
	if (row->count == 0) {
		finding->error =
			gp_array_grow(&axes->all, &axes->capacity, axes->count, sizeof(*axes->all));
		if (finding->error != 0)
			return;
		axes->all[axes->count++] =
			(struct gp_axis){.ranks = ranks, .distance = (uint32_t)key[1]};
		row->count = axes->count;
	}
	axis = &axes->all[row->count - 1];
	axis->groups++;
	axis->kinds |= (uint32_t)sums->sums[KINDS];
	axis->operations += sums->sums[OPERATIONS];
	axis->total_ns += sums->sums[TOTAL_NS];
	axis->waited_ns += sums->sums[WAITED_NS];
}

static void add_groups(struct finding *finding)
{
	for (uint32_t first = 0, end; first < finding->member_count; first = end) {
		uint32_t kept = first + 1;

		for (end = first + 1;
		     end < finding->member_count &&
		     finding->members[end].communicator == finding->members[first].communicator;
		     end++)
			if (finding->members[end].rank != finding->members[kept - 1].rank)
				finding->members[kept++] = finding->members[end];
		add_group(finding, &finding->members[first], kept - first);
	}
}

/* The only axis of that many ranks, except itself; NULL: there is none, or several. */
static struct gp_axis *find_alike(const struct gp_axes *axes, const struct gp_axis *lone)
{
	struct gp_axis *found = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < axes->count; i++)
		if (&axes->all[i] != lone && axes->all[i].ranks == lone->ranks) {
			found = &axes->all[i];
			count++;
		}
	return count == 1 ? found : NULL;
}

static void join_lone(struct gp_axes *axes)
{
	for (uint32_t i = axes->count; i-- > 0;) {
		struct gp_axis *lone = &axes->all[i], *alike;

		if (lone->distance != LONE)
			continue;
		lone->distance = 0;
		alike = find_alike(axes, lone);
		if (!alike)
			continue;
		alike->groups += lone->groups;
		alike->kinds |= lone->kinds;
		alike->operations += lone->operations;
		alike->total_ns += lone->total_ns;
		alike->waited_ns += lone->waited_ns;
		*lone = axes->all[--axes->count];
	}
}

/* ---- names ---- */

static void call(struct gp_axis *axis, const char *name)
{
	snprintf(axis->name, sizeof(axis->name), "%s", name);
}

/* Whether its ranks are those of both others together. */
static bool is_product(const struct gp_axis *axis, const struct gp_axis *a, const struct gp_axis *b)
{
	uint32_t inner = a->distance < b->distance ? a->distance : b->distance;

	return a != b && axis != a && axis != b && axis->ranks == a->ranks * b->ranks &&
	       axis->distance == inner;
}

static const struct gp_axis *find_parts(const struct gp_axes *axes, const struct gp_axis *axis,
					const struct gp_axis **other)
{
	for (uint32_t i = 0; i < axes->count; i++)
		for (uint32_t k = i + 1; k < axes->count; k++)
			if (is_product(axis, &axes->all[i], &axes->all[k])) {
				*other = &axes->all[k];
				return &axes->all[i];
			}
	return NULL;
}

static bool is_reducing(const struct gp_axes *axes, const struct gp_axis *axis, uint32_t world_size)
{
	const struct gp_axis *other;

	return (axis->kinds & REDUCES) != 0 && (axis->kinds & 1u << GP_ALL_TO_ALL) == 0 &&
	       axis->distance > 0 && axis->ranks != world_size && !find_parts(axes, axis, &other);
}

/* Of two axes that reduce, the nearer ranks are those of tensor parallelism. */
static void name_reducing(const struct gp_axes *axes, uint32_t world_size)
{
	struct gp_axis *near = NULL, *far = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < axes->count; i++) {
		struct gp_axis *axis = &axes->all[i];

		if (!is_reducing(axes, axis, world_size))
			continue;
		count++;
		near = !near || axis->distance < near->distance ? axis : near;
		far = !far || axis->distance > far->distance ? axis : far;
	}
	if (count != 2 || near->distance == far->distance)
		return;
	call(near, "TP");
	call(far, "DP");
}

static void name_all(const struct gp_axes *axes, uint32_t world_size)
{
	for (uint32_t i = 0; i < axes->count; i++) {
		struct gp_axis *axis = &axes->all[i];

		if (axis->kinds & 1u << GP_ALL_TO_ALL)
			call(axis, "EP");
		else if (axis->kinds == 1u << GP_SEND_RECV)
			call(axis, "PP");
		else if (axis->ranks == world_size)
			call(axis, axes->count > 1 ? "all" : "DP");
	}
	name_reducing(axes, world_size);
	for (uint32_t i = 0; i < axes->count; i++) {
		struct gp_axis *axis = &axes->all[i];
		const struct gp_axis *b, *a = *axis->name ? NULL : find_parts(axes, axis, &b);

		if (!a || !*a->name || !*b->name)
			continue;
		snprintf(axis->name, sizeof(axis->name), "%.5s x %.5s",
			 a->distance < b->distance ? a->name : b->name,
			 a->distance < b->distance ? b->name : a->name);
	}
}

static int compare_totals(const void *a, const void *b)
{
	const struct gp_axis *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	return (left->ranks > right->ranks) - (left->ranks < right->ranks);
}

int gp_axes_find(struct gp_axes *axes, struct gp_model *const *models, size_t model_count,
		 struct gp_collectives *c)
{
	struct finding finding = {.axes = axes};
	int result;

	*axes = (struct gp_axes){0};
	for (uint32_t i = 0; i < c->count; i++) {
		if (c->parts[i].communicator == 0)
			continue;
		add_member(&finding, models[c->parts[i].process], &c->parts[i]);
		add_part(&finding, &c->parts[i]);
	}
	result = gp_collectives_each(c, add_waits, &finding);
	if (result == 0)
		gp_array_sort(finding.members, finding.member_count, sizeof(*finding.members),
			      compare_members, NULL);
	if (result == 0)
		add_groups(&finding);
	join_lone(axes);
	if (result == 0)
		result = finding.error != 0        ? finding.error
			 : finding.sums.error != 0 ? finding.sums.error
						   : finding.index.error;
	if (axes->count > 0)
		qsort(axes->all, axes->count, sizeof(*axes->all), compare_totals);
	name_all(axes, gp_models_world_size(models, model_count));
	gp_spill_free(finding.members);
	gp_tally_free(&finding.sums);
	gp_tally_free(&finding.index);
	return result;
}

void gp_axes_free(struct gp_axes *axes)
{
	free(axes->all);
	*axes = (struct gp_axes){0};
}

/* ---- the table ---- */

static const struct gp_table_column columns[] = {
	{"Axis", GP_UNIT_TEXT},       {"Groups", GP_UNIT_COUNT},    {"Ranks", GP_UNIT_COUNT},
	{"Distance", GP_UNIT_NUMBER}, {"Count", GP_UNIT_COUNT},     {"Total", GP_UNIT_NS},
	{"Waited", GP_UNIT_NS},       {"Operations", GP_UNIT_TEXT},
};

static void put_row(struct gp_table *table, const struct gp_axis *axis)
{
	char kinds[128] = "";

	for (uint32_t i = 0; i < GP_COLLECTIVE_KINDS; i++)
		if (axis->kinds & 1u << i)
			snprintf(kinds + strlen(kinds), sizeof(kinds) - strlen(kinds), "%s%s",
				 *kinds ? ", " : "",
				 gp_collective_kind_name((enum gp_collective_kind)i));
	gp_table_put_text(table, axis->name);
	gp_table_put_whole(table, axis->groups);
	gp_table_put_whole(table, axis->ranks);
	gp_table_cell(table, axis->distance > 0 ? gp_value_whole(axis->distance) : gp_value_none());
	gp_table_put_whole(table, axis->operations);
	gp_table_put_whole(table, axis->total_ns);
	gp_table_put_whole(table, axis->waited_ns);
	gp_table_put_text(table, kinds);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	const struct gp_axes *known = scope->job ? &scope->job->axes : NULL;
	struct gp_collectives c = {0};
	struct gp_axes axes = {0};
	int result = known ? 0 : gp_collectives_of(scope, &c);

	if (result == 0 && !known)
		result = gp_axes_find(&axes, scope->models, scope->model_count, &c);
	if (!known)
		known = &axes;
	for (uint32_t i = 0; result == 0 && i < known->count; i++)
		put_row(table, &known->all[i]);
	gp_axes_free(&axes);
	gp_collectives_free(&c);
	return result;
}

const struct gp_breakdown gp_breakdown_axis = {
	.help = "communication by axis of parallelism (TP, PP, DP, EP), from the communicators",
	.nothing =
		"no operation of NCCL has a known communicator: these come from the NVTX ranges of NCCL 2.26 and later (--trace nvtx); name the traces of all ranks",
	.head = {"axis",
		 "Communication by axis of parallelism (distance: between neighbors in a group)",
		 columns, COUNT(columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill,
	.is_in_order = true,
	.job = GP_BREAKDOWN_OF_JOB,
};
