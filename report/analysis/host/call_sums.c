#include "report/analysis/host/call_sums.h"

#include <errno.h>
#include <string.h>

#include "report/base/spill_memory.h"

#define BLOCK_CALLS 32u

/* At every so manieth call. */
struct gp_call_sum_block {
	uint64_t reached_ns;               /* its thread's calls before it have ended by then */
	uint64_t cause_ns[GP_IDLE_CAUSES]; /* of all calls before it, of any thread */
};

/* From where the thread was to the end of that call. */
static void pass(const struct gp_model *model, uint32_t index, struct gp_call_sum_block *at)
{
	const struct gp_call *call = &model->calls[index];
	uint64_t end_ns = call->start_ns + call->duration_ns;

	if (index == 0 || call[-1].thread_id != call->thread_id)
		at->reached_ns = call->start_ns;
	if (call->start_ns > at->reached_ns) {
		at->cause_ns[GP_IDLE_HOST] += call->start_ns - at->reached_ns;
		at->reached_ns = call->start_ns;
	}
	if (end_ns <= at->reached_ns)
		return;
	at->cause_ns[gp_call_cause(model, call)] += end_ns - at->reached_ns;
	at->reached_ns = end_ns;
}

void gp_call_sums_of(struct gp_call_sums *sums, const struct gp_model *model)
{
	struct gp_call_sum_block at = {0};

	sums->model = model;
	sums->blocks = gp_spill_take(((size_t)model->call_count / BLOCK_CALLS + 1) *
				     sizeof(*sums->blocks));
	sums->blocks[0] = at;
	for (uint32_t i = 0; i < model->call_count; i++) {
		if (i % BLOCK_CALLS == 0)
			sums->blocks[i / BLOCK_CALLS] = at;
		pass(model, i, &at);
	}
}

void gp_call_sums_free(struct gp_call_sums *sums)
{
	gp_spill_free(sums->blocks);
	*sums = (struct gp_call_sums){0};
}

/* All calls before that one. */
static struct gp_call_sum_block before(const struct gp_call_sums *sums, uint32_t call)
{
	uint32_t from = call < sums->model->call_count || call == 0 ? call : call - 1;
	struct gp_call_sum_block at = sums->blocks[from / BLOCK_CALLS];

	for (uint32_t i = from / BLOCK_CALLS * BLOCK_CALLS; i < call; i++)
		pass(sums->model, i, &at);
	return at;
}

uint64_t gp_call_sums_add(const struct gp_call_sums *sums, uint32_t first, uint32_t end,
			  uint64_t cause_ns[GP_IDLE_CAUSES])
{
	const struct gp_call *last = &sums->model->calls[first - 1];
	struct gp_call_sum_block from = before(sums, first), to;
	uint64_t total_ns = 0;

	if (from.reached_ns != last->start_ns + last->duration_ns)
		return 0;
	if (end - first > BLOCK_CALLS) {
		to = before(sums, end);
	} else {
		to = from;
		for (uint32_t i = first; i < end; i++)
			pass(sums->model, i, &to);
	}
	for (size_t i = 0; i < GP_IDLE_CAUSES; i++) {
		cause_ns[i] += to.cause_ns[i] - from.cause_ns[i];
		total_ns += to.cause_ns[i] - from.cause_ns[i];
	}
	return total_ns;
}
