#include "report/advice/rules/rules.h"

#include <math.h>
#include <stdlib.h>

#include "report/model/occupancy.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/few_threads.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LOW_PERCENT, 25, PERCENT, "of an SM's threads: fewer cannot hide memory latency")
GP_LIMITS(LIMITS);

/* The share of an SM's threads that do work: incomplete warps of a block do none. */
static double threads_share(const struct gp_record_device *device,
			    const struct gp_record_shape *shape,
			    const struct gp_occupancy *occupancy)
{
	double threads = (double)shape->block[0] * shape->block[1] * shape->block[2];

	return threads * occupancy->blocks / device->max_threads_per_multiprocessor;
}

/* The result for a shape on the device that was asked for last. */
struct known_shape {
	bool is_known;
	uint16_t device_id;
	uint8_t limit;
	double share; /* 1: it is not low */
	double saves; /* part of the kernel's time */
};

/* Without the limit an SM holds at most its part of the grid. */
static double share_without_limit(const struct gp_record_device *device,
				  const struct gp_record_shape *shape,
				  const struct gp_occupancy *occupancy)
{
	double threads = (double)shape->block[0] * shape->block[1] * shape->block[2];
	double blocks = ceil((double)occupancy->grid_blocks / device->multiprocessors);
	double share = threads * blocks / device->max_threads_per_multiprocessor;

	return share < GP_ENOUGH_PERCENT / 100.0 ? share : GP_ENOUGH_PERCENT / 100.0;
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
	double share; /* of an SM's threads */
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
	if (known->share >= LOW_PERCENT / 100.0 || known->saves <= 0 ||
	    gp_kind_needs_few_threads(advisor, kind))
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

	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->kind == GP_OP_KERNEL && !op->untimed && op->shape < model->shape_count &&
		    advisor->tuning->of[i] == GP_TUNER_NONE)
			take_kernel(advisor, op, gp_kinds_of_op(kinds, model, op), shapes);
	}
	free(kinds);
	free(shapes);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	gp_document_add_text(values, "kernel", gp_scope_kernel_of(&advisor->scope, found->detail));
	gp_document_add_words(values, "threads_percent", "%.1f", own->share * 100);
	if (found->other_detail != GP_LIMIT_NONE)
		gp_document_add_text(
			values, "limit",
			gp_occupancy_limit_name((enum gp_occupancy_limit)found->other_detail));
}

const struct gp_rule gp_rule_low_occupancy = {
	.id = "low-occupancy",
	.title = "a kernel leaves most of each SM unused",
	.found =
		"kernel {kernel} ({count} times, {time_ns} in all) fills at most {threads_percent} % of an SM's threads[; limited by {limit}]",
	.change =
		"[{?limit=registers}use fewer registers: __launch_bounds__, smaller local arrays|{?limit=shared memory}use less shared memory in a block, or more threads in it|{?limit=block size}use a block size that divides the threads of an SM: 128, 256 or 512|{?limit=blocks per SM}use larger blocks: 128 to 256 threads|use blocks of whole warps, 128 to 256 threads]",
	.meaning =
		"Registers, shared memory or small blocks limit an SM to less than {LOW_PERCENT} % of its threads, as computed from the launch. Few threads cannot hide the latency of memory. The saving is an estimate: it assumes that the kernel becomes faster in proportion to the threads on an SM, up to half of the SM's threads, or up to the threads of the grid for each SM if these are fewer. Kernels with one block for each SM, matrix multiplications, convolutions, attention and communication are not reported.",
	.remedy =
		"Depends on the limit: __launch_bounds__ or -maxrregcount for registers, smaller tiles for shared memory, blocks of 128 to 256 threads. `gpuprof summary --by occupancy` shows every kernel.",
	.ignore =
		"The kernel is already limited by arithmetic or memory bandwidth, as are kernels with their data in registers and much work for each thread.",
	.threshold = {.saves_percent = 10,
		      .saves_ns = 1000000,
		      .count = 4,
		      .reason = "Fewer launches are setup"},
	.limits = limits,
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
