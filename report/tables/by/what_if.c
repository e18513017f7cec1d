#include "report/tables/by/what_if.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"
#include "report/base/tally.h"

/* A GPU in an operation. */
struct arrival {
	uint32_t gpu, operation;
	uint64_t start_ns, end_ns;
	uint64_t own_ns, most_ns; /* since its previous operation; the median of the operation */
};

struct operation {
	uint32_t first, count; /* arrivals */
	uint32_t come;         /* of these are the next ones of their GPUs */
	uint32_t alike;        /* row of the tally: of that kernel, size and number of ranks */
	bool lacks_ranks; /* the last one may be among these: then it took no longer than alike ones */
	uint64_t transfer_ns;
};

struct replay {
	struct arrival *arrivals;
	struct operation *operations;
	uint32_t arrival_count, arrival_capacity, operation_count, operation_capacity;
	struct gp_tally
		alike;   /* series 0: the transfers of operations of which all ranks are there */
	uint32_t *order; /* of arrivals: by GPU, then by time */
	/* by GPU: its first place in that order, and the end of them; the next one; its time */
	struct gpu {
		uint32_t first, end, next;
		uint64_t start_ns, now_ns;
	} * gpus;
	uint32_t gpu_count;
	uint32_t *ready; /* operations of which all have come */
	uint32_t ready_count;
};

/* ---- from the kernels ---- */

static void add_operation(void *context, const struct gp_collective_part *parts, uint32_t gpus)
{
	struct replay *r = context;
	const uint64_t key[GP_TALLY_KEYS] = {parts->name, parts->bytes, parts->ranks};
	struct gp_tally_row *alike = gp_tally_find(&r->alike, key);
	struct operation operation = {.first = r->arrival_count,
				      .count = gpus,
				      .alike = r->alike.last,
				      .lacks_ranks = parts->ranks > gpus,
				      .transfer_ns = UINT64_MAX};

	for (uint32_t i = 0; i < gpus; i++) {
		gp_array_grow_spill(&r->arrivals, &r->arrival_capacity, r->arrival_count,
				    sizeof(*r->arrivals));
		r->arrivals[r->arrival_count++] = (struct arrival){
			.gpu = (uint32_t)parts[i].process << 16 | parts[i].device_id,
			.operation = r->operation_count,
			.start_ns = parts[i].start_ns,
			.end_ns = parts[i].start_ns + parts[i].duration_ns};
		if (parts[i].duration_ns < operation.transfer_ns)
			operation.transfer_ns = parts[i].duration_ns;
	}
	if (!operation.lacks_ranks)
		gp_tally_value(&r->alike, alike, 0, operation.transfer_ns);
	gp_array_grow_spill(&r->operations, &r->operation_capacity, r->operation_count,
			    sizeof(*r->operations));
	r->operations[r->operation_count++] = operation;
}

