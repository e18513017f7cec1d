#include "report/advice/rules/rules.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/model/occupancy.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/few_threads.h"
#include "report/advice/rules/launch_places.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(SMS_PERCENT, 50, PERCENT, "of the SMs with a block: more leave little to save")      \
	LIMIT(THREADS_PART, 8, COUNT, "of the GPU's threads: fewer cannot hide memory latency")    \
	LIMIT(WAVES_PERCENT, 25, PERCENT, "of the blocks that the GPU holds")                      \
	LIMIT(LEAST_NS, 20000, NS, "a shorter kernel takes as long as its launch")                 \
	LIMIT(ONE_PERCENT, 20, PERCENT, "of the recorded time: this much is no setup ...")         \
	LIMIT(ONE_NS, 1000000, NS, "... from this time on")
GP_LIMITS(LIMITS);

/*
 * A case is a kernel of one grid, wherever it is launched.  Its other_detail: its blocks, and in these lowest bits the threads of a block; 0 if the
 * blocks are too few.
 */
#define THREADS_BITS 16

static bool needs_few(const struct gp_advisor *advisor, uint32_t kind)
{
	const char *name = gp_kinds_name(advisor->kinds, kind);

	return strcmp(name, "communication") == 0 || strcmp(name, "waiting") == 0;
}

/* ---- the operations beside a kernel ---- */

/* Operations of a stream that has kernels: indices in ops. */
struct stream {
	uint32_t first, end;
};

struct streams {
	struct stream *rows;
	uint32_t count, capacity;
};

static bool has_kernels(const struct gp_model *model, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (model->ops[i].kind == GP_OP_KERNEL)
			return true;
	return false;
}

static void list_streams(struct gp_advisor *advisor, struct streams *streams)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t first = 0, end; first < model->op_count; first = end) {
		end = gp_model_stream_end(model, first);
		if (!has_kernels(model, first, end))
			continue;
		gp_array_grow(&streams->rows, &streams->capacity, streams->count,
			      sizeof(*streams->rows));
		streams->rows[streams->count++] = (struct stream){first, end};
	}
}

static bool starts_before(const void *element, const void *key)
{
	const struct gp_op *op = element;
	const uint64_t *time_ns = key;

	return op->start_ns < *time_ns;
}

static bool is_in(const struct gp_model *model, const struct stream *stream, const struct gp_op *op)
{
	return op >= model->ops + stream->first && op < model->ops + stream->end;
}

static bool runs_beside(const struct gp_model *model, const struct stream *stream,
			const struct gp_op *op)
{
	const struct gp_op *ops = &model->ops[stream->first];
	uint32_t before = gp_array_lower_bound(ops, stream->end - stream->first, sizeof(*ops),
					       starts_before, &op->end_ns);

	return before > 0 && ops[before - 1].end_ns > op->start_ns;
}

/* Whether it runs alone on the GPU, and not in one of several streams, where it need not. */
static bool is_alone(const struct gp_model *model, const struct streams *streams,
		     const struct gp_op *op)
{
	bool is_default = gp_model_is_null_stream(model, op->context_id, op->stream_id);

	for (uint32_t i = 0; i < streams->count; i++) {
		const struct stream *stream = &streams->rows[i];

		if (model->ops[stream->first].device_id == op->device_id &&
		    !is_in(model, stream, op) && (!is_default || runs_beside(model, stream, op)))
			return false;
	}
	return true;
}

/* ---- the kernels ---- */

struct own {
	uint64_t multiprocessors;         /* of the device */
	double share;                     /* of its threads that the grid has */
	struct gp_launch_places launches; /* only during the look */
	uint64_t places;                  /* a text */
};

struct thinness {
	uint32_t threads; /* of a block, if these are too few; 0 = the blocks are */
	double share;     /* of the GPU's threads */
	double saves;     /* part of its time; 0 = neither is too few */
};

/* The share of the GPU's threads that many blocks of this shape have. */
static double share_of(const struct gp_record_device *device, const struct gp_record_shape *shape,
		       double blocks)
{
	double threads = (double)shape->block[0] * shape->block[1] * shape->block[2];

	return threads * blocks / device->multiprocessors / device->max_threads_per_multiprocessor;
}

/* With as many threads as such blocks can have, up to enough, each thread has less work. */
static double saved_by_threads(const struct gp_record_device *device,
			       const struct gp_record_shape *shape,
			       const struct gp_occupancy *occupancy, double share)
{
	double most = share_of(device, shape, (double)occupancy->blocks * device->multiprocessors);

	double enough = GP_ENOUGH_PERCENT / 100.0;

	return 1 - share / (most < enough ? most : enough);
}

static struct thinness judge(const struct gp_advisor *advisor, const struct gp_op *op,
			     const struct gp_record_device *device, uint32_t kind)
{
	const struct gp_record_shape *shape = &advisor->model->shapes[op->shape];
	struct gp_occupancy occupancy;
	struct thinness thin = {0};

	if (!gp_occupancy_of(device, shape, &occupancy))
		return thin;
	thin.share = share_of(device, shape, (double)occupancy.grid_blocks);
	if (occupancy.sms_used <= SMS_PERCENT / 100.0) {
		thin.saves = 1 - occupancy.sms_used;
	} else if (thin.share < 1.0 / THREADS_PART && occupancy.waves < WAVES_PERCENT / 100.0 &&
		   !gp_kind_needs_few_threads(advisor, kind)) {
		thin.threads = shape->block[0] * shape->block[1] * shape->block[2];
		thin.saves = saved_by_threads(device, shape, &occupancy, thin.share);
	}
	return thin;
}

