#include "report/analysis/loop/launch_order.h"

#include "report/base/spill_memory.h"

#define MOST_OPS (1u << 22)

/* Calls of one thread, which are in order, and their operations. */
struct thread {
	uint32_t first, end;
	uint32_t operations, own; /* those of no tuning */
};

static struct thread thread_from(const struct gp_model *model, const struct gp_tuning *tuning,
				 uint32_t first)
{
	struct thread thread = {.first = first, .end = first};

	for (; thread.end < model->call_count &&
	       model->calls[thread.end].thread_id == model->calls[first].thread_id;
	     thread.end++)
		for (uint32_t at = model->calls[thread.end].first_op; at != GP_NONE;
		     at = model->ops[at].next_op) {
			thread.operations++;
			thread.own += tuning->of[at] == GP_TUNER_NONE;
		}
	return thread;
}

static struct thread busiest_thread(const struct gp_model *model, const struct gp_tuning *tuning)
{
	struct thread busiest = {0};

	for (uint32_t first = 0; first < model->call_count;) {
		struct thread thread = thread_from(model, tuning, first);

		if (thread.own > busiest.own)
			busiest = thread;
		first = thread.end;
	}
	return busiest;
}

static void take(struct gp_launch_order *order, const struct gp_model *model,
		 const struct gp_tuning *tuning, const struct thread *thread)
{
	uint32_t count = 0;

	for (uint32_t i = thread->first; i < thread->end; i++)
		for (uint32_t at = model->calls[i].first_op; at != GP_NONE;
		     at = model->ops[at].next_op) {
			order->model.ops[count] = model->ops[at];
			order->tuning.of[count] = tuning->of[at];
			order->indices[count++] = at;
		}
	order->model.op_count = count;
}

void gp_launch_order_of(struct gp_launch_order *order, const struct gp_model *model,
			const struct gp_tuning *tuning)
{
	struct thread thread;

	*order = (struct gp_launch_order){.model = *model, .tuning = *tuning};
	order->model.ops = NULL;
	order->model.op_count = order->model.contradiction_count = 0;
	order->tuning.of = NULL;
	if (model->op_count == 0 || model->op_count > MOST_OPS ||
	    gp_model_stream_end(model, 0) == model->op_count)
		return;
	thread = busiest_thread(model, tuning);
	order->model.ops = gp_spill_take((thread.operations + 1) * sizeof(*order->model.ops));
	order->tuning.of = gp_spill_take(thread.operations + 1);
	order->indices = gp_spill_take((thread.operations + 1) * sizeof(*order->indices));
	take(order, model, tuning, &thread);
}

void gp_launch_order_free(struct gp_launch_order *order)
{
	gp_spill_free(order->model.ops);
	gp_spill_free(order->tuning.of);
	gp_spill_free(order->indices);
	*order = (struct gp_launch_order){0};
}