static int compare_arrivals(const void *a, const void *b, const void *context)
{
	const struct arrival *left = a, *right = b;

	(void)context;
	if (left->gpu != right->gpu)
		return left->gpu < right->gpu ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* Numbers the GPUs, and finds their own times; a GPU's first operation has none. */
static void find_gpus(struct replay *r)
{
	uint32_t key = 0;

	r->gpus = calloc((size_t)r->arrival_count + 1, sizeof(*r->gpus));
	for (uint32_t i = 0; i < r->arrival_count; i++) {
		struct arrival *arrival = &r->arrivals[r->order[i]];
		const struct arrival *before = i > 0 ? &r->arrivals[r->order[i - 1]] : NULL;

		if (i == 0 || arrival->gpu != key) {
			key = arrival->gpu;
			r->gpus[r->gpu_count++].first = i;
		} else if (arrival->start_ns > before->end_ns) {
			arrival->own_ns = arrival->start_ns - before->end_ns;
		}
		arrival->gpu = r->gpu_count - 1;
		r->gpus[arrival->gpu].end = i + 1;
	}
}

static void find_medians(struct replay *r)
{
	uint64_t *own_ns = calloc((size_t)r->gpu_count + 1, sizeof(*own_ns));

	for (uint32_t i = 0; i < r->operation_count; i++) {
		struct arrival *arrivals = &r->arrivals[r->operations[i].first];
		uint32_t count = r->operations[i].count;
		uint64_t median_ns;

		for (uint32_t k = 0; k < count; k++)
			own_ns[k] = arrivals[k].own_ns;
		median_ns = gp_stats_select(own_ns, count, (count - 1) / 2);
		for (uint32_t k = 0; k < count; k++)
			arrivals[k].most_ns = median_ns;
	}
	free(own_ns);
}

static void limit_transfers(struct replay *r)
{
	uint64_t *usual_ns = calloc((size_t)r->alike.count + 1, sizeof(*usual_ns));

	for (uint32_t i = 0; i < r->alike.count; i++) {
		const struct gp_tally_series *transfers = &r->alike.rows[i].series[0];

		usual_ns[i] = transfers->count > 0
				      ? gp_stats_select(transfers->values, transfers->count,
							transfers->count / 2)
				      : UINT64_MAX;
	}
	for (uint32_t i = 0; i < r->operation_count; i++) {
		struct operation *operation = &r->operations[i];

		if (operation->lacks_ranks && operation->transfer_ns > usual_ns[operation->alike])
			operation->transfer_ns = usual_ns[operation->alike];
	}
	free(usual_ns);
}

/* ---- the replay ---- */

/* The next operation of the GPU may be ready. */
static void come(struct replay *r, const struct gpu *gpu)
{
	uint32_t number;

	if (gpu->next == gpu->end)
		return;
	number = r->arrivals[r->order[gpu->next]].operation;
	if (++r->operations[number].come == r->operations[number].count)
		r->ready[r->ready_count++] = number;
}

static void run(struct replay *r, const struct operation *operation, bool is_recorded)
{
	const struct arrival *arrivals = &r->arrivals[operation->first];
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < operation->count; i++) {
		bool is_less = !is_recorded && arrivals[i].most_ns < arrivals[i].own_ns;
		uint64_t at_ns = r->gpus[arrivals[i].gpu].now_ns +
				 (is_less ? arrivals[i].most_ns : arrivals[i].own_ns);

		last_ns = at_ns > last_ns ? at_ns : last_ns;
	}
	for (uint32_t i = 0; i < operation->count; i++) {
		struct gpu *gpu = &r->gpus[arrivals[i].gpu];

		gpu->now_ns = last_ns + operation->transfer_ns;
		if (gpu->next++ == gpu->first)
			gpu->start_ns = gpu->now_ns;
		come(r, gpu);
	}
}

/* The longest time of a GPU after its first operation; 0: the operations wait for each other. */
static uint64_t replay(struct replay *r, bool is_recorded)
{
	uint64_t longest_ns = 0;
	uint32_t done = 0;

	r->ready_count = 0;
	for (uint32_t i = 0; i < r->operation_count; i++)
		r->operations[i].come = 0;
	for (uint32_t i = 0; i < r->gpu_count; i++) {
		r->gpus[i].next = r->gpus[i].first;
		r->gpus[i].now_ns = 0;
		come(r, &r->gpus[i]);
	}
	while (done < r->ready_count)
		run(r, &r->operations[r->ready[done++]], is_recorded);
	for (uint32_t i = 0; i < r->gpu_count; i++)
		if (r->gpus[i].now_ns - r->gpus[i].start_ns > longest_ns)
			longest_ns = r->gpus[i].now_ns - r->gpus[i].start_ns;
	return done == r->operation_count ? longest_ns : 0;
}

static uint64_t recorded_ns(const struct replay *r)
{
	uint64_t longest_ns = 0;

	for (uint32_t i = 0; i < r->gpu_count; i++) {
		const struct gpu *gpu = &r->gpus[i];
		uint64_t ns = r->arrivals[r->order[gpu->end - 1]].end_ns -
			      r->arrivals[r->order[gpu->first]].end_ns;

		longest_ns = ns > longest_ns ? ns : longest_ns;
	}
	return longest_ns;
}

int gp_what_if_of(struct gp_collectives *c, struct gp_what_if *what_if)
{
	struct replay r = {0};
	int result = gp_collectives_each(c, add_operation, &r);

	*what_if = (struct gp_what_if){0};
	r.order = gp_array_order(r.arrivals, r.arrival_count, sizeof(*r.arrivals), compare_arrivals,
				 NULL);
	r.ready = calloc((size_t)r.operation_count + 1, sizeof(*r.ready));
	find_gpus(&r);
	find_medians(&r);
	limit_transfers(&r);
	what_if->replayed_ns = replay(&r, true);
	what_if->median_ns = replay(&r, false);
	what_if->recorded_ns = what_if->replayed_ns > 0 ? recorded_ns(&r) : 0;
	result = result == 0 ? r.alike.error : result;
	gp_tally_free(&r.alike);
	gp_spill_free(r.arrivals);
	gp_spill_free(r.operations);
	gp_spill_free(r.order);
	free(r.ready);
	free(r.gpus);
	return result;
}
