#include "report/base/spill_memory.h"
#include "report/advice/rules/rules.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/analysis/idle/busy.h"
#include "report/model/occupancy.h"
#include "report/advice/rules/advisor.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(OVERLAP_PART, 10, COUNT, "of the work: streams that overlap more are not blocked")
GP_LIMITS(LIMITS);

#define NON_BLOCKING 2u /* CUPTI's flag of streams that the default stream does not wait for */

/* The operations of a context in the default stream and in blocking streams. */
struct ordered {
	uint32_t first, end; /* the context's in the model */
	uint32_t *ops;
	uint32_t count;
	struct gp_interval *intervals; /* of blocking streams */
	uint32_t interval_count;
};

static bool is_ordered(const struct gp_model *model, const struct gp_op *op)
{
	const struct gp_record_stream *stream;

	if (op->untimed)
		return false;
	stream = gp_model_stream(model, op->context_id, op->stream_id);
	return stream && stream->flags != NON_BLOCKING;
}

static int compare_ops(const void *a, const void *b, const void *context)
{
	const struct gp_op *ops = context;
	uint64_t left = ops[*(const uint32_t *)a].start_ns,
		 right = ops[*(const uint32_t *)b].start_ns;

	return (left > right) - (left < right);
}

static void gather(const struct gp_model *model, struct ordered *ordered)
{
	size_t most = (size_t)(ordered->end - ordered->first) + 1;

	ordered->ops = gp_spill_take(most * sizeof(*ordered->ops));
	ordered->intervals = gp_spill_take(most * sizeof(*ordered->intervals));
	for (uint32_t i = ordered->first; i < ordered->end; i++) {
		const struct gp_op *op = &model->ops[i];

		if (!is_ordered(model, op))
			continue;
		ordered->ops[ordered->count++] = i;
		if (!gp_model_is_null_stream(model, op->context_id, op->stream_id))
			ordered->intervals[ordered->interval_count++] =
				(struct gp_interval){op->start_ns, op->end_ns};
	}
	gp_array_sort(ordered->ops, ordered->count, sizeof(*ordered->ops), compare_ops, model->ops);
}

/* Whether the host had launched it while the other one still ran: else they cannot overlap. */
static bool is_kept_back(const struct gp_model *model, const struct gp_op *op,
			 const struct gp_op *other)
{
	const struct gp_call *call = gp_model_op_cause(model, op);

	return call && call->start_ns < other->end_ns;
}

/* The operations of the default stream between operations of two other streams. */
struct barriers {
	uint64_t count;
	const struct gp_op *last; /* of them */
};

static struct barriers find_barriers(const struct gp_model *model, const struct ordered *ordered)
{
	struct barriers barriers = {0};
	const struct gp_op *between = NULL, *other = NULL;

	for (uint32_t i = 0; i < ordered->count; i++) {
		const struct gp_op *op = &model->ops[ordered->ops[i]];

		if (gp_model_is_null_stream(model, op->context_id, op->stream_id)) {
			between = other ? op : NULL;
			continue;
		}
		if (between && other->stream_id != op->stream_id &&
		    is_kept_back(model, op, other)) {
			barriers.count++;
			barriers.last = between;
		}
		other = op;
		between = NULL;
	}
	return barriers;
}

static bool fills_device(const struct gp_model *model, const struct gp_op *op)
{
	const struct gp_record_device *device = gp_model_device(model, op->device_id);
	struct gp_occupancy occupancy;

	return op->kind == GP_OP_KERNEL && op->shape < model->shape_count && device &&
	       gp_occupancy_of(device, &model->shapes[op->shape], &occupancy) &&
	       occupancy.waves >= 1;
}