static void take_kernel(struct gp_advisor *advisor, const struct gp_op *op, uint32_t kind)
{
	const struct gp_record_device *device = gp_model_device(advisor->model, op->device_id);
	const struct gp_record_shape *shape = &advisor->model->shapes[op->shape];
	const struct gp_call *call = gp_model_op_cause(advisor->model, op);
	uint32_t site = call ? gp_advisor_site(advisor, call) : GP_NO_SITE;
	uint64_t took_ns = op->end_ns - op->start_ns, name, blocks;
	struct thinness thin;
	struct gp_case *found;
	struct own *own;

	if (!device)
		return;
	thin = judge(advisor, op, device, kind);
	if (thin.saves <= 0)
		return;
	blocks = (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2];
	name = gp_advisor_text(advisor, gp_model_kernel_name(advisor->model, op));
	found = gp_advisor_case(advisor, GP_NO_SITE, name, blocks << THREADS_BITS | thin.threads);
	gp_advisor_add(advisor, found, op->start_ns, took_ns,
		       (uint64_t)((double)took_ns * thin.saves), NULL);
	own = found->own;
	own->multiprocessors = device->multiprocessors;
	own->share = thin.share;
	if (gp_advisor_knows(advisor, site))
		gp_launch_places_add(&own->launches, site, took_ns);
	else
		gp_advisor_vote(found, site, took_ns);
}

static void put_places(struct gp_advisor *advisor)
{
	struct gp_case *found;

	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i)) != NULL;) {
		struct own *own = found->own;

		gp_launch_places_put(advisor, &own->launches, found, "launch it", &own->places);
		gp_launch_places_free(&own->launches);
	}
}

/* One launch that takes most of the run is no setup. */
static void judge_few(struct gp_advisor *advisor)
{
	struct gp_case *found;

	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i)) != NULL;)
		found->is_grave = found->saves_ns >= ONE_NS &&
				  found->saves_ns >= advisor->span_ns / (100 / ONE_PERCENT);
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;
	uint8_t *kinds = gp_kinds_of_names(advisor->kinds, model);
	struct streams streams = {0};

	list_streams(advisor, &streams);
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->kind == GP_OP_KERNEL && !op->untimed && op->shape < model->shape_count &&
		    op->end_ns - op->start_ns >= LEAST_NS &&
		    advisor->tuning->of[i] == GP_TUNER_NONE &&
		    !needs_few(advisor, gp_kinds_of_op(kinds, model, op)) &&
		    is_alone(model, &streams, op))
			take_kernel(advisor, op, gp_kinds_of_op(kinds, model, op));
	}
	put_places(advisor);
	judge_few(advisor);
	free(kinds);
	free(streams.rows);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	gp_document_add_text(values, "kernel", gp_scope_kernel_of(&advisor->scope, found->detail));
	gp_document_add_number(values, "block_count", GP_UNIT_COUNT,
			       found->other_detail >> THREADS_BITS);
	gp_document_add_number(values, "block_threads", GP_UNIT_COUNT,
			       found->other_detail & ((1u << THREADS_BITS) - 1));
	gp_document_add_number(values, "sm_count", GP_UNIT_COUNT, own->multiprocessors);
	gp_document_add_words(values, "threads_percent", "%.1f", own->share * 100);
	gp_advisor_add_text(advisor, values, "places", own->places);
}

const struct gp_rule gp_rule_few_blocks = {
	.id = "few-blocks",
	.title = "a kernel has too few blocks for the SMs, or too few threads",
	.found =
		"kernel {kernel} ([{?count=1}once, {time_ns}|{count} times, {time_ns} in all]) has only {block_count} block[{!block_count=1}s][ of {block_threads} thread[{!block_threads=1}s]: {threads_percent} % of the threads that the GPU can hold| for the {sm_count} SMs of the GPU][; {places}]",
	.change =
		"use [{?block_threads}more and larger blocks with less work for each thread: fewer iterations of a grid-stride loop|more blocks with less work for each]; a kernel that cannot have more can run beside others in its own stream",
	.meaning =
		"A block runs on one SM. A kernel with fewer blocks than the GPU has SMs leaves the other SMs idle, unless another kernel runs beside it. If a GPU has several streams, only kernels of the default stream are reported, and only if they run alone. A kernel with blocks for all SMs but less than 1/{THREADS_PART} of the possible threads leaves an SM idle while its threads wait for memory or for each other. Kernels below {LEAST_NS} do not count. The saving is an estimate: the kernel becomes faster in proportion to the SMs or threads that it uses, up to half of the possible threads. gpuprof does not report kernels that need most of an SM's registers or shared memory for few threads, matrix multiplications, convolutions and attention, and kernels that communicate or wait.",
	.remedy =
		"Use more and smaller blocks, and reduce in two steps or with atomic operations at the end. Use more threads: blocks of 128 to 256, and a grid-stride loop with fewer iterations. Use larger batches. Or launch the kernel in its own stream, beside other kernels. `gpuprof summary --by occupancy` shows the SMs of every kernel.",
	.ignore =
		"There is no more parallel work, or few blocks or threads already use the full memory bandwidth.",
	.threshold = {.saves_percent = 5,
		      .saves_ns = 1000000,
		      .count = 4,
		      .reason = "Fewer launches are setup"},
	.limits = limits,
	.exception = "one launch is enough for a saving of {ONE_PERCENT} % and {ONE_NS}",
	.at = "mostly at",
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
