/*
 * Kernels with so few blocks that most of the GPU's SMs have nothing to do, or with so few threads
 * that none of them has much.  Speaks of a kernel that has blocks for at most half of the SMs, or
 * fewer than an eighth of the threads, and a quarter of the blocks like its own, that the GPU holds
 * at once; and that runs for 20 us and longer, alone on the GPU and not in one of several streams,
 * where 5 % of the recorded time and 1 ms could be saved, and at least 4 launches.  Not of kernels
 * that communicate or wait: they need no more.  Nor, of few threads, of those that are made so:
 * matrix multiplications, convolutions, attention; nor of what holds most of an SM with few
 * threads, by its registers or shared memory, as kernels do that stay on each SM and take their
 * work from a queue.
 */
#include "report/advice/rules/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/model/occupancy.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/few_threads.h"

#define MOST_SMS     0.5
#define MOST_THREADS 0.125 /* of those that the GPU holds */
#define MOST_WAVES   0.25

/* What is shorter is about its launch. */
#define LEAST_NS 20000u

/*
 * A case is of so many blocks, and, below those bits, so many threads of a block: 0 where it is the
 * blocks that are few.
 */
#define THREADS_BITS 16

static bool needs_few(const struct gp_advisor *advisor, uint32_t kind)
{
	const char *name = gp_kinds_name(advisor->kinds, kind);

	return strcmp(name, "communication") == 0 || strcmp(name, "waiting") == 0;
}

/* ---- what runs beside a kernel ---- */

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

	for (uint32_t first = 0, end; first < model->op_count && advisor->error == 0; first = end) {
		end = gp_model_stream_end(model, first);
		if (!has_kernels(model, first, end))
			continue;
		advisor->error = gp_array_grow(&streams->rows, &streams->capacity, streams->count,
					       sizeof(*streams->rows));
		if (advisor->error == 0)
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

/* Operations of a stream run one after the other: the last that began before it ended tells. */
static bool runs_beside(const struct gp_model *model, const struct stream *stream,
			const struct gp_op *op)
{
	const struct gp_op *ops = &model->ops[stream->first];
	uint32_t before = gp_array_lower_bound(ops, stream->end - stream->first, sizeof(*ops),
					       starts_before, &op->end_ns);

	return before > 0 && ops[before - 1].end_ns > op->start_ns;
}

/*
 * Alone on the GPU, and meant to be: in one of several streams it may run beside others, if nothing
 * keeps it from that.
 */
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
	uint64_t multiprocessors; /* of the device */
	double share;             /* of its threads that the grid has */
};

/* What a kernel leaves unused: 0 = nothing that counts. */
struct thinness {
	uint32_t threads; /* of a block, where these are few; 0 = the blocks are */
	double share;     /* of all threads */
	double saves;     /* of its time, at most */
};

/* The share of the GPU's threads that many blocks of this shape have. */
static double share_of(const struct gp_record_device *device, const struct gp_record_shape *shape,
		       double blocks)
{
	double threads = (double)shape->block[0] * shape->block[1] * shape->block[2];

	return threads * blocks / device->multiprocessors / device->max_threads_per_multiprocessor;
}

/*
 * With as many threads as such blocks can have, but no more than enough, each of them has that much
 * less to do.
 */
static double saved_by_threads(const struct gp_record_device *device,
			       const struct gp_record_shape *shape,
			       const struct gp_occupancy *occupancy, double share)
{
	double most = share_of(device, shape, (double)occupancy->blocks * device->multiprocessors);

	return 1 - share / (most < GP_ENOUGH_THREADS ? most : GP_ENOUGH_THREADS);
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
	if (occupancy.sms_used <= MOST_SMS) {
		thin.saves = 1 - occupancy.sms_used;
	} else if (thin.share < MOST_THREADS && occupancy.waves < MOST_WAVES &&
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
	found = gp_advisor_case(advisor, call ? gp_advisor_site(advisor, call) : GP_NO_SITE, name,
				blocks << THREADS_BITS | thin.threads);
	gp_advisor_add(advisor, found, op->start_ns, took_ns,
		       (uint64_t)((double)took_ns * thin.saves), NULL);
	own = found->own;
	own->multiprocessors = device->multiprocessors;
	own->share = thin.share;
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;
	uint8_t *kinds = gp_kinds_of_names(advisor->kinds, model);
	struct streams streams = {0};

	if (!kinds)
		advisor->error = -ENOMEM;
	list_streams(advisor, &streams);
	for (uint32_t i = 0; i < model->op_count && advisor->error == 0; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->kind == GP_OP_KERNEL && !op->untimed && op->shape < model->shape_count &&
		    op->end_ns - op->start_ns >= LEAST_NS &&
		    advisor->tuning->of[i] == GP_TUNER_NONE &&
		    !needs_few(advisor, gp_kinds_of_op(kinds, model, op)) &&
		    is_alone(model, &streams, op))
			take_kernel(advisor, op, gp_kinds_of_op(kinds, model, op));
	}
	free(kinds);
	free(streams.rows);
}

/* Of a case: 0 where it is the blocks that are few. */
static uint64_t threads_of(const struct gp_case *found)
{
	return found->other_detail & ((1u << THREADS_BITS) - 1);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;
	uint64_t blocks = found->other_detail >> THREADS_BITS, threads = threads_of(found);

	fprintf(out, "kernel %s (%s times, %s in all) has only %s block%s",
		gp_scope_kernel_of(&advisor->scope, found->detail),
		gp_format_count(found->count).text, gp_format_ns(found->time_ns).text,
		gp_format_count(blocks).text, blocks == 1 ? "" : "s");
	if (threads == 0)
		fprintf(out, " for the %s SMs of the GPU",
			gp_format_count(own->multiprocessors).text);
	else
		fprintf(out, " of %s thread%s: %.1f %% of the threads that the GPU can hold",
			gp_format_count(threads).text, threads == 1 ? "" : "s", own->share * 100);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	if (threads_of(found) == 0)
		fputs("more blocks, each with less of the work", out);
	else
		fputs("more and larger blocks, with less of the work for each thread: fewer turns of a grid-stride loop",
		      out);
	fputs("; what cannot have more runs beside other kernels, in a stream of its own", out);
}

const struct gp_rule gp_rule_few_blocks = {
	.id = "few-blocks",
	.title = "a kernel has too few blocks for the SMs, or too few threads",
	.meaning =
		"A block runs on one SM. A kernel with fewer blocks than the GPU has SMs leaves the other SMs idle, unless another kernel runs beside it; kernels in one of several streams are not reported. A kernel with blocks for all SMs but less than an eighth of the possible threads leaves an SM idle while its threads wait for memory or for each other. The saving is an estimate: the kernel becomes faster in proportion to the SMs or threads that it uses, up to half of the possible threads. Not reported are kernels that need most registers or shared memory of an SM for few threads, matrix multiplications, convolutions and attention.",
	.change =
		"Use more and smaller blocks, and reduce in two steps or with atomic operations at the end. Use more threads: blocks of 128 to 256, and a grid-stride loop with fewer iterations. Use larger batches. Or launch the kernel in its own stream, beside other kernels. `gpuprof summary --by occupancy` shows the SMs of every kernel.",
	.ignore =
		"There is no more parallel work, or few blocks or threads already use the full memory bandwidth.",
	.threshold = {.saves_percent = 5, .saves_ns = 1000000, .count = 4},
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
