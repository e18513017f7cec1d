#include "report/analysis/device/device_work.h"

#include <stdlib.h>

/*
 * The most that the two clocks differ: a call may seem to end before the operation that it waited
 * for, and a shorter wait may be none.
 */
#define CLOCKS_DIFFER_NS 5000u

/* Calls are sorted by thread: put the first one of each into the merge. */
static uint32_t count_threads(const struct gp_model *model)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->call_count; i++)
		count += i == 0 || model->calls[i].thread_id != model->calls[i - 1].thread_id;
	return count;
}

static void put_threads(struct gp_device_work *work)
{
	const struct gp_call *calls = work->model->calls;
	uint32_t count = 0;

	for (uint32_t i = 0; i < work->model->call_count; i++)
		if (i == 0 || calls[i].thread_id != calls[i - 1].thread_id) {
			work->next[count] = i;
			gp_kway_merge_put(&work->threads, count++, calls[i].start_ns);
		}
}

void gp_device_work_open(struct gp_device_work *work, const struct gp_model *model)
{
	uint32_t threads = count_threads(model);

	*work = (struct gp_device_work){
		.model = model,
		.next = calloc((size_t)threads + 1, sizeof(*work->next)),
		.ends_ns = calloc(GP_DEVICE_LIMIT, sizeof(*work->ends_ns)),
	};
	gp_kway_merge_open(&work->threads, threads);
	put_threads(work);
}

void gp_device_work_close(struct gp_device_work *work)
{
	gp_kway_merge_close(&work->threads);
	free(work->next);
	free(work->ends_ns);
	*work = (struct gp_device_work){0};
}

static void take_ops(struct gp_device_work *work, const struct gp_call *call)
{
	for (uint32_t at = call->first_op; at != GP_NONE; at = work->model->ops[at].next_op) {
		const struct gp_op *op = &work->model->ops[at];

		if (!op->untimed && op->end_ns > work->ends_ns[op->device_id])
			work->ends_ns[op->device_id] = op->end_ns;
	}
}

static void advance(struct gp_device_work *work, uint64_t until_ns)
{
	const struct gp_model *model = work->model;
	struct gp_kway_merge_head head;

	while (work->threads.count > 0 && work->threads.heads[0].number < until_ns) {
		uint32_t next;

		gp_kway_merge_take(&work->threads, &head);
		take_ops(work, &model->calls[work->next[head.sequence]]);
		next = ++work->next[head.sequence];
		if (next < model->call_count &&
		    model->calls[next].thread_id == model->calls[next - 1].thread_id)
			gp_kway_merge_put(&work->threads, head.sequence,
					  model->calls[next].start_ns);
	}
}

uint64_t gp_device_work_wait_ns(struct gp_device_work *work, const struct gp_call *call)
{
	uint64_t start_ns = call->start_ns, end_ns = start_ns + call->duration_ns, work_ns;

	advance(work, start_ns);
	work_ns = work->ends_ns[gp_model_context_device(work->model, call->context_id)];
	if (work_ns <= start_ns || work_ns > end_ns + CLOCKS_DIFFER_NS)
		return 0;
	if (work_ns > end_ns)
		work_ns = end_ns;
	if (work_ns - start_ns < CLOCKS_DIFFER_NS)
		return 0;
	return (work_ns - start_ns) * 2 >= call->duration_ns ? work_ns - start_ns : 0;
}
