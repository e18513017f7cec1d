/*
 * Kernels of low occupancy.  Speaks of a kernel whose blocks leave three quarters of an SM's
 * threads unused, whatever the limit, with grids of more than one wave, for a smaller one has no
 * more blocks for an SM; where 10 % of the recorded time and 1 ms could be saved, and at least 4
 * launches.  Not of kernels that are made so on purpose: matrix multiplications, convolutions,
 * attention, communication.
 */
#include "report/advice/rules/rules.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report/base/text/format.h"
#include "report/model/occupancy.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/few_threads.h"

#define LOW 0.25

/* The share of the threads that an SM can hold: also what a block lacks to whole warps is lost. */
static double threads_share(const struct gp_record_device *device,
			    const struct gp_record_shape *shape,
			    const struct gp_occupancy *occupancy)
{
	double threads = (double)shape->block[0] * shape->block[1] * shape->block[2];

	return threads * occupancy->blocks / device->max_threads_per_multiprocessor;
}

/* What was found for a shape, on the device where it was asked for last. */
struct known_shape {
	bool is_known;
	uint16_t device_id;
	uint8_t limit;
	double share; /* 1: nothing to be said */
	double saves; /* of the kernel's time, at most */
};

/* Whatever an SM could hold, it gets no more than its part of the grid. */
static double share_without_limit(const struct gp_record_device *device,
				  const struct gp_record_shape *shape,
				  const struct gp_occupancy *occupancy)
{
	double threads = (double)shape->block[0] * shape->block[1] * shape->block[2];
	double blocks = ceil((double)occupancy->grid_blocks / device->multiprocessors);
	double share = threads * blocks / device->max_threads_per_multiprocessor;

	return share < GP_ENOUGH_THREADS ? share : GP_ENOUGH_THREADS;
}

static struct known_shape ask(const struct gp_advisor *advisor, const struct gp_op *op)
{
	const struct gp_record_device *device = gp_model_device(advisor->model, op->device_id);
	const struct gp_record_shape *shape = &advisor->model->shapes[op->shape];
	struct known_shape known = {.is_known = true, .device_id = op->device_id, .share = 1};
	struct gp_occupancy occupancy;

	if (device && gp_occupancy_of(device, shape, &occupancy) && occupancy.waves >= 1) {
		known.share = threads_share(device, shape, &occupancy);
		known.limit = occupancy.limit;
		known.saves = 1 - known.share / share_without_limit(device, shape, &occupancy);
	}
	return known;
}

struct own {
	double share; /* of an SM's threads that it fills at most */
};

static void take_kernel(struct gp_advisor *advisor, const struct gp_op *op, uint32_t kind,
			struct known_shape *shapes)
{
	struct known_shape *known = &shapes[op->shape];
	uint64_t took_ns = op->end_ns - op->start_ns, name;
	const struct gp_call *call;
	struct gp_case *found;
	struct own *own;

	if (!known->is_known || known->device_id != op->device_id)
		*known = ask(advisor, op);
	if (known->share >= LOW || known->saves <= 0 || gp_kind_needs_few_threads(advisor, kind))
		return;
	call = gp_model_op_cause(advisor->model, op);
	name = gp_advisor_text(advisor, gp_model_kernel_name(advisor->model, op));
	found = gp_advisor_case(advisor, call ? gp_advisor_site(advisor, call) : GP_NO_SITE, name,
				known->limit);
	gp_advisor_add(advisor, found, op->start_ns, took_ns,
		       (uint64_t)((double)took_ns * known->saves), NULL);
	own = found->own;
	own->share = known->share;
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;
	uint8_t *kinds = gp_kinds_of_names(advisor->kinds, model);
	struct known_shape *shapes = calloc((size_t)model->shape_count + 1, sizeof(*shapes));

	if (!kinds || !shapes)
		advisor->error = -ENOMEM;
	for (uint32_t i = 0; i < model->op_count && advisor->error == 0; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->kind == GP_OP_KERNEL && !op->untimed && op->shape < model->shape_count &&
		    advisor->tuning->of[i] == GP_TUNER_NONE)
			take_kernel(advisor, op, gp_kinds_of_op(kinds, model, op), shapes);
	}
	free(kinds);
	free(shapes);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const char *name = gp_scope_kernel_of(&advisor->scope, found->detail);
	const struct own *own = found->own;

	fprintf(out, "kernel %s (%s times, %s in all) fills at most %.1f %% of an SM's threads",
		name, gp_format_count(found->count).text, gp_format_ns(found->time_ns).text,
		own->share * 100);
	if (found->other_detail != GP_LIMIT_NONE)
		fprintf(out, "; what limits it: %s",
			gp_occupancy_limit_name((enum gp_occupancy_limit)found->other_detail));
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	static const char *const changes[GP_OCCUPANCY_LIMITS] = {
		[GP_LIMIT_NONE] = "make blocks of whole warps, 128 to 256 threads",
		[GP_LIMIT_REGISTERS] = "fewer registers: __launch_bounds__, smaller local arrays",
		[GP_LIMIT_SHARED] = "less shared memory in a block, or more threads in it",
		[GP_LIMIT_BLOCK_SIZE] = "blocks that divide the SM's threads: 128, 256 or 512",
		[GP_LIMIT_BLOCKS] = "larger blocks: 128 to 256 threads",
	};

	(void)advisor;
	fputs(changes[found->other_detail], out);
}

const struct gp_rule gp_rule_low_occupancy = {
	.id = "low-occupancy",
	.title = "a kernel leaves most of each SM unused",
	.meaning =
		"Computed from the launch: registers, shared memory or small blocks limit an SM to less than a quarter of its threads. Few threads cannot hide the latency of memory. The saving is an estimate: the kernel becomes faster in proportion, up to half of the threads or the threads of the grid for each SM. Kernels with one block for each SM are not reported.",
	.change =
		"Depends on the limit: __launch_bounds__ or -maxrregcount for registers, smaller tiles for shared memory, blocks of 128 to 256 threads. `gpuprof summary --by occupancy` shows every kernel.",
	.ignore =
		"The kernel is already limited by arithmetic or memory bandwidth, as kernels with their data in registers and much work per thread.",
	.threshold = {.saves_percent = 10, .saves_ns = 1000000, .count = 4},
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
