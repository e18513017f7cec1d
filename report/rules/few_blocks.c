/*
 * Kernels with so few blocks that most of the GPU's SMs have nothing to do.  Speaks of a kernel that has blocks for at most half of them and
 * runs for 20 us and longer, alone on the GPU and not in one of several streams, where 5 % of the recorded time and 1 ms could be saved, and at least 4 launches.  Not of kernels that
 * communicate or wait: they need no more.
 */
#include "report/rules/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/array.h"
#include "report/format.h"
#include "report/occupancy.h"
#include "report/rules/advisor.h"

#define MOST_SMS 0.5

/* What is shorter is about its launch. */
#define LEAST_NS 20000u

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

/* Alone on the GPU, and meant to be: in one of several streams it may run beside others, if nothing keeps it from that. */
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
};

static void take_kernel(struct gp_advisor *advisor, const struct gp_op *op)
{
	const struct gp_record_device *device = gp_model_device(advisor->model, op->device_id);
	const struct gp_call *call = gp_model_op_cause(advisor->model, op);
	uint64_t took_ns = op->end_ns - op->start_ns, name;
	struct gp_occupancy occupancy;
	struct gp_case *found;
	struct own *own;

	if (!device || !gp_occupancy_of(device, &advisor->model->shapes[op->shape], &occupancy) ||
	    occupancy.sms_used > MOST_SMS)
		return;
	name = gp_advisor_text(advisor, gp_model_kernel_name(advisor->model, op));
	found = gp_advisor_case(advisor, call ? gp_advisor_site(advisor, call) : GP_NO_SITE, name,
				occupancy.grid_blocks);
	gp_advisor_add(advisor, found, op->start_ns, took_ns,
		       (uint64_t)((double)took_ns * (1 - occupancy.sms_used)), NULL);
	own = found->own;
	own->multiprocessors = device->multiprocessors;
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
			take_kernel(advisor, op);
	}
	free(kinds);
	free(streams.rows);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	fprintf(out,
		"kernel %s (%s times, %s in all) has only %s block%s for the %s SMs of the GPU",
		gp_scope_kernel_of(&advisor->scope, found->detail),
		gp_format_count(found->count).text, gp_format_ns(found->time_ns).text,
		gp_format_count(found->other_detail).text, found->other_detail == 1 ? "" : "s",
		gp_format_count(own->multiprocessors).text);
}

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	(void)found;
	fputs("more blocks, each with less of the work; what cannot have more runs beside other "
	      "kernels, in a stream of its own",
	      out);
}

const struct gp_rule gp_rule_few_blocks = {
	.id = "few-blocks",
	.title = "a kernel has blocks for few of the GPU's SMs",
	.meaning =
		"A block runs on one SM. A kernel with fewer blocks than the GPU has SMs leaves "
		"the others without work, unless another kernel runs beside it: of kernels in one "
		"of several streams nothing is said. What can be "
		"saved is an estimate: that it gets as much faster as it has more SMs.",
	.change = "Smaller blocks with less work for each, and more of them; a reduction in two "
		  "steps, or with atomic operations at its end. Work on more at once: larger "
		  "batches. Or launch it in a stream of its own, beside other kernels. `gpuprof "
		  "summary --by occupancy` has the SMs of every kernel.",
	.ignore = "There is no more to do at once, or few blocks take all of the memory's "
		  "bandwidth.",
	.threshold = {.saves_percent = 5, .saves_ns = 1000000, .count = 4},
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
