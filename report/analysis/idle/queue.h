/*
 * queue: operations of one stream between their launch and their start.
 *
 * The length of the queue is the number of launches whose call has begun and whose operation has
 * not; of a graph, the first operation counts. A launch is late if the stream had no operation left
 * when its call began. Operations whose call is not known count in the gaps alone.
 */
#ifndef REPORT_ANALYSIS_IDLE_QUEUE_H
#define REPORT_ANALYSIS_IDLE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

/* A launch waits in its call if so many are outstanding: the capacity of drivers. */
#define GP_QUEUE_FULL 1024u

/*
 * Gaps up to this length between operations that had been launched are the device's usual time
 * between two.
 */
#define GP_QUEUE_STEP_NS 30u

struct gp_queue {
	uint64_t launched; /* operations with a known call */
	uint64_t late;
	uint64_t brief;      /* took less time than the call that launched them; none of graphs */
	uint64_t most;       /* the longest it was */
	uint64_t full_ns;    /* how long it had GP_QUEUE_FULL or more ... */
	uint64_t blocked;    /* ... calls that began then ... */
	uint64_t blocked_ns; /* ... and how long these took together */
	/* the time between operations and the next ones' starts: ... */
	uint64_t host_wait_ns; /* the next one's call had not begun when the one before ended */
	uint64_t step_ns;      /* it had, and the gap was shorter than GP_QUEUE_STEP_NS */
	uint64_t other_ns;     /* it had */
};

/* The length of a queue after each of its changes, in the order of time. */
typedef void gp_queue_take(void *context, uint64_t time_ns, uint64_t length);

/* Of the operations first to end - 1 of a model, which are one stream's.  take may be NULL. */
void gp_queue_of(struct gp_queue *queue, const struct gp_model *model, uint32_t first, uint32_t end,
		 gp_queue_take *take, void *context);

/*
 * From the end of the call to the start of the operation, 0 where it began before; its call is
 * known.
 */
static inline uint64_t gp_queue_delay_ns(const struct gp_model *model, const struct gp_op *op)
{
	const struct gp_call *call = &model->calls[op->call];
	uint64_t launched_ns = call->start_ns + call->duration_ns;

	return op->start_ns > launched_ns ? op->start_ns - launched_ns : 0;
}

/* Whether an operation has times and a known call. */
static inline bool gp_queue_has(const struct gp_op *op)
{
	return !op->untimed && op->call != GP_NONE;
}

#endif