/* The work of the streams without the busiest one, and without kernels that fill the GPU. */
static uint64_t could_overlap_ns(const struct gp_model *model, const struct ordered *ordered,
				 uint64_t *work_ns)
{
	uint64_t most_ns = 0, stream_ns = 0;
	uint32_t stream_id = UINT32_MAX;

	*work_ns = 0;
	for (uint32_t i = ordered->first; i < ordered->end; i++) {
		const struct gp_op *op = &model->ops[i];

		if (!is_ordered(model, op) || fills_device(model, op) ||
		    gp_model_is_null_stream(model, op->context_id, op->stream_id))
			continue;
		stream_ns = op->stream_id == stream_id ? stream_ns : 0;
		stream_id = op->stream_id;
		stream_ns += op->end_ns - op->start_ns;
		*work_ns += op->end_ns - op->start_ns;
		most_ns = stream_ns > most_ns ? stream_ns : most_ns;
	}
	return *work_ns - most_ns;
}

static uint64_t length_of(const struct ordered *ordered)
{
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < ordered->interval_count; i++)
		sum_ns += ordered->intervals[i].end_ns - ordered->intervals[i].start_ns;
	return sum_ns;
}

static void judge(struct gp_advisor *advisor, const struct ordered *ordered)
{
	const struct gp_model *model = advisor->model;
	struct barriers barriers = find_barriers(model, ordered);
	uint64_t work_ns, saves_ns, all_ns, union_ns;
	const struct gp_call *call;
	struct gp_case *found;

	if (barriers.count == 0)
		return;
	saves_ns = could_overlap_ns(model, ordered, &work_ns);
	all_ns = length_of(ordered);
	union_ns = gp_interval_union(ordered->intervals, ordered->interval_count);
	if ((all_ns - union_ns) * OVERLAP_PART >= all_ns)
		return;
	call = gp_model_op_cause(model, barriers.last);
	found = gp_advisor_case(advisor, call ? gp_advisor_site(advisor, call) : GP_NO_SITE, 0, 0);
	gp_advisor_add(advisor, found, barriers.last->start_ns, all_ns, saves_ns, NULL);
	found->count += barriers.count - 1;
}

/* Operations of a context stand side by side in the model, and among them those of a stream. */
static uint32_t end_of_context(const struct gp_model *model, uint32_t first)
{
	uint32_t end = first;

	while (end < model->op_count && model->ops[end].context_id == model->ops[first].context_id)
		end++;
	return end;
}

static void look_at_context(struct gp_advisor *advisor, uint32_t first, uint32_t end)
{
	struct ordered ordered = {.first = first, .end = end};

	gather(advisor->model, &ordered);
	if (ordered.interval_count > 0)
		judge(advisor, &ordered);
	gp_spill_free(ordered.ops);
	gp_spill_free(ordered.intervals);
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;
	uint32_t end;

	for (uint32_t first = 0; first < model->op_count; first = end) {
		end = end_of_context(model, first);
		if (model->ops[first].stream_id != model->ops[end - 1].stream_id)
			look_at_context(advisor, first, end);
	}
}

const struct gp_rule gp_rule_default_stream = {
	.id = "default-stream",
	.title = "the default stream serializes the other streams",
	.found =
		"an operation in the default stream lies between operations of other streams {count} times: it waits for them, and they for it, so their {time_ns} of work hardly overlaps",
	.change =
		"unless events order them anyway (cudaStreamWaitEvent), give the operation its own stream[{?language=torch}: with torch.cuda.stream(s), where s is a torch.cuda.Stream()|{?language=cupy}: with cupy.cuda.Stream(non_blocking=True)|; or create the others with cudaStreamNonBlocking, or compile with --default-stream per-thread]",
	.meaning =
		"The legacy default stream waits for all other streams, and they wait for it. Each operation without a stream is a barrier, so the other streams ran one after the other; their work overlaps by less than 1/{OVERLAP_PART}. The saving is the work of all streams but the busiest one, if they overlap completely. Kernels that fill the whole GPU cannot overlap and do not count.",
	.remedy =
		"Name a stream in every launch, copy and memset. Create streams with cudaStreamCreateWithFlags(cudaStreamNonBlocking), which the default stream does not block. Or compile with nvcc --default-stream per-thread.",
	.ignore =
		"The streams depend on each other there (cudaStreamWaitEvent), or each kernel fills the GPU.",
	.threshold = {.saves_percent = 10,
		      .saves_ns = 1000000,
		      .count = 16,
		      .reason = "Fewer barriers are setup"},
	.limits = limits,
	.is_of_gpu = true,
	.look = look,
};
